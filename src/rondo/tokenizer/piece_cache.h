// Remembers the tokens of short pieces, so that a word is merged once and not at every occurrence.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "tokenizer/token_model.h"

namespace rondo::tokenizer {

// A table of fixed size; a new entry displaces the one in its place.  Not thread-safe.
class PieceCache {
 public:
  PieceCache();
  // Appends the tokens of `piece` and returns true if they are known.
  [[nodiscard]] bool find(std::string_view piece, std::uint64_t hash, std::vector<Unit>& out) const;
  // Keeps units[first..] as the tokens of `piece`, if both are short enough.
  void keep(std::string_view piece, std::uint64_t hash, const std::vector<Unit>& units, std::size_t first);
  [[nodiscard]] static std::uint64_t hash_of(std::string_view piece);

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 15U;
  static constexpr std::size_t kBytes = 27;
  static constexpr std::size_t kUnits = 4;
  struct alignas(64) Slot {
    std::uint64_t hash = 0;
    std::uint8_t bytes = 0;  // 0: free
    std::uint8_t units = 0;
    std::array<char, kBytes> piece{};
    std::array<std::uint8_t, kUnits> sizes{};
    std::array<TokenId, kUnits> ids{};
  };
  static_assert(sizeof(Slot) == 64);
  std::vector<Slot> slots_;
};

// What one encode() works with; borrowed so that threads share neither caches nor scratch memory.
struct Workbench {
  PieceCache cache;
  std::unique_ptr<TokenModel::Scratch> scratch;  // of the model; made when first needed
  std::vector<Unit> units;
};

// Lends workbenches; keeps as many as were ever in use at once.  Thread-safe.
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
