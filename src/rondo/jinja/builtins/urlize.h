// The filter urlize.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

Value urlize(Runtime& runtime, const Value& subject, const Args& args);

}  // namespace rondo::jinja
