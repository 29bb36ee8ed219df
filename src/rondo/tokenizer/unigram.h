// Unigram: of all ways to write a piece as tokens the one of the highest sum of scores.
//
// The sum is built from left to right in double precision and a later path must be better, not equal, to win, as the
// reference does it: which of two equal ways is taken depends on both.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tokenizer/token_model.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

// How far a character that no piece has stands below the least likely piece; SentencePiece's own constant.
inline constexpr float kUnknownPenalty = 10.0F;

struct UnigramOptions {
  bool byte_fallback = false;           // unknown text becomes the tokens <0xXX> of its bytes
  bool single_precision = false;        // sums are rounded to float after each step, as SentencePiece itself does
  std::optional<TokenId> unknown;       // without one, unknown characters vanish
  std::optional<double> unknown_score;  // of a character without a token; by default 10 below the lowest score
};

class Unigram final : public TokenModel {
 public:
  // `scores` by id; ids without one count as 0.  Tokens that vocabulary.find() does not find take no part in paths.
  // `vocabulary` must outlive this.
  Unigram(const Vocabulary& vocabulary, std::vector<double> scores, UnigramOptions options);

  [[nodiscard]] std::string_view name() const override { return "Unigram"; }
  [[nodiscard]] std::unique_ptr<TokenModel::Scratch> make_scratch() const override;
  void encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
              std::vector<Unit>& out) const override;

 private:
  // The best path to a place in the piece.
  struct Place {
    double score = 0;
    std::int32_t start = -1;  // of its last token; -1: no path
    TokenId id = -1;
  };
  struct Scratch final : TokenModel::Scratch {
    std::vector<Place> places;
    std::vector<Unit> units;  // from the end
  };
  static void count_from_zero(std::vector<Place>& places, std::size_t at, std::size_t furthest);
  void find_paths(std::string_view piece, Control control, std::vector<Place>& places) const;
  void emit_unknown(std::string_view text, Control control, std::vector<Unit>& out) const;

  const Vocabulary& vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  TokenTrie trie_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> fallback_ids_{};  // of <0xXX>; -1: none
};

}  // namespace rondo::tokenizer
