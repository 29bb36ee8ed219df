// The model "word" of SentencePiece.  A word, including the mark (U+2581) before it, is a token or unknown.  As in
// SentencePiece, words start with a mark even if the normaliser writes marks after words.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "tokenizer/token_model.h"

namespace rondo::tokenizer {

struct SentenceWordsOptions {
  bool byte_fallback = false;      // unknown words become the tokens <0xXX> of their bytes
  std::optional<TokenId> unknown;  // one for all consecutive unknown words
};

class SentenceWords final : public TokenModel {
 public:
  // `vocabulary` must outlive this.
  SentenceWords(const Vocabulary& vocabulary, SentenceWordsOptions options);

  [[nodiscard]] std::string_view name() const override { return "SentencePiece words"; }
  [[nodiscard]] std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Scratch>(); }
  void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const override;

 private:
  const Vocabulary& vocabulary_;
  SentenceWordsOptions options_;
  std::array<TokenId, 256> fallback_ids_;
};

}  // namespace rondo::tokenizer
