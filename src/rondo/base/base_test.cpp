#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <thread>

#include "base/append.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/common_prefix.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/pages.h"
#include "base/shared_row.h"
#include "base/shared_text.h"
#include "base/utf8.h"
#include "rondo/result.h"

namespace rondo {
namespace {

TEST_CASE("an error prints its place, a code frame and a caret") {
  Error error = Error(ErrorCode::kTemplateSyntax, "expected `%}`", "chat.jinja").at(3, 5, "{%- \xC3\xA9 if");
  error.trail = {"in macro `m`, called at line 9"};
  CHECK(error.to_string() ==
        "chat.jinja:3:5: expected `%}`\n  3 | {%- \xC3\xA9 if\n    |     ^\n  in macro `m`, called at line 9");
  error.column = 7;  // behind a character of two bytes: the column and the caret count characters
  error.trail.clear();
  CHECK(error.to_string() == "chat.jinja:3:6: expected `%}`\n  3 | {%- \xC3\xA9 if\n    |      ^");
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
  const std::string small = Error(ErrorCode::kTemplateError, "no").at(12, 3, "\t\tx").to_string();
  CHECK(small == "line 12:3: no\n  12 | \t\tx\n     | \t\t^");
  CHECK(Error(ErrorCode::kTemplateError, "no").at(2, 0, "x").to_string() == "line 2: no");
  CHECK(Error(ErrorCode::kTemplateError, "no").at(0, 2, "x").to_string() == "no");
  CHECK(Error(ErrorCode::kTemplateError, "no").at_offset(2).to_string() == "byte 2: no");
  for (const int size : {240, 241}) {
    const std::string text = times(size, "y");
    CHECK(Error(ErrorCode::kTemplateError, "no").at(1, 1, text).to_string() ==
          "line 1:1: no\n  1 | " + times(size == 240 ? 240 : 80, "y") + (size == 240 ? "" : "…") + "\n    | ^");
  }
  const std::string broken(300, '\x80');  // no character begins here
  CHECK(Error(ErrorCode::kTemplateError, "no").at(1, 5, broken).to_string() ==
        "line 1:5: no\n  1 | " + broken + "\n    | ^");
  CHECK(frame(1) == "line 1:1: no\n  1 | " + times(40, "\xC3\xA9-") + "…\n    | ^");
  CHECK(frame(151) == "line 1:101: no\n  1 | …" + times(80, "\xC3\xA9-") + "…\n    |  " + times(80, " ") + "^");
  CHECK(frame(301) == "line 1:201: no\n  1 | …" + times(40, "\xC3\xA9-") + "\n    |  " + times(80, " ") + "^");
  CHECK(frame(400) == "line 1:300: no\n  1 | …" + times(40, "\xC3\xA9-") + "\n    |  " + times(80, " ") + "^");
}

TEST_CASE("columns of errors count code points where the line is known") {
  const auto column = [](int bytes, const char* line) {
    return Error(ErrorCode::kTemplateSyntax, "no").at(1, bytes, line).code_point_column();
  };
  const char* const line = "\u00e9\u20acx";
  CHECK(column(0, line) == 0);
  CHECK(column(1, line) == 1);
  CHECK(column(3, line) == 2);
  CHECK(column(6, line) == 3);
  CHECK(column(7, line) == 4);
  CHECK(column(9, line) == 6);  // behind the line's end only bytes are known
  CHECK(column(3, "") == 3);
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
  CHECK(utf8::complete_prefix("ab\xFF") == 3);
  CHECK(utf8::complete_prefix("\xF0\x9F\x99") == 0);
  CHECK(utf8::complete_prefix("\xF0\x9F\x99\x82") == 4);
  CHECK(utf8::complete_prefix("") == 0);
}

TEST_CASE("utf8: every code point is written and read back, and every two bytes are judged as Unicode does") {
  std::string all;
  for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 || code % 0x1000 > 0xFFC ? 1 : 3) {
    std::string text;
    utf8::append(text, code);
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    const utf8::Decoded decoded = utf8::decode(text, 0);
    const bool is_right = is_surrogate ? !decoded.valid : decoded.valid && decoded.code_point == code;
    const std::size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (!is_right || text.size() != size || utf8::is_valid(text) == is_surrogate) FAIL_CHECK(static_cast<long>(code));
    if (!is_surrogate) all += text;
  }
  CHECK(utf8::is_valid(all));
  CHECK(utf8::to_valid(all) == all);
  const std::string high = "\xF4\x90\x80\x80";
  CHECK(utf8::first_invalid("a" + high) == 1);
  for (int lead = 0x80; lead < 0x100; ++lead) {
    for (int next = 0; next < 0x100; ++next) {
      const std::string text{static_cast<char>(lead), static_cast<char>(next)};
      const bool is_character = lead >= 0xC2 && lead < 0xE0 && next >= 0x80 && next < 0xC0;
      const std::size_t begins = lead >= 0xE0 && lead < 0xF5 &&
                                 next >= (lead == 0xE0   ? 0xA0
                                          : lead == 0xF0 ? 0x90
                                                         : 0x80) &&
                                 next <= (lead == 0xED   ? 0x9F
                                          : lead == 0xF4 ? 0x8F
                                                         : 0xBF);
      CHECK(utf8::is_valid(text) == is_character);
      CHECK(utf8::decode(text, 0).size == (is_character || begins != 0 ? 2 : 1));
      CHECK(utf8::complete_prefix(text) == (begins != 0 ? 0 : next >= 0xC2 && next < 0xF5 ? 1 : 2));
    }
  }
}

TEST_CASE("utf8: an ill-formed byte is found at any place") {
  for (std::size_t size = 0; size < 70; ++size) {
    CHECK(utf8::skip_ascii(std::string(size, 'a'), 0) == size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xFF';
      CHECK(utf8::first_invalid(text) == at);
      CHECK(utf8::skip_ascii(text, at / 2) == at);
      text[at] = '\xE2';  // as a part of a character of three bytes
      CHECK(utf8::first_invalid(text) == at);
      CHECK(utf8::length(text) == size);
    }
  }
}

TEST_CASE("utf8: what is behind a text is not looked at") {
  const std::string around(200, 'a');
  for (std::size_t size = 0; size < 100; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      const std::size_t end = utf8::skip_ascii(std::string_view(around).substr(0, size), at);
      if (end != size) FAIL_CHECK(size << " " << at);
    }
  }
}

