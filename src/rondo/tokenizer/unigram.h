// Unigram: of all ways to write a piece as tokens, takes the one with the highest sum of scores.
//
// As in the reference, the sum is built from left to right in double precision, and a later path wins only if it is
// better, not equal.  Both decide which of two equal ways is taken.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

// How far the score of a character without a piece is below the least likely piece; SentencePiece's own constant.
inline constexpr float kUnknownPenalty = 10.0F;

struct UnigramOptions {
  bool byte_fallback = false;           // unknown text becomes the tokens <0xXX> of its bytes
  bool single_precision = false;        // round sums to float after each step, as SentencePiece does
  std::optional<TokenId> unknown;       // without it, unknown characters are dropped
  std::optional<double> unknown_score;  // for a character without a token; default: 10 below the lowest score
};

class Unigram final : public TokenModel {
 public:
  // `scores` are by id; an id without one has score 0.  Tokens that vocabulary.find() does not find are not used in
  // paths.  `vocabulary` must outlive this.
  Unigram(const Vocabulary& vocabulary, std::vector<double> scores, UnigramOptions options);

  [[nodiscard]] std::string_view name() const override { return "Unigram"; }
  [[nodiscard]] std::unique_ptr<TokenModel::Scratch> make_scratch() const override;
  void encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
              std::vector<Unit>& out) const override;

 private:
  // The best path to a place in the piece.
  struct Place {
    double score = 0;
    std::int32_t start = -1;  // start of its last token; -1: no path
    TokenId id = -1;
  };
  struct Scratch final : TokenModel::Scratch {
    std::vector<Place> places;
    std::vector<Unit> units;  // from the end to the beginning
  };
  static void count_from_zero(std::vector<Place>& places, std::size_t at, std::size_t furthest);
  void find_paths(std::string_view piece, Control control, std::vector<Place>& places) const;
  void emit_unknown(std::string_view text, Control control, std::vector<Unit>& out) const;

  const Vocabulary& vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  TokenTrie trie_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> fallback_ids_{};  // for <0xXX>; -1: none
};

}  // namespace rondo::tokenizer
