// Values, operators, methods, filters, tests and globals: against recorded answers of the reference, and by laws.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "jinja/operations.h"
#include "jinja/runtime.h"
#include "jinja/template.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::jinja {
namespace {

constexpr const char* kData = RONDO_SOURCE_DIR "/src/rondo/jinja/testdata/";

json::Value read_json(const std::string& name) {
  const auto file = files::read(kData + name);
  REQUIRE(file.ok());
  auto value = json::parse(file.value());
  REQUIRE(value.ok());
  return std::move(value).value();
}

Result<Rendered> render(const std::string& source, const json::Value& variables, bool strict) {
  const auto compiled = Template::compile(source, {}, "row");
  if (!compiled.ok()) return compiled.error();
  RenderOptions options;
  options.strict = strict;
  options.now = LocalTime{2024, 2, 29, 13, 5, 9};
  return compiled.value()->render(variables.as_object(), options);
}

std::string answer(const std::string& source, const json::Value& variables, bool strict = true) {
  const bool whole = source.starts_with("{%");
  const Result<Rendered> got = render(whole ? source : "{{ " + source + " }}", variables, strict);
  if (!got.ok()) return "error " + got.error().message;
  if (const auto broken = got.value().text.verify(got.value().origins)) return "broken " + *broken;
  return json::to_compact(json::Value(got.value().text.bytes()));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The place in the input that a path names; nullptr for keys and for parts of parsed strings.
const json::Value* at_path(const text::PathTable& paths, text::PathId path, const json::Value& variables) {
  using StepKind = text::PathTable::StepKind;
  if (paths.step_kind(path) == StepKind::kVariable) return variables.find(paths.step_name(path));
  const json::Value* parent = at_path(paths, paths.parent(path), variables);
  if (parent == nullptr) return nullptr;
  if (paths.step_kind(path) == StepKind::kMember) return parent->find(paths.step_name(path));
  const bool element = paths.step_kind(path) == StepKind::kIndex && parent->is_array();
  return element && paths.step_index(path) < parent->as_array().size() ? &parent->as_array()[paths.step_index(path)]
                                                                       : nullptr;
}

// The bytes that a chain of transformations makes of a piece of input text that is still data.
std::string through(const std::vector<std::string>& chain, std::string bytes) {
  json::Object variables;
  for (const std::string& step : chain) {
    if (step != "upper" && step != "lower" && step != "swapcase" && step != "casefold") continue;
    variables.set("x", json::Value(bytes));
    const auto compiled = Template::compile("{{ x." + step + "() }}", {}, "step");
    bytes = compiled.value()->render(variables, {}).value().text.bytes();
  }
  return bytes;
}

// The law of data runs: the source they name, passed through their chain, is what they say.
std::string broken_origin(const Rendered& rendered, const json::Value& variables) {
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::string bytes = rendered.text.bytes().substr(at, run.size);
    at += run.size;
    if (run.kind != text::RunKind::kData && run.kind != text::RunKind::kEscaped) continue;
    const text::PathTable& paths = rendered.origins.paths;
    const bool key = paths.step_kind(run.path()) == text::PathTable::StepKind::kKey;
    const json::Value* source = key ? nullptr : at_path(paths, run.path(), variables);
    if (!key && (source == nullptr || !source->is_string())) return "no string at " + paths.to_string(run.path());
    const std::string text = key ? std::string(paths.step_name(run.path())) : source->as_string();
    if (run.source_offset + run.source_size > text.size())
      return "source beyond the end of " + paths.to_string(run.path());
    if (run.kind == text::RunKind::kEscaped) continue;
    const std::string piece = text.substr(run.source_offset, run.source_size);
    if (through(rendered.origins.chains.steps(run.chain), piece) != bytes) {
      return text::quoted(piece) + " of " + paths.to_string(run.path()) + " became " + text::quoted(bytes) + " via " +
             rendered.origins.chains.to_string(run.chain);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("values: recorded answers of the reference") {
  const json::Value variables = read_json("variables.json");
  const auto file = files::read(std::string(kData) + "expressions.txt");
  REQUIRE(file.ok());
  int rows = 0;
  for (const std::string& line : lines_of(file.value())) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || line[0] == '#') continue;
    const std::string source = line.substr(0, tab);
    const std::string got = answer(source, variables);
    const std::string want = line.substr(tab + 1);
    const bool same = want == got || (want.starts_with("error") && got.starts_with("error"));
    CHECK_MESSAGE(same, source << "\n  got  " << got << "\n  want " << want);
    if (same && want != got) MESSAGE(source << "\n  got  " << got << "\n  want " << want);
    ++rows;
  }
  CHECK(rows > 1000);
}

TEST_CASE("values: data runs name their source") {
  const json::Value variables = read_json("variables.json");
  const auto file = files::read(std::string(kData) + "expressions.txt");
  REQUIRE(file.ok());
  for (const std::string& line : lines_of(file.value())) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || line[0] == '#') continue;
    const std::string source = line.substr(0, tab);
    const auto rendered = render(source.starts_with("{%") ? source : "{{ " + source + " }}", variables, true);
    if (!rendered.ok()) continue;
    const std::string broken = broken_origin(rendered.value(), variables);
    CHECK_MESSAGE(broken.empty(), source << "\n  " << broken);
  }
}

}  // namespace rondo::jinja