TEST_CASE("bytes are the same or not, whatever their number") {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'a');
    CHECK(same_bytes(text, std::string(size, 'a')));
    CHECK_FALSE(same_bytes(text, text + "a"));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'b';
      CHECK_FALSE(same_bytes(text, other));
      CHECK_FALSE(same_bytes(other, text));
    }
  }
}

TEST_CASE("numbers have in common what stands in front of the first that differs") {
  for (const std::size_t size : {0U, 1U, 31U, 32U, 33U, 64U, 100U, 513U, 1100U}) {
    std::vector<std::int32_t> a(size, 7);
    CHECK(common_prefix(a, a) == size);
    for (std::size_t at = 0; at < size; ++at) {
      std::vector<std::int32_t> b = a;
      b[at] = 8;
      CHECK(common_prefix(a, b) == at);
      CHECK(common_prefix(a, std::span(a).first(at)) == at);
    }
  }
}

TEST_CASE("copies of a row share its values until one of them is changed") {
  const SharedRow<int> row = {1, 2, 3};
  SharedRow<int> copy = row;
  CHECK(copy.data() == row.data());
  copy.change().push_back(4);
  CHECK(row == SharedRow<int>{1, 2, 3});
  CHECK(copy == std::vector<int>{1, 2, 3, 4});
  const int* const own = copy.data();
  copy.change()[0] = 7;  // nobody shares them, so they stay where they are
  CHECK(copy.data() == own);
  CHECK(copy[0] == 7);
  CHECK(copy.back() == 4);
}

TEST_CASE("a row without values is a row like others") {
  SharedRow<int> none;
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  CHECK(none == SharedRow<int>(std::vector<int>()));
  none.change().push_back(1);
  CHECK(none.size() == 1);
  CHECK(SharedRow<int>().empty());
}

