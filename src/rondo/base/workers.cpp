#include "base/workers.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace rondo {

Workers::Workers(std::size_t threads) : most_large_(std::max<std::size_t>(threads, 2) - 1) {
  assert(threads > 0);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(Size size, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    (size == Size::kSmall ? small_ : large_).push_back(std::move(task));
  }
  wake_.notify_one();
}

std::size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return small_.size() + large_.size();
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return !small_.empty() || may_begin_large() || (is_stopping_ && large_.empty()); });
    const bool is_large = small_.empty();
    if (is_large && !may_begin_large()) return;
    std::deque<std::function<void()>>& tasks = is_large ? large_ : small_;
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    if (is_large) ++running_large_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    if (!is_large) continue;
    --running_large_;
    wake_.notify_all();  // the next large job may begin, or the end has come
  }
}

}  // namespace rondo
