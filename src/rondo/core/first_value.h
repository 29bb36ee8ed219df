// A value that many threads may offer and read: the first one that is offered stays.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace rondo::core {

// Reading costs one atomic load.  Every member may be called from many threads at once.
template <class T>
class FirstValue {
 public:
  // The value, which lives as long as this object; null while there is none.
  [[nodiscard]] const T* get() const { return is_known_.load(std::memory_order_acquire) ? &value_ : nullptr; }

  // Keeps `value` where there is none yet, and drops it otherwise.
  void offer(T value) {
    std::call_once(once_, [&] {
      value_ = std::move(value);
      is_known_.store(true, std::memory_order_release);
    });
  }

 private:
  std::once_flag once_;
  std::atomic<bool> is_known_{false};
  T value_{};
};

}  // namespace rondo::core
