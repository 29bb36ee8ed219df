#include "unicode/case.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <string>

namespace rondo::unicode {
namespace {

// FNV-1a over code points.
class Digest {
 public:
  void add(std::uint64_t value) { value_ = (value_ ^ value) * 0x100000001B3U; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

// Visits all code points of the planes in which any has properties or images.
template <typename Visit>
void for_each_scalar(const Visit& visit) {
  for (char32_t c = 0; c < 0x32000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) visit(c);
  }
  for (char32_t c = 0xE0000; c < 0xE0200; ++c) visit(c);
}

std::u32string text_of(const CaseImage& image) { return {image.code_points, image.count}; }

}  // namespace

// Python 3.11 gave the numbers of the two tables: how many code points, and their digest, which for mappings includes
// the images.

TEST_CASE("properties of all code points are those of Python's str methods") {
  struct Row {
    const char* name;
    bool (*test)(char32_t);
    std::size_t count;
    std::uint64_t digest;
  };
  const Row rows[] = {{"is_digit", is_digit, 788, 0x52A378FBA0BBDD05},
                      {"is_numeric", is_numeric, 1872, 0xC9A7C697E476B33D},
                      {"is_alpha", is_alpha, 131756, 0x2CC122403191F08F},
                      {"is_decimal", is_decimal, 660, 0xFD61D350A72E8DD1},
                      {"is_printable", is_printable, 144516, 0xEF95FC5E3205B70F},
                      {"is_upper", is_upper, 1951, 0x85D9F570CB2F2E3B},
                      {"is_lower", is_lower, 2471, 0xEE3C5537BDE6F013},
                      {"is_identifier_start", is_identifier_start, 131975, 0x929E16816304AE48},
                      {"is_identifier_part", is_identifier_part, 135053, 0xAA630378990B0746},
                      {"is_alphanumeric", is_alphanumeric, 133547, 0x779AD9CB3EC76984},
                      {"is_cased", is_cased, 4453, 0x4515CDAE1B42D303},
                      {"is_case_ignorable", is_case_ignorable, 2602, 0x2458B25B8E5A1AE6}};
  for (const Row& row : rows) {
    Digest digest;
    std::size_t count = 0;
    for_each_scalar([&](char32_t c) {
      if (!row.test(c)) return;
      ++count;
      digest.add(c);
    });
    CAPTURE(row.name);
    CHECK(count == row.count);
    CHECK(digest.value() == row.digest);
    CHECK_FALSE(row.test(0x110000));
  }
}

TEST_CASE("images of all code points are those of Python's str methods") {
  struct Row {
    const char* name;
    CaseImage (*map)(char32_t);
    std::size_t count;
    std::uint64_t digest;
  };
  const Row rows[] = {{"to_upper", to_upper, 1525, 0x100FD492254FA798},
                      {"to_lower", to_lower, 1433, 0x14338CE71DDB0442},
                      {"to_title", to_title, 1452, 0xD3B0C814380DDB3A},
                      {"to_fold", to_fold, 1530, 0x5D611A1AAB090547}};
  for (const Row& row : rows) {
    Digest digest;
    std::size_t count = 0;
    for_each_scalar([&](char32_t c) {
      const std::u32string image = text_of(row.map(c));
      if (image == std::u32string(1, c)) return;
      ++count;
      digest.add(c);
      for (const char32_t part : image) digest.add(part);
    });
    CAPTURE(row.name);
    CHECK(count == row.count);
    CHECK(digest.value() == row.digest);
    CHECK(text_of(row.map(0x110000)) == std::u32string(1, 0x110000));
  }
  CHECK(text_of(to_upper(0xDF)) == U"SS");
  CHECK(text_of(to_upper(0xFB03)) == U"FFI");
  CHECK(text_of(to_title(0xFB03)) == U"Ffi");
}

TEST_CASE("decimal digits have their values") {
  Digest digest;
  std::size_t count = 0;
  for_each_scalar([&](char32_t c) {
    const int value = decimal_value(c);
    if (value < 0) return;
    ++count;
    digest.add(c);
    digest.add(static_cast<std::uint64_t>(value));
  });
  CHECK(count == 660);
  CHECK(digest.value() == 0x2DBB7274C4A37529);  // unicodedata.decimal of Python 3.11
  CHECK(decimal_value('x') == -1);
}

}  // namespace rondo::unicode