TEST_CASE("copies of a shared text are one text in memory") {
  const SharedText text = std::string("a text that is too long to be kept inside the string");
  const SharedText same = text;
  CHECK(same.get().data() == text.get().data());
  CHECK(same == text);
  CHECK(SharedText(text.get()) == text);
  CHECK_FALSE(SharedText(std::string("another")) == text);
  CHECK(std::string_view(SharedText()).empty());
  CHECK(SharedText(std::string()) == SharedText());
}

TEST_CASE("of a file that tells no size all is read, within the limit") {
  CHECK(files::read("/dev/null", 0).value().empty());
  CHECK(files::read("/dev/zero", 1000).error().code == ErrorCode::kLimit);
}

TEST_CASE("bug: a thread that reads regular files only waits for no pipe and no device") {
  const std::string path =
      files::join(std::filesystem::temp_directory_path().string(), "rondo_base_pipe_" + std::to_string(::getpid()));
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string link = path + "_link";
  std::filesystem::create_symlink(path, link);
  {
    const files::RegularFilesOnly only;
    for (const std::string& special : {path, link, std::string("/dev/zero"), std::string("/dev/null")}) {
      CAPTURE(special);
      const auto content = files::read(special);
      REQUIRE(!content.ok());
      CHECK(content.error().code == ErrorCode::kNotFound);
      CHECK(content.error().message == "is not a regular file");
      CHECK(!files::check(special).ok());
    }
    CHECK(files::check(std::filesystem::temp_directory_path()).error().message == "is a folder, expected a file");
  }
  CHECK(files::read("/dev/null").ok());
  std::filesystem::remove(link);
  std::filesystem::remove(path);
}

TEST_CASE("a digest is that of its texts, and of how they are parted") {
  CHECK(hex_digest({}) == "cbf29ce484222325");
  CHECK(hex_digest({"a"}) == "089bc907b544c769");
  CHECK(hex_digest({"ab", ""}) != hex_digest({"a", "b"}));
  CHECK(hex_digest({"ab"}) != hex_digest({"ab", ""}));
}

TEST_CASE("hexadecimal digits are written in lower case and read in either") {
  std::string out = "0x";
  hex::append(out, 0x1F09AU, 4);
  hex::append(out, 0xAU, 1);
  CHECK(out == "0xf09aa");
  for (int c = 0; c < 256; ++c) {
    const std::size_t at = std::string_view("0123456789abcdef0123456789ABCDEF").find(static_cast<char>(c));
    CHECK(hex::digit(static_cast<char>(c)).value_or(99) == (at == std::string_view::npos ? 99 : at % 16));
  }
  CHECK(hex::byte("%fF", 1) == '\xFF');
  CHECK(hex::number("x1F09aBcD", 1, 8) == 0x1F09ABCDU);
  CHECK_FALSE(hex::number("12", 0, 3));
  CHECK_FALSE(hex::number("12", 3, 1));
  for (const char* text : {"%", "%f", "%fg", "%gf", "%-1"}) CHECK_FALSE(hex::byte(text, 1));
}

TEST_CASE("pages of any size can be written everywhere, and move") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, (std::size_t{2} << 20U) - 1, std::size_t{2} << 20U,
                                 (std::size_t{4} << 20U) + 5}) {
    Pages pages(size);
    char* const data = static_cast<char*>(pages.data());
    CHECK(data[0] == 0);
    CHECK(data[size - 1] == 0);
    data[0] = 'a';
    data[size - 1] = 'z';
    const bool is_large = size >= std::size_t{2} << 20U;
    if (is_large) CHECK(reinterpret_cast<std::uintptr_t>(data) % (std::size_t{2} << 20U) == 0);
    Pages moved(std::move(pages));
    CHECK(moved.data() == data);
    Pages other(size);
    other = std::move(moved);
    CHECK(static_cast<char*>(other.data())[size - 1] == 'z');
  }
}

