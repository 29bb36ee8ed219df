// A value that many threads may offer and read.  The first value offered stays.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace rondo::core {

// Reading costs one atomic load.  Any thread may call any member at any time.
template <class T>
class FirstValue {
 public:
  // Returns the value, which lives as long as this object; nullptr if none was offered yet.
  [[nodiscard]] const T* get() const { return is_known_.load(std::memory_order_acquire) ? &value_ : nullptr; }

  // Keeps `value` if it is the first, and drops it otherwise.
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
