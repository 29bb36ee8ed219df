#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/pointer.h"
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

TEST_CASE("a pointer leads to a value, with the escapes of pointers and of URIs") {
  const Value base = parse(R"({"a/b": [{"c~": 1}, 2], "d e": {"": 3}})").value();
  const auto at = [&base](std::string_view pointer) {
    std::string where;
    const Value* found = follow_pointer(base, pointer, where);
    return (found != nullptr ? to_compact(*found) : "nowhere") + " " + where;
  };
  CHECK(at("/a~1b/0/c~0") == "1 /a~1b/0/c~0");
  CHECK(at("/a%2Fb/1") == "2 /a~1b/1");
  CHECK(at("/d%20e/") == "3 /d e/");
  CHECK(at("").ends_with("} "));
  for (const char* nowhere : {"/x", "/a~1b/2", "/a~1b/x", "/a~1b/99999999999", "/a~1b/1/0"})
    CHECK(at(nowhere).starts_with("nowhere"));
  CHECK(pointer_step("a/b~") == "/a~1b~0");
}

TEST_CASE("values print as Python's json module prints them") {
  // Each row: a text, json.dumps(json.loads(text), ensure_ascii=False) ("-" if it has a lone surrogate), and the same
  // with ensure_ascii, sort_keys and narrow separators; "!" if Python refuses the text.
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
  CHECK(failure("{\"a\": 1,\n \"b\" 2}") == "2:6 expected `:` after the key, found `2`");
  CHECK(failure("[1, 2\n") == "2:1 expected `,` or `]` after the element, found the end of the text");
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

TEST_CASE("members that are taken over are those that are set one by one") {
  for (std::size_t count = 0; count <= 40; ++count) {
    std::vector<Member> members;
    Object wanted;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string key = "k" + std::to_string(i * 7 % (count / 2 + 1));  // each about twice
      members.push_back({key, i});
      wanted.set(key, i);
    }
    const Object got = Object::from_members(members);
    CAPTURE(count);
    CHECK(got == wanted);
    CHECK(got.empty() == (count == 0));
    std::size_t position = 0;
    for (const Member& member : got) CHECK(got.position(member.key) == position++);
    CHECK(got.position("none") == got.size());
    CHECK(got.find("none") == nullptr);
  }
}

TEST_CASE("an object goes from a list to a table and back") {
  Object object;
  for (int size = 1; size <= 20; ++size) {
    Value& stored = object.set("k" + std::to_string(size), 0);
    stored = size;
    for (int i = 1; i <= size; ++i) REQUIRE(object.find("k" + std::to_string(i))->to_int64() == i);
    REQUIRE(object.set("k1", 1).to_int64() == 1);
    REQUIRE(object.size() == static_cast<std::size_t>(size));
  }
  for (int size = 20; size >= 1; --size) {
    CHECK(object.erase("k" + std::to_string(size)));
    for (int i = 1; i < size; ++i) REQUIRE(object.find("k" + std::to_string(i))->to_int64() == i);
    REQUIRE(object.find("k" + std::to_string(size)) == nullptr);
  }
  CHECK(object.empty());
}

TEST_CASE("values tell what they are") {
  const std::pair<const char*, const char*> rows[] = {{"null", "null"},   {"true", "a boolean"}, {"1", "an integer"},
                                                      {"1.0", "a float"}, {"NaN", "a float"},    {"\"\"", "a string"},
                                                      {"[]", "an array"}, {"{}", "an object"}};
  for (const auto& [text, name] : rows) {
    const Value value = parsed(text);
    CHECK_MESSAGE(describe(value.kind()) == name, text);
    CHECK(value.is_number() == (value.kind() == Kind::kInteger || value.kind() == Kind::kFloat));
    CHECK(value.is_object() == (value.kind() == Kind::kObject));
    CHECK(value.find("a") == nullptr);
    CHECK_FALSE(value.find_string("a"));
  }
  const Value value = parsed(R"({"a": "x", "b": 1})");
  CHECK(value.find_string("a") == "x");
  CHECK_FALSE(value.find_string("b"));
  CHECK(value == parsed(R"({ "a":"x","b":1 })"));
  CHECK_FALSE(value == parsed(R"({"b": 1, "a": "x"})"));
}

TEST_CASE("characters at the edges of what is escaped") {
  PythonOptions ascii;
  ascii.ensure_ascii = true;
  CHECK(to_python("\x1f ~\x7f\u0080\uffff\U00010000\U0010ffff", ascii) ==
        R"("\u001f ~\u007f\u0080\uffff\ud800\udc00\udbff\udfff")");
  CHECK(to_python("\x1f ~\x7f\u0080", {}) == "\"\\u001f ~\x7f\u0080\"");
  CHECK(to_python("\xed\x9f\xbf\xed\xbf\xbf\xee\x80\x80", ascii) == R"("\ud7ff\udfff\ue000")");
  CHECK(to_compact("\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xee\x80\x80") == "\"\xed\x9f\xbf\\ud800\\udfff\xee\x80\x80\"");
  CHECK(to_compact("\xed\xa0") == "\"\uFFFD\uFFFD\"");
  CHECK(to_compact("a\xed\xa0\xc0z") == "\"a\uFFFD\uFFFD\uFFFDz\"");
}

