// The filter wordwrap.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

Value wordwrap(Runtime& runtime, const Value& subject, const Args& args);

}  // namespace rondo::jinja
