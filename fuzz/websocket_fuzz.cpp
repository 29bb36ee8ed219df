// Bytes of a WebSocket: frames of a client, the offers of its handshake, packed messages.  However they are cut, the same is read,
// and what is packed is unpacked.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/websocket_frames.h"

namespace {

namespace websocket = rondo::net::websocket;

constexpr std::size_t kMost = 4096;

void expect(bool holds) {
  if (!holds) std::abort();
}

// What a reader makes of `bytes`, handed to it `step` at a time.
std::string read(std::string_view bytes, std::size_t step, bool deflates) {
  websocket::Reader reader({.message_bytes = kMost, .deflates = deflates});
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto failure = reader.read(bytes.substr(at, step), [&](const websocket::Message& message) {
      expect(message.payload.size() <= kMost);
      out += std::to_string(static_cast<int>(message.opcode)) + ":" + message.payload + "\n";
      return true;
    });
    if (failure) return out + std::to_string(failure->code) + " " + failure->reason;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool deflates : {false, true}) {
    const std::string whole = read(bytes, size + 1, deflates);
    for (const std::size_t step : {1U, 2U, 7U}) expect(read(bytes, step, deflates) == whole);
  }
  bool is_too_big = false;
  if (const auto unpacked = websocket::unpack(bytes, kMost, is_too_big)) expect(unpacked->size() <= kMost);
  const int window_bits = size == 0 ? 15 : 9 + data[0] % 7;
  expect(websocket::unpack(websocket::pack(bytes, window_bits), size, is_too_big) == bytes);
  const auto agreed = websocket::agree_on_deflate({{"Sec-WebSocket-Extensions", std::string(bytes)}});
  expect(agreed.window_bits >= 9 && agreed.window_bits <= 15);
  return 0;
}
