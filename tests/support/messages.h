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

// Calls with arguments of every kind (golden/format/kinds.jsonl), alone, among others, and in a second call.
struct ArgumentCase {
  std::string kind;
  MessageParts parts;
};
[[nodiscard]] std::vector<ArgumentCase> argument_cases();

// A schema of the value's types.  `is_closed`: its objects have these members and no others.
[[nodiscard]] json::Value schema_of(const json::Value& value, bool is_closed);

// A tool whose arguments have `properties`, none of them required.
[[nodiscard]] json::Value tool_of(const std::string& name, json::Object properties, bool is_closed);

// As schemas call it.
[[nodiscard]] const char* type_name(const json::Value& value);

}  // namespace rondo::test
