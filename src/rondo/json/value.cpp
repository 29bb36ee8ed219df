#include "json/value.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "json/print.h"

namespace rondo::json {
namespace {

// Up to here comparing keys one by one beats hashing.
constexpr std::size_t kLinearMembers = 8;

std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>{}(key); }

// For a float text that from_chars calls out of range: is it too large (else too small)?  Looks at the decimal
// exponent of the first digit that is not zero.
bool is_overflow(std::string_view text) {
  constexpr std::int64_t kFar = 1'000'000'000;
  std::int64_t exponent = 0;
  const std::size_t mark = text.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc{}) exponent = digits.starts_with('-') ? -kFar : kFar;
  }
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) > 0;
}

}  // namespace

Object::Object(std::initializer_list<Member> members) {
  for (const Member& member : members) set(member.key, member.value);
}

std::size_t Object::position(std::string_view key) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].key == key) return i;
    }
    return members_.size();
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash_of(key) & mask; slots_[at] != 0; at = (at + 1) & mask) {
    if (members_[slots_[at] - 1].key == key) return slots_[at] - 1;
  }
  return members_.size();
}

// Enters the members from `first` on; makes the table anew (all members) when it would be more than half full.
void Object::index_from(std::size_t first) {
  if (members_.size() <= kLinearMembers) {
    slots_.clear();
    return;
  }
  if (slots_.size() < members_.size() * 2) {
    std::size_t size = 32;
    while (size < members_.size() * 4) size *= 2;
    slots_.assign(size, 0);
    first = 0;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = first; i < members_.size(); ++i) {
    std::size_t at = hash_of(members_[i].key) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

const Value* Object::find(std::string_view key) const {
  const std::size_t at = position(key);
  return at < members_.size() ? &members_[at].value : nullptr;
}

Value* Object::find(std::string_view key) {
  const std::size_t at = position(key);
  return at < members_.size() ? &members_[at].value : nullptr;
}

Value& Object::set(std::string_view key, Value value) {
  const std::size_t at = position(key);
  if (at < members_.size()) {
    members_[at].value = std::move(value);
    return members_[at].value;
  }
  members_.push_back(Member{std::string(key), std::move(value)});
  index_from(members_.size() - 1);
  return members_.back().value;
}

bool Object::erase(std::string_view key) {
  const std::size_t at = position(key);
  if (at == members_.size()) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(at));
  slots_.clear();
  index_from(0);
  return true;
}

bool Object::operator==(const Object& other) const { return members_ == other.members_; }

Value::Value(std::int64_t value) : data_(Number{std::to_string(value), false}) {}
Value::Value(std::size_t value) : data_(Number{std::to_string(value), false}) {}
Value::Value(double value) : data_(Number{python_float(value), true}) {
  auto& number = std::get<Number>(data_);
  if (number.text == "inf") number.text = "Infinity";
  if (number.text == "-inf") number.text = "-Infinity";
  if (number.text == "nan") number.text = "NaN";
}

Kind Value::kind() const {
  switch (data_.index()) {
    case 0: return Kind::kNull;
    case 1: return Kind::kBool;
    case 2: return std::get<Number>(data_).is_float ? Kind::kFloat : Kind::kInteger;
    case 3: return Kind::kString;
    case 4: return Kind::kArray;
    default: return Kind::kObject;
  }
}

std::optional<std::int64_t> Value::to_int64() const {
  if (kind() != Kind::kInteger) return std::nullopt;
  const std::string& text = number();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> Value::to_double() const {
  if (!is_number()) return std::nullopt;
  const std::string& text = number();
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return infinity;
  if (text == "-Infinity") return -infinity;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    const bool negative = text.starts_with('-');
    const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
    value = is_overflow(digits) ? infinity : 0.0;
    return negative ? -value : value;
  }
  return value;
}

const Value* Value::find(std::string_view key) const { return is_object() ? as_object().find(key) : nullptr; }

std::optional<std::string_view> Value::find_string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->as_string();
}

std::string_view describe(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a boolean";
    case Kind::kInteger: return "an integer";
    case Kind::kFloat: return "a float";
    case Kind::kString: return "a string";
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  return "a value";
}

}  // namespace rondo::json