TEST_CASE("floats as Python's repr writes them") {
  const std::pair<double, const char*> rows[] = {{0.0, "0.0"},
                                                 {-0.0, "-0.0"},
                                                 {1.0, "1.0"},
                                                 {-12.5, "-12.5"},
                                                 {0.0001, "0.0001"},
                                                 {0.00012, "0.00012"},
                                                 {0.1, "0.1"},
                                                 {0.00001, "1e-05"},
                                                 {1.5e-7, "1.5e-07"},
                                                 {123456.789, "123456.789"},
                                                 {1e15, "1000000000000000.0"},
                                                 {1234567890123456.0, "1234567890123456.0"},
                                                 {1e16, "1e+16"},
                                                 {-1.5e300, "-1.5e+300"},
                                                 {HUGE_VAL, "inf"},
                                                 {-HUGE_VAL, "-inf"},
                                                 {std::nan(""), "nan"}};
  for (const auto& [value, text] : rows) CHECK(python_float(value) == text);
  CHECK(python_number({"-0", false}) == "0");
  CHECK(python_number({"-1e999", true}) == "-Infinity");
  CHECK(python_number({"1e999", true}) == "Infinity");
  CHECK(python_number({"NaN", true}) == "NaN");
}

TEST_CASE("a prefix keeps the limit on nesting, and may be a bare value") {
  ParseOptions options;
  options.max_depth = 2;
  CHECK(parse_prefix("[[1]] x", options).value().end == 5);
  CHECK(parse_prefix("[[[1]]]", options).error().code == ErrorCode::kLimit);
  CHECK(parse_prefix(" 12 x").value().end == 3);
  CHECK(parse_prefix("\"a\"b").value().end == 3);
  // Siblings do not add up.
  CHECK(parse("[[1], [2], {\"a\": 3}]", options).ok());
}

TEST_CASE("numbers convert where they fit") {
  CHECK(parsed("9223372036854775807").to_int64() == INT64_MAX);
  CHECK_FALSE(parsed("9223372036854775808").to_int64());
  CHECK_FALSE(parsed("1.0").to_int64());
  CHECK(parsed("1.0").to_double() == 1.0);
  CHECK(std::isinf(*parsed("-1e400").to_double()));
  CHECK(parsed("0.00001e-400").to_double() == 0.0);
  // The exponent of the first non-zero digit decides.
  CHECK(parsed("0." + std::string(400, '0') + "1e+10").to_double() == 0.0);
  CHECK(parsed("0." + std::string(400, '0') + "1e+800").to_double() == HUGE_VAL);
  CHECK(parsed("1" + std::string(400, '0')).to_double() == HUGE_VAL);
  CHECK(parsed("1e-99999999999999999999").to_double() == 0.0);
  CHECK(parsed("1e99999999999999999999").to_double() == HUGE_VAL);
  CHECK(parsed("-0.001e-400").to_double() == 0.0);
  CHECK(std::signbit(*parsed("-0.001e-400").to_double()));
  CHECK(parsed("0e999").to_double() == 0.0);
  CHECK_FALSE(parsed("true").to_double());
  CHECK_FALSE(parsed("\"1\"").to_int64());
  CHECK(Value(HUGE_VAL).number() == "Infinity");
  CHECK(Value(-HUGE_VAL).number() == "-Infinity");
  CHECK(Value(std::nan("")).number() == "NaN");
  CHECK(parsed("-Infinity").to_double() == -HUGE_VAL);
  CHECK(std::isnan(*parsed("NaN").to_double()));
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

TEST_CASE("a list of integers is passed over as one that is read, wherever sixteen bytes end") {
  for (std::size_t lead = 0; lead < 40; ++lead) {
    const std::string front = "[" + std::string(lead, '1');
    for (const char* rest : {",2]", ",0]", ",10]", ",01]", ",00]", ",]", "]", ",,2]", ",-1]", ",1.0]", ", 2]", ",2",
                             ",\"2\"]", ",0,0]", ",0,007]"}) {
      const std::string text = front + rest;
      Reader in(text);
      CHECK_MESSAGE((in.skip() && in.finish()) == parse(text).ok(), text);
    }
  }
}

TEST_CASE("values of every kind are copied, moved and replaced by each other") {
  const char* texts[] = {"null",
                         "true",
                         "12",
                         "1.50",
                         R"("a text that is not short")",
                         R"("")",
                         R"([1,"a"])",
                         "[]",
                         R"({"a":[{"b":null}]})",
                         R"({})"};
  for (const char* from : texts) {
    for (const char* to : texts) {
      CAPTURE(from);
      CAPTURE(to);
      Value source = parsed(from);
      Value target = parsed(to);
      CHECK((source == target) == (std::string_view(from) == to));
      target = source;
      CHECK(to_compact(target) == from);
      CHECK(target.source() == source.source());
      target = parsed(to);
      target = std::move(source);
      CHECK(to_compact(target) == from);
      const Value copy(target);
      CHECK(copy == target);
      source = std::move(target);
      CHECK(to_compact(source) == from);
    }
  }
}

TEST_CASE("a value takes the place of what it is a part of") {
  Value value = parsed(R"({"a": [1, {"b": "a text that is not short"}]})");
  value = std::move(*value.find("a"));
  CHECK(to_compact(value) == R"([1,{"b":"a text that is not short"}])");
  value = value.as_array()[1];
  CHECK(to_compact(value) == R"({"b":"a text that is not short"})");
  const Value& itself = value;
  value = itself;
  CHECK(to_compact(value) == R"({"b":"a text that is not short"})");
  value = std::move(*value.find("b"));
  CHECK(to_compact(value) == R"("a text that is not short")");
  value = Value(std::move(value));
  CHECK(to_compact(value) == R"("a text that is not short")");
}

TEST_CASE("what is left of a value that was moved is empty, and of the same kind") {
  Value array = parsed("[1]");
  const Value taken(std::move(array));
  CHECK(array.as_array().empty());  // NOLINT(bugprone-use-after-move): said in the header
  array = parsed("{}");
  CHECK(array.is_object());
}

TEST_CASE("only null is null") {
  CHECK(Value().is_null());
  CHECK(!Value(0).is_null());
  CHECK(!Value("").is_null());
}

}  // namespace rondo::json
