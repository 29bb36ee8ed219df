// Server-Sent Events: however the bytes are cut, the same events come out, and what is written is read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/sse.h"

namespace {

using rondo::net::SseEvent;

constexpr std::size_t kLimit = 256;

std::vector<std::string> events_of(std::string_view bytes, std::size_t step) {
  rondo::net::SseReader reader(kLimit);
  std::vector<std::string> events;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto status = reader.read(bytes.substr(at, step), [&](const SseEvent& event) {
      events.push_back(event.name);
      events.push_back(event.data);
      events.push_back(event.id);
    });
    if (!status.ok()) {
      events.emplace_back("error");
      break;
    }
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = events_of(bytes, bytes.size() + 1);
  for (const std::size_t step : {1U, 3U, 16U}) {
    if (events_of(bytes, step) != whole) std::abort();
  }
  std::string out;
  rondo::net::append_sse(out, "name", bytes);
  rondo::net::SseReader reader;
  std::string again;
  if (!reader.read(out, [&](const SseEvent& event) { again = event.data; }).ok() || reader.is_inside()) std::abort();
  if (bytes.find('\r') == std::string_view::npos && again != bytes) std::abort();
  return 0;
}
