// A template's source as tokens with byte ranges, and edits of it.  A fix consists of such edits.
//
//   const Source source(chat_template.source());
//   for (const Candidate& candidate : condition_candidates(source, place, true)) source.apply(candidate.edits);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/syntax/lexer.h"

namespace rondo::audit {

// Replaces bytes [begin, end) of a source by `text`.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
  bool operator==(const Edit&) const = default;
};

// A token and its bytes in the source, including quotes and white-space control.
struct SourceToken {
  jinja::TokenKind kind = jinja::TokenKind::kEnd;
  std::string text;  // as in jinja::Token::text
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Tokens [begin, end).
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Source {
 public:
  // REQUIRES: `source` compiles.
  explicit Source(std::string_view source);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<SourceToken>& tokens() const { return tokens_; }
  // Returns the token at a place (from 1, columns in bytes); nullopt between tokens and outside.
  [[nodiscard]] std::optional<std::size_t> token_at(std::int32_t line, std::int32_t column) const;
  [[nodiscard]] std::string_view text_of(TokenRange range) const;
  [[nodiscard]] bool is(std::size_t token, jinja::TokenKind kind) const;
  [[nodiscard]] bool is_name(std::size_t token, std::string_view name) const;

  // Returns the tag or output ({% ... %}, {{ ... }}) around a token, without its brackets; empty for data.
  [[nodiscard]] TokenRange tag_of(std::size_t token) const;
  // Returns the index after the closing bracket of the group that opens at `token`; for any other token, the index
  // after it.
  [[nodiscard]] std::size_t behind_group(std::size_t token) const;
  // Returns the first token of the group that ends with the closing bracket `token`.
  [[nodiscard]] std::size_t group_begin(std::size_t token) const;
  // Returns where the operand of a filter or attribute begins.  `token` is its `|` or `.`.
  [[nodiscard]] std::size_t operand_begin(std::size_t token) const;

  [[nodiscard]] Edit replace(TokenRange range, std::string text) const;

  // Returns the source with `edits` applied, given in any order.  Where two overlap, the one that begins first is
  // applied.
  [[nodiscard]] std::string apply(std::vector<Edit> edits) const;
  // Returns the line, from 1, of a byte.
  [[nodiscard]] std::int32_t line_of(std::size_t byte) const;

 private:
  std::string text_;
  std::vector<std::size_t> lines_;  // the start of each line
  std::vector<SourceToken> tokens_;
};

// Returns `text` as a string constant of a template.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace rondo::audit
