// The language against recorded results of the reference (tests/golden/jinja/language.json), and what the template
// facade reports about a template.
#include <doctest/doctest.h>
#include <string>

#include "base/files.h"
#include "jinja/common/options.h"
#include "jinja/template.h"
#include "jinja/value/object.h"
#include "json/parse.h"

namespace rondo::jinja {
namespace {

Result<Rendered> render(const std::string& source, const json::Object& variables, bool strict = true) {
  const auto compiled = Template::compile(source, {}, "test");
  if (!compiled.ok()) return compiled.error();
  RenderOptions options;
  options.strict = strict;
  return compiled.value()->render(variables, options);
}

// How the case differs from the recorded result; "" if it does not.
std::string difference(const json::Value& item, const Result<Rendered>& got) {
  if (const auto text = item.find_string("text")) {
    if (!got.ok()) return got.error().to_string();
    if (got.value().text.bytes() != *text) return "wrote " + text::quoted(got.value().text.bytes());
    if (const auto broken = got.value().text.verify(got.value().origins)) return *broken;
    return {};
  }
  if (got.ok()) return "wrote " + text::quoted(got.value().text.bytes()) + " instead of raising";
  const Error& error = got.error();
  // If our message differs on purpose, the case says so.
  const auto ours = item.find_string("ours");
  const std::string want(ours ? *ours : *item.find_string("message"));
  if (error.message != want) return "said " + text::quoted(error.message) + ", not " + text::quoted(want);
  const json::Value* line = item.find("line");
  if (line != nullptr && !line->is_null() && line->number() != std::to_string(error.line)) {
    return "line " + std::to_string(error.line) + ", not " + line->number();
  }
  return {};
}

}  // namespace

TEST_CASE("language: recorded results") {
  const auto file = files::read(RONDO_SOURCE_DIR "/tests/golden/jinja/language.json");
  REQUIRE(file.ok());
  const auto golden = json::parse(file.value());
  REQUIRE_MESSAGE(golden.ok(), golden.error().to_string());
  const json::Object& variables = golden.value().find("variables")->as_object();
  for (const json::Value& item : golden.value().find("cases")->as_array()) {
    const std::string source(*item.find_string("template"));
    const std::string different = difference(item, render(source, variables));
    CHECK_MESSAGE(different.empty(), source << "\n  " << different);
  }
}

}  // namespace rondo::jinja
