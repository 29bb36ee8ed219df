// Sequences that had to make room, kept in memory.  The least recently used are dropped first.  Private to engine/.
//
// Tenants share nothing: what one tenant has kept is never used for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "cache/sequence_index.h"
#include "engine/llama_sequence.h"

namespace rondo::engine {

class KeptStates {
 public:
  struct Found {
    std::shared_ptr<const SavedSequence> saved;  // null: no kept sequence helps
    std::size_t reusable = 0;                    // how many ids of the prompt need not be decoded again
    std::size_t common = 0;                      // how many ids some kept sequence has in common with the prompt
  };

  // `description` must outlive the store.
  KeptStates(const Description& description, std::size_t capacity_bytes)
      : description_(&description), capacity_bytes_(capacity_bytes) {}

  // Keeps a sequence, unless it is larger than the capacity.  Drops the sequence that it continues, if it can serve the
  // same prompts.
  void keep(const std::string& tenant, SavedSequence sequence);
  // Returns the sequence that serves `ids` best, and marks it as used.
  [[nodiscard]] Found best(const std::string& tenant, std::span<const TokenId> ids);
  // Returns whether a state for exactly these ids is kept.
  [[nodiscard]] bool has(const std::string& tenant, std::span<const TokenId> ids) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  using Key = cache::SequenceIndex::Holder;
  struct Entry {
    Key key = 0;
    std::string tenant;
    std::shared_ptr<const SavedSequence> saved;
  };
  using Entries = std::list<Entry>;  // most recently used first

  void index(const Entry& entry, bool is_added);
  void drop(Entries::iterator entry);

  const Description* description_;
  std::size_t capacity_bytes_;
  std::size_t size_bytes_ = 0;
  Key next_key_ = 1;
  Entries entries_;
  std::unordered_map<Key, Entries::iterator> by_key_;
  std::map<std::string, cache::SequenceIndex> indices_;  // by tenant
};

}  // namespace rondo::engine
