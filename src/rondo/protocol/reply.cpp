#include "protocol/reply.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printing.h"
#include "base/utf8.h"
#include "core/places.h"

namespace rondo::protocol {
namespace {

bool is_template_error(ErrorCode code) {
  return code == ErrorCode::kTemplateSyntax || code == ErrorCode::kTemplateRaised ||
         code == ErrorCode::kTemplateError || code == ErrorCode::kLimit;
}

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view from;
  std::string path;
  std::int64_t line = 0;
};

// Text of the template has a line; everything else has a path or a name.
Span to_span(core::NamedOrigin origin) {
  Span out;
  out.from = origin.from;
  out.path = std::move(origin.path);
  if (origin.from == "template") out.line = origin.place.line;
  return out;
}

json::Value to_json(const Span& span) {
  json::Object out{{"start", span.begin}, {"end", span.end}, {"from", span.from}};
  if (!span.path.empty()) out.set("path", span.path);
  if (span.line > 0) out.set("line", span.line);
  return out;
}

}  // namespace

std::string sentence(const Error& error) {
  if (error.source.empty() || is_template_error(error.code)) return error.message;
  if (error.message.find(error.source) != std::string::npos) return error.message;
  constexpr std::size_t kMostOfName = 200;  // a file may lie deep
  const bool is_file = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kTokenizer;
  std::string place = printing::printable(printing::elided(error.source, kMostOfName), false) + ": ";
  if (is_file && error.line > 0)
    place += "line " + std::to_string(error.line) + ", column " + std::to_string(error.code_point_column()) + ": ";
  return place + error.message;
}

json::Value error_to_json(const Error& error) {
  json::Object out{{"code", to_string(error.code)}, {"message", sentence(error)}};
  const bool has_lines = is_template_error(error.code) || error.code == ErrorCode::kInvalidArgument;
  if (has_lines && error.line > 0) {
    json::Object at{{"line", error.line}};
    if (error.column > 0) at.set("column", error.code_point_column());
    out.set("at", std::move(at));
  } else if (error.code == ErrorCode::kParse && error.offset) {
    out.set("at", json::Object{{"offset", static_cast<std::size_t>(*error.offset)}});
  }
  if (!error.hint.empty()) out.set("hint", error.hint);
  return out;
}

json::Array spans_to_json(const jinja::Rendered& rendered, const jinja::Template& chat_template,
                          const json::Array& messages, const tmpl::Shaping& shaping) {
  const core::OriginNamer namer(rendered, chat_template, messages, shaping);
  json::Array out;
  std::optional<Span> last;
  std::size_t at = 0;
  for (const text::Run& run : namer.runs()) {
    Span span = to_span(namer.name(run));
    span.begin = at;
    span.end = at += run.size;
    if (last && last->from == span.from && last->path == span.path && last->line == span.line) {
      last->end = span.end;
      continue;
    }
    if (last) out.push_back(to_json(*last));
    last = std::move(span);
  }
  if (last) out.push_back(to_json(*last));
  return out;
}

json::Array texts_to_json(const std::vector<std::string>& texts) {
  json::Array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

}  // namespace rondo::protocol
