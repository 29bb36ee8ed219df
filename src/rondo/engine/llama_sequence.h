// One sequence of a llama.cpp context.  A list of ids describes what the library's memory holds of it.  Private to
// engine/; docs/engine.md describes the checks before each reuse and their reasons.
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

// The state after the first `tokens` ids of a sequence: what attention layers do not keep anyway, and the logits that
// follow.
struct Checkpoint {
  std::size_t tokens = 0;
  std::vector<std::uint8_t> state;
  std::vector<float> logits;
  std::vector<std::uint32_t> batches;  // sizes of the batches that decoded the ids

  [[nodiscard]] std::size_t size_bytes() const {
    return state.size() + logits.size() * sizeof(float) + batches.size() * sizeof(std::uint32_t);
  }
};
using Checkpoints = std::vector<std::shared_ptr<const Checkpoint>>;  // ascending by tokens

// A whole sequence, copied out of the library's memory.
struct SavedSequence {
  std::vector<TokenId> tokens;
  std::vector<std::uint32_t> batches;
  std::vector<float> logits;
  std::vector<std::uint8_t> state;
  // The first position that the state has; with a window it may have fewer positions than the memory had.
  std::size_t first_position = 0;
  Checkpoints checkpoints;

  [[nodiscard]] std::size_t size_bytes() const;
};

// The properties of a sequence that decide about reuse.
struct Holding {
  std::span<const TokenId> tokens;
  bool has_logits = false;         // whether it has the logits after the last of the tokens
  std::size_t first_position = 0;  // the first position that is still there
  const Checkpoints* checkpoints = nullptr;
};

// Returns whether a memory of this kind can be set back without a checkpoint, at least for some positions.
[[nodiscard]] bool goes_back(MemoryKind kind);

// Returns how many leading ids of `ids` need not be decoded again if this is held.
[[nodiscard]] std::size_t reusable(const Description& description, const Holding& holding,
                                   std::span<const TokenId> ids);

// Returns whether removing the positions after the common beginning is enough for that, without a checkpoint.
[[nodiscard]] bool can_roll_back(const Description& description, const Holding& holding, std::span<const TokenId> ids);

// Invariant between calls: exactly the positions 0 .. tokens().size()-1 are decoded.
class LlamaSequence {
 public:
  // All arguments must outlive the sequence.
  LlamaSequence(llama_context* context, const Description& description, llama_seq_id id, std::size_t checkpoint_bytes)
      : context_(context), description_(&description), id_(id), checkpoint_bytes_(checkpoint_bytes) {}

  [[nodiscard]] llama_seq_id id() const { return id_; }
  [[nodiscard]] std::span<const TokenId> tokens() const { return tokens_; }
  [[nodiscard]] std::span<const float> logits() const { return logits_; }
  [[nodiscard]] std::span<const std::uint32_t> batches() const { return batches_; }
  [[nodiscard]] Holding holding() const;

  // Keeps as much of the memory as is useful for `ids`.  Afterwards tokens() is a prefix of `ids`.
  [[nodiscard]] PromptReport keep_prefix(std::span<const TokenId> ids);
  // Keeps the present state, if the memory cannot be rolled back to it later.
  void remember();
  void clear();

  // The library has decoded `ids` after tokens(), in one batch.  `logits` follow the last id.
  void decoded(std::span<const TokenId> ids, std::span<const float> logits);
  // Brings the memory back to tokens() after a failed decode, or clears it if that is impossible.
  void resync();

  // Returns a copy of everything; nullopt if the library gives none.
  [[nodiscard]] std::optional<SavedSequence> save() const;
  // Replaces everything by a state that was saved from a sequence of the same kind of context.  Returns false if that
  // fails; the sequence is empty then.
  [[nodiscard]] bool load(const SavedSequence& saved);
  // Replaces everything by the ids of `other`, a sequence of the same context, without its logits and checkpoints.  The
  // library copies with the next decode.  Until then, neither sequence may be saved, loaded, remembered or set back to
  // a checkpoint.  Because there are no logits, every prompt leaves at least one id to decode.
  //
  // REQUIRES: the memory can go back.
  void share(const LlamaSequence& other);
  // Returns whether the library has yet to make that copy.
  [[nodiscard]] bool is_copy() const { return is_copy_; }

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
  Checkpoints checkpoints_;  // each one is for a prefix of tokens_
  bool is_copy_ = false;
};

}  // namespace rondo::engine
