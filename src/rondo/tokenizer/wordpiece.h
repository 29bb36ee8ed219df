// WordPiece and WordLevel: words found in a vocabulary, in parts or whole.
#pragma once

#include <optional>
#include <string>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

struct WordPieceOptions {
  std::string prefix = "##";         // of tokens that continue a word
  std::size_t max_characters = 100;  // a longer word is unknown
  std::optional<TokenId> unknown;    // without one, unknown words vanish
};

// A word is the longest token it starts with, then the longest that continues it, and so on; one unknown token if that
// leads nowhere.  Linear in the word for any length of it.
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
  std::optional<TokenTrie::Node> inside_;  // where tokens that continue a word start; nothing if there is none
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
