// Text that counts as escaped: how it is made of other text, and plain text of it.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Escapes &, <, >, ", ' as markupsafe does; markup is left alone.  The result is markup.
[[nodiscard]] Value escape_html(Runtime& runtime, const Value& value);
// The text of markup: without tags and comments, with references replaced by what they stand for.
[[nodiscard]] Value strip_tags(Runtime& runtime, const Value& text);

}  // namespace rondo::jinja
