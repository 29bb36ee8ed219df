// How the classes of transformers convert a SentencePiece model, as far as they differ from the library.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/state.h"

namespace rondo::tokenizer {

struct SentenceStyle {
  std::string_view name;    // `tokenizer_class` of the configuration, without "Fast"
  bool has_prefix = false;  // a mark before the text, by `legacy` and `add_prefix_space`; else no character is added
  bool has_unknown = true;  // unknown characters become a token
  bool always_in_bytes = false;  // whatever the model says of byte fallback
};

// nullptr for classes that use SentencePiece itself, and for those that are not known.
[[nodiscard]] const SentenceStyle* find_sentence_style(std::string_view tokenizer_class);

// The first piece for what is unknown, and the scores by id.
[[nodiscard]] std::optional<TokenId> unknown_of(const model::SentencePieceFile& file);
[[nodiscard]] std::vector<double> scores_of(const model::SentencePieceFile& file);

// Fails with kTokenizer.  REQUIRES: the source is a SentencePiece model.
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_sentence_piece_folder(const model::TokenizerSource& source,
                                                                                   const SentenceStyle& style);

}  // namespace rondo::tokenizer
