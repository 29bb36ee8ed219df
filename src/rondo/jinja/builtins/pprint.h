// The result of the filter pprint.
#pragma once

#include <string>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// pprint.pformat(value).
[[nodiscard]] std::string pretty_print(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
