// Reads logs of chat requests: one JSON object per line, from OpenAI Chat Completions, Anthropic Messages or OpenAI
// Responses, as clients send them or as proxies wrap them.
//
//   LogReader reader([&](char* out, std::size_t size) { return read_some(out, size); });
//   while (auto entry = reader.next()) use(*entry);
//   reader.skipped();      // which lines were skipped, and why
//
// A line is read, used and dropped.  A line longer than the limit is skipped without being stored.  No line can stop
// the reader: a line that is not a request is counted with the reason.
//
// The body of a request is the line itself, or a member such as `request`, `body`, `payload`, `data`, `json`, `params`,
// `kwargs` or `input`, possibly as a string of JSON.  A reply is a member such as `response`, `reply`, `completion` or
// `result`; it may be a recorded stream.  A time is a member such as `timestamp`, `time` or `created_at`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/api_request.h"
#include "jinja/template.h"
#include "rondo/result.h"

namespace rondo::replay {

struct LogEntry {
  std::uint64_t line = 0;  // from 1
  chat::ApiRequest request;
  std::optional<chat::ApiReply> reply;
  std::optional<jinja::LocalTime> time;  // as written; numbers are UTC
};

// Reads one line of a log.  Fails with kJson or kInvalidArgument.  The entry's line is 0.  Bytes that are not UTF-8
// become U+FFFD.
[[nodiscard]] Result<LogEntry> read_log_line(std::string_view line);

// Lines that were skipped for the same reason.
struct SkippedLines {
  std::string reason;  // "not JSON", "longer than 64 MB"
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;
  std::string first_error;  // details about the first one
};

// Counts lines for a few reasons.
class SkipCounter {
 public:
  void add(std::string_view reason, std::uint64_t line, std::string_view error);
  [[nodiscard]] const std::vector<SkippedLines>& reasons() const { return reasons_; }

 private:
  std::vector<SkippedLines> reasons_;
};

struct LogLimits {
  // A request of a million tokens has some 5 MB; with images it has more.
  std::size_t line_bytes = std::size_t{64} << 20U;
};

class LogReader {
 public:
  // Puts at most `size` bytes into `out` and returns how many; 0 at the end.
  using Source = std::function<std::size_t(char* out, std::size_t size)>;

  explicit LogReader(Source source, LogLimits limits = {});

  // Returns the next request; nullopt at the end.
  [[nodiscard]] std::optional<LogEntry> next();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // read so far
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] const std::vector<SkippedLines>& skipped() const { return skipped_.reasons(); }

 private:
  // Gives the next line without its end.  Returns false at the end of the log.  `too_long`: its bytes were not stored.
  bool next_line(std::string_view& line, bool& too_long);
  bool fill();

  Source source_;
  LogLimits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;     // start of the next line
  std::size_t searched_ = 0;  // no newline is between begin_ and here
  bool at_end_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  SkipCounter skipped_;
};

}  // namespace rondo::replay
