#include "origin_law.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace rondo::test {
namespace {

using text::PathTable;
using text::RunKind;

// The place in the input that a path names; nullptr for keys and for parts of parsed strings.
const json::Value* at_path(const PathTable& paths, text::PathId path, const json::Object& variables) {
  if (paths.step_kind(path) == PathTable::StepKind::kVariable) return variables.find(paths.step_name(path));
  const json::Value* parent = at_path(paths, paths.parent(path), variables);
  if (parent == nullptr) return nullptr;
  if (paths.step_kind(path) == PathTable::StepKind::kMember) return parent->find(paths.step_name(path));
  const bool element = paths.step_kind(path) == PathTable::StepKind::kIndex && parent->is_array();
  if (!element || paths.step_index(path) >= parent->as_array().size()) return nullptr;
  return &parent->as_array()[paths.step_index(path)];
}

// What an expression over `x` makes of a value.  The engine's own operations are held against the reference elsewhere.
std::string evaluated(const std::string& expression, const json::Value& x) {
  static std::map<std::string, std::shared_ptr<const jinja::Template>> compiled;
  std::shared_ptr<const jinja::Template>& known = compiled[expression];
  if (known == nullptr) known = jinja::Template::compile("{{ " + expression + " }}", {}, "step").value();
  json::Object variables;
  variables.set("x", x);
  const auto rendered = known->render(variables, {});
  return rendered.ok() ? rendered.value().text.bytes() : "error " + rendered.error().message;
}

bool is_case_mapping(const std::string& step) {
  return step == "upper" || step == "lower" || step == "swapcase" || step == "casefold";
}

std::string through(const std::vector<std::string>& chain, std::string bytes) {
  for (const std::string& step : chain) {
    if (is_case_mapping(step)) bytes = evaluated("x." + step + "()", json::Value(bytes));
  }
  return bytes;
}

std::string unquoted(const std::string& quoted) { return quoted.substr(1, quoted.size() - 2); }

// What one step may make of a piece of text.
std::vector<std::string> step_images(const std::string& step, const std::string& text) {
  const json::Value x(text);
  // A capital sigma at the end of a word has a small form of its own.
  if (is_case_mapping(step)) {
    return {evaluated("x." + step + "()", x), evaluated("('a' ~ x)." + step + "()[1:]", x)};
  }
  if (step == "html") return {evaluated("x | forceescape", x)};
  if (step == "urlencode") return {evaluated("x | urlencode", x), evaluated("[('', x)] | urlencode", x).substr(1)};
  if (step == "json") {
    return {unquoted(evaluated("x | tojson", x)), unquoted(evaluated("x | tojson(ensure_ascii=true)", x))};
  }
  if (step == "pyrepr") {
    // The quote depends on the whole string: with both in it, Python takes ' and escapes it.
    const std::string both = unquoted(evaluated("'%r' % (x ~ '\"\\'')", x));
    return {unquoted(evaluated("'%r' % x", x)), both.substr(0, both.size() - 3)};
  }
  return {text};
}

// Every text that the steps of the chain may make of the bytes; nothing if one of them cannot be redone.
std::optional<std::vector<std::string>> escapes(const std::vector<std::string>& chain, const std::string& bytes) {
  static constexpr std::string_view kOpaque[] = {"replace",    "translate", "expandtabs", "title",
                                                 "capitalize", "indent",    "unescape"};
  std::vector<std::string> out = {bytes};
  for (const std::string& step : chain) {
    const bool opaque = std::any_of(std::begin(kOpaque), std::end(kOpaque),
                                    [&](std::string_view name) { return step.starts_with(name); });
    if (opaque) return std::nullopt;
    const bool rewrites = step == "html" || step == "urlencode" || step == "json" || step == "pyrepr";
    // A step equal to the last one is not recorded twice, although the text was rewritten again.
    std::vector<std::string> images;
    for (int times = rewrites ? 2 : 1; times > 0; --times) {
      std::vector<std::string> next;
      for (const std::string& text : out) {
        const std::vector<std::string> more = step_images(step, text);
        next.insert(next.end(), more.begin(), more.end());
      }
      images.insert(images.end(), next.begin(), next.end());
      out = std::move(next);
    }
    out = std::move(images);
  }
  return out;
}

std::string broken_string(const jinja::Rendered& rendered, const text::Run& run, const std::string& bytes,
                          const json::Object& variables) {
  const PathTable& paths = rendered.origins.paths;
  const std::string place = paths.to_string(run.path());
  const bool key = paths.step_kind(run.path()) == PathTable::StepKind::kKey;
  const json::Value* source = key ? nullptr : at_path(paths, run.path(), variables);
  if (!key && (source == nullptr || !source->is_string())) return "no string at " + place;
  const std::string text = key ? std::string(paths.step_name(run.path())) : source->as_string();
  if (std::size_t{run.source_offset} + run.source_size > text.size()) return "source beyond the end of " + place;
  const std::string piece = text.substr(run.source_offset, run.source_size);
  const std::vector<std::string> chain = rendered.origins.chains.steps(run.chain);
  bool holds = true;
  if (run.kind == RunKind::kData) {
    holds = run.source_size == run.size && through(chain, piece) == bytes;
  } else if (const auto made = escapes(chain, piece)) {
    holds = std::any_of(made->begin(), made->end(),
                        [&](const std::string& whole) { return whole.find(bytes) != std::string::npos; });
  }
  if (holds) return {};
  return text::quoted(piece) + " of " + place + " became " + text::quoted(bytes) + " via " +
         rendered.origins.chains.to_string(run.chain);
}

std::string broken_scalar(const jinja::Rendered& rendered, const text::Run& run, const std::string& bytes,
                          const json::Object& variables) {
  const std::string place = rendered.origins.paths.to_string(run.path());
  const json::Value* value = at_path(rendered.origins.paths, run.path(), variables);
  if (value == nullptr) return {};  // a key that is a number, or part of a parsed string
  if (value->is_string() || value->is_array() || value->is_object()) return "no scalar at " + place;
  const std::vector<std::string> chain = rendered.origins.chains.steps(run.chain);
  const bool formatted = std::find(chain.begin(), chain.end(), "format") != chain.end();
  const bool json = !chain.empty() && chain.front() == "json";  // not printed as Python does and then put into JSON
  // Later cuts and case mappings leave part of it.
  const std::string whole = through(chain, evaluated(json ? "x | tojson" : "x", *value));
  if (formatted || whole.find(bytes) != std::string::npos) return {};
  return place + " is " + text::quoted(whole) + ", not " + text::quoted(bytes);
}

}  // namespace

