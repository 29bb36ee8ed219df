// Bytes of HTTP: heads of requests and answers, and bodies in chunks.  However they are cut, the same is read.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/wire.h"

namespace {

namespace wire = rondo::net::wire;

// What a body reader makes of `bytes`, handed to it `step` at a time: the body, then "done", "more" or "error".
std::string body_of(wire::Framing framing, std::string_view bytes, std::size_t step) {
  wire::BodyReader reader(framing);
  std::string body;
  for (std::size_t at = 0; at < bytes.size() && !reader.done(); at += step) {
    const std::string_view piece = bytes.substr(at, step);
    const auto used = reader.read(piece, [&](std::string_view taken) {
      body += taken;
      return true;
    });
    if (!used.ok()) return body + "error";
    if (used.value() != piece.size() && !reader.done()) std::abort();
  }
  return body + (reader.done() ? "done" : "more");
}

void read_body(const rondo::Result<wire::Framing>& framing, std::string_view bytes) {
  if (!framing.ok()) return;
  const std::string whole = body_of(framing.value(), bytes, bytes.size() + 1);
  for (const std::size_t step : {1U, 2U, 7U}) {
    if (body_of(framing.value(), bytes, step) != whole) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_body(wire::Framing{wire::Framing::Kind::kChunked, 0}, bytes);
  const auto end = wire::head_end(bytes, 4096);
  if (!end.ok() || end.value() == 0) return 0;
  const std::string_view head = bytes.substr(0, end.value());
  const std::string_view rest = bytes.substr(end.value());
  if (const auto request = wire::read_request(head, 16); request.ok()) {
    // What was read can be written, and is then read as the same.
    std::string again;
    wire::append_request(again, request.value().method, request.value().target, request.value().headers);
    const auto second = wire::read_request(again, 16);
    if (request.value().minor == 1 &&
        (!second.ok() || second.value().headers.size() != request.value().headers.size())) {
      std::abort();
    }
    read_body(wire::framing_of(request.value()), rest);
  }
  if (const auto response = wire::read_response(head, 16); response.ok()) {
    read_body(wire::framing_of(response.value(), "GET"), rest);
  }
  return 0;
}
