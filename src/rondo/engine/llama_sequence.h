// One sequence of a llama.cpp context: what the library's memory holds of it, kept true by a list of ids.  Private to
// engine/; docs/engine.md says what is checked before each reuse, and why.
#pragma once

#include <llama-cpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace rondo::engine {

// The state behind the first `tokens` ids of a sequence: what attention layers do not keep anyway, and the logits that
// follow.
struct Checkpoint {
  std::size_t tokens = 0;
  std::vector<std::uint8_t> state;
  std::vector<float> logits;
  std::vector<std::uint32_t> batches;  // sizes of the batches that decoded them

  [[nodiscard]] std::size_t size_bytes() const {
    return state.size() + logits.size() * sizeof(float) + batches.size() * sizeof(std::uint32_t);
  }
};
using Checkpoints = std::vector<std::shared_ptr<const Checkpoint>>;  // ascending by tokens

// A whole sequence, taken out of the library's memory.
struct SavedSequence {
  std::vector<TokenId> tokens;
  std::vector<std::uint32_t> batches;
  std::vector<float> logits;
  std::vector<std::uint8_t> state;
  std::size_t first_position = 0;  // that the state still has, which is less of a window than the memory may have had
  Checkpoints checkpoints;

  [[nodiscard]] std::size_t size_bytes() const;
};

// What a sequence holds, as far as reuse depends on it.
struct Holding {
  std::span<const TokenId> tokens;
  bool has_logits = false;         // those behind the last of the tokens
  std::size_t first_position = 0;  // that is still there
  const Checkpoints* checkpoints = nullptr;
};

// How many leading ids of `ids` need not be decoded again where this is held.
[[nodiscard]] std::size_t reusable(const Description& description, const Holding& holding,
                                   std::span<const TokenId> ids);

// Whether that comes of removing what stands behind the common beginning, and not of a checkpoint.
[[nodiscard]] bool can_roll_back(const Description& description, const Holding& holding, std::span<const TokenId> ids);

// Invariant between calls: positions 0 .. tokens().size()-1 are decoded and nothing else is.
class LlamaSequence {
 public:
  // All must outlive the sequence.
  LlamaSequence(llama_context* context, const Description& description, llama_seq_id id, std::size_t checkpoint_bytes)
      : context_(context), description_(&description), id_(id), checkpoint_bytes_(checkpoint_bytes) {}

  [[nodiscard]] llama_seq_id id() const { return id_; }
  [[nodiscard]] std::span<const TokenId> tokens() const { return tokens_; }
  [[nodiscard]] std::span<const float> logits() const { return logits_; }
  [[nodiscard]] std::span<const std::uint32_t> batches() const { return batches_; }
  [[nodiscard]] Holding holding() const;

  // Keeps as much of the memory as serves `ids`; tokens() is a prefix of `ids` afterwards.
  [[nodiscard]] PromptReport keep_prefix(std::span<const TokenId> ids);
  // Keeps the present state for later, where the memory can't be rolled back to it.
  void remember();
  void clear();

  // The library has decoded `ids` behind tokens(), in one batch; `logits` follow the last of them.
  void decoded(std::span<const TokenId> ids, std::span<const float> logits);
  // Brings the memory back to tokens() after a decode that failed; clears it where that can't be.
  void resync();

  // A copy of everything, nullopt where the library gives none.
  [[nodiscard]] std::optional<SavedSequence> save() const;
  // Replaces everything by what was saved of any sequence of a context like this one.  False: nothing is held then.
  [[nodiscard]] bool load(const SavedSequence& saved);
  // Replaces everything by the ids of `other` of the same context, without its logits and checkpoints.  The library copies
  // with the next decode: until then neither sequence may be saved, loaded, remembered or set back to a checkpoint.  Without
  // logits every prompt leaves an id to be decoded.  REQUIRES: the memory can go back.
  void share(const LlamaSequence& other);

 private:
  [[nodiscard]] llama_memory_t memory() const { return llama_get_memory(context_); }
  [[nodiscard]] bool positions_agree() const;
  [[nodiscard]] std::size_t first_position() const;
  [[nodiscard]] bool window_covers(std::size_t cut) const;
  [[nodiscard]] bool remove_from(std::size_t cut);
  [[nodiscard]] std::string cannot_roll_back(std::size_t cut) const;
  [[nodiscard]] bool restore(const Checkpoint& checkpoint);
  [[nodiscard]] bool restore_best(std::size_t common);
  void truncate_lists(std::size_t cut);

  llama_context* context_;
  const Description* description_;
  llama_seq_id id_;
  std::size_t checkpoint_bytes_;
  std::vector<TokenId> tokens_;
  std::vector<std::uint32_t> batches_;
  std::vector<float> logits_;
  Checkpoints checkpoints_;  // each is a prefix of tokens_
};

}  // namespace rondo::engine
