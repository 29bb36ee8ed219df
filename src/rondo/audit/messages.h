// Makes messages for an audit, in the form that a template needs.
#pragma once

#include <string>
#include <string_view>

#include "format/format.h"
#include "json/value.h"
#include "probe/messages.h"

namespace rondo::audit {

using probe::SaidCall;
using probe::Saying;

// Returns a message in the form of Format::input.
[[nodiscard]] json::Value message_of(const format::Format& format, const Saying& saying);

// Returns the id that a model would write for a call: with the name in it if the format puts it there.
[[nodiscard]] std::string call_id(const format::Format& format, std::string_view name, std::size_t index);

// Returns a text that is equal for all spellings and member orders of a value.
[[nodiscard]] std::string canonical(const json::Value& value);

}  // namespace rondo::audit
