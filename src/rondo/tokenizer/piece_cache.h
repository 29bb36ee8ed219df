// Remembers the tokens of pieces, so that a word is merged once and not at every occurrence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/pages.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/token_model.h"

namespace rondo::tokenizer {

// Two tables of fixed size: one for short pieces with few tokens, which are nearly all pieces, and one for the others.
// New entries replace old ones.  Memory is taken on first use, at most 24 MB.  Not thread-safe.
class PieceCache {
 public:
  static constexpr std::size_t kShortBytes = 15;
  static constexpr std::size_t kShortIds = 3;
  static constexpr std::size_t kLongBytes = 255;  // longer pieces are not cached

  // The bytes of a short piece, zeros, and its size: equal keys are equal pieces.
  struct Key {
    std::uint64_t low;
    std::uint64_t high;
  };
  struct Short {
    Key key;
    std::array<TokenId, kShortIds> ids;
    std::uint8_t count;
    std::array<std::uint8_t, kShortIds> sizes;
  };
  static_assert(sizeof(Short) == 32);

  PieceCache();

  // REQUIRES: 1 <= size <= kShortBytes, and 16 bytes can be read.
  [[nodiscard]] static Key key_of(const char* bytes, std::size_t size) {
    Key key;
    std::memcpy(&key, bytes, sizeof key);
    const Key& mask = kMasks[size];
    return {key.low & mask.low, (key.high & mask.high) | static_cast<std::uint64_t>(size) << kSizeShift};
  }
  // Does the same for a piece at the end of readable memory.
  [[nodiscard]] static Key key_of(std::string_view piece) {
    std::array<char, sizeof(Key)> padded{};
    std::memcpy(padded.data(), piece.data(), piece.size());
    return key_of(padded.data(), piece.size());
  }

  [[nodiscard]] static bool is_of(const Short& entry, Key key) {
    return ((entry.key.low ^ key.low) | (entry.key.high ^ key.high)) == 0;
  }
  // REQUIRES: at most kShortIds tokens.
  [[nodiscard]] static Short entry_of(Key key, std::span<const Unit> units) {
    Short entry{key, {}, static_cast<std::uint8_t>(units.size()), {}};
    for (std::size_t i = 0; i < units.size(); ++i) {
      entry.ids[i] = units[i].id;
      entry.sizes[i] = static_cast<std::uint8_t>(units[i].size);
    }
    return entry;
  }

  // Returns where a key would be.  Prefetching this place early, and for several keys before looking, hides the memory
  // latency.
  [[nodiscard]] const Short* place_of(Key key) const {
    const Short* set = shorts_ + set_of(key);
    __builtin_prefetch(set);
    return set;
  }
  // Returns nullptr if the key is not cached.  Valid until the next keep().
  //
  // REQUIRES: `set` is place_of(key).
  [[nodiscard]] static const Short* find_at(const Short* set, Key key) {
    // A processor cannot predict in which of the two entries the key is, so choosing between them must not be a branch.
    // It can mostly predict whether the key is in one of them.
    const std::ptrdiff_t second = is_of(set[0], key) ? 0 : 1;
    return is_of(set[second], key) ? set + second : nullptr;
  }
  [[nodiscard]] const Short* find(Key key) const { return find_at(shorts_ + set_of(key), key); }
  // Caches a piece.  A piece that must make room moves to the long ones.
  //
  // REQUIRES: at most kShortIds tokens.
  void keep(Key key, std::span<const Unit> units);

  // The tokens of a piece that is not short, or has many tokens.
  struct Long {
    std::span<const TokenId> ids;
    const std::uint8_t* sizes;  // one for each id
  };
  [[nodiscard]] static std::uint64_t hash_of(std::string_view piece);
  // Prefetches the place of a long piece.
  void ask_for(std::uint64_t hash) const { __builtin_prefetch(bucket_of(hash)); }
  // Returns nullopt if the piece is not cached.  Valid until the next keep().
  //
  // REQUIRES: `hash` is hash_of(piece).
  [[nodiscard]] std::optional<Long> find_long(std::string_view piece, std::uint64_t hash) const;
  void keep_long(std::string_view piece, std::uint64_t hash, std::span<const Unit> units);

 private:
  static constexpr unsigned kSizeShift = 56;
  static constexpr unsigned kSetBits = 16;  // of two entries each, which share a cache line
  static constexpr std::size_t kShortsBytes = (std::size_t{2} << kSetBits) * sizeof(Short);
  static constexpr std::size_t kBuckets = std::size_t{1} << 16U;
  static constexpr std::size_t kBucketSlots = 8;
  static constexpr std::size_t kSlotsBytes = kBuckets * kBucketSlots * sizeof(std::uint64_t);
  static constexpr std::uint64_t kRingWords = std::uint64_t{1} << 22U;

  static constexpr std::array<Key, kShortBytes + 1> kMasks = [] {
    std::array<Key, kShortBytes + 1> masks{};
    for (std::size_t size = 0; size <= kShortBytes; ++size) {
      constexpr std::uint64_t kAll = ~std::uint64_t{0};
      masks[size].low = size >= 8 ? kAll : (std::uint64_t{1} << (8 * size)) - 1;
      masks[size].high = size <= 8 ? 0 : (std::uint64_t{1} << (8 * (size - 8))) - 1;
    }
    return masks;
  }();

  [[nodiscard]] static std::size_t set_of(Key key) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(key.low ^ 0x9E3779B97F4A7C15U) * (key.high ^ 0xC2B2AE3D27D4EB4FU);
    const std::uint64_t hash = static_cast<std::uint64_t>(product >> 64U) ^ static_cast<std::uint64_t>(product);
    return static_cast<std::size_t>(hash & ((std::size_t{1} << kSetBits) - 1)) * 2;
  }
  [[nodiscard]] std::uint64_t* bucket_of(std::uint64_t hash) const { return slots_ + (hash % kBuckets) * kBucketSlots; }
  [[nodiscard]] bool is_kept(std::uint64_t position) const { return position + kRingWords >= written_; }

  Pages memory_;
  Short* shorts_ = nullptr;
  // Long entries follow each other in a ring.  A slot holds the upper part of a hash and a position.  Positions only
  // grow, so a position tells whether its entry has been overwritten.
  std::uint64_t* slots_ = nullptr;
  std::uint32_t* ring_ = nullptr;
  std::uint64_t written_ = 0;  // words written in total
};

// The working memory of one encode().  It is borrowed, so that threads share neither caches nor scratch memory.
struct Workbench {
  PieceCache cache;
  std::unique_ptr<TokenModel::Scratch> scratch;  // for the model; made on first use
  std::vector<Unit> units;
  unsigned new_pieces = 0;  // in the latest group of pieces that was looked up
  unsigned comebacks = 0;   // short pieces that were found among the long ones
  std::vector<AddedMatch> matches;
  std::vector<AddedMatch> inner_matches;  // in normalised text
};

// Lends workbenches, and keeps as many as were ever in use at once.  Thread-safe.
class Workbenches {
 public:
  class Loan {
   public:
    explicit Loan(Workbenches& owner) : owner_(owner), bench_(owner.take()) {}
    ~Loan() { owner_.give(std::move(bench_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Workbench* operator->() { return bench_.get(); }
    Workbench& operator*() { return *bench_; }

   private:
    Workbenches& owner_;
    std::unique_ptr<Workbench> bench_;
  };

 private:
  [[nodiscard]] std::unique_ptr<Workbench> take();
  void give(std::unique_ptr<Workbench> bench);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Workbench>> idle_;
};

}  // namespace rondo::tokenizer
