// Server-Sent Events: what streams of all engines and APIs are made of.
//
//   net::SseReader reader;
//   Status status = reader.read(bytes, [](const net::SseEvent& event) { ... });   // any number of times
//
//   std::string out;
//   net::append_sse(out, "message_start", data);
//
// The reader takes bytes cut anywhere, also inside a character or a line break; lines that end with CR, LF or both; a byte
// order mark; comments.  As browsers do, it drops an event that the stream ends in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::net {

struct SseEvent {
  std::string name;  // field `event`; "" if there was none
  std::string data;  // its lines, joined by line feeds
  std::string id;    // the last `id` of the stream so far
};

class SseReader {
 public:
  static constexpr std::size_t kEventBytes = std::size_t{16} << 20U;  // a last event with a whole prompt's ids fits

  explicit SseReader(std::size_t event_bytes = kEventBytes) : limit_(event_bytes) {}

  // Calls `take` for each event that `bytes` complete, in order; `take` must not destroy the reader.  kLimit for an event
  // that is too long: nothing is read afterwards, and the same error comes again.
  [[nodiscard]] Status read(std::string_view bytes, const std::function<void(const SseEvent&)>& take);

  // True if the stream would end inside an event.
  [[nodiscard]] bool is_inside() const { return !line_.empty() || has_data_ || !event_.name.empty(); }

 private:
  void end_line(std::string_view line, const std::function<void(const SseEvent&)>& take);

  std::size_t limit_;
  std::string line_;
  SseEvent event_;
  std::uint8_t mark_bytes_ = 0;  // how much of a byte order mark was read; kNoMark once that is settled
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed that follows ends no further line
  bool too_long_ = false;
};

// Appends an event: `event: NAME` unless that is empty, `data: ` before each line of `data`, an empty line.
// REQUIRES: no line break in `name`.
void append_sse(std::string& out, std::string_view name, std::string_view data);

// Appends a comment, which readers skip: keeps a connection alive.  REQUIRES: no line break in `text`.
void append_sse_comment(std::string& out, std::string_view text);

}  // namespace rondo::net
