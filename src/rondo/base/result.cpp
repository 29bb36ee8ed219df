#include "rondo/result.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace rondo {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kJson: return "bad_request";
    case ErrorCode::kNotFound:
    case ErrorCode::kIo: return "not_found";
    case ErrorCode::kTemplateSyntax: return "template_syntax";
    case ErrorCode::kTemplateRaised: return "template_raised";
    case ErrorCode::kTemplateError: return "template_error";
    case ErrorCode::kTokenizer: return "tokenizer_error";
    case ErrorCode::kParse: return "parse_error";
    case ErrorCode::kCannotBridge: return "cannot_bridge";
    case ErrorCode::kLimit: return "limit";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kEngine:
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

namespace {

// The part of a long line that is shown: this many characters on each side of byte `at`.
std::string_view window(std::string_view line, std::size_t at) {
  constexpr std::size_t kWholeBytes = 240;
  constexpr int kSideCharacters = 80;
  if (line.size() <= kWholeBytes) return line;
  std::size_t begin = at;
  for (int i = 0; i < kSideCharacters && begin > 0; ++i) {
    do --begin;
    while (begin > 0 && utf8::is_continuation(line[begin]));
  }
  std::size_t end = at;
  for (int i = 0; i < kSideCharacters && end < line.size(); ++i) {
    do ++end;
    while (end < line.size() && utf8::is_continuation(line[end]));
  }
  return line.substr(begin, end - begin);
}

// The caret is below byte `column` of `line_text`.  Tabs are kept so that both lines indent alike.
void append_code_frame(const Error& error, std::string& out) {
  const std::string number = std::to_string(error.line);
  const std::string_view line = error.line_text;
  const std::size_t at = std::min(static_cast<std::size_t>(error.column - 1), line.size());
  const std::string_view shown = window(line, at);
  const bool cut_left = shown.data() != line.data();
  const bool cut_right = shown.data() + shown.size() != line.data() + line.size();
  out += "\n  " + number + " | " + (cut_left ? "…" : "");
  out.append(shown).append(cut_right ? "…" : "");
  out += "\n  " + std::string(number.size(), ' ') + " | " + (cut_left ? " " : "");
  for (const char c : shown.substr(0, at - static_cast<std::size_t>(shown.data() - line.data()))) {
    if (!utf8::is_continuation(c)) out += c == '\t' ? '\t' : ' ';
  }
  out += '^';
}

}  // namespace

int Error::code_point_column() const {
  if (line_text.empty() || column <= 0) return column;
  const std::size_t before = std::min(static_cast<std::size_t>(column - 1), line_text.size());
  const std::size_t inside = utf8::length(std::string_view(line_text).substr(0, before));
  return column - static_cast<int>(before - inside);
}

std::string Error::to_string() const {
  std::string out = source;
  if (line > 0) {
    out += (out.empty() ? "line " : ":") + std::to_string(line);
    if (column > 0) out += ":" + std::to_string(code_point_column());
  } else if (offset) {
    out += (out.empty() ? "byte " : ": byte ") + std::to_string(*offset);
  }
  if (!out.empty()) out += ": ";
  out += message;
  if (line > 0 && column > 0 && !line_text.empty()) append_code_frame(*this, out);
  for (const std::string& caller : trail) out += "\n  " + caller;
  if (!hint.empty()) out += "\n  hint: " + hint;
  return out;
}

}  // namespace rondo
