#include "spans/write_queue.h"

#include <algorithm>
#include <utility>

namespace rondo::spans {

WriteQueue::WriteQueue(std::size_t most, Write write)
    : most_(most), write_(std::move(write)), thread_([this] { write_waiting(); }) {}

WriteQueue::~WriteQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriteQueue::put(Waiting waiting) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }
  changed_.notify_all();
}

void WriteQueue::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !writes_; });
}

void WriteQueue::write_waiting() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), most_));
    const std::vector<Waiting> batch(std::move_iterator(waiting_.begin()), std::move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    writes_ = true;
    lock.unlock();
    const std::vector<Status> each = write_(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].kept) batch[i].kept(each[i]);
    }
    lock.lock();
    writes_ = false;
    changed_.notify_all();
  }
}

}  // namespace rondo::spans
