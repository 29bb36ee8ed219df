#include "engine/kept_states.h"

#include <algorithm>
#include <utility>

namespace rondo::engine {

// Indexes a sequence under its own end and under those of its checkpoints.
void KeptStates::index(const Entry& entry, bool is_added) {
  cache::SequenceIndex& ends = indices_[entry.tenant];
  const std::span<const TokenId> tokens = entry.saved->tokens;
  const auto change = [&](std::size_t length) {
    if (is_added) {
      ends.add(entry.key, tokens.first(length));
    } else {
      ends.remove(entry.key, tokens.first(length));
    }
  };
  change(tokens.size());
  for (const auto& checkpoint : entry.saved->checkpoints) change(checkpoint->tokens);
  if (ends.size() == 0) indices_.erase(entry.tenant);
}

void KeptStates::drop(Entries::iterator entry) {
  index(*entry, false);
  size_bytes_ -= entry->saved->size_bytes();
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

void KeptStates::keep(const std::string& tenant, SavedSequence sequence) {
  const std::size_t size = sequence.size_bytes();
  if (sequence.tokens.empty() || size > capacity_bytes_) return;
  const auto ends = indices_.find(tenant);
  if (ends != indices_.end()) {
    // An attention memory can be cut back to any prefix of its ids.  Other memories only have their ends.
    const std::span<const TokenId> tokens = sequence.tokens;
    while (true) {
      const auto earlier = ends->second.longest_end(tokens);
      if (!earlier) break;
      const bool is_replaced = description_->memory == MemoryKind::kAttention || earlier->length == tokens.size();
      if (!is_replaced) break;
      const bool is_last = indices_.at(tenant).size() == 1;
      drop(by_key_.at(earlier->holder));
      if (is_last || !indices_.contains(tenant)) break;
    }
  }
  while (size_bytes_ + size > capacity_bytes_) drop(std::prev(entries_.end()));
  size_bytes_ += size;
  entries_.push_front(
      {.key = next_key_++, .tenant = tenant, .saved = std::make_shared<const SavedSequence>(std::move(sequence))});
  by_key_[entries_.front().key] = entries_.begin();
  index(entries_.front(), true);
}

KeptStates::Found KeptStates::best(const std::string& tenant, std::span<const TokenId> ids) {
  Found found;
  const auto ends = indices_.find(tenant);
  if (ends == indices_.end()) return found;
  Entries::iterator used = entries_.end();
  const auto consider = [&](const std::optional<cache::SequenceIndex::Match>& match) {
    if (!match) return;
    const Entries::iterator entry = by_key_.at(match->holder);
    const Holding holding{.tokens = entry->saved->tokens,
                          .has_logits = !entry->saved->logits.empty(),
                          .first_position = entry->saved->first_position,
                          .checkpoints = &entry->saved->checkpoints};
    const std::size_t reused = reusable(*description_, holding, ids);
    if (reused <= found.reusable) return;
    found.saved = entry->saved;
    found.reusable = reused;
    used = entry;
  };
  const auto common = ends->second.longest_common(ids);
  if (common) found.common = common->length;
  consider(common);
  consider(ends->second.longest_end(ids));
  if (used != entries_.end()) entries_.splice(entries_.begin(), entries_, used);
  return found;
}

bool KeptStates::has(const std::string& tenant, std::span<const TokenId> ids) const {
  const auto ends = indices_.find(tenant);
  if (ends == indices_.end()) return false;
  const auto end = ends->second.longest_end(ids);
  return end && end->length == ids.size();
}

}  // namespace rondo::engine