std::string broken_origin(const jinja::Rendered& rendered, const json::Object& variables) {
  if (const auto broken = rendered.text.verify(rendered.origins)) return *broken;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::string bytes = rendered.text.bytes().substr(at, run.size);
    at += run.size;
    std::string broken;
    if (run.kind == RunKind::kData || run.kind == RunKind::kEscaped) {
      broken = broken_string(rendered, run, bytes, variables);
    } else if (run.kind == RunKind::kScalar && run.path() != text::PathId::kNone) {
      broken = broken_scalar(rendered, run, bytes, variables);
    }
    if (!broken.empty()) return broken;
  }
  return {};
}

std::string whole_difference(const jinja::Template& compiled, const json::Object& variables,
                             const jinja::RenderOptions& options, const Result<jinja::Rendered>& rendered) {
  jinja::RenderOptions whole_options = options;
  whole_options.whole_dumps = true;
  Result<jinja::Rendered> whole = compiled.render(variables, whole_options);
  if (rendered.ok() != whole.ok()) return "one of the two fails";
  if (!rendered.ok()) {
    return rendered.error().to_string() == whole.error().to_string() ? "" : "other error: " + whole.error().to_string();
  }
  const jinja::Rendered& left = rendered.value();
  jinja::Rendered& right = whole.value();
  if (left.text.bytes() != right.text.bytes()) return "other bytes";
  if (const auto broken = right.text.verify(right.origins)) return "while whole: " + *broken;
  right.take_dumps_apart();
  if (right.text.has_dumps()) return "dumps are left";
  if (const auto broken = right.text.verify(right.origins)) return "taken apart: " + *broken;
  const std::string parts = left.text.to_string(left.origins);
  const std::string apart = right.text.to_string(right.origins);
  if (parts != apart) {
    const auto at = std::mismatch(parts.begin(), parts.end(), apart.begin(), apart.end()).first - parts.begin();
    const std::size_t line = parts.rfind('\n', static_cast<std::size_t>(at)) + 1;
    return "other runs:\n" + parts.substr(line, 400) + "\nbut taken apart:\n" + apart.substr(line, 400);
  }
  for (std::size_t i = 0; i < left.text.runs().size(); ++i) {
    if (left.text.runs()[i].expression != right.text.runs()[i].expression) return "another expression wrote a run";
  }
  const auto logs = [](const jinja::Rendered& from) {
    std::string out;
    for (const jinja::Decision& decision : from.decisions) {
      out += std::to_string(decision.node) + (decision.outcome ? "+" : "-");
    }
    for (const jinja::Strip& strip : from.strips) {
      out += from.origins.paths.to_string(strip.path) + std::to_string(strip.begin) + "-" + std::to_string(strip.end);
    }
    for (const jinja::Probe& probe : from.probes) out += probe.constant + from.origins.paths.to_string(probe.path);
    return out;
  };
  return logs(left) == logs(right) ? "" : "other decisions, strips or probes";
}

}  // namespace rondo::test
