// Output: who owns a byte when it is written.
#pragma once

#include <cstddef>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {

// Writes {{ value }} to `out`: applies str(), escapes under autoescape, and sets the owner.  If the current context is
// bound to a message, the bytes belong to it; otherwise to the context in which they were made.
void emit(Runtime& runtime, const Value& value, text::Text& out);
// Writes template text.  Does the same as emitting make_literal(), without making the string.
void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out);

// The output of a macro that writes directly to `output`, because its text would be emitted unchanged.  It begins where
// this object is made.  finish() then does what emit() would do to the whole text.
class PartEmission {
 public:
  PartEmission(Runtime& runtime, text::Text& output)
      : runtime_(runtime), output_(output), begin_(output.size()), part_(output.begin_part()) {}
  void finish() const;

 private:
  Runtime& runtime_;
  text::Text& output_;
  std::size_t begin_;
  text::Text::Part part_;
};

}  // namespace rondo::jinja
