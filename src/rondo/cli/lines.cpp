#include "cli/lines.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace rondo::cli {
namespace {

Error stream_error(const std::string& stream, int number) { return {ErrorCode::kIo, std::strerror(number), stream}; }

// Reads input line by line.
class LineReader {
 public:
  // `before_read` is called whenever more input is needed, which may take a while.
  explicit LineReader(const LineEnds& ends, std::function<void()> before_read = {})
      : file_(ends.input),
        name_(ends.input_name),
        longest_line_(ends.longest_line),
        before_read_(std::move(before_read)) {}

  // The next line without its end; false at the end of input or after an error.  Of a line that is too long the text is
  // empty.
  bool next(std::string& line) {
    is_too_long_ = false;
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
    if (begin_ == buffer_.size() && !is_too_long_) return false;
    take(line, buffer_.size(), buffer_.size());
    return true;
  }

  [[nodiscard]] bool is_too_long() const { return is_too_long_; }  // whether the line returned last was
  [[nodiscard]] std::optional<Error> error() const { return error_; }
  [[nodiscard]] std::size_t bytes() const { return read_ - (buffer_.size() - begin_); }  // of the lines returned so far

 private:
  void take(std::string& line, std::size_t end, std::size_t next_begin) {
    const std::size_t length = end > begin_ && buffer_[end - 1] == '\r' ? end - 1 - begin_ : end - begin_;
    is_too_long_ = is_too_long_ || length > longest_line_;
    line.assign(buffer_, begin_, is_too_long_ ? 0 : length);
    begin_ = searched_ = next_begin;
  }

  void fill() {
    if (before_read_) before_read_();
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    if (buffer_.size() > longest_line_) {  // the rest of such a line is read, and not kept
      is_too_long_ = true;
      buffer_.clear();
      searched_ = 0;
    }
    std::array<char, 65536> chunk{};
    const ssize_t size = ::read(file_, chunk.data(), chunk.size());
    if (size > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(size));
      read_ += static_cast<std::size_t>(size);
    } else if (size == 0) {
      at_end_ = true;
    } else if (errno != EINTR) {
      error_ = stream_error(name_, errno);
      at_end_ = true;
    }
  }

  int file_;
  std::string name_;
  std::size_t longest_line_;
  std::function<void()> before_read_;
  std::size_t read_ = 0;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // there is no newline between begin_ and here
  bool at_end_ = false;
  bool is_too_long_ = false;
  std::optional<Error> error_;
};

// Output with our own buffer.
class Output {
 public:
  explicit Output(const LineEnds& ends) : file_(ends.output), name_(ends.output_name) {}

  void write_line(std::string_view line) {
    buffer_ += line;
    buffer_ += '\n';
    if (buffer_.size() >= kFlushBytes) flush();
  }

  void flush() {
    std::string_view left = buffer_;
    while (!left.empty() && !error_) {
      const ssize_t size = ::write(file_, left.data(), left.size());
      if (size >= 0) {
        left.remove_prefix(static_cast<std::size_t>(size));
      } else if (errno != EINTR) {
        error_ = stream_error(name_, errno);
      }
    }
    buffer_.clear();
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20U;

  int file_;
  std::string name_;
  std::string buffer_;
  std::optional<Error> error_;
};

Status finish(const LineReader& reader, const Output& output) {
  if (output.error()) return *output.error();
  if (reader.error()) return *reader.error();
  return Done{};
}

// Lines with their numbers; empty and blank ones are skipped.
class Numbered {
 public:
  explicit Numbered(LineReader& reader) : reader_(reader) {}

  bool next(Line& line) {
    do {
      if (!reader_.next(line.text)) return false;
      line.is_too_long = reader_.is_too_long();
      if (++number_ == 1) line.text.erase(0, line.text.size() - utf8::without_mark(line.text).size());
    } while (!line.is_too_long && line.text.find_first_not_of(" \t\r\n") == std::string::npos);
    line.number = number_;
    line.end = reader_.bytes();
    return true;
  }

 private:
  LineReader& reader_;
  std::size_t number_ = 0;
};

Status answer_on_one_thread(const LineEnds& ends, const LineAnswer& answer, const LineWritten& written) {
  Output output(ends);
  LineReader reader(ends, [&output] { output.flush(); });
  Numbered lines(reader);
  Line line;
  while (!output.error() && lines.next(line)) {
    output.write_line(answer(line));
    if (written) written(line.end);
  }
  output.flush();
  return finish(reader, output);
}

struct Replied {
  std::size_t end = 0;  // where its line ends in the input
  std::string text;
};

// A window of requests in input order.  The reading thread pushes, workers answer in any order, and the writing thread
// pops replies from the front.  Its size is bounded, so that a slow request at the front does not let the rest grow
// without end.
class Window {
 public:
  // Waits while the window is full; false once writing has failed.
  bool push(Line line) {
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
  void work(const LineAnswer& answer) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return taken_ < jobs_.size() || closed_ || stopped_; });
      if (stopped_ || taken_ == jobs_.size()) return;
      Job& job = jobs_[taken_++];  // remains valid, because a deque does not move elements when its ends change
      lock.unlock();
      std::string reply = answer(job.line);
      lock.lock();
      job.reply = std::move(reply);
      job.done = true;
      changed_.notify_all();
    }
  }

  // Waits for the next reply in input order; nullopt after the last one.  `more`: whether the one after it is ready
  // too.
  std::optional<Replied> pop(bool& more) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_ready(0) || (closed_ && jobs_.empty()); });
    if (jobs_.empty()) return std::nullopt;
    Replied reply{jobs_.front().line.end, std::move(jobs_.front().reply)};
    jobs_.pop_front();
    --taken_;
    more = is_ready(0);
    changed_.notify_all();
    return reply;
  }

 private:
  static constexpr std::size_t kSize = 1024;

  struct Job {
    Line line;
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
  std::size_t taken_ = 0;  // all earlier jobs have a worker
  bool closed_ = false;
  bool stopped_ = false;
};

Status answer_on_threads(const LineEnds& ends, int threads, const LineAnswer& answer, const LineWritten& written) {
  LineReader reader(ends);
  Output output(ends);
  Window window;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back([&] { window.work(answer); });
  std::thread writer([&] {
    bool more = false;
    while (const std::optional<Replied> reply = window.pop(more)) {
      output.write_line(reply->text);
      if (!more) output.flush();
      if (output.error()) return window.stop();
      if (written) written(reply->end);
    }
    output.flush();
  });
  Numbered lines(reader);
  Line line;
  while (lines.next(line)) {
    if (!window.push(std::move(line))) break;
  }
  window.close();
  for (std::thread& worker : workers) worker.join();
  writer.join();
  return finish(reader, output);
}

}  // namespace

Error too_long() {
  return {ErrorCode::kInvalidArgument,
          "a line has up to " + std::to_string(kLongestLine >> 20U) + " MiB; this one is longer"};
}

Status answer_lines(const LineEnds& ends, int threads, const LineAnswer& answer, const LineWritten& written) {
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe then fails, and is reported as an error
  return threads <= 1 ? answer_on_one_thread(ends, answer, written) : answer_on_threads(ends, threads, answer, written);
}

}  // namespace rondo::cli
