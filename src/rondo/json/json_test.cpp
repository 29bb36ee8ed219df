#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/reader.h"
#include "json/value.h"

namespace rondo::json {
namespace {

Value parsed(std::string_view text) {
  auto result = parse(text);
  REQUIRE_MESSAGE(result.ok(), text, ": ", (result.ok() ? "" : result.error().to_string()));
  return std::move(result).value();
}

std::string failure(std::string_view text, const ParseOptions& options = {}) {
  auto result = parse(text, options);
  if (result.ok()) return "no failure";
  const Error& error = result.error();
  return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

TEST_CASE("values print as Python's json module prints them") {
  // Each row: a text, json.dumps(json.loads(text), ensure_ascii=False) ("-": has a lone surrogate), and the same with
  // ensure_ascii, sort_keys and narrow separators; "!" where Python refuses the text.
  auto file = files::read(RONDO_SOURCE_DIR "/tests/golden/json/python_rows.tsv");
  REQUIRE(file.ok());
  int rows = 0;
  for (const std::string_view line : split(file.value(), '\n')) {
    if (line.empty()) continue;
    const auto columns = split(line, '\t');
    const std::string text(columns[0]);
    CAPTURE(text);
    auto result = parse(text);
    ++rows;
    if (columns[1] == "!") {
      CHECK_FALSE(result.ok());
      continue;
    }
    REQUIRE(result.ok());
    if (columns[1] != "-") CHECK(to_python(result.value(), {}) == columns[1]);
    PythonOptions options;
    options.ensure_ascii = true;
    options.sort_keys = true;
    options.separators = {",", ":"};
    CHECK(to_python(result.value(), options) == columns[2]);

    // What we print compactly reads back as the same value.
    const std::string compact = to_compact(result.value());
    auto again = parse(compact);
    REQUIRE(again.ok());
    CHECK(again.value() == result.value());
  }
  CHECK(rows > 300);
}

TEST_CASE("compact printing keeps the spelling of numbers and non-ASCII text") {
  CHECK(to_compact(parsed(R"({ "a" : 1.0, "b": [1e5, -0, 100000000000000000000], "é": "\u00e9\u0001" })")) ==
        R"({"a":1.0,"b":[1e5,-0,100000000000000000000],"é":"é\u0001"})");
  CHECK(to_compact(parsed(R"("\ud800x\udc00")")) == R"("\ud800x\udc00")");
  CHECK(to_compact(Value("a\xff\xe4\xb8z")) == "\"a\uFFFD\uFFFDz\"");
  CHECK(to_pretty(parsed(R"({"a":[1,{}],"b":[]})")) == "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST_CASE("lone surrogates survive printing as Python keeps them") {
  const Value value = parsed(R"("\ud800")");
  CHECK(value.as_string() == "\xED\xA0\x80");
  CHECK(to_python(value, {}) == "\"\xED\xA0\x80\"");
  PythonOptions ascii;
  ascii.ensure_ascii = true;
  CHECK(to_python(value, ascii) == R"("\ud800")");
}

TEST_CASE("indentation as json.dumps writes it") {
  PythonOptions options;
  options.indent = "  ";
  CHECK(to_python(parsed(R"([1,{"a":[]}])"), options) == "[\n  1,\n  {\n    \"a\": []\n  }\n]");
  options.indent = "";
  CHECK(to_python(parsed("[1,2]"), options) == "[\n1,\n2\n]");
}

TEST_CASE("errors name the place and what was found") {
  CHECK(failure("") == "1:1 expected a value, found the end of the text");
  CHECK(failure("{\"a\": 1,\n \"b\" 2}") == "2:6 expected `:` behind the key, found `2`");
  CHECK(failure("[1, 2\n") == "2:1 expected `,` or `]` behind the element, found the end of the text");
  CHECK(failure("{a: 1}") == "1:2 expected a key in double quotes, found `a`");
  CHECK(failure("[1,]") == "1:4 expected a value, found `]`");
  CHECK(failure("[\"abc]") == "1:2 the string is not closed");
  CHECK(failure("\"a\nb\"") == "1:3 a control character in a string must be escaped");
  CHECK(failure(R"(["\q"])") == "1:3 unknown escape in a string");
  CHECK(failure("012") == "1:1 a number must not start with `0`");
  CHECK(failure("1 é") == "1:3 expected the end of the text, found `é`");
  CHECK(failure("[\"a\xff\"]") == "1:4 invalid UTF-8 in a string");
  CHECK(failure("\xff") == "1:1 expected a value, found invalid UTF-8");
  CHECK(failure("\xEF\xBB\xBF{}") == "1:1 expected a value, found a byte order mark");
  auto result = parse("[1,\n  x]");
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kJson);
  CHECK(result.error().offset == 6);
  CHECK(result.error().line_text == "  x]");
}

TEST_CASE("nesting is limited") {
  ParseOptions options;
  options.max_depth = 3;
  CHECK(parse("[[[1]]]", options).ok());
  CHECK(failure("[[[[1]]]]", options) == "1:4 nested deeper than 3 levels");
  auto deep = parse(std::string(100'000, '['));
  REQUIRE_FALSE(deep.ok());
  CHECK(deep.error().code == ErrorCode::kLimit);
}

TEST_CASE("values know where they stood") {
  const Value value = parsed(R"( {"a": [1, "xy"], "b": -1.5 })");
  CHECK(value.source() == SourceRange{1, 29});
  CHECK(value.find("a")->source() == SourceRange{7, 16});
  CHECK(value.find("a")->as_array()[1].source() == SourceRange{11, 15});
  CHECK(value.find("b")->source() == SourceRange{23, 27});
}

TEST_CASE("a prefix ends behind its value") {
  auto prefix = parse_prefix("  {\"a\": 1} and more");
  REQUIRE(prefix.ok());
  CHECK(prefix.value().end == 10);
  CHECK(to_compact(prefix.value().value) == R"({"a":1})");
  CHECK_FALSE(parse_prefix("{\"a\": ").ok());
}

TEST_CASE("objects keep order, replace in place and find among many") {
  Object object{{"b", 1}, {"a", 2}, {"b", 3}};
  CHECK(to_compact(object) == R"({"b":3,"a":2})");
  for (int i = 0; i < 1000; ++i) object.set("k" + std::to_string(i), i);
  CHECK(object.size() == 1002);
  for (int i = 0; i < 1000; ++i) CHECK(object.find("k" + std::to_string(i))->to_int64() == i);
  CHECK(object.erase("k500"));
  CHECK_FALSE(object.erase("k500"));
  CHECK(object.find("k500") == nullptr);
  CHECK(object.find("k501")->to_int64() == 501);
  const Object copy = object;
  CHECK(copy == object);
  for (int i = 0; i < 999; ++i) object.erase("k" + std::to_string(i));
  CHECK(to_compact(object) == R"({"b":3,"a":2,"k999":999})");
  CHECK(copy.find("k77")->to_int64() == 77);
}

TEST_CASE("numbers convert where they fit") {
  CHECK(parsed("9223372036854775807").to_int64() == INT64_MAX);
  CHECK_FALSE(parsed("9223372036854775808").to_int64());
  CHECK_FALSE(parsed("1.0").to_int64());
  CHECK(parsed("1.0").to_double() == 1.0);
  CHECK(std::isinf(*parsed("-1e400").to_double()));
  CHECK(parsed("0.00001e-400").to_double() == 0.0);
  CHECK(Value(0.1).number() == "0.1");
  CHECK(Value(1e16).number() == "1e+16");
  CHECK(Value(std::size_t{7}).kind() == Kind::kInteger);
  CHECK(Value(2.0).kind() == Kind::kFloat);
}

TEST_CASE("a value that was passed over is read again without being checked") {
  const std::string text =
      R"({"a": ["x\u0041\"y", "\u00e9 long enough for sixteen bytes", ""], "b": [0, 12 , -3, 1234567890123456789]})";
  Reader first(text);
  REQUIRE(first.skip());
  REQUIRE(first.finish());
  Reader in(text, 0, Reader::Checked());
  std::string_view key;
  std::string strings;
  std::vector<std::int64_t> numbers;
  for (in.enter_object(); in.member(key);) {
    for (in.enter_array(); in.element();) {
      std::string_view string;
      std::int64_t number = 0;
      if (in.peek() == '"') {
        REQUIRE(in.string(string));
        strings += std::string(string) + ";";
      } else {
        REQUIRE(in.integer(number));
        numbers.push_back(number);
      }
    }
  }
  CHECK(in.finish());
  CHECK(strings == "xA\"y;\u00e9 long enough for sixteen bytes;;");
  CHECK(numbers == std::vector<std::int64_t>{0, 12, -3, 1234567890123456789});
}

TEST_CASE("integers end where numbers end") {
  for (const char* text : {"01,", "1.5,", "1e3,", "-,", "99999999999999999999,", "1x,"}) {
    Reader in(text);
    std::int64_t number = 0;
    const bool is_read = in.integer(number);
    CHECK_MESSAGE((!is_read || std::string_view(text) == "1x,"), text);
  }
  Reader in("[0,12 ,-3,1234567890123456789\n,9223372036854775807]");
  std::vector<std::int64_t> numbers;
  std::int64_t number = 0;
  for (in.enter_array(); in.element() && in.integer(number);) numbers.push_back(number);
  CHECK(in.finish());
  CHECK(numbers == std::vector<std::int64_t>{0, 12, -3, 1234567890123456789, INT64_MAX});
}

}  // namespace rondo::json
