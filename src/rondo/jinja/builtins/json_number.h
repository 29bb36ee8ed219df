// Numbers as json.dumps() writes them.
#pragma once

#include <string>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "json/value.h"

namespace rondo::jinja {

// The JSON spelling of a number of the input if the input already spells it that way; "" if it needs a closer look.
[[nodiscard]] std::string_view same_number(const json::Value& value);

// REQUIRES: a number, or None.
[[nodiscard]] std::string json_number(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
