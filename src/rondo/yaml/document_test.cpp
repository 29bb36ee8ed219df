#include "yaml/document.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::yaml {
namespace {

std::string said(std::string_view text, const std::string& name) {
  const auto value = read_document(text, name);
  return value.ok() ? json::to_compact(value.value()) : value.error().to_string();
}

TEST_CASE("a document is JSON or YAML by its name, else by its first character") {
  CHECK(said("{\"a\": no}", "x.yaml") == R"({"a":"no"})");
  CHECK(said("a: 1", "x.yml") == R"({"a":1})");
  CHECK(said("a: 1", "-") == R"({"a":1})");
  CHECK(said("\n {\"a\": 1e5}", "-") == R"({"a":1e5})");
  CHECK(said("{\"a\": no}", "-").starts_with("-:1:7: "));
  CHECK(said("a: 1", "x.json").starts_with("x.json:1:1: "));
  CHECK(said("a: 1\na: 2", "x.yaml") == "x.yaml:2:1: the key `a` comes twice\n  2 | a: 2\n    | ^");
  CHECK(read_document("{", "x.json").error().code == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rondo::yaml
