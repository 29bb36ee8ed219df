// The best way to write a text as tokens, found from its end to its start: sums of scores in ten-thousandths, the longest
// token where two ways are equal, and bytes at a price that only text without any token pays.
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
  // `scores` by id.  `bytes`: the tokens <0xXX>.  `vocabulary` must outlive this.
  BackwardUnigram(const Vocabulary& vocabulary, const std::vector<double>& scores, std::array<TokenId, 256> bytes);

  [[nodiscard]] std::string_view name() const override { return "backward Unigram"; }
  [[nodiscard]] std::unique_ptr<TokenModel::Scratch> make_scratch() const override;
  void encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
              std::vector<Unit>& out) const override;

 private:
  // The best path from a place in the piece to its end.
  struct Place {
    std::int64_t cost = 0;
    std::uint32_t size = 0;  // of its first token; 0: not the start of a character
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
