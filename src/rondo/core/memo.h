// Values that are made on first use and then kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "rondo/result.h"

namespace rondo::core {

// Makes the value of a key once; other threads that ask for it wait.  A failure is not kept, because a missing file may
// appear later.  Thread-safe.  Beyond `capacity` keys, the oldest are dropped; values in use stay alive.
template <typename T>
class Memo {
 public:
  using Made = Result<std::shared_ptr<const T>>;

  explicit Memo(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] Made get(const std::string& key, const std::function<Made()>& make) {
    const std::shared_ptr<Entry> entry = entry_of(key);
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (entry->value != nullptr) return entry->value;
    Made made = make();
    if (made.ok()) entry->value = made.value();
    return made;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const T> value;
    std::uint64_t age = 0;
  };

  std::shared_ptr<Entry> entry_of(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) {
      entry = std::make_shared<Entry>();
      entry->age = ++clock_;
      std::shared_ptr<Entry> kept = entry;
      if (entries_.size() > capacity_) forget_oldest();
      return kept;
    }
    return entry;
  }

  void forget_oldest() {
    auto oldest = entries_.begin();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second->age < oldest->second->age) oldest = it;
    }
    entries_.erase(oldest);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::uint64_t clock_ = 0;
  std::size_t capacity_;
};

}  // namespace rondo::core
