// The memory of values: all of it is freed at once when a render ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "jinja/value/bigint.h"
#include "jinja/value/value.h"
#include "json/value.h"

namespace rondo::jinja {

// Memory blocks that the renders of one template pass on to each other.  Thread-safe.
class BlockPool {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;
  using Block = std::unique_ptr<char[]>;

  [[nodiscard]] Block take();
  // Takes blocks back and keeps a few of them.
  void give_back(std::vector<Block>& blocks);

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

// Owns everything that values point to, and frees it all at the end.  Counts bytes against a limit.
class Heap final : public std::pmr::memory_resource {
 public:
  Heap(std::size_t limit_bytes, BlockPool& pool) : pool_(pool), limit_(limit_bytes) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() override;

  // Returns uninitialised memory that lives as long as the heap.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) {
    const auto misalignment = reinterpret_cast<std::uintptr_t>(next_) % align;
    const std::size_t padding = misalignment == 0 ? 0 : align - misalignment;
    if (size + padding > static_cast<std::size_t>(end_ - next_)) return allocate_slowly(size);
    char* out = next_ + padding;
    next_ = out + size;
    return out;
  }
  template <typename T>
  [[nodiscard]] T* allocate_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));  // NOLINT(bugprone-sizeof-expression): T itself
  }
  // Returns a copy that lives as long as the heap.
  [[nodiscard]] std::string_view copy(std::string_view bytes);

  [[nodiscard]] String* make_string() { return new (allocate(sizeof(String), alignof(String))) String; }
  // Lists and dicts are never destroyed, because their memory belongs to the heap.
  [[nodiscard]] List* make_list() { return new (allocate(sizeof(List), alignof(List))) List(this); }
  [[nodiscard]] Dict* make_dict() { return new (allocate(sizeof(Dict), alignof(Dict))) Dict(this); }
  [[nodiscard]] const BigInt* keep(BigInt value);
  [[nodiscard]] const json::Value* keep(json::Value value);
  // Makes an object or iterator; the heap destroys it.
  template <typename T, typename... Rest>
  T* make_object(Rest&&... rest) {
    T* object = new (allocate(sizeof(T), alignof(T))) T(std::forward<Rest>(rest)...);
    finalizers_ = new (allocate(sizeof(Finalizer), alignof(Finalizer)))
        Finalizer{[](void* memory) { static_cast<T*>(memory)->~T(); }, object, finalizers_};
    return object;
  }

  // Counts bytes that were allocated elsewhere for values.  Throws Failure (runtime.h) beyond the limit.
  void charge(std::size_t bytes) {
    require(bytes);
    used_ += bytes;
  }
  // Checks the limit without counting: for something that grows and will be counted at the end.
  void require(std::size_t bytes) const {
    if (used_ > limit_ || bytes > limit_ - used_) out_of_memory();
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  // An action for the end of the heap.  Stored in the heap's own memory; the latest runs first.
  struct Finalizer {
    void (*destroy)(void*);
    void* object;
    Finalizer* next;
  };

  [[nodiscard]] void* allocate_slowly(std::size_t size);
  [[noreturn]] void out_of_memory() const;
  void* do_allocate(std::size_t size, std::size_t align) override { return allocate(size, align); }
  void do_deallocate(void* /*memory*/, std::size_t /*size*/, std::size_t /*align*/) override {}
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  BlockPool& pool_;
  std::vector<BlockPool::Block> blocks_;  // blocks of the pool's size
  std::vector<BlockPool::Block> large_blocks_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::size_t used_ = 0;
  std::size_t limit_;
  Finalizer* finalizers_ = nullptr;
};

}  // namespace rondo::jinja
