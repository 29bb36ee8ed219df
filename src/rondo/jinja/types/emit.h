// Output: whose a byte is when it is written.
#pragma once

#include <cstddef>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {

// Writes {{ value }} to `out`: str(), escaping under autoescape, and the rule of ownership: bytes belong to the context
// at the place of emission if that is bound to a message, else to the one they were made under.
void emit(Runtime& runtime, const Value& value, text::Text& out);
// Template text; the same as emitting make_literal, without the string.
void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out);

// What a macro writes to `output` at once, where its text would be emitted as it is: begins where this is made, and
// finish() does what emit() would do to the whole.
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
