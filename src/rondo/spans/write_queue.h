// Turns and objects on their way to a store that is slow: one thread takes all that waits and writes it at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "spans/store.h"

namespace rondo::spans {

class WriteQueue {
 public:
  // A turn, or objects.
  struct Waiting {
    std::optional<StoredTurn> turn;
    std::vector<StoredObject> objects;
    Store::Kept kept;
  };
  // Called by the thread: writes them, and says of each what came of it.
  using Write = std::function<std::vector<Status>(std::span<const Waiting> batch)>;

  // `most`: how many are written at once.
  WriteQueue(std::size_t most, Write write);
  // Writes what waits, then ends.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  void put(Waiting waiting);
  // Waits until all that was put is written, and its owners were told.
  void flush();
  // It is being destroyed: whoever tries again should not try for long.
  [[nodiscard]] bool ends() const { return ends_; }

 private:
  void write_waiting();

  std::size_t most_;
  Write write_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool writes_ = false;  // the thread has taken some that are not written yet
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rondo::spans
