// What templates that fail say: tests/golden/jinja/err_*.txt, byte for byte with code frame and call trail, and beside
// it what the reference said (recorded by tools/recorders/jinja_errors.py).  RONDO_UPDATE=1 rewrites our side.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "jinja/template.h"
#include "json/parse.h"
#include "tests/support/sections.h"

namespace rondo {
namespace {

// What the reference said: "UndefinedError: 'x' is undefined", "TemplateSyntaxError at line 2: ...", or "text: ..." if it
// did not fail.
struct Reference {
  bool failed = false;
  int line = 0;  // 0 if it named none
  std::string message;
};

Reference parse_reference(const std::string& text) {
  Reference out;
  const std::size_t colon = text.find(": ");
  REQUIRE_MESSAGE(colon != std::string::npos, text);
  const std::string head = text.substr(0, colon);
  out.message = text.substr(colon + 2);
  out.failed = head != "text";
  if (const std::size_t at = head.find(" at line "); at != std::string::npos) out.line = std::stoi(head.substr(at + 9));
  return out;
}

std::optional<Error> failure_of(const test::GoldenFile& file, const test::Sections& item) {
  const auto compiled = jinja::Template::compile(*item.find("template"), {}, "template");
  if (!compiled.ok()) return compiled.error();
  const std::string* own = item.find("variables");
  const std::string* variables = own != nullptr ? own : file.shared.find("variables");
  const auto parsed = json::parse(variables != nullptr ? *variables : "{}");
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
  jinja::RenderOptions options;
  options.strict = true;
  options.now = jinja::LocalTime{2024, 2, 29, 13, 5, 9};
  const auto rendered = compiled.value()->render(parsed.value().as_object(), options);
  if (!rendered.ok()) return rendered.error();
  return std::nullopt;
}

// A case says why where ours differs from the reference, and only there.
void check_against_reference(const test::Sections& item, const Error& error) {
  const std::string* recorded = item.find("reference");
  REQUIRE(recorded != nullptr);
  const Reference reference = parse_reference(*recorded);
  const bool same =
      reference.failed && error.message == reference.message && (reference.line == 0 || error.line == reference.line);
  CHECK_MESSAGE(same == (item.find("differs") == nullptr),
                *item.find("template") << "\n  ours      " << error.message << "\n  reference " << *recorded);
}

}  // namespace

TEST_CASE("jinja errors: goldens") {
  for (test::GoldenFile& file : test::golden_files(RONDO_SOURCE_DIR "/tests/golden/jinja", "err_")) {
    for (test::Sections& item : file.cases) {
      const std::string& source = *item.find("template");
      const std::optional<Error> error = failure_of(file, item);
      CHECK_MESSAGE(error.has_value(), file.path << ": does not fail: " << source);
      if (!error) continue;
      const std::string got = std::string(to_string(error->code)) + "\n" + error->to_string();
      check_against_reference(item, *error);
      if (test::updating()) {
        item.set("error", got);
      } else {
        const std::string* want = item.find("error");
        CHECK_MESSAGE((want != nullptr && *want == got), file.path << ": " << source << "\n" << got);
      }
    }
    if (test::updating()) test::write_golden(file);
  }
}

}  // namespace rondo
