// Messages as a template wants them, made for an audit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "json/value.h"

namespace rondo::audit {

struct SaidCall {
  std::string name;
  json::Value arguments;  // an object
  std::string id;
};

// What an assistant message is to hold.
struct Saying {
  std::string reasoning;
  std::string content;
  std::vector<SaidCall> calls;
};

// In the shape of Format::input.
[[nodiscard]] json::Value message_of(const format::Format& format, const Saying& saying);

// The id that a call has where the model writes one: with the name in it, where the format carries the name there.
[[nodiscard]] std::string call_id(const format::Format& format, const std::string& name, std::size_t index);

// A value's text, the same for all spellings and orders of it.
[[nodiscard]] std::string canonical(const json::Value& value);

// True for the names under which templates and APIs know a message's reasoning.
[[nodiscard]] bool is_reasoning_field(std::string_view field);

}  // namespace rondo::audit
