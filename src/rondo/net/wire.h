// HTTP/1.1 as bytes: heads of requests and answers, and bodies in their framings.  No sockets here.
//
// Reading is strict (RFC 9112, and where that leaves a choice, the narrow one): what two readers might understand
// differently is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http.h"
#include "rondo/result.h"

namespace rondo::net::wire {

// Where the head that `bytes` begin with ends: behind its empty line; 0 while that has not come.  kInvalidArgument for a line
// feed without a carriage return; kLimit if it is longer than `most`.
[[nodiscard]] Result<std::size_t> head_end(std::string_view bytes, std::size_t most);

struct RequestHead {
  std::string method;
  std::string target;  // begins with `/`, or is `*`
  int minor = 1;       // of HTTP/1.x
  Headers headers;
};

struct ResponseHead {
  int status = 0;
  int minor = 1;
  Headers headers;
};

// `head` ends with the empty line.  kInvalidArgument for what is no HTTP, kLimit for more than `most_fields` header fields,
// kUnsupported for another version.
[[nodiscard]] Result<RequestHead> read_request(std::string_view head, std::size_t most_fields);
[[nodiscard]] Result<ResponseHead> read_response(std::string_view head, std::size_t most_fields);

// How the end of a body is known.
struct Framing {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  std::uint64_t length = 0;
};
[[nodiscard]] Result<Framing> framing_of(const RequestHead& head);
[[nodiscard]] Result<Framing> framing_of(const ResponseHead& head, std::string_view method);

// False if the connection ends behind this message.
[[nodiscard]] bool keeps_alive(const Headers& headers, int minor);

// Takes a body out of its framing, cut anywhere.
class BodyReader {
 public:
  BodyReader() = default;
  explicit BodyReader(Framing framing);

  // Calls `take` with pieces of the body; returns how many of `bytes` belong to it.  When done, the rest is the next message's.
  // `take` returns false to stop reading at once.
  [[nodiscard]] Result<std::size_t> read(std::string_view bytes, const std::function<bool(std::string_view)>& take);

  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  // True if the body may end where the connection does.
  [[nodiscard]] bool ends_with_connection() const { return state_ == State::kUntilClose; }

 private:
  enum class State : std::uint8_t { kDone, kLength, kUntilClose, kSize, kChunk, kChunkEnd, kTrailer };
  [[nodiscard]] Status end_line();

  State state_ = State::kDone;
  std::uint64_t left_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::string line_;
};

// `headers` must be sendable (check_header); what is not is left out of the bytes.
void append_request(std::string& out, const std::string& method, const std::string& target, const Headers& headers);
void append_response(std::string& out, int status, const Headers& headers);
// REQUIRES: !bytes.empty().
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace rondo::net::wire
