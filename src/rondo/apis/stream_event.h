// One event of an event stream.
#pragma once

#include <string>

namespace rondo::apis {

struct StreamEvent {
  std::string name;  // "" if the API has no event names
  std::string data;  // contains no line ends

  bool operator==(const StreamEvent&) const = default;
  // Returns the event as it is sent.
  [[nodiscard]] std::string text() const {
    return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
  }
};

}  // namespace rondo::apis
