// One event of an event stream.
#pragma once

#include <string>

namespace rondo::apis {

struct StreamEvent {
  std::string name;  // "" where the API has no names
  std::string data;  // without line ends

  bool operator==(const StreamEvent&) const = default;
  // As it goes over the wire.
  void append_to(std::string& out) const {
    if (!name.empty()) out.append("event: ").append(name).append("\n");
    out.append("data: ").append(data).append("\n\n");
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    append_to(out);
    return out;
  }
};

}  // namespace rondo::apis
