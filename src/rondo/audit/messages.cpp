#include "audit/messages.h"

#include "json/print.h"
#include "probe/messages.h"

namespace rondo::audit {

json::Value message_of(const format::Format& format, const Saying& saying) {
  format::InputShape shape = format.input;
  // Reasoning is sent even if the template never shows it, and a turn without calls has some text.
  if (!shape.reasoning_part.empty()) {
    shape.reasoning_field.clear();
  } else if (shape.reasoning_field.empty()) {
    shape.reasoning_field = "reasoning_content";
  }
  if (saying.calls.empty()) shape.no_content = format::NoContent::kEmpty;
  return probe::assistant_message(shape, saying);
}

std::string call_id(const format::Format& format, std::string_view name, std::size_t index) {
  return probe::id_of(format, name, index, probe::made_up_id(index));
}

std::string canonical(const json::Value& value) {
  json::PythonOptions options;
  options.sort_keys = true;
  return json::to_python(value, options);
}

}  // namespace rondo::audit
