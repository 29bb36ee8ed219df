// One event of an event stream.
#pragma once

#include <string>

namespace rondo::apis {

struct StreamEvent {
  std::string name;  // "" where the API has no names
  std::string data;  // without line ends

  bool operator==(const StreamEvent&) const = default;
  // As it goes over the wire.
  [[nodiscard]] std::string text() const {
    return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
  }
};

}  // namespace rondo::apis
