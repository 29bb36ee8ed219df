// WebSocket (RFC 6455) on the level of bytes: frames of a client in, messages out, and the reverse; compression of
// messages (RFC 7692).  No sockets here.
//
//   websocket::Reader reader({.message_bytes = 1 << 20, .deflates = true});
//   if (auto failure = reader.read(bytes, take)) send(websocket::close_frame(failure->code, failure->reason));
//
// Reading is strict: what the RFC does not allow is a failure, with the code that the RFC gives for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace rondo::net::websocket {

enum class Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// Why a connection is closed.
enum Code : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupportedData = 1003,
  kNoCode = 1005,  // the message had no code
  kInvalidText = 1007,
  kPolicy = 1008,
  kTooBig = 1009,
  kInternal = 1011,
};

struct Failure {
  std::uint16_t code = kProtocolError;
  std::string reason;
};

// A text is valid UTF-8.  The payload of a close is the code in two bytes and the reason, or empty.
struct Message {
  Opcode opcode = Opcode::kText;
  std::string payload;
};

struct ReaderOptions {
  std::size_t message_bytes = std::size_t{1} << 20U;  // after unpacking
  bool deflates = false;                              // both sides agreed on permessage-deflate
};

// Extracts messages from frames, which may be cut anywhere.
class Reader {
 public:
  explicit Reader(ReaderOptions options) : options_(options) {}

  // Calls `take` for each complete message, control frames included, until it returns false.  After a failure or a
  // close, nothing more is read.
  [[nodiscard]] std::optional<Failure> read(std::string_view bytes, const std::function<bool(Message)>& take);

 private:
  struct Head {
    Opcode opcode = Opcode::kContinuation;
    bool is_last = false;
    bool is_packed = false;
    std::uint64_t size = 0;
    std::uint32_t mask_at = 0;  // how many bytes of head_ come before the mask
  };

  // Returns false if the head is not complete yet.
  [[nodiscard]] bool has_head(std::string_view& bytes);
  [[nodiscard]] std::optional<Failure> read_head();
  [[nodiscard]] std::optional<Failure> check_head() const;
  [[nodiscard]] std::optional<Failure> end_frame(const std::function<bool(Message)>& take);
  [[nodiscard]] std::optional<Failure> end_message(const std::function<bool(Message)>& take);

  ReaderOptions options_;
  std::string head_;  // the head of the current frame
  Head frame_;
  bool in_payload_ = false;
  std::uint64_t taken_ = 0;  // how much of its payload was read
  std::string control_;
  // The message whose frames are being read.
  std::optional<Opcode> begun_;
  bool is_packed_ = false;
  std::string message_;
  bool has_ended_ = false;
};

// Returns a whole message in one frame, as servers send it.
[[nodiscard]] std::string frame(Opcode opcode, std::string_view payload, bool is_packed = false);
[[nodiscard]] std::string close_frame(std::uint16_t code, std::string_view reason);

// Returns the code in the payload of a close; kNoCode if it is empty.
//
// REQUIRES: the payload came from a Reader.
[[nodiscard]] std::uint16_t code_of(std::string_view close_payload);

// Returns the `Sec-WebSocket-Accept` for this `Sec-WebSocket-Key`.
[[nodiscard]] std::string accept_key(std::string_view key);

// The answer to the first acceptable offer of permessage-deflate; "" if there is none.  Neither side carries context
// from message to message, so a waiting connection holds no window.
struct Deflate {
  std::string answer;
  int window_bits = 15;  // the largest window that the client can unpack
};
[[nodiscard]] Deflate agree_on_deflate(const Headers& headers);

// Packs a message for a frame, and unpacks one.  Unpacking returns nullopt if it is damaged or has more than `most`
// bytes (`is_too_big`).
[[nodiscard]] std::string pack(std::string_view message, int window_bits);
[[nodiscard]] std::optional<std::string> unpack(std::string_view packed, std::size_t most, bool& is_too_big);

}  // namespace rondo::net::websocket
