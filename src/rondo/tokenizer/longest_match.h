// Longest match: from left to right, takes the longest token that the rest of the text starts with.
#pragma once

#include <memory>
#include <optional>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

class LongestMatch final : public TokenModel {
 public:
  // A byte that starts no token becomes `unknown`, or is dropped if there is no `unknown`.  `vocabulary` must outlive
  // this.
  LongestMatch(const Vocabulary& vocabulary, std::optional<TokenId> unknown);

  [[nodiscard]] std::string_view name() const override { return "longest match"; }
  [[nodiscard]] std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Scratch>(); }
  void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const override;

 private:
  std::optional<TokenId> unknown_;
  TokenTrie trie_;
};

// Returns the tokens of `vocabulary` that text can become, with their bytes.
[[nodiscard]] std::vector<std::pair<std::string_view, TokenId>> searchable_tokens(const Vocabulary& vocabulary);

}  // namespace rondo::tokenizer
