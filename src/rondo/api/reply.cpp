#include "api/reply.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace rondo::api {
namespace {

bool is_template_error(ErrorCode code) {
  return code == ErrorCode::kTemplateSyntax || code == ErrorCode::kTemplateRaised ||
         code == ErrorCode::kTemplateError || code == ErrorCode::kLimit;
}

// Columns of errors count bytes, those of the protocol code points.
std::size_t code_point_column(const Error& error) {
  const auto column = static_cast<std::size_t>(error.column);
  if (error.line_text.empty() || column == 0) return column;
  const std::size_t before = std::min(column - 1, error.line_text.size());
  return utf8::length(std::string_view(error.line_text).substr(0, before)) + (column - before);
}

std::string sentence(const Error& error) {
  if (error.source.empty() || is_template_error(error.code)) return error.message;
  if (error.message.find(error.source) != std::string::npos) return error.message;
  return error.source + ": " + error.message;
}

// Finds template lines: where text pieces and string constants stand in the source.
class Lines {
 public:
  explicit Lines(const jinja::Template& chat_template) : template_(chat_template) {
    begins_.push_back(0);
    const std::string& source = template_.source();
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\n') begins_.push_back(i + 1);
    }
  }

  // The line of a literal's byte.  A text piece of several lines stands in the source as it is; a string constant
  // does not (its newlines are escapes), and counts as one line.
  [[nodiscard]] std::int64_t of(const text::Literal& literal, std::string_view bytes, std::size_t offset) const {
    const auto line = static_cast<std::size_t>(literal.line);
    if (line == 0 || line > begins_.size()) return literal.line;
    const std::size_t begin = begins_[line - 1] + static_cast<std::size_t>(std::max(literal.column, 1) - 1);
    const std::string_view before = bytes.substr(0, offset);
    if (std::string_view(template_.source()).substr(std::min(begin, template_.source().size()), offset) != before) {
      return literal.line;
    }
    return literal.line + std::count(before.begin(), before.end(), '\n');
  }

 private:
  const jinja::Template& template_;
  std::vector<std::size_t> begins_;
};

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view from;
  std::string path;
  std::int64_t line = 0;
};

class SpanMaker {
 public:
  SpanMaker(const jinja::Rendered& rendered, const jinja::Template& chat_template)
      : origins_(rendered.origins), template_(chat_template), lines_(chat_template) {}

  [[nodiscard]] Span span(const text::Run& run) const {
    Span out;
    if (run.kind == text::RunKind::kLiteral) {
      out.from = "template";
      const auto index = static_cast<std::size_t>(run.literal());
      if (index < origins_.literals.size()) {
        const auto& texts = template_.literal_texts();
        const std::string_view bytes = index < texts.size() ? std::string_view(texts[index]) : std::string_view();
        out.line = lines_.of(origins_.literals[index], bytes, run.source_offset);
      }
      return out;
    }
    if (run.path() == text::PathId::kNone) {
      out.from = origins_.chains.contains(run.chain, "strftime") ? "time" : "template";
      return out;
    }
    const std::string_view root = origins_.paths.root(run.path());
    if (root == "bos_token" || root == "eos_token") {
      out.from = "special";
      return out;
    }
    out.from = root == "messages"    ? "message"
               : root == "tools"     ? "tools"
               : root == "documents" ? "documents"
                                     : "kwargs";
    out.path = origins_.paths.to_string(run.path());
    return out;
  }

 private:
  const text::Origins& origins_;
  const jinja::Template& template_;
  Lines lines_;
};

json::Value to_json(const Span& span) {
  json::Object out{{"start", span.begin}, {"end", span.end}, {"from", span.from}};
  if (!span.path.empty()) out.set("path", span.path);
  if (span.line > 0) out.set("line", span.line);
  return out;
}

}  // namespace

json::Value error_to_json(const Error& error) {
  json::Object out{{"code", to_string(error.code)}, {"message", sentence(error)}};
  if (is_template_error(error.code) && error.line > 0) {
    json::Object at{{"line", error.line}};
    if (error.column > 0) at.set("column", code_point_column(error));
    out.set("at", std::move(at));
  } else if (error.code == ErrorCode::kParse && error.offset) {
    out.set("at", json::Object{{"offset", static_cast<std::size_t>(*error.offset)}});
  }
  return out;
}

json::Array spans_to_json(const jinja::Rendered& rendered, const jinja::Template& chat_template) {
  const SpanMaker maker(rendered, chat_template);
  json::Array out;
  std::optional<Span> last;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    Span span = maker.span(run);
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

}  // namespace rondo::api