TEST_CASE("base64 decodes whole groups of four and nothing else") {
  CHECK(base64::decode("").value() == "");
  CHECK(base64::decode("aGVsbG8=").value() == "hello");
  CHECK(base64::decode("AP+/").value() == std::string("\0\xFF\xBF", 3));
  CHECK(base64::decode("YQ==").value() == "a");
  for (const char* text : {"", "a", "ab", "abc", "hello"}) CHECK(base64::decode(base64::encode(text)).value() == text);
  CHECK(base64::encode("a") == "YQ==");
  CHECK(base64::encode("ab") == "YWI=");
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
  // Sizes around the steps in which it is read.
  for (const std::size_t size : {std::size_t{0}, std::size_t{65535}, std::size_t{65536}, std::size_t{3000000}}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; i += 100) content[i] = static_cast<char>(i / 100);
    REQUIRE(files::write(path, content).ok());
    CHECK(files::read(path).value() == content);
    CHECK(files::read(path, size).ok());
    if (size > 0) CHECK(files::read(path, size - 1).error().code == ErrorCode::kLimit);
  }
  CHECK(files::exists(path));
  CHECK_FALSE(files::is_folder(path));
  CHECK(files::make_folder(path).error().message == "cannot be made");
  CHECK(files::write(path + "/x", "").error().message == "cannot be opened for writing");
  const std::string folder = path + "-folder";
  REQUIRE(files::make_folder(folder + "/a/b").ok());
  CHECK(files::is_folder(folder + "/a"));
  CHECK(files::write(folder + "/a", "").error().message == "cannot be replaced");
  std::filesystem::remove_all(folder + "/a");
  CHECK(std::filesystem::is_empty(folder));  // nothing is left of what could not be written
  std::filesystem::remove_all(folder);
  CHECK(files::read("/proc/self/status", 5).error().code == ErrorCode::kLimit);
  // The size of this one is not known in advance.
  CHECK(files::read("/proc/self/status").value().starts_with("Name:"));
  std::filesystem::remove(path);
  CHECK(files::read(path).error().to_string() == path + ": no such file");
  CHECK(files::read(std::filesystem::temp_directory_path().string()).error().code == ErrorCode::kNotFound);
}

TEST_CASE("bug: a file that was written became a new one: links, pipes and permissions were lost") {
  namespace fs = std::filesystem;
  const std::string folder =
      files::join(fs::temp_directory_path().string(), "rondo_base_test_links_" + std::to_string(::getpid()));
  REQUIRE(files::make_folder(folder).ok());
  const std::string file = folder + "/file";
  const std::string link = folder + "/link";
  fs::create_symlink("file", link);
  CHECK(files::exists(link));  // although its end does not exist yet
  CHECK_FALSE(files::exists(file));
  CHECK(files::read(link).error().message == "is a link to a file that is not there");
  REQUIRE(files::write(link, "one").ok());
  CHECK(fs::is_symlink(link));
  CHECK(files::read(file).value() == "one");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  REQUIRE(files::write(link, "two").ok());
  CHECK(fs::is_symlink(link));
  CHECK(files::read(file).value() == "two");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const std::string pipe = folder + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string heard;
  std::thread reader([&] { heard = files::read(pipe).value(); });
  CHECK(files::write(pipe, "three").ok());
  reader.join();
  CHECK(heard == "three");
  CHECK(fs::is_fifo(pipe));
  fs::remove_all(folder);
}

TEST_CASE("a text is cut between its characters") {
  const std::string text = "a\u00fcb";  // bytes: a, two of the umlaut, b
  CHECK(utf8::boundary(text, 0) == 0);
  CHECK(utf8::boundary(text, 1) == 1);
  CHECK(utf8::boundary(text, 2) == 1);
  CHECK(utf8::boundary(text, 3) == 3);
  CHECK(utf8::boundary(text, 4) == 4);
  CHECK(utf8::boundary(text, 9) == 4);
  CHECK(utf8::head(text, 2) == "a");
  CHECK(utf8::head(text, 3) == "a\u00fc");
  CHECK(utf8::head(text, 9) == text);
  CHECK(utf8::tail(text, 2) == "b");
  CHECK(utf8::tail(text, 3) == "\u00fcb");
  CHECK(utf8::tail(text, 9) == text);
  CHECK(utf8::head("\x80\x80", 1).empty());
  CHECK(utf8::tail("\x80\x80", 1).empty());
}

}  // namespace
}  // namespace rondo
