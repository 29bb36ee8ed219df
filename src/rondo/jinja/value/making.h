// Makes the values of a render: strings with their runs, lists, tuples, dicts, and undefined values.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {

// Returns the string constant `literal` of the template under `context`.  Under kNone it belongs to the context that
// first takes a part of it.  `bytes` must outlive the render.
[[nodiscard]] Value make_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal,
                                 text::ContextId context);
// Returns text that the template computed (kComputed) under the current context.  Copies the bytes.
[[nodiscard]] Value make_computed(Runtime& runtime, std::string_view bytes, text::PathId path = text::PathId::kNone);
// Returns a string with the bytes and runs of `text`: what a macro, set block or filter block wrote.
[[nodiscard]] Value make_string(Runtime& runtime, const text::Text& text);
[[nodiscard]] Value make_list(Runtime& runtime, std::span<const Value> items);
[[nodiscard]] Value make_tuple(Runtime& runtime, std::span<const Value> items);
[[nodiscard]] inline Value make_tuple(Runtime& runtime, std::initializer_list<Value> items) {
  return make_tuple(runtime, std::span(items.begin(), items.size()));
}
[[nodiscard]] Value make_dict(Runtime& runtime);  // an empty dict; fill it with set_item
[[nodiscard]] Value make_undefined(Runtime& runtime, std::string_view variable_name);
[[nodiscard]] Value make_undefined_hint(Runtime& runtime, std::string_view message);  // copies the message

}  // namespace rondo::jinja
