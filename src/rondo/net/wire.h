// HTTP/1.1 on the level of bytes: heads of requests and answers, and bodies with their framing.  No sockets here.
//
// Reading is strict: it follows RFC 9112 and takes the narrow option where the RFC leaves a choice.  What two readers
// might understand differently is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http.h"
#include "rondo/result.h"

namespace rondo::net::wire {

// Returns the offset after the empty line that ends the head at the start of `bytes`; 0 if the head is incomplete.
// Fails with kInvalidArgument for a line feed without a carriage return, or with kLimit if the head is longer than
// `most`.
[[nodiscard]] Result<std::size_t> head_end(std::string_view bytes, std::size_t most);

struct RequestHead {
  std::string method;
  std::string target;  // begins with `/`, or is `*`
  int minor = 1;       // the minor version of HTTP/1.x
  Headers headers;     // if the target was absolute, `Host` is the name in it
};

struct ResponseHead {
  int status = 0;
  int minor = 1;
  Headers headers;
};

// `head` ends with the empty line.  Fails with kInvalidArgument if it is not HTTP, with kLimit for more than
// `most_fields` header fields, or with kUnsupported for another version.
[[nodiscard]] Result<RequestHead> read_request(std::string_view head, std::size_t most_fields);
[[nodiscard]] Result<ResponseHead> read_response(std::string_view head, std::size_t most_fields);

// How the end of a body is recognised.
struct Framing {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  std::uint64_t length = 0;
};
[[nodiscard]] Result<Framing> framing_of(const RequestHead& head);
[[nodiscard]] Result<Framing> framing_of(const ResponseHead& head, std::string_view method);

// Returns false if the connection ends after this message.
[[nodiscard]] bool keeps_alive(const Headers& headers, int minor);

// Extracts a body from its framing, which may be cut anywhere.
class BodyReader {
 public:
  BodyReader() = default;
  explicit BodyReader(Framing framing);

  // Calls `take` with pieces of the body, and returns how many of `bytes` belong to it.  When it is complete, the rest
  // belongs to the next message.  `take` returns false to stop reading at once.
  [[nodiscard]] Result<std::size_t> read(std::string_view bytes, const std::function<bool(std::string_view)>& take);

  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  // Returns true if the body may end where the connection does.
  [[nodiscard]] bool ends_with_connection() const { return state_ == State::kUntilClose; }

 private:
  enum class State : std::uint8_t { kDone, kLength, kUntilClose, kSize, kChunk, kChunkEnd, kTrailer };
  // Takes the next bytes of the content off `rest`, and moves on if the content or the chunk ends with them.
  [[nodiscard]] std::string_view take_content(std::string_view rest);
  // Takes bytes of the framing off `rest`, up to the end of a line at most.  Returns how many.
  [[nodiscard]] Result<std::size_t> take_framing(std::string_view rest);
  [[nodiscard]] Status end_line();

  State state_ = State::kDone;
  std::uint64_t left_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::string line_;
};

// REQUIRES: `headers` can be sent (check_header); others are left out.
void append_request(std::string& out, const std::string& method, const std::string& target, const Headers& headers);
void append_response(std::string& out, int status, const Headers& headers);
// REQUIRES: !bytes.empty().
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace rondo::net::wire
