#include "toml/read.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::toml {
namespace {

std::string json_of(std::string_view text) {
  const auto value = read(text, "x.toml");
  return value.ok() ? json::to_compact(value.value()) : value.error().to_string();
}

TEST_CASE("toml: values are those of JSON") {
  CHECK(json_of("") == "{}");
  CHECK(json_of("a = 1\nb = [true, \"x\\n\", 1.5]\n[c.d]\ne = {f = 1}\n[[g]]\nh = 1\n[[g]]\n") ==
        R"({"a":1,"b":[true,"x\n",1.5],"c":{"d":{"e":{"f":1}}},"g":[{"h":1},{}]})");
  CHECK(json_of("day = 2026-03-14\n") == R"({"day":"2026-03-14"})");
}

TEST_CASE("toml: what is wrong has its place") {
  CHECK(json_of("a = 1\nb = \n").starts_with("x.toml:2:"));
  CHECK(json_of("a = 1\na = 2\n").starts_with("x.toml:2:"));
  CHECK(json_of("a = [1,\n     inf]\n").starts_with("x.toml:2:6: a number must be finite"));
  CHECK(json_of("a = \"\xff\"\n").starts_with("x.toml:1:"));
}

TEST_CASE("toml: a fault shows its own line, with the caret below it") {
  CHECK(json_of("a = 1\nb = inf\nc = 2\n") == "x.toml:2:5: a number must be finite\n  2 | b = inf\n    |     ^");
  CHECK(json_of("b = inf\nc = 2\n") == "x.toml:1:5: a number must be finite\n  1 | b = inf\n    |     ^");
}

TEST_CASE("toml: letters of several bytes in front of a fault count as one each in its line") {
  CHECK(json_of("a = 1\n\"été\" = inf\n").starts_with("x.toml:2:9: "));
}

TEST_CASE("toml: the place of a value is that of its key, and its own") {
  const std::string text = "a = 1\n[b]\n  key = [\"x\", 22]\n";
  const auto value = read(text, "x.toml");
  CHECK(value.value().source().begin == 0);
  const json::Value& list = *value.value().find("b")->find("key");
  CHECK(text.substr(list.source().begin, 3) == "key");
  CHECK(text.substr(list.source().end, 1) == "[");
  CHECK(text.substr(list.as_array()[1].source().begin, 2) == "22");
}

}  // namespace
}  // namespace rondo::toml
