// Hostile templates: tests/golden/limits/*.txt, one case in each.  Every one must end with the recorded error, and the
// same template a little below the limit (section `under`) must render.  RONDO_UPDATE=1 rewrites the errors.
//
// A template is given as it is (`template`) or in `pieces`, a list of [text, count].  `limits` names the limits that are
// not the default; renders are lenient unless `strict` is there.  Nothing here asserts a time.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "jinja/template.h"
#include "json/parse.h"
#include "tests/support/sections.h"

namespace rondo {
namespace {

json::Value parsed(const std::string* text) {
  auto value = json::parse(text != nullptr ? *text : "{}");
  REQUIRE_MESSAGE(value.ok(), value.error().to_string());
  return std::move(value).value();
}

std::string source_of(const test::Sections& item, const std::string& prefix) {
  if (const std::string* source = item.find(prefix + "template")) return *source;
  std::string out;
  const json::Value pieces = parsed(item.find(prefix + "pieces"));
  for (const json::Value& piece : pieces.as_array()) {
    for (std::int64_t i = 0; i < piece.as_array()[1].to_int64().value_or(0); ++i)
      out += piece.as_array()[0].as_string();
  }
  return out;
}

jinja::RenderOptions options_of(const test::Sections& item) {
  jinja::RenderOptions options;
  options.strict = item.find("strict") != nullptr;
  options.now = jinja::LocalTime{2024, 2, 29, 13, 5, 9};
  const json::Value limits = parsed(item.find("limits"));
  const auto take = [&](const char* name, auto& field) {
    if (const json::Value* value = limits.find(name)) {
      field = static_cast<std::remove_reference_t<decltype(field)>>(value->to_int64().value_or(0));
    }
  };
  take("instructions", options.limits.instructions);
  take("instructions_per_element", options.limits.instructions_per_element);
  take("depth", options.limits.depth);
  take("output_bytes", options.limits.output_bytes);
  take("memory_bytes", options.limits.memory_bytes);
  take("iterations", options.limits.iterations);
  return options;
}

// The error, without the line of code (it may be a megabyte long); nothing if the template renders.
std::optional<std::string> error_of(const test::Sections& item, const std::string& source) {
  const auto shown = [](Error error) {
    error.line_text.clear();
    // Where the fuel or the memory ends changes with every instruction saved.
    for (const char* spent : {"template runs more than", "template needs more than"}) {
      if (error.message.starts_with(spent)) error.line = 0;
    }
    return std::string(to_string(error.code)) + "\n" + error.to_string();
  };
  const auto compiled = jinja::Template::compile(source, {}, "template");
  if (!compiled.ok()) return shown(compiled.error());
  const json::Value variables = parsed(item.find("variables"));
  const auto rendered = compiled.value()->render(variables.as_object(), options_of(item));
  if (!rendered.ok()) return shown(rendered.error());
  CHECK_FALSE(rendered.value().text.verify(rendered.value().origins).has_value());
  return std::nullopt;
}

}  // namespace

TEST_CASE("jinja limits: goldens") {
  for (test::GoldenFile& file : test::golden_files(RONDO_SOURCE_DIR "/tests/golden/limits", "")) {
    CAPTURE(file.path);
    REQUIRE(file.cases.size() == 1);
    test::Sections& item = file.cases[0];
    const std::optional<std::string> error = error_of(item, source_of(item, ""));
    CHECK(error.has_value());
    if (!error) continue;
    if (test::updating()) {
      item.set("error", *error);
      test::write_golden(file);
    } else {
      const std::string* want = item.find("error");
      REQUIRE(want != nullptr);
      CHECK(*error == *want);
    }
    if (item.find("under template") == nullptr && item.find("under pieces") == nullptr) continue;
    CHECK(error_of(item, source_of(item, "under ")).value_or("renders") == "renders");
  }
}

}  // namespace rondo
