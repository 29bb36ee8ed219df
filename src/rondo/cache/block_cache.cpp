#include "cache/block_cache.h"

#include <algorithm>
#include <cassert>

namespace rondo::cache {
namespace {

constexpr std::size_t kFirstSlots = 64;

constexpr std::uint64_t mix_sum(std::uint64_t value) {
  value = (value ^ (value >> 32U)) * 0xD6E8FEB86659FD93U;
  value = (value ^ (value >> 32U)) * 0xD6E8FEB86659FD93U;
  return value ^ (value >> 32U);
}

}  // namespace

std::vector<std::uint64_t> hash_chain(std::span<const TokenId> ids, std::size_t block) {
  assert(block > 0);
  std::vector<std::uint64_t> out;
  out.reserve(ids.size() / block);
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  for (std::size_t begin = 0; begin + block <= ids.size(); begin += block) {
    // Products that do not wait for each other; their sum tells ids in another order apart by the odd factors.
    std::uint64_t sum = 0;
    std::uint64_t factor = 0x9FB21C651E98DF25U;
    for (const TokenId id : ids.subspan(begin, block)) {
      const std::uint64_t value = (static_cast<std::uint32_t>(id) + 1) * 0x9E3779B97F4A7C15U;
      sum += (value ^ (value >> 29U)) * factor;
      factor = (factor << 7U | factor >> 57U) | 1U;
    }
    hash = mix_sum(hash ^ mix_sum(sum));
    out.push_back(hash);
  }
  return out;
}

BlockCache::BlockCache(std::size_t capacity_blocks) : capacity_(capacity_blocks), entries_(1), slots_(kFirstSlots, 0) {
  assert(capacity_blocks > 0);
}

BlockCache::Index BlockCache::find(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = mix_sum(hash) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (entries_[slots_[slot]].hash == hash) return slots_[slot];
  }
  return 0;
}

std::size_t BlockCache::match(std::span<const std::uint64_t> chain) const {
  std::size_t known = 0;
  while (known < chain.size() && find(chain[known]) != 0) ++known;
  return known;
}

std::size_t BlockCache::insert(std::span<const std::uint64_t> chain) {
  chain = chain.first(std::min(chain.size(), capacity_));
  std::size_t evicted = 0;
  // From the end on, so that the beginning is the newest.
  for (auto hash = chain.rbegin(); hash != chain.rend(); ++hash) {
    if (const Index known = find(*hash); known != 0) {
      unlink(known);
      link_newest(known);
      continue;
    }
    Index entry = 0;
    if (size_ == capacity_) {
      entry = entries_[0].newer;  // the oldest
      leave(entry);
      unlink(entry);
      ++evicted;
    } else {
      ++size_;
      entry = static_cast<Index>(entries_.size());
      entries_.emplace_back();
    }
    entries_[entry].hash = *hash;
    enter(entry);
    link_newest(entry);
  }
  return evicted;
}

void BlockCache::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (Index entry = entries_[0].older; entry != 0; entry = entries_[entry].older) enter(entry);
}

void BlockCache::enter(Index entry) {
  if (size_ * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = mix_sum(entries_[entry].hash) & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = entry;
}

// What stood behind the slot and had to give way to it moves up, so that searches end at the first empty slot.
void BlockCache::leave(Index entry) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = mix_sum(entries_[entry].hash) & mask;
  while (slots_[hole] != entry) hole = (hole + 1) & mask;
  slots_[hole] = 0;
  for (std::size_t slot = (hole + 1) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t home = mix_sum(entries_[slots_[slot]].hash) & mask;
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    slots_[hole] = slots_[slot];
    slots_[slot] = 0;
    hole = slot;
  }
}

void BlockCache::link_newest(Index entry) {
  const Index second = entries_[0].older;
  entries_[entry].older = second;
  entries_[entry].newer = 0;
  entries_[second].newer = entry;
  entries_[0].older = entry;
}

void BlockCache::unlink(Index entry) {
  entries_[entries_[entry].newer].older = entries_[entry].older;
  entries_[entries_[entry].older].newer = entries_[entry].newer;
}

}  // namespace rondo::cache
