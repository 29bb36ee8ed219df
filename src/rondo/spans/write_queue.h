// Queues turns and objects for a slow store: one thread takes everything that waits and writes it at once.
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
  // Called by the thread: writes a batch, and returns one status for each element.
  using Write = std::function<std::vector<Status>(std::span<const Waiting> batch)>;

  // `most` is the largest size of a batch.
  WriteQueue(std::size_t most, Write write);
  // Writes what waits, then ends.
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  void put(Waiting waiting);
  // Waits until everything that was put is written and its owners have been told.
  void flush();
  // Returns true while this is being destroyed: a Write that retries should not retry for long.
  [[nodiscard]] bool ends() const { return ends_; }

 private:
  void write_waiting();

  std::size_t most_;
  Write write_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool writes_ = false;  // the thread has taken a batch and not yet written it
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace rondo::spans
