#include "tokenizer/piece_cache.h"

#include <cstring>
#include <utility>

namespace rondo::tokenizer {

PieceCache::PieceCache() : slots_(kSlots) {}

std::uint64_t PieceCache::hash_of(std::string_view piece) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = piece.size() * kMultiplier;
  std::size_t at = 0;
  for (; at + 8 <= piece.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, piece.data() + at, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29U;
  }
  std::uint64_t word = 0;
  if (at < piece.size()) std::memcpy(&word, piece.data() + at, piece.size() - at);
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32U);
}

bool PieceCache::find(std::string_view piece, std::uint64_t hash, std::vector<Unit>& out) const {
  const Slot& slot = slots_[hash % kSlots];
  if (slot.hash != hash || slot.bytes != piece.size() || piece.empty()) return false;
  if (std::memcmp(slot.piece.data(), piece.data(), piece.size()) != 0) return false;
  for (std::size_t i = 0; i < slot.units; ++i) out.push_back({slot.ids[i], slot.sizes[i]});
  return true;
}

void PieceCache::keep(std::string_view piece, std::uint64_t hash, const std::vector<Unit>& units, std::size_t first) {
  const std::size_t count = units.size() - first;
  if (piece.empty() || piece.size() > kBytes || count > kUnits) return;
  Slot& slot = slots_[hash % kSlots];
  slot.hash = hash;
  slot.bytes = static_cast<std::uint8_t>(piece.size());
  slot.units = static_cast<std::uint8_t>(count);
  std::memcpy(slot.piece.data(), piece.data(), piece.size());
  for (std::size_t i = 0; i < count; ++i) {
    slot.ids[i] = units[first + i].id;
    slot.sizes[i] = static_cast<std::uint8_t>(units[first + i].size);
  }
}

std::unique_ptr<Workbench> Workbenches::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto bench = std::move(idle_.back());
      idle_.pop_back();
      return bench;
    }
  }
  return std::make_unique<Workbench>();
}

void Workbenches::give(std::unique_ptr<Workbench> bench) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(bench));
}

}  // namespace rondo::tokenizer
