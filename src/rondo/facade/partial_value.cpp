#include "rondo/partial_value.h"

#include "json/print.h"
#include "parse/partial_value.h"

namespace rondo {

struct PartialValue::State {
  parse::PartialValue value;
};

PartialValue::PartialValue() : state_(std::make_unique<State>()) {}
PartialValue::~PartialValue() = default;
PartialValue::PartialValue(PartialValue&&) noexcept = default;
PartialValue& PartialValue::operator=(PartialValue&&) noexcept = default;

void PartialValue::feed(std::string_view text) { state_->value.feed(text); }
void PartialValue::close() { state_->value.close(); }
std::string PartialValue::json() const { return json::to_compact(state_->value.value()); }
std::optional<std::string> PartialValue::open_path() const { return state_->value.open_path(); }
bool PartialValue::is_complete() const { return state_->value.is_complete(); }
bool PartialValue::is_valid() const { return state_->value.is_valid(); }

}  // namespace rondo
