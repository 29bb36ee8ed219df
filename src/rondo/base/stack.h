// Lists for the innermost loops, where appending is a comparison and a store.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo {

template <typename T>
[[gnu::noinline]] void make_room(std::vector<T>& list) {
  constexpr std::size_t kLeast = 16;
  list.reserve(std::max(list.size() * 2, kLeast));
}
// Appends `value`; what makes room stands apart, so that the caller needs no registers for it.
template <typename T>
[[gnu::always_inline]] inline void append_to(std::vector<T>& list, const T& value) {
  if (list.size() == list.capacity()) make_room(list);
  if (list.size() == list.capacity()) __builtin_unreachable();
  list.push_back(value);
}

template <typename T>
class Stack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Stack() = default;
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  [[nodiscard]] bool empty() const { return top_ == memory_.get(); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(top_ - memory_.get()); }
  // REQUIRES of all: there are that many.
  [[nodiscard]] T& back() {
    assert(!empty());
    return top_[-1];
  }
  [[nodiscard]] const T& back() const {
    assert(!empty());
    return top_[-1];
  }
  void pop() {
    assert(!empty());
    --top_;
  }
  void shrink(std::size_t size) {
    assert(size <= this->size());
    top_ = memory_.get() + size;
  }

  void push(const T& value) {
    if (top_ == end_) grow();
    *top_++ = value;
  }

 private:
  // Apart, so that pushing needs no registers for it.
  [[gnu::noinline]] void grow() {
    constexpr std::size_t kLeast = 32;
    const std::size_t used = size();
    const std::size_t room = std::max(used * 2, kLeast);
    auto memory = std::make_unique_for_overwrite<T[]>(room);
    std::copy_n(memory_.get(), used, memory.get());
    memory_ = std::move(memory);
    top_ = memory_.get() + used;
    end_ = memory_.get() + room;
  }

  std::unique_ptr<T[]> memory_;
  T* top_ = nullptr;
  T* end_ = nullptr;
};

}  // namespace rondo
