#include "yaml/read.h"

#include <doctest/doctest.h>

#include <string>

#include "json/print.h"
#include "yaml/scalars.h"

namespace rondo::yaml {
namespace {

std::string said(std::string_view text) {
  const auto value = read(text);
  return value.ok() ? json::to_compact(value.value()) : value.error().to_string();
}

// The first line of the error.
std::string wrong(std::string_view text, const Limits& limits = {}) {
  const auto value = read(text, limits);
  if (value.ok()) return json::to_compact(value.value());
  const std::string told = value.error().to_string();
  return told.substr(0, told.find('\n'));
}

TEST_CASE("plain scalars are what the core schema says, and only that") {
  CHECK(said("[null, Null, ~, '', {a: }]") == R"([null,null,null,"",{"a":null}])");
  CHECK(said("[true, False, TRUE]") == "[true,false,true]");
  CHECK(said("[no, off, y, yes, on]") == R"(["no","off","y","yes","on"])");
  CHECK(said("[0, 007, +3, -12, 0x1F, 0o17]") == "[0,7,3,-12,31,15]");
  CHECK(said("[1.0, 1e5, .5, 1., -.5E-3, +1.25, 00.5]") == "[1.0,1e5,0.5,1.0,-0.5E-3,1.25,0.5]");
  CHECK(said("[1_000, 12:30, 0x, 0o8, 1e, ., -, 2026-03-14, 0b1]") ==
        R"(["1_000","12:30","0x","0o8","1e",".","-","2026-03-14","0b1"])");
  CHECK(said("[123456789012345678901234567890, 0xFFFFFFFFFFFFFFFF, 0x10000000000000000]") ==
        R"([123456789012345678901234567890,18446744073709551615,"0x10000000000000000"])");
  CHECK(said("[.inf, -.Inf, .nan]") == "[Infinity,-Infinity,NaN]");
  CHECK(said("[!!float .inf, !!float .nan]") == "[Infinity,NaN]");
  CHECK(wrong("a: !!int .nan").starts_with("line 1:4: the tag "));
  CHECK(said("['no', \"12\", 'null']") == R"(["no","12","null"])");
}

TEST_CASE("numbers are whole ones or floats as they are written") {
  for (const char* text : {"12", "-7", "0x1F", "0o17"})
    CHECK_MESSAGE(read(text).value().kind() == json::Kind::kInteger, text);
  for (const char* text : {"1.0", "1e5", ".5", ".nan", "-.inf"})
    CHECK_MESSAGE(read(text).value().kind() == json::Kind::kFloat, text);
}

TEST_CASE("texts keep their lines as their style says") {
  CHECK(said("a: |\n  one\n  two\nb: |-\n  one\nc: >\n  one\n  two\n") ==
        R"({"a":"one\ntwo\n","b":"one","c":"one two\n"})");
  CHECK(said("\"\\u00e9\\n\\x1b\"") == "\"é\\n\\u001b\"");
  CHECK(said("  # a comment\nkey: text  # another\n") == R"({"key":"text"})");
}

TEST_CASE("questions and addresses stand in lists and mappings on one line") {
  CHECK(said("{role: user, content: And now?}") == R"({"role":"user","content":"And now?"})");
  CHECK(said("[what? yes, http://x.y/?a=b, a:b, 12:30]") == R"(["what? yes","http://x.y/?a=b","a:b","12:30"])");
  CHECK(said("a: one\r\nb: two\r\n") == R"({"a":"one","b":"two"})");
  CHECK(wrong("a: one\xC2\x85") == "line 1:7: this character must be written as an escape in double quotes");
}

TEST_CASE("tags of the core schema are known") {
  CHECK(said("[!!str 12, !!int '12', !!float 1.5, !!bool 'true', !!null '', !!seq [1], !!map {a: 1}, ! 12]") ==
        R"(["12",12,1.5,true,null,[1],{"a":1},"12"])");
  CHECK(wrong("a: !thing x").starts_with("line 1:4: the tag `!thing` does not fit here"));
  CHECK(wrong("a: !!int x").starts_with("line 1:4: the tag "));
  CHECK(wrong("a: !!map [1]").starts_with("line 1:4: the tag "));
  CHECK(wrong("a: !!null x").starts_with("line 1:4: the tag "));
  CHECK(said("a: !!null ~") == R"({"a":null})");
  CHECK(wrong("a: !!binary aGk=").starts_with("line 1:4: the tag "));
}

TEST_CASE("an alias is its value again, also as a key") {
  CHECK(said("a: &x [1, 2]\nb: *x\nc: &y {k: *x}\nd: *y") ==
        R"({"a":[1,2],"b":[1,2],"c":{"k":[1,2]},"d":{"k":[1,2]}})");
  CHECK(said("a: &x name\n*x : 1") == R"({"a":"name","name":1})");
  CHECK(said("<<: {a: 1}\nb: 2") == R"({"<<":{"a":1},"b":2})");
  CHECK(wrong("a: *nobody") == "line 1:4: no value before this is called `nobody`");
  CHECK(wrong("a: &x [*x]") == "line 1:8: no value before this is called `x`");
}

TEST_CASE("what JSON cannot say, and what comes twice, is an error with its place") {
  CHECK(wrong("a: 1\nb: 2\na: 3") == "line 3:1: the key `a` comes twice");
  CHECK(wrong("- x: 1\n  ? [1]\n  : 2") == "line 2:5: a key must be a text, not a mapping or list");
  CHECK(wrong("null: 1") == "line 1:1: a key must be a text");
  CHECK(wrong("a: 1\n---\nb: 2") == "line 2:1: there is a second document");
  CHECK(wrong("") == "line 1:1: the document is empty");
  CHECK(wrong("# nothing\n") == "line 1:1: the document is empty");
  CHECK(wrong("a: [1, 2").starts_with("line 1:"));
  CHECK(wrong("a: 'x\n").starts_with("line "));
  CHECK(wrong("a: b: c").starts_with("line 1:"));
  CHECK(wrong("a:\n\t- x").starts_with("line 2:"));
  CHECK(wrong("a: \xFF") == "line 1:4: the text is not UTF-8");
  CHECK(wrong("a: 1\nb: x\x04y") == "line 2:5: this character must be written as an escape in double quotes");
  CHECK(read("1: x").value().find("1") != nullptr);
}

TEST_CASE("a place in front of the last one is found from the begin") {
  CHECK(wrong("\xC3\xA9: [\xC3\xA9, \xC3\xA9]\nb: [1, 2\nc: 3").starts_with("line "));
  CHECK(wrong("\x01") == "line 1:1: this character must be written as an escape in double quotes");
}

TEST_CASE("a few lines of aliases of aliases are refused") {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) text += ", " + before;
    text += "]\n";
  }
  CHECK(wrong(text).find("with its aliases the document is too large") != std::string::npos);
  CHECK(read(text).error().code == ErrorCode::kLimit);
  CHECK(wrong("a: &x xxxxxxxxxx\nb: [*x, *x, *x]", {.bytes = 30}).find("too large") != std::string::npos);
  CHECK(said("a: &x xxxxxxxxxx\nb: [*x, *x, *x]").size() > 40);
}

TEST_CASE("nesting has a limit") {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    CAPTURE(open);
    CHECK_FALSE(read(deep).ok());
  }
  CHECK(read("[[[[1]]]]", {.depth = 4}).ok());
  CHECK(wrong("[[[[1]]]]", {.depth = 3}) == "line 1:4: more than 3 mappings and lists are nested in each other");
}

