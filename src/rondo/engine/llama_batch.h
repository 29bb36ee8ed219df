// Decodes pieces of one or more sequences in one call of llama.cpp.  Private to engine/.
#pragma once

#include <llama-cpp.h>

#include <cstddef>
#include <functional>
#include <span>

#include "engine/llama_sequence.h"

namespace rondo::engine {

class LlamaBatch {
 public:
  // Ids to be decoded after the ids of a sequence.
  struct Piece {
    LlamaSequence* sequence = nullptr;
    std::span<const TokenId> ids;
    // Gets the logits after each id.  If empty, only the logits after the last id are computed.
    std::function<void(std::size_t index, std::span<const float> logits)> each{};
  };

  explicit LlamaBatch(llama_context* context);
  ~LlamaBatch() { llama_batch_free(batch_); }
  LlamaBatch(const LlamaBatch&) = delete;
  LlamaBatch& operator=(const LlamaBatch&) = delete;

  // Decodes the pieces.  Afterwards each sequence ends with its piece and has the logits that follow it.  Fails with
  // kEngine; the sequences are then unchanged, or empty if the library could not go back.
  //
  // REQUIRES: no piece is empty, no sequence occurs twice, and all pieces together fit the context's batch.
  [[nodiscard]] Status decode(std::span<const Piece> pieces);

 private:
  void fill(std::span<const Piece> pieces);

  llama_context* context_;
  std::size_t vocab_size_;
  llama_batch batch_;
};

}  // namespace rondo::engine
