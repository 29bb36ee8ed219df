#include "audit/source.h"

#include <algorithm>
#include <utility>

namespace rondo::audit {
namespace {

using jinja::TokenKind;

constexpr std::string_view kSpace = " \t\r\n";

bool is_bracket(TokenKind kind) { return kind == TokenKind::kBlockEnd || kind == TokenKind::kVariableEnd; }

bool opens(TokenKind kind) {
  return kind == TokenKind::kLParen || kind == TokenKind::kLBracket || kind == TokenKind::kLBrace;
}

bool closes(TokenKind kind) {
  return kind == TokenKind::kRParen || kind == TokenKind::kRBracket || kind == TokenKind::kRBrace;
}

// The end of the token that begins at `begin`; the next token begins at `next`.
std::size_t token_end(std::string_view text, TokenKind kind, std::size_t begin, std::size_t next) {
  if (is_bracket(kind)) {
    const std::string_view bracket = kind == TokenKind::kBlockEnd ? "%}" : "}}";
    return std::min(text.size(), text.find(bracket, begin) + bracket.size());
  }
  while (next > begin + 1 && kSpace.find(text[next - 1]) != std::string_view::npos && kind != TokenKind::kData) --next;
  return next;
}

}  // namespace

Source::Source(std::string_view source) : text_(jinja::normalize_source(source, true)) {
  lines_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lines_.push_back(at + 1);
  jinja::CompileOptions options;
  options.keep_trailing_newline = true;
  std::vector<jinja::Token> tokens = jinja::tokenize(text_, options);
  const auto offset = [this](const jinja::Place& place) {
    return lines_.at(static_cast<std::size_t>(place.line - 1)) + static_cast<std::size_t>(place.column - 1);
  };
  std::erase_if(tokens, [](const jinja::Token& token) { return token.kind == TokenKind::kEnd; });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t begin = offset(tokens[i].place);
    const bool is_last = i + 1 == tokens.size();
    const std::size_t next = is_last ? text_.size() : offset(tokens[i + 1].place);
    tokens_.push_back(
        {tokens[i].kind, std::move(tokens[i].text), begin, token_end(text_, tokens[i].kind, begin, next)});
  }
}

std::optional<std::size_t> Source::token_at(std::int32_t line, std::int32_t column) const {
  if (line < 1 || column < 1 || static_cast<std::size_t>(line) > lines_.size()) return std::nullopt;
  const std::size_t byte = lines_[static_cast<std::size_t>(line - 1)] + static_cast<std::size_t>(column - 1);
  const auto after = std::ranges::upper_bound(tokens_, byte, {}, &SourceToken::begin);
  if (after == tokens_.begin() || byte >= std::prev(after)->end) return std::nullopt;
  return static_cast<std::size_t>(std::distance(tokens_.begin(), after)) - 1;
}

std::string_view Source::text_of(TokenRange range) const {
  if (range.begin >= range.end) return {};
  const std::size_t begin = tokens_[range.begin].begin;
  return std::string_view(text_).substr(begin, tokens_[range.end - 1].end - begin);
}

bool Source::is(std::size_t token, jinja::TokenKind kind) const {
  return token < tokens_.size() && tokens_[token].kind == kind;
}

bool Source::is_name(std::size_t token, std::string_view name) const {
  return is(token, TokenKind::kName) && tokens_[token].text == name;
}

TokenRange Source::tag_of(std::size_t token) const {
  const auto is_edge = [this](std::size_t at) {
    const TokenKind kind = tokens_[at].kind;
    return kind == TokenKind::kData || kind == TokenKind::kBlockBegin || kind == TokenKind::kVariableBegin ||
           is_bracket(kind);
  };
  if (token >= tokens_.size() || is_edge(token)) return {token, token};
  TokenRange out{token, token + 1};
  while (out.begin > 0 && !is_edge(out.begin - 1)) --out.begin;
  while (out.end < tokens_.size() && !is_edge(out.end)) ++out.end;
  return out;
}

std::size_t Source::behind_group(std::size_t token) const {
  int depth = 0;
  for (std::size_t at = token; at < tokens_.size(); ++at) {
    depth += opens(tokens_[at].kind) ? 1 : closes(tokens_[at].kind) ? -1 : 0;
    if (depth <= 0) return at + 1;
  }
  return tokens_.size();
}

std::size_t Source::group_begin(std::size_t token) const {
  int depth = 0;
  for (std::size_t at = token;; --at) {
    depth += closes(tokens_[at].kind) ? 1 : opens(tokens_[at].kind) ? -1 : 0;
    if (depth <= 0 || at == 0) return at;
  }
}

std::size_t Source::operand_begin(std::size_t token) const {
  const std::size_t first = tag_of(token).begin;
  std::size_t at = token;
  while (at > first) {
    std::size_t begin = closes(tokens_[at - 1].kind) ? group_begin(at - 1) : at - 1;
    // Brackets after a name or another bracket are a call or a subscript of it.
    while (begin > first && opens(tokens_[begin].kind) &&
           (closes(tokens_[begin - 1].kind) || tokens_[begin - 1].kind == TokenKind::kName)) {
      const bool is_word = is_name(begin - 1, "in") || is_name(begin - 1, "not") || is_name(begin - 1, "and") ||
                           is_name(begin - 1, "or") || is_name(begin - 1, "if") || is_name(begin - 1, "else");
      if (is_word) break;
      begin = closes(tokens_[begin - 1].kind) ? group_begin(begin - 1) : begin - 1;
    }
    if (begin == first) return begin;
    const TokenKind before = tokens_[begin - 1].kind;
    if (before != TokenKind::kDot && before != TokenKind::kPipe) return begin;
    at = begin - 1;
  }
  return at;
}

Edit Source::replace(TokenRange range, std::string text) const {
  return {tokens_[range.begin].begin, range.end == 0 ? 0 : tokens_[range.end - 1].end, std::move(text)};
}

std::string Source::apply(std::vector<Edit> edits) const {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string out;
  std::size_t from = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < from) continue;
    out.append(text_, from, edit.begin - from);
    out += edit.text;
    from = edit.end;
  }
  return out.append(text_, from, std::string::npos);
}

std::int32_t Source::line_of(std::size_t byte) const {
  return static_cast<std::int32_t>(std::distance(lines_.begin(), std::ranges::upper_bound(lines_, byte)));
}

std::string quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "'";
}

}  // namespace rondo::audit
