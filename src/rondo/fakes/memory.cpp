#include "fakes/memory.h"

#include <algorithm>

#include "base/common_prefix.h"

namespace rondo::fakes {

// An id that no model has begins each sequence, a different one for each salt.  So a single tree holds all sequences in
// a single order of use.
Ids BlockMemory::salted(std::span<const TokenId> ids, const std::string& salt) {
  const TokenId mark = salts_.try_emplace(salt, -1 - static_cast<TokenId>(salts_.size())).first->second;
  Ids all{mark};
  all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

std::size_t BlockMemory::known(std::span<const TokenId> prompt, const std::string& salt) {
  if (prompt.empty()) return 0;
  const std::size_t matched = tree_.match(salted(prompt, salt));
  // The mark of the salt is not an id of the prompt.  The last id of the prompt is computed in any case, because the
  // next id is sampled from its result.
  const std::size_t usable = std::min(matched == 0 ? 0 : matched - 1, prompt.size() - 1);
  return usable / block_ * block_;
}

void BlockMemory::keep(std::span<const TokenId> ids, const std::string& salt) {
  tree_.insert(salted(ids.first(ids.size() / block_ * block_), salt));
}

void BlockMemory::flush() {
  tree_ = cache::PrefixTree(capacity_);
  salts_.clear();
}

std::optional<SlotMemory::Taken> SlotMemory::take(std::span<const TokenId> prompt, bool reuse,
                                                  std::optional<std::size_t> wanted) {
  // Chooses as llama-server does: the slot with the longest common beginning, if that is a large enough part of the
  // prompt; otherwise the slot that was used longest ago.  `longest` stays 0 until a slot is similar enough; from then
  // on ages no longer count.
  std::optional<std::size_t> chosen;
  std::size_t longest = 0;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    const Slot& slot = slots_[at];
    if (slot.is_busy || (wanted && *wanted != at)) continue;
    const std::size_t shared = common_prefix(slot.ids, prompt);
    const bool is_similar = static_cast<double>(shared) > similarity_ * static_cast<double>(prompt.size());
    const bool is_better = !chosen || (is_similar && shared > longest) ||
                           (longest == 0 && !is_similar && slot.used < slots_[*chosen].used);
    if (!is_better) continue;
    chosen = at;
    longest = is_similar ? shared : 0;
  }
  if (!chosen) return std::nullopt;
  Slot& slot = slots_[*chosen];
  slot.is_busy = true;
  slot.used = ++uses_;
  const std::size_t shared = common_prefix(slot.ids, prompt);
  // The last id is computed again, because the next one is sampled from its result.
  return Taken{*chosen, reuse ? std::min(shared, prompt.empty() ? 0 : prompt.size() - 1) : 0};
}

void SlotMemory::release(std::size_t slot, Ids ids) {
  slots_[slot].ids = std::move(ids);
  slots_[slot].is_busy = false;
}

void SlotMemory::flush() {
  for (Slot& slot : slots_) slot.ids.clear();
}

}  // namespace rondo::fakes
