// The runs of a text.  The innermost loops append to this list, and add() leaves the new element's fields unset.  Only
// Text (text.h) uses it.
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

  // Returns the last run if the next one may be merged with it, otherwise nullptr.
  [[nodiscard]] Run* open() const { return end_ == floor_ ? nullptr : end_ - 1; }
  // Closes all runs: the next run is not merged with the last one.  Returns how many were closed before, for reopen().
  std::size_t close() { return static_cast<std::size_t>(std::exchange(floor_, end_) - begin_); }
  // Leaves only the first `count` runs closed.
  void reopen(std::size_t count) { floor_ = begin_ + count; }

  // Adds a run at the end.  The caller sets all its fields at once.
  [[nodiscard, gnu::always_inline]] Run& add() {
    if (end_ == capacity_) [[unlikely]]
      make_room(1);
    return *end_++;
  }
  void append(std::span<const Run> runs);
  // Makes room for `count` more runs.  Throws std::bad_alloc or std::length_error.
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
  Run* floor_ = nullptr;  // the runs before this one are closed
};

}  // namespace rondo::text
