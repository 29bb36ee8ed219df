#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "base/append.h"
#include "base/base64.h"
#include "base/files.h"
#include "base/pages.h"
#include "base/utf8.h"
#include "rondo/result.h"

namespace rondo {
namespace {

TEST_CASE("an error prints its place, a code frame and a caret") {
  Error error = Error(ErrorCode::kTemplateSyntax, "expected `%}`", "chat.jinja").at(3, 5, "{%- \xC3\xA9 if");
  error.trail = {"in macro `m`, called at line 9"};
  CHECK(error.to_string() ==
        "chat.jinja:3:5: expected `%}`\n  3 | {%- \xC3\xA9 if\n    |     ^\n  in macro `m`, called at line 9");
  error.column = 7;  // behind the two-byte character: the caret counts characters
  error.trail.clear();
  CHECK(error.to_string() == "chat.jinja:3:7: expected `%}`\n  3 | {%- \xC3\xA9 if\n    |      ^");
}

TEST_CASE("of a long line an error prints what stands around the caret") {
  Error error = Error(ErrorCode::kTemplateError, "no").at(1, 0);
  for (int i = 0; i < 100; ++i) error.line_text += "\xC3\xA9-";  // 300 bytes, 200 characters
  const auto frame = [&](int column) {
    error.column = column;
    return error.to_string();
  };
  const auto times = [](int count, const std::string& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  CHECK(frame(1) == "line 1:1: no\n  1 | " + times(40, "\xC3\xA9-") + "…\n    | ^");
  CHECK(frame(151) == "line 1:151: no\n  1 | …" + times(80, "\xC3\xA9-") + "…\n    |  " + times(80, " ") + "^");
  CHECK(frame(301) == "line 1:301: no\n  1 | …" + times(40, "\xC3\xA9-") + "\n    |  " + times(80, " ") + "^");
  CHECK(frame(400) == "line 1:400: no\n  1 | …" + times(40, "\xC3\xA9-") + "\n    |  " + times(80, " ") + "^");
}

TEST_CASE("an error with a byte offset names it") {
  CHECK(Error(ErrorCode::kTokenizer, "cut off", "m.gguf").at_offset(12).to_string() == "m.gguf: byte 12: cut off");
}

TEST_CASE("an error is made with a code, a message and a source, and knows no place until it is given one") {
  const Error plain(ErrorCode::kLimit, "too deep");
  CHECK(plain.code == ErrorCode::kLimit);
  CHECK(plain.to_string() == "too deep");
  CHECK(plain.source.empty());
  CHECK(plain.line == 0);
  CHECK(plain.column == 0);
  CHECK(plain.line_text.empty());
  CHECK_FALSE(plain.offset.has_value());
  CHECK(plain.trail.empty());
  CHECK(Error().code == ErrorCode::kInternal);
}

TEST_CASE("the places of an error add up") {
  const Error error = Error(ErrorCode::kJson, "expected `}`", "a.json").at(2, 3, "{1").at_offset(7);
  CHECK(error.code == ErrorCode::kJson);
  CHECK(error.message == "expected `}`");
  CHECK(error.source == "a.json");
  CHECK(error.line == 2);
  CHECK(error.column == 3);
  CHECK(error.line_text == "{1");
  CHECK(error.offset == 7);
  CHECK(Error(ErrorCode::kJson, "no").at_offset(7).at(2, 3).offset == 7);
}

TEST_CASE("a function answers with an error that it makes as it returns") {
  const auto half = [](int whole) -> Result<int> {
    if (whole % 2 != 0) return Error(ErrorCode::kInvalidArgument, "is odd", "whole");
    return whole / 2;
  };
  CHECK(half(4).value() == 2);
  CHECK(half(3).error().to_string() == "whole: is odd");
}

TEST_CASE("utf8 decodes well-formed text and marks maximal ill-formed parts") {
  CHECK(utf8::length("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82") == 4);
  CHECK(utf8::is_valid("\xED\x9F\xBF"));
  CHECK_FALSE(utf8::is_valid("\xED\xA0\x80"));  // a surrogate
  CHECK(utf8::to_valid("a\xE2\x82z\xFFq\xF0\x9F\x99") == "a\xEF\xBF\xBDz\xEF\xBF\xBDq\xEF\xBF\xBD");
  CHECK(utf8::first_invalid("ab\x80") == 2);
  CHECK(utf8::offset_of("\xC3\xA9x", 1) == 2);
  CHECK(utf8::offset_of("x", 5) == 1);
}

TEST_CASE("utf8 complete_prefix holds back only what more bytes could complete") {
  CHECK(utf8::complete_prefix("ab\xF0\x9F\x99") == 2);
  CHECK(utf8::complete_prefix("ab\xE2\x82") == 2);
  CHECK(utf8::complete_prefix("ab\xE2\x82\xAC") == 5);
  CHECK(utf8::complete_prefix("ab\x80") == 3);  // can never become valid
  CHECK(utf8::complete_prefix("") == 0);
}

TEST_CASE("base64 decodes whole groups of four and nothing else") {
  CHECK(base64::decode("").value() == "");
  CHECK(base64::decode("aGVsbG8=").value() == "hello");
  CHECK(base64::decode("AP+/").value() == std::string("\0\xFF\xBF", 3));
  CHECK(base64::decode("YQ==").value() == "a");
  for (const char* bad : {"a", "aGVsbG8", "YQ=", "Y===", "====", "Y=Q=", "aG Vs", "aG-_", "YQ==YQ=="}) {
    CAPTURE(bad);
    CHECK_FALSE(base64::decode(bad).has_value());
  }
}

TEST_CASE("a list keeps its values while it grows") {
  std::vector<int> list;
  for (int i = 0; i < 1000; ++i) append_to(list, i);
  REQUIRE(list.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(list[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("memory that is made resident keeps what it holds") {
  std::vector<char> memory(5000001, 'x');
  make_resident(memory.data(), memory.size());
  make_resident(memory.data() + 1, 300000);
  make_resident(memory.data(), 0);
  CHECK(memory == std::vector<char>(5000001, 'x'));
  const Pages pages(3000000);
  make_resident(pages.data(), 3000000);
  CHECK(static_cast<const char*>(pages.data())[2999999] == 0);
}

TEST_CASE("files are written whole and read back; failures name the path") {
  const std::string path =
      files::join(std::filesystem::temp_directory_path().string(), "rondo_base_test_" + std::to_string(::getpid()));
  REQUIRE(files::write(path, std::string("a\0b", 3)).ok());
  CHECK(files::read(path).value() == std::string("a\0b", 3));
  CHECK(files::read(path, 2).error().code == ErrorCode::kLimit);
  // Around the steps in which it is read.
  for (const std::size_t size : {std::size_t{0}, std::size_t{65535}, std::size_t{65536}, std::size_t{3000000}}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; i += 100) content[i] = static_cast<char>(i / 100);
    REQUIRE(files::write(path, content).ok());
    CHECK(files::read(path).value() == content);
    CHECK(files::read(path, size).ok());
  }
  // Nothing tells the size of this one.
  CHECK(files::read("/proc/self/status").value().starts_with("Name:"));
  std::filesystem::remove(path);
  CHECK(files::read(path).error().to_string() == path + ": no such file");
  CHECK(files::read(std::filesystem::temp_directory_path().string()).error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rondo
