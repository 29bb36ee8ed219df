// WordPiece and WordLevel: find words in a vocabulary, in parts or whole.
#pragma once

#include <optional>
#include <string>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

struct WordPieceOptions {
  std::string prefix = "##";         // begins tokens that continue a word
  std::size_t max_characters = 100;  // a longer word is unknown
  std::optional<TokenId> unknown;    // without it, unknown words are dropped
};

// Takes the longest token that a word starts with, then the longest that continues it, and so on.  If that leads
// nowhere, the word is one unknown token.  Takes time linear in the word, for any length.
class WordPiece final : public TokenModel {
 public:
  // `vocabulary` must outlive this.
  WordPiece(const Vocabulary& vocabulary, WordPieceOptions options);

  [[nodiscard]] std::string_view name() const override { return "WordPiece"; }
  [[nodiscard]] std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Scratch>(); }
  void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const override;

 private:
  [[nodiscard]] bool find_parts(std::string_view word, Control control, std::vector<Unit>& out) const;

  const Vocabulary& vocabulary_;
  WordPieceOptions options_;
  TokenTrie trie_;
  std::optional<TokenTrie::Node> inside_;  // where tokens that continue a word start; nullopt if there is none
};

// A word is a token, or unknown.
class WordLevel final : public TokenModel {
 public:
  // `vocabulary` must outlive this.  Without `unknown`, unknown words vanish.
  WordLevel(const Vocabulary& vocabulary, std::optional<TokenId> unknown)
      : vocabulary_(vocabulary), unknown_(unknown) {}

  [[nodiscard]] std::string_view name() const override { return "WordLevel"; }
  [[nodiscard]] std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Scratch>(); }
  void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const override;

 private:
  const Vocabulary& vocabulary_;
  std::optional<TokenId> unknown_;
};

}  // namespace rondo::tokenizer
