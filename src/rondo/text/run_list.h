// The runs of a text: a list that is appended to in the innermost loops, and whose new elements are not set before they
// are filled.  For Text (text.h) only.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "text/run.h"

namespace rondo::text {

class RunList {
 public:
  RunList() = default;
  RunList(const RunList& other) { append(other.all()); }
  RunList(RunList&& other) noexcept { swap(other); }
  RunList& operator=(const RunList& other) {
    RunList copy(other);
    swap(copy);
    return *this;
  }
  RunList& operator=(RunList&& other) noexcept {
    RunList taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~RunList() { ::operator delete(begin_); }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::span<const Run> all() const { return {begin_, end_}; }
  [[nodiscard]] std::span<Run> all() { return {begin_, end_}; }

  // The last run if the next one may go on with it, else nullptr.
  [[nodiscard]] Run* open() const { return end_ == floor_ ? nullptr : end_ - 1; }
  // Closes what is there: the next run does not go on with it.  Returns what was closed before, for reopen().
  std::size_t close() { return static_cast<std::size_t>(std::exchange(floor_, end_) - begin_); }
  // Leaves only the first `count` runs closed.
  void reopen(std::size_t count) { floor_ = begin_ + count; }

  // One more at the end, whose fields are to be set now.
  [[nodiscard, gnu::always_inline]] Run& add() {
    if (end_ == capacity_) [[unlikely]]
      make_room(1);
    return *end_++;
  }
  void append(std::span<const Run> runs);
  // So that `count` more need no memory.  Throws std::bad_alloc or std::length_error.
  void make_room(std::size_t count);
  void truncate(std::size_t count) { end_ = begin_ + count; }
  void clear() { end_ = floor_ = begin_; }

  bool operator==(const RunList& other) const;

 private:
  void swap(RunList& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
    std::swap(floor_, other.floor_);
  }

  Run* begin_ = nullptr;
  Run* end_ = nullptr;
  Run* capacity_ = nullptr;
  Run* floor_ = nullptr;  // what stands before it is closed
};

}  // namespace rondo::text
