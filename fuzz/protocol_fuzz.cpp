// The line protocol: every line gets exactly one reply, which is JSON on one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "protocol/service.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Templates are kept for the life of a service: a fresh one now and then keeps memory bounded.
  static int lines = 0;
  static auto service = std::make_unique<rondo::protocol::Service>(rondo::protocol::ServiceOptions{});
  if (++lines % 500 == 0) service = std::make_unique<rondo::protocol::Service>(rondo::protocol::ServiceOptions{});
  const std::string reply = service->handle_line(std::string_view(reinterpret_cast<const char*>(data), size));
  if (reply.find('\n') != std::string::npos || !rondo::json::parse(reply).ok()) std::abort();
  return 0;
}
