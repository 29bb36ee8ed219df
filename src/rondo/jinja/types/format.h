// Python's two ways to format text.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// text.format(...) and text % values.
[[nodiscard]] Value format_braces(Runtime& runtime, const Value& format, const Args& args, const Value* mapping);
[[nodiscard]] Value format_percent(Runtime& runtime, const Value& format, const Value& values);

}  // namespace rondo::jinja
