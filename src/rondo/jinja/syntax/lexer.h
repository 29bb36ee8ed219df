// Splits template source into tokens, by the rules of jinja2.lexer (3.1) with {% %}, {{ }} and {# #}.
//
// White-space control (`-`, `+`, trim_blocks, lstrip_blocks) happens here: the text of a data token is exactly what the
// template writes.  Comments leave no tokens, and raw blocks only data tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/common/options.h"
#include "jinja/common/place.h"

namespace rondo::jinja {

enum class TokenKind : std::uint8_t {
  kData,
  kBlockBegin,
  kBlockEnd,
  kVariableBegin,
  kVariableEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kAdd,
  kAssign,
  kColon,
  kComma,
  kDiv,
  kDot,
  kEq,
  kFloorDiv,
  kGt,
  kGtEq,
  kLBrace,
  kLBracket,
  kLParen,
  kLt,
  kLtEq,
  kMod,
  kMul,
  kNe,
  kPipe,
  kPow,
  kRBrace,
  kRBracket,
  kRParen,
  kSemicolon,
  kSub,
  kTilde,
  kError,  // a lexical error; `text` is the message
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Place place;
  std::string text;  // data, name, unescaped string, digits without '_'
};

// Returns `source` with every line break as '\n', and without one final line break unless it is kept.
[[nodiscard]] std::string normalize_source(std::string_view source, bool keep_trailing_newline);

// Returns line `line` (from 1) of `source` without its line break.
[[nodiscard]] std::string line_text(std::string_view source, int line);

// Returns the tokens of a normalised source.  The last one is kEnd or kError.
[[nodiscard]] std::vector<Token> tokenize(std::string_view source, const CompileOptions& options);

// Returns jinja2's wording for messages: "end of print statement", "+", ...
[[nodiscard]] std::string_view describe(TokenKind kind);

}  // namespace rondo::jinja
