// How the classes of transformers convert a SentencePiece model, where this differs from the library.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/state.h"

namespace rondo::tokenizer {

struct SentenceStyle {
  std::string_view name;  // the configuration's `tokenizer_class`, without "Fast"
  // A mark before the text, depending on `legacy` and `add_prefix_space`; otherwise no character is added.
  bool has_prefix = false;
  bool has_unknown = true;       // unknown characters become a token
  bool always_in_bytes = false;  // whatever the model says about byte fallback
};

// Returns nullptr for classes that use SentencePiece itself, and for unknown ones.
[[nodiscard]] const SentenceStyle* find_sentence_style(std::string_view tokenizer_class);

// The first piece for unknown text, and the scores by id.
[[nodiscard]] std::optional<TokenId> unknown_of(const model::SentencePieceFile& file);
[[nodiscard]] std::vector<double> scores_of(const model::SentencePieceFile& file);

// Fails with kTokenizer.  REQUIRES: the source is a SentencePiece model.
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_sentence_piece_folder(const model::TokenizerSource& source,
                                                                                   const SentenceStyle& style);

}  // namespace rondo::tokenizer
