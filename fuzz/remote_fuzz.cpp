// What servers answer: whatever stands in an event, it is read or refused; ids are never negative, and no more than the
// text could name.  The first byte says which server it is, lines are events.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "remote/dialect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  rondo::remote::ServerInfo info;
  info.kind = static_cast<rondo::remote::ServerKind>(data[0] % 3);
  const auto dialect = rondo::remote::make_dialect(info);
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  rondo::remote::Reading reading;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : rest.size());
    const auto event = dialect->read(line, reading);
    if (!event.ok()) break;
    for (const rondo::remote::Part& part : event.value().parts) {
      if (part.choice >= rondo::remote::kMostChoices || part.tokens.size() > line.size()) std::abort();
      if (part.stop_id.value_or(0) < 0) std::abort();
      for (const rondo::engine::SampledToken& token : part.tokens) {
        if (token.id < 0) std::abort();
      }
    }
  }
  return 0;
}
