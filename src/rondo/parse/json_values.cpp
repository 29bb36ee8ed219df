// Values of parameters that are read as JSON, to their end, before anything is looked for that ends values.
#include <algorithm>

#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {

using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

// Reads a value that begins with a quote as JSON, where strings are JSON or as they are, and so an object or a list where
// the tool's schema wants no string.  Returns false if more text is needed.
bool Machine::begin_value() {
  if (parameter_.is_begun || parameter_.is_streaming) return true;
  const auto has_json = [this](auto is_type) {
    return std::ranges::any_of(parameter_.forms, [&](const ValueForm* form) {
      return form->style == ValueStyle::kJson && is_type(form->type);
    });
  };
  std::string_view begins;
  if (has_json([](ValueType type) { return type == ValueType::kString; })) begins = "\"";
  if (parameter_.types && !parameter_.types->has(TypeSet::kString) &&
      has_json([](ValueType type) { return type == ValueType::kObject || type == ValueType::kArray; }))
    begins = "{[";
  const std::size_t at = begins.empty() ? pos_ : skip_space(pos_);
  if (at == buffer_.size()) return is_end_;
  parameter_.is_begun = true;
  parameter_.is_json = parameter_.is_json || begins.find(buffer_[at]) != std::string_view::npos;
  return true;
}

// Looks behind the whole JSON value that ends at pos_ for what closes it.
MatchKind Machine::close_of_json() const {
  const std::size_t next = skip_space(pos_);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MatchKind end = value_ends().at(buffer_, next, is_end_, starts()).kind;
  const bool ends_line = buffer_.substr(pos_, next - pos_).find('\n') != std::string::npos;
  return end == MatchKind::kNone && ends_line && parameter_.closer_set.empty() ? key_at(next) : end;
}

// Moves pos_ past the JSON value, or back to the value's start if it is not JSON.  Returns false if more text is
// needed.
//
// A line end in a string is a mistake.  The value's end is then clear only if its close follows the JSON.  If it does
// not, a quote was forgotten and the value is not read as JSON.
bool Machine::json_in_value() {
  const auto give_up = [this] {
    parameter_.is_json = false;
    pos_ = head_;
    return true;
  };
  while (pos_ < buffer_.size() && parameter_.is_json) {
    if (scanner_.done()) {
      const MatchKind end = close_of_json();
      if (end == MatchKind::kNone) return give_up();
      if (end == MatchKind::kFull) parameter_.is_json = false;
      return end == MatchKind::kFull;
    }
    const JsonScanner::Step step = scanner_.step(buffer_[pos_]);
    parameter_.is_doubtful = parameter_.is_doubtful || scanner_.is_doubtful();
    if (step.bad || (parameter_.is_doubtful && parameter_.closer_set.empty())) return give_up();
    if (!step.left_over) ++pos_;
    if (scanner_.done() && !parameter_.is_doubtful) parameter_.is_json = false;
  }
  return !parameter_.is_json || (is_end_ && give_up());
}

// Where the template writes a list as its parameter once for each item: takes the schema of items for the value if the
// tool's schema wants a list.
void Machine::expect_item() {
  const bool is_list =
      parameter_.types && parameter_.types->has(TypeSet::kArray) && !parameter_.types->has(TypeSet::kString);
  if (!is_list) return;
  call_.takes_item = true;
  const json::Value* items = parameter_.schema.schema->find("items");
  parameter_.types = items != nullptr ? schema_types(*items, *parameter_.schema.root) : std::nullopt;
  parameter_.schema.schema = items;
}

// Returns the item `value` as a part of the arguments: it begins the list or goes on with it.  A whole list that begins
// none is itself.
std::string Machine::in_list(const json::Value& value) {
  const bool is_begun = call_.open_list == parameter_.key;
  const bool may_be_item = parameter_.types && parameter_.types->has(TypeSet::kArray);
  if (!is_begun && value.is_array() && !may_be_item) return json::to_compact(value);
  call_.open_list = parameter_.key;
  return (is_begun ? "," : "[") + json::to_compact(value);
}

}  // namespace rondo::parse