TEST_CASE("a long line of many values is read like many lines") {
  std::string text = "[é";
  for (int i = 0; i < 60'000; ++i) text += ", é";
  text += "]";
  const auto value = read(text);
  REQUIRE(value.ok());
  CHECK(value.value().as_array().size() == 60'001);
  CHECK(text.substr(value.value().as_array().back().source().begin) == "é]");
}

TEST_CASE("values know where they begin, behind a byte order mark too") {
  const std::string text =
      "\xEF\xBB\xBF"
      "é: x\nlist:\n  - one\n  - key: \"two\"\n";
  const auto value = read(text);
  REQUIRE(value.ok());
  const auto at = [&](const json::Value& one) { return text.substr(one.source().begin, 3); };
  CHECK(at(*value.value().find("é")) == "x\nl");
  const json::Array& list = value.value().find("list")->as_array();
  CHECK(at(list[0]) == "one");
  CHECK(at(*list[1].find("key")) == "\"tw");
}

TEST_CASE("scalars are read apart from the syntax too") {
  CHECK(integer_of("-0")->text == "-0");
  CHECK_FALSE(integer_of("").has_value());
  CHECK_FALSE(integer_of("+").has_value());
  CHECK_FALSE(float_of("e5").has_value());
  CHECK_FALSE(float_of("1.5x").has_value());
  CHECK_FALSE(float_of("--1.5").has_value());
  CHECK(float_of("1e+3")->text == "1e+3");
}

}  // namespace
}  // namespace rondo::yaml
