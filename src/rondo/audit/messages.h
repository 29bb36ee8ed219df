// Messages as a template wants them, made for an audit.
#pragma once

#include <string>
#include <string_view>

#include "format/format.h"
#include "json/value.h"
#include "probe/messages.h"

namespace rondo::audit {

using probe::SaidCall;
using probe::Saying;

// In the shape of Format::input.
[[nodiscard]] json::Value message_of(const format::Format& format, const Saying& saying);

// The id that a call has where the model writes one: with the name in it, where the format carries the name there.
[[nodiscard]] std::string call_id(const format::Format& format, std::string_view name, std::size_t index);

// A value's text, the same for all spellings and orders of it.
[[nodiscard]] std::string canonical(const json::Value& value);

}  // namespace rondo::audit
