#include "rondo/result.h"

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

// The caret stands below byte `column` of `line_text`; tabs are kept so that both lines indent alike.
void append_code_frame(const Error& error, std::string& out) {
  const std::string number = std::to_string(error.line);
  out += "\n  " + number + " | " + error.line_text + "\n  " + std::string(number.size(), ' ') + " | ";
  for (int i = 1; i < error.column; ++i) {
    const auto at = static_cast<std::size_t>(i - 1);
    if (at >= error.line_text.size()) break;
    const auto byte = static_cast<unsigned char>(error.line_text[at]);
    if ((byte & 0xC0U) == 0x80U) continue;  // a continuation byte takes no column on the screen
    out += byte == '\t' ? '\t' : ' ';
  }
  out += '^';
}

}  // namespace

std::string Error::to_string() const {
  std::string out = source;
  if (line > 0) {
    out += (out.empty() ? "line " : ":") + std::to_string(line);
    if (column > 0) out += ":" + std::to_string(column);
  } else if (offset) {
    out += (out.empty() ? "byte " : ": byte ") + std::to_string(*offset);
  }
  if (!out.empty()) out += ": ";
  out += message;
  if (line > 0 && column > 0 && !line_text.empty()) append_code_frame(*this, out);
  for (const std::string& caller : trail) out += "\n  " + caller;
  return out;
}

}  // namespace rondo
