// What a fake engine has computed and still holds: the caches of the three engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fakes/model.h"

namespace rondo::fakes {

// Known beginnings of sequences, in blocks.  Different salts share nothing.  The least recently used blocks are dropped
// first.  A prompt is never known completely: its last id is computed again, for the logits that follow it.
class BlockMemory {
 public:
  BlockMemory(std::size_t block, std::size_t capacity) : block_(block), capacity_(capacity), tree_(capacity) {}

  // Returns how many leading ids need not be computed.
  [[nodiscard]] std::size_t known(std::span<const TokenId> prompt, const std::string& salt);
  void keep(std::span<const TokenId> ids, const std::string& salt);
  void flush();

 private:
  [[nodiscard]] Ids salted(std::span<const TokenId> ids, const std::string& salt);

  std::size_t block_;
  std::size_t capacity_;
  cache::PrefixTree tree_;
  std::map<std::string, TokenId> salts_;
};

// A fixed number of sequences.  One request at a time uses each of them.
class SlotMemory {
 public:
  SlotMemory(std::size_t slots, double similarity) : similarity_(similarity), slots_(slots) {}

  struct Taken {
    std::size_t slot = 0;
    std::size_t known = 0;
  };
  // Returns the free slot whose ids are most similar to the prompt's, if they are similar enough, or the least recently
  // used one; with `wanted`, that slot.  Returns nullopt if none is free.
  [[nodiscard]] std::optional<Taken> take(std::span<const TokenId> prompt, bool reuse,
                                          std::optional<std::size_t> wanted);
  void release(std::size_t slot, Ids ids);
  void flush();

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] bool is_busy(std::size_t slot) const { return slots_[slot].is_busy; }

 private:
  struct Slot {
    Ids ids;
    bool is_busy = false;
    std::uint64_t used = 0;
  };

  double similarity_;
  std::vector<Slot> slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace rondo::fakes
