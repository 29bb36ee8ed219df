// Assistant messages as a format wants them, for tests that send the same ones through many templates.
#pragma once

#include <string>
#include <vector>

#include "format/format.h"
#include "json/value.h"

namespace rondo::test {

struct MessageParts {
  std::string reasoning;
  std::string content;
  std::vector<json::Object> calls;                                            // their arguments
  std::vector<std::string> names = {"get_weather", "search", "get_weather"};  // of the calls
};

// In the shape of Format::input, with ids where the format wants them.
[[nodiscard]] json::Value message_of(const format::Format& format, const MessageParts& wanted);

// As schemas call it.
[[nodiscard]] const char* type_name(const json::Value& value);

}  // namespace rondo::test
