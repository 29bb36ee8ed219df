#include "base/units.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "base/utf8.h"

namespace rondo::units {
namespace {

std::string bytes_of(std::u16string_view units) {
  std::string out(2 * units.size(), '\0');
  std::memcpy(out.data(), units.data(), out.size());
  return out;
}

std::string from_utf16(std::u16string_view units) {
  std::string out = "before ";
  append(out, bytes_of(units), Width::kUtf16);
  return out.substr(7);
}

std::string from_latin1(std::string_view units) {
  std::string out = "before ";
  append(out, units, Width::kLatin1);
  return out.substr(7);
}

// The units that `write` makes, in bytes.
std::string units_of(std::string_view text) {
  const Fit found = fit(text);
  REQUIRE(found.is_valid);
  std::string out(found.count * static_cast<std::size_t>(found.width), '?');
  write(text, found, out.data());
  return out;
}

TEST_CASE("units of one byte become UTF-8") {
  CHECK(from_latin1("").empty());
  CHECK(from_latin1("plain") == "plain");
  CHECK(from_latin1("na\xEFve \x80\xFF") == "naïve \u0080ÿ");
  CHECK(from_latin1(std::string_view("\0\x7F", 2)) == std::string_view("\0\x7F", 2));
}

TEST_CASE("units of two bytes become UTF-8, with pairs of surrogates joined") {
  CHECK(from_utf16(u"").empty());
  CHECK(from_utf16(u"plain text that is longer than what is copied at once, and it goes on and on and on") ==
        "plain text that is longer than what is copied at once, and it goes on and on and on");
  CHECK(from_utf16(u"naïve 日本語 😀!") == "naïve 日本語 😀!");
  CHECK(from_utf16(u"abc\u007F\u0080\u07FF\u0800\uFFFF") == "abc\u007F\u0080\u07FF\u0800\uFFFF");
}

TEST_CASE("a surrogate without its other half becomes three bytes") {
  const char16_t high = 0xD83D;
  const char16_t low = 0xDE00;
  CHECK(from_utf16(std::u16string{high}) == "\xED\xA0\xBD");
  CHECK(from_utf16(std::u16string{low}) == "\xED\xB8\x80");
  CHECK(from_utf16(std::u16string{low, high}) == "\xED\xB8\x80\xED\xA0\xBD");
  CHECK(from_utf16(std::u16string{high, high, low}) == "\xED\xA0\xBD😀");
  CHECK(from_utf16(std::u16string{high, u'a', u'b', u'c'}) ==
        "\xED\xA0\xBD"
        "abc");
}

TEST_CASE("a text says which units hold it") {
  const auto same = [](std::string_view text) { return fit(text).is_same && fit(text).count == text.size(); };
  CHECK(same(""));
  CHECK(same("plain, and longer than thirty-two bytes of it"));
  CHECK_FALSE(same("é"));
  CHECK(fit("naïve ÿ").width == Width::kLatin1);
  CHECK(fit("naïve ÿ").count == 7);
  CHECK(fit("Ā").width == Width::kUtf16);
  CHECK(fit("a😀").count == 3);
  CHECK_FALSE(fit("a\xFF").is_valid);
  CHECK_FALSE(fit("\xED\xA0\xBD").is_valid);
}

TEST_CASE("units come back as the text that they were made of") {
  for (const std::string_view text :
       {"", "plain", "naïve café", "日本語", "a😀b", "ÿĀ", "0123456789 0123456789 0123456789 é, Ā and so on"}) {
    const std::string units = units_of(text);
    std::string again;
    append(again, units, fit(text).width);
    CHECK(again == text);
  }
  CHECK(units_of("naïve") == "na\xEFve");
  CHECK(units_of("aĀ") == bytes_of(u"aĀ"));
}

TEST_CASE("every code point becomes units and comes back") {
  for (char32_t code_point = 0; code_point < 0x110000; code_point += code_point < 0x3000 ? 1 : 37) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text = "a";
    utf8::append(text, code_point);
    std::string again;
    append(again, units_of(text), fit(text).width);
    if (again != text) FAIL("U+" << static_cast<unsigned>(code_point));
  }
}

}  // namespace
}  // namespace rondo::units
