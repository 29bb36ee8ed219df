// Server-Sent Events: the streams of all engines and APIs consist of them.
//
//   net::SseReader reader;
//   Status status = reader.read(bytes, [](const net::SseEvent& event) { ... });   // any number of times
//
//   std::string out;
//   net::append_sse(out, "message_start", data);
//
// The reader accepts bytes that are cut anywhere, even inside a character or a line break; lines that end with CR, LF
// or both; a byte order mark; and comments.  As browsers do, it drops an event that the end of the stream interrupts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::net {

struct SseEvent {
  std::string name;  // field `event`; "" if it is missing
  std::string data;  // its lines, joined by line feeds
  std::string id;    // the latest `id` of the stream
};

class SseReader {
 public:
  // Enough for a last event with all ids of a prompt.
  static constexpr std::size_t kEventBytes = std::size_t{16} << 20U;

  explicit SseReader(std::size_t event_bytes = kEventBytes) : limit_(event_bytes) {}

  // Calls `take` for each event that `bytes` complete, in order; `take` must not destroy the reader.  Fails with kLimit
  // if an event is too long.  Nothing is read after that, and every call returns the same error.
  [[nodiscard]] Status read(std::string_view bytes, const std::function<void(const SseEvent&)>& take);

  // Returns true if the stream would end inside an event.
  [[nodiscard]] bool is_inside() const { return !line_.empty() || has_data_ || !event_.name.empty(); }

 private:
  void end_line(std::string_view line, const std::function<void(const SseEvent&)>& take);

  std::size_t limit_;
  std::string line_;
  SseEvent event_;
  std::uint8_t mark_bytes_ = 0;  // how much of a byte order mark was read; kNoMark once that is decided
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed that follows belongs to the same line break
  bool too_long_ = false;
};

// Appends an event: `event: NAME` unless the name is empty, `data: ` before each line of `data`, and an empty line.
//
// REQUIRES: `name` contains no line break.
void append_sse(std::string& out, std::string_view name, std::string_view data);

}  // namespace rondo::net
