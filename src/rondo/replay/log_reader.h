// Reads logs of chat requests: JSON objects, one on each line, of OpenAI Chat Completions, Anthropic Messages or OpenAI
// Responses, as clients send them or as proxies wrap them.
//
//   LogReader reader([&](char* out, std::size_t size) { return read_some(out, size); });
//   while (auto entry = reader.next()) use(*entry);
//   reader.skipped();      // what was passed over, and why
//
// A line is read whole and forgotten; longer ones than the limit are passed over without being kept.  No line can end the
// reading: what is no request is counted with its reason.
//
// The body of a request is the line itself, or stands below `request`, `body`, `payload`, `data`, `json`, `params`, `kwargs`,
// `input` or the like, also as a string of JSON.  A reply is looked for below `response`, `reply`, `completion`, `result` or
// the like; it may be a recorded stream.  A time is taken from `timestamp`, `time`, `created_at` or the like.
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
  std::optional<jinja::LocalTime> time;  // as it is written; numbers are UTC
};

// One line of a log.  Fails with kJson or kInvalidArgument; the entry's line is 0.  Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] Result<LogEntry> read_log_line(std::string_view line);

// Lines that were passed over for one reason.
struct SkippedLines {
  std::string reason;  // "not JSON", "longer than 64 MB"
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;
  std::string first_error;  // more about the first of them
};

// A count for each of a few reasons.
class SkipCounter {
 public:
  void add(std::string_view reason, std::uint64_t line, std::string_view error);
  [[nodiscard]] const std::vector<SkippedLines>& reasons() const { return reasons_; }

 private:
  std::vector<SkippedLines> reasons_;
};

struct LogLimits {
  // Requests of a million tokens have some 5 MB, images in them more.
  std::size_t line_bytes = std::size_t{64} << 20U;
};

class LogReader {
 public:
  // Puts at most `size` bytes into `out` and returns how many; 0 at the end.
  using Source = std::function<std::size_t(char* out, std::size_t size)>;

  explicit LogReader(Source source, LogLimits limits = {});

  // The next request; nullopt at the end.
  [[nodiscard]] std::optional<LogEntry> next();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // read so far
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] const std::vector<SkippedLines>& skipped() const { return skipped_.reasons(); }

 private:
  // The next line without its end; false at the end of the log.  `too_long`: its bytes were not kept.
  bool next_line(std::string_view& line, bool& too_long);
  bool fill();

  Source source_;
  LogLimits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no newline stands between begin_ and here
  bool at_end_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  SkipCounter skipped_;
};

}  // namespace rondo::replay
