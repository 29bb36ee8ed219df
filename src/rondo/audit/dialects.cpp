#include "audit/dialects.h"

#include <algorithm>
#include <array>

namespace rondo::audit {
namespace {

constexpr std::array<std::string_view, 13> kMissingFilters = {
    "center",   "filesizeformat", "forceescape", "from_json", "fromjson", "random",  "striptags",
    "truncate", "urlencode",      "urlize",      "wordcount", "wordwrap", "xmlattr",
};
// The methods of strings, dictionaries and lists that minijinja-contrib's `pycompat` adds.
constexpr std::array<std::string_view, 29> kAddedMethods = {
    "capitalize", "count",   "endswith", "find",      "format",  "get",     "isalnum", "isalpha",
    "isascii",    "isdigit", "islower",  "isnumeric", "isspace", "isupper", "items",   "join",
    "keys",       "lower",   "lstrip",   "replace",   "rfind",   "rstrip",  "split",   "splitlines",
    "startswith", "strip",   "title",    "upper",     "values",
};

template <std::size_t kCount>
bool is_in(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The engine's own `tojson` accepts `indent` only.
bool has_python_keyword(const jinja::Feature& feature) {
  return feature.name == "tojson" && std::any_of(feature.keywords.begin(), feature.keywords.end(),
                                                 [](const std::string& keyword) { return keyword != "indent"; });
}

void append_escaped(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) {
    switch (byte) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      case '\'': out += "\\u0027"; break;
      default: out += byte;
    }
  }
}

// `, ` and `: ` without their spaces.
std::string without_spaces(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == ' ' && i > 0 && (bytes[i - 1] == ',' || bytes[i - 1] == ':')) continue;
    out += bytes[i];
  }
  return out;
}

// Rewrites what Python puts around values in lists and dictionaries as JSON has it.
std::string with_json_marks(std::string_view bytes) {
  std::string out(bytes);
  for (char& byte : out) {
    if (byte == '\'') byte = '"';
    if (byte == '(') byte = '[';
    if (byte == ')') byte = ']';
  }
  return out;
}

// The string's characters as they appear between double quotes.  Python escaped only its own kind of quote, so a double
// quote that it left alone is escaped here.
std::string in_double_quotes(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\\' && i + 1 < bytes.size()) {
      if (bytes[i + 1] != '\'') out += bytes[i];
      out += bytes[++i];
      continue;
    }
    if (bytes[i] == '"') out += '\\';
    out += bytes[i];
  }
  return out;
}

}  // namespace

std::string in_dialect(const jinja::Rendered& rendered, const Dialect& dialect, bool own_json) {
  const text::ChainTable& chains = rendered.origins.chains;
  const std::string_view text = rendered.text.bytes();
  // With an indent, both engines write the same spaces.
  const auto is_line = [&](const text::Run& run, std::string_view bytes) {
    return run.kind == text::RunKind::kSerialiser && bytes.find('\n') != std::string_view::npos;
  };
  std::vector<std::uint16_t> indented;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (is_line(run, text.substr(at, run.size))) indented.push_back(run.expression);
    at += run.size;
  }
  std::string out;
  at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::string_view bytes = text.substr(at, run.size);
    at += run.size;
    const bool is_structure = run.kind == text::RunKind::kSerialiser;
    const bool is_indented = std::find(indented.begin(), indented.end(), run.expression) != indented.end();
    if (dialect.json_lists && chains.contains(run.chain, "pyrepr")) {
      out += is_structure ? with_json_marks(bytes) : in_double_quotes(bytes);
    } else if (own_json && chains.contains(run.chain, "json")) {
      if (is_structure && dialect.compact_json && !is_indented) {
        out += without_spaces(bytes);
      } else {
        append_escaped(out, bytes);
      }
    } else {
      out += bytes;
    }
  }
  return out;
}

std::string lacking(const jinja::Feature& feature) {
  switch (feature.kind) {
    case jinja::Feature::Kind::kStatement: return feature.name == "generation" ? "`{% generation %}`" : "";
    case jinja::Feature::Kind::kFilter:
      if (is_in(kMissingFilters, feature.name)) return "filter `" + feature.name + "`";
      // Python returns 0.
      if ((feature.name == "int" || feature.name == "float") && !feature.has_arguments)
        return "`" + feature.name + "` of text that is no number";
      return "";
    case jinja::Feature::Kind::kTest: return feature.name == "callable" ? "test `callable`" : "";
    case jinja::Feature::Kind::kMethod:
      return is_in(kAddedMethods, feature.name) ? "" : "method `" + feature.name + "`";
    case jinja::Feature::Kind::kPercent: return "`%` behind a string";
  }
  return "";
}

const jinja::Feature* length_of_none(const std::vector<jinja::Feature>& features) {
  for (const jinja::Feature& test : features) {
    const bool may_be_none = test.subject == "tools" || test.subject == "documents";
    if (test.kind != jinja::Feature::Kind::kTest || test.name != "iterable" || !may_be_none) continue;
    for (const jinja::Feature& filter : features) {
      const bool is_length =
          filter.kind == jinja::Feature::Kind::kFilter && (filter.name == "length" || filter.name == "count");
      if (is_length && filter.subject == test.subject && filter.place.line == test.place.line) return &test;
    }
  }
  return nullptr;
}

std::string to_be_added(const jinja::Feature& feature) {
  if (feature.kind == jinja::Feature::Kind::kMethod && is_in(kAddedMethods, feature.name))
    return "method `" + feature.name + "`";
  if (feature.kind != jinja::Feature::Kind::kFilter || !has_python_keyword(feature)) return "";
  for (const std::string& keyword : feature.keywords) {
    if (keyword != "indent") return "`tojson` with `" + keyword + "`";
  }
  return "";
}

}  // namespace rondo::audit
