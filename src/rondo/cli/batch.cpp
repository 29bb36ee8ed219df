// rondo batch: one request per line in, one reply per line out, in the same order (docs/batch.md).
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "cli/io.h"

namespace rondo::cli {
namespace {

Error stream_error(const char* stream, int number) { return {ErrorCode::kIo, std::strerror(number), stream}; }

// Standard input by lines.  Says whether the next line is already there, so that a writer knows when to flush.
class LineReader {
 public:
  // The next line without its end; false at the end of input or after an error.
  bool next(std::string& line) {
    while (true) {
      const std::size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos) {
        take(line, end, end + 1);
        return true;
      }
      searched_ = buffer_.size();
      if (at_end_) break;
      fill();
    }
    if (begin_ == buffer_.size()) return false;
    take(line, buffer_.size(), buffer_.size());
    return true;
  }

  [[nodiscard]] bool has_line() const { return buffer_.find('\n', searched_) != std::string::npos; }
  [[nodiscard]] std::optional<Error> error() const { return error_; }

 private:
  void take(std::string& line, std::size_t end, std::size_t next_begin) {
    const std::size_t length = end > begin_ && buffer_[end - 1] == '\r' ? end - 1 - begin_ : end - begin_;
    line.assign(buffer_, begin_, length);
    begin_ = searched_ = next_begin;
  }

  void fill() {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    std::array<char, 65536> chunk{};
    const ssize_t size = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (size > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(size));
    } else if (size == 0) {
      at_end_ = true;
    } else if (errno != EINTR) {
      error_ = stream_error("standard input", errno);
      at_end_ = true;
    }
  }

  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no newline stands between begin_ and here
  bool at_end_ = false;
  std::optional<Error> error_;
};

// Standard output with a buffer of our own.
class Output {
 public:
  void write_line(std::string_view line) {
    buffer_ += line;
    buffer_ += '\n';
    if (buffer_.size() >= kFlushBytes) flush();
  }

  void flush() {
    std::string_view left = buffer_;
    while (!left.empty() && !error_) {
      const ssize_t size = ::write(STDOUT_FILENO, left.data(), left.size());
      if (size >= 0) {
        left.remove_prefix(static_cast<std::size_t>(size));
      } else if (errno != EINTR) {
        error_ = stream_error("standard output", errno);
      }
    }
    buffer_.clear();
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20U;

  std::string buffer_;
  std::optional<Error> error_;
};

int finish(const LineReader& reader, const Output& output) {
  if (output.error()) return report(*output.error());
  if (reader.error()) return report(*reader.error());
  return kSuccess;
}

int run_on_one_thread(const protocol::Service& service) {
  LineReader reader;
  Output output;
  std::string line;
  while (!output.error() && reader.next(line)) {
    if (!line.empty()) output.write_line(service.handle_line(line));
    if (!reader.has_line()) output.flush();
  }
  output.flush();
  return finish(reader, output);
}

// A window of requests in input order.  The reading thread pushes, workers answer in any order, the writing thread pops
// replies from the front.  Bounded, so that a slow request at the front does not make the rest pile up without end.
class Window {
 public:
  // Waits while the window is full; false once writing has failed.
  bool push(std::string line) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.size() < kSize || stopped_; });
    if (stopped_) return false;
    jobs_.emplace_back();
    jobs_.back().line = std::move(line);
    changed_.notify_all();
    return true;
  }

  void close() { set(closed_); }
  void stop() { set(stopped_); }

  // Answers requests until there are no more.
  void work(const protocol::Service& service) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return taken_ < jobs_.size() || closed_ || stopped_; });
      if (stopped_ || taken_ == jobs_.size()) return;
      Job& job = jobs_[taken_++];  // stays where it is: a deque moves nothing when its ends change
      lock.unlock();
      std::string reply = service.handle_line(job.line);
      lock.lock();
      job.reply = std::move(reply);
      job.done = true;
      changed_.notify_all();
    }
  }

  // Waits for the next reply in input order; nullopt after the last.  `more`: whether the one behind it is ready too.
  std::optional<std::string> pop(bool& more) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_ready(0) || (closed_ && jobs_.empty()); });
    if (jobs_.empty()) return std::nullopt;
    std::string reply = std::move(jobs_.front().reply);
    jobs_.pop_front();
    --taken_;
    more = is_ready(0);
    changed_.notify_all();
    return reply;
  }

 private:
  static constexpr std::size_t kSize = 1024;

  struct Job {
    std::string line;
    std::string reply;
    bool done = false;
  };

  [[nodiscard]] bool is_ready(std::size_t index) const { return index < jobs_.size() && jobs_[index].done; }

  void set(bool& flag) {
    const std::lock_guard<std::mutex> lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t taken_ = 0;  // jobs before this index have a worker
  bool closed_ = false;
  bool stopped_ = false;
};

int run_on_threads(const protocol::Service& service, int threads) {
  LineReader reader;
  Output output;
  Window window;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back([&] { window.work(service); });
  std::thread writer([&] {
    bool more = false;
    while (const std::optional<std::string> reply = window.pop(more)) {
      output.write_line(*reply);
      if (!more) output.flush();
      if (output.error()) return window.stop();
    }
    output.flush();
  });
  std::string line;
  while (reader.next(line)) {
    if (!line.empty() && !window.push(std::move(line))) break;
  }
  window.close();
  for (std::thread& worker : workers) worker.join();
  writer.join();
  return finish(reader, output);
}

}  // namespace

int run_batch(const BatchArguments& arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), reported as such
  const protocol::Service service(service_options());
  return arguments.threads <= 1 ? run_on_one_thread(service) : run_on_threads(service, arguments.threads);
}

}  // namespace rondo::cli
