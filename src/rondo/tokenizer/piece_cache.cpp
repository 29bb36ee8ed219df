#include "tokenizer/piece_cache.h"

#include <algorithm>
#include <utility>

namespace rondo::tokenizer {
namespace {

constexpr std::uint64_t kPositionBits = 40;
constexpr std::uint64_t kPositionMask = (std::uint64_t{1} << kPositionBits) - 1;

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + 3) / 4; }

// Precedes a long entry: the size of the piece and the number of its tokens.  It is followed by the ids, the bytes, and
// each token's size in a byte, each padded to whole words.
constexpr std::uint32_t head_of(std::size_t bytes, std::size_t count) {
  return static_cast<std::uint32_t>(bytes) << 16U | static_cast<std::uint32_t>(count);
}

}  // namespace

PieceCache::PieceCache() : memory_(kShortsBytes + kSlotsBytes + kRingWords * sizeof(std::uint32_t)) {
  auto* memory = static_cast<char*>(memory_.data());
  shorts_ = reinterpret_cast<Short*>(memory);
  slots_ = reinterpret_cast<std::uint64_t*>(memory + kShortsBytes);
  ring_ = reinterpret_cast<std::uint32_t*>(memory + kShortsBytes + kSlotsBytes);
}

std::uint64_t PieceCache::hash_of(std::string_view piece) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = piece.size() * kMultiplier;
  std::size_t at = 0;
  std::uint64_t word = 0;
  for (; at + sizeof word <= piece.size(); at += sizeof word) {
    std::memcpy(&word, piece.data() + at, sizeof word);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29U;
  }
  word = 0;
  if (at < piece.size()) std::memcpy(&word, piece.data() + at, piece.size() - at);
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32U);
}

void PieceCache::keep(Key key, std::span<const Unit> units) {
  Short* set = shorts_ + set_of(key);
  if (set[1].count != 0) {
    const Short& old = set[1];
    std::array<Unit, kShortIds> kept;
    for (std::size_t i = 0; i < old.count; ++i) kept[i] = {old.ids[i], old.sizes[i]};
    const std::string_view piece(reinterpret_cast<const char*>(&old.key),
                                 static_cast<std::size_t>(old.key.high >> kSizeShift));
    const std::uint64_t hash = hash_of(piece);
    if (!find_long(piece, hash)) keep_long(piece, hash, {kept.data(), old.count});
  }
  set[1] = set[0];
  set[0] = entry_of(key, units);
}

std::optional<PieceCache::Long> PieceCache::find_long(std::string_view piece, std::uint64_t hash) const {
  if (piece.size() > kLongBytes) return std::nullopt;
  const std::uint64_t* bucket = bucket_of(hash);
  for (std::size_t i = 0; i < kBucketSlots; ++i) {
    const std::uint64_t slot = bucket[i];
    if (slot == 0 || ((slot ^ hash) & ~kPositionMask) != 0) continue;
    const std::uint64_t position = slot & kPositionMask;
    if (!is_kept(position)) continue;
    const std::uint32_t* entry = ring_ + position % kRingWords;
    if (entry[0] >> 16U != piece.size()) continue;
    const std::size_t count = entry[0] & 0xFFFFU;
    const auto* bytes = reinterpret_cast<const char*>(entry + 1 + count);
    if (std::memcmp(bytes, piece.data(), piece.size()) != 0) continue;
    const auto* sizes = reinterpret_cast<const std::uint8_t*>(bytes + words_for(piece.size()) * 4);
    return Long{{reinterpret_cast<const TokenId*>(entry + 1), count}, sizes};
  }
  return std::nullopt;
}

void PieceCache::keep_long(std::string_view piece, std::uint64_t hash, std::span<const Unit> units) {
  if (piece.size() > kLongBytes) return;
  const std::size_t count = units.size();
  const std::size_t words = 1 + count + words_for(piece.size()) + words_for(count);
  // Positions start at 1, so that a used slot is never 0.
  written_ = std::max<std::uint64_t>(written_, 1);
  if (written_ % kRingWords + words > kRingWords) written_ += kRingWords - written_ % kRingWords;
  std::uint32_t* entry = ring_ + written_ % kRingWords;
  entry[0] = head_of(piece.size(), count);
  for (std::size_t n = 0; n < count; ++n) entry[1 + n] = static_cast<std::uint32_t>(units[n].id);
  auto* bytes = reinterpret_cast<char*>(entry + 1 + count);
  std::memcpy(bytes, piece.data(), piece.size());
  auto* sizes = reinterpret_cast<std::uint8_t*>(bytes + words_for(piece.size()) * 4);
  for (std::size_t n = 0; n < count; ++n) sizes[n] = static_cast<std::uint8_t>(units[n].size);
  std::uint64_t* bucket = bucket_of(hash);
  std::uint64_t* oldest = std::min_element(bucket, bucket + kBucketSlots, [](std::uint64_t a, std::uint64_t b) {
    return (a & kPositionMask) < (b & kPositionMask);
  });
  *oldest = (hash & ~kPositionMask) | written_;
  written_ += words;
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
