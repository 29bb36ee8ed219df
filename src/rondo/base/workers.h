// Workers: threads for work that an event loop must not wait for.
//
//   Workers workers(4);
//   workers.run(Workers::Size::kLarge, [&] { read a large request });
//
// Large tasks never occupy all threads: one stays free for small tasks, unless there is only one thread.  Tasks of the
// same size start in the order in which they came.  Any thread may call run().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rondo {

class Workers {
 public:
  enum class Size : std::uint8_t { kSmall, kLarge };

  // REQUIRES: threads >= 1.
  explicit Workers(std::size_t threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Waits until all tasks have run.
  ~Workers();

  void run(Size size, std::function<void()> task);
  // Returns how many tasks wait for a thread.
  [[nodiscard]] std::size_t waiting() const;

 private:
  void work();
  [[nodiscard]] bool may_begin_large() const { return !large_.empty() && running_large_ < most_large_; }

  const std::size_t most_large_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> small_;
  std::deque<std::function<void()>> large_;
  std::size_t running_large_ = 0;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rondo
