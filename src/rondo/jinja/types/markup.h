// Markup, which is text that counts as escaped: converting text to markup and back.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Escapes &, <, >, ", ' as markupsafe does.  Leaves markup alone.  The result is markup.
[[nodiscard]] Value escape_html(Runtime& runtime, const Value& value);
// Replaces the character references in `text`.
[[nodiscard]] Value unescape_text(Runtime& runtime, const Value& text);
// Returns the plain text of markup: without tags and comments, with character references replaced.
[[nodiscard]] Value strip_tags(Runtime& runtime, const Value& text);

}  // namespace rondo::jinja
