#include "parse/partial_value.h"

#include <doctest/doctest.h>

#include "base/limits.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::parse {
namespace {

std::string after(std::string_view text) {
  PartialValue value;
  value.feed(text);
  return (value.has_begun() ? json::to_compact(value.value()) : "nothing") + (value.is_complete() ? "" : " ...") +
         (value.is_valid() ? "" : " invalid");
}

TEST_CASE("a value is there as far as it is known") {
  CHECK(after("") == "nothing ...");
  CHECK(after(" {") == "{} ...");
  CHECK(after("{\"a") == "{} ...");
  CHECK(after("{\"a\":") == "{} ...");
  CHECK(after("{\"a\": \"") == "{\"a\":\"\"} ...");
  CHECK(after("{\"a\": \"x\\") == "{\"a\":\"x\"} ...");
  CHECK(after("{\"a\": \"x\\n") == "{\"a\":\"x\\n\"} ...");
  CHECK(after("{\"a\": 12") == "{} ...");
  CHECK(after("{\"a\": 12,") == "{\"a\":12} ...");
  CHECK(after("{\"a\": [tr") == "{\"a\":[]} ...");
  CHECK(after("{\"a\": [true, {\"b\": [[") == "{\"a\":[true,{\"b\":[[]]}]} ...");
  CHECK(after("{\"a\": 1, \"a\": 2}") == "{\"a\":2}");
  CHECK(after("{\"a\": \"\\ud83d\\ude00\"}") == "{\"a\":\"\xF0\x9F\x98\x80\"}");
}

TEST_CASE("nothing is read behind what is no JSON") {
  CHECK(after("{\"a\": 1, b") == "{\"a\":1} ... invalid");
  CHECK(after("[1, 2}") == "[1,2] ... invalid");
  CHECK(after("{\"a\": nul}") == "{} ... invalid");
  CHECK(after("{} x") == "{} invalid");
  CHECK(after("\"\\x\"") == "\"\" ... invalid");
  CHECK(after(std::string(100000, '[')).ends_with("invalid"));
  // As deep as JSON may be, and then one level deeper.
  const std::string deep(static_cast<std::size_t>(limits::kJsonDepth), '[');
  CHECK(after(deep) == deep + std::string(deep.size(), ']') + " ...");
  CHECK(after(deep + "[").ends_with("invalid"));
  CHECK(json::parse(deep + std::string(deep.size(), ']')).ok());
}

TEST_CASE("a number at the top is complete when the text ends") {
  PartialValue value;
  value.feed("-1.5");
  CHECK(!value.is_complete());
  value.close();
  CHECK(value.is_complete());
  CHECK(json::to_compact(value.value()) == "-1.5");
}

TEST_CASE("what is still being written is told") {
  const auto open = [](std::string_view text) {
    PartialValue value;
    value.feed(text);
    return value.open_path().value_or("none");
  };
  CHECK(open("") == "none");
  CHECK(open("{") == "");
  CHECK(open("{\"a") == "");
  CHECK(open("{\"a\": ") == "");
  CHECK(open("{\"a\": \"x") == "/a");
  CHECK(open("{\"a\": \"x\"") == "");
  CHECK(open("{\"a\": \"x\", \"b\": 1") == "/b");
  CHECK(open("{\"b\": [") == "/b");
  CHECK(open("{\"b\": [1, tr") == "/b/1");
  CHECK(open("{\"b\": [1, {\"c/~\": {\"d\": \"") == "/b/1/c~1~0/d");
  CHECK(open("{\"a\": {}, \"b\": 1, \"a\": {\"c\": \"x") == "/a/c");
  CHECK(open("{\"a\": 1}") == "none");
  CHECK(open("\"x") == "");
  CHECK(open("12") == "");
}

TEST_CASE("a string that breaks off can be left out") {
  const auto left = [](std::string_view text) {
    PartialValue value;
    value.feed(text);
    return json::to_compact(value.without_open_text());
  };
  CHECK(left("\"x") == "null");
  CHECK(left("{\"a\": \"x") == "{}");
  CHECK(left("{\"a\": \"x\", \"b\": tr") == R"({"a":"x"})");
  CHECK(left("{\"a\": [\"x\", {\"c/~\": [\"d\", \"e") == R"({"a":["x",{"c/~":["d"]}]})");
  CHECK(left("{\"a\": 1, \"b\": 2, \"a\": \"x") == R"({"b":2})");
  CHECK(left("{\"a\": \"x\"}") == R"({"a":"x"})");
}

TEST_CASE("in any pieces it is what the whole text is") {
  const std::string text =
      R"( {"a": "x\"y\\ \u00e9 \ud83d\ude00 é", "b": [1, -2.50, 1e5, true, false, null, [], {}, [[{"c": {"d": []}}]]], "": " "} )";
  const std::string whole = json::to_compact(json::parse(text).value());
  for (std::size_t size = 1; size <= text.size(); ++size) {
    PartialValue value;
    for (std::size_t at = 0; at < text.size(); at += size) value.feed(std::string_view(text).substr(at, size));
    CHECK(value.is_complete());
    CHECK(json::to_compact(value.value()) == whole);
  }
}

}  // namespace
}  // namespace rondo::parse
