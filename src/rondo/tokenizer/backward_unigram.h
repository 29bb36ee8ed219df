// Finds the best way to write a text as tokens, from its end to its start.  Scores are added in ten-thousandths.  Among
// equal ways the longest token wins.  Bytes have a price that pays only for text without any token.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

class BackwardUnigram final : public TokenModel {
 public:
  // `scores` are by id.  `bytes` are the tokens <0xXX>.  `vocabulary` must outlive this.
  BackwardUnigram(const Vocabulary& vocabulary, const std::vector<double>& scores, std::array<TokenId, 256> bytes);

  [[nodiscard]] std::string_view name() const override { return "backward Unigram"; }
  [[nodiscard]] std::unique_ptr<TokenModel::Scratch> make_scratch() const override;
  void encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
              std::vector<Unit>& out) const override;

 private:
  // The best path from a place in the piece to its end.
  struct Place {
    std::int64_t cost = 0;
    std::uint32_t size = 0;  // size of its first token; 0: not the start of a character
    TokenId id = -1;         // -1: the bytes of a character
  };
  struct Scratch final : TokenModel::Scratch {
    std::vector<Place> places;
  };

  std::vector<std::int32_t> scores_;
  std::array<TokenId, 256> bytes_;
  TokenTrie trie_;
};

}  // namespace rondo::tokenizer
