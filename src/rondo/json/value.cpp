#include "json/value.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "json/print.h"

#include "base/bytes.h"

namespace rondo::json {
namespace {

// Up to this many members, comparing keys one by one beats hashing.
constexpr std::size_t kLinearMembers = 8;

// Whether a float text that from_chars calls out of range is too large (otherwise it is too small).  This looks at the
// decimal exponent of the first non-zero digit.
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

// Both parts of a key's hash.
struct Object::KeyHash {
  explicit KeyHash(std::string_view key) : whole(std::hash<std::string_view>{}(key)) {}
  [[nodiscard]] std::uint32_t part() const {
    constexpr int kHalf = std::numeric_limits<std::size_t>::digits / 2;
    return static_cast<std::uint32_t>(whole >> kHalf);
  }
  std::size_t whole;
};

Object::Object(std::initializer_list<Member> members) {
  for (const Member& member : members) set(member.key, member.value);
}

Object Object::from_members(std::vector<Member> members) {
  Object out;
  if (members.size() <= kLinearMembers) {
    out.members_.reserve(members.size());
    for (Member& member : members) out.set(member.key, std::move(member.value));
    return out;
  }
  out.members_ = std::move(members);
  out.make_table(out.members_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.members_.size(); ++i) {
    if (kept != i) out.members_[kept] = std::move(out.members_[i]);
    if (out.enter(kept)) ++kept;
  }
  out.members_.resize(kept);
  return out;
}

// The slot of `key`, or the empty slot where it belongs.  REQUIRES: there is a table.
std::size_t Object::find_slot(std::string_view key, KeyHash hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash.whole & mask;
  for (; slots_[at].next != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash.part() && members_[slots_[at].next - 1].key == key) break;
  }
  return at;
}

std::size_t Object::position(std::string_view key) const {
  if (!slots_.empty()) {
    const Slot& slot = slots_[find_slot(key, KeyHash(key))];
    return slot.next == 0 ? members_.size() : slot.next - 1;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (same_bytes(members_[i].key, key)) return i;
  }
  return members_.size();
}

// Makes an empty table with room for `capacity` members, at most half full.
void Object::make_table(std::size_t capacity) {
  std::size_t size = 32;
  while (size < capacity * 2) size *= 2;
  slots_.assign(size, Slot{});
}

void Object::rebuild() {
  slots_.clear();
  if (members_.size() <= kLinearMembers) return;
  make_table(members_.size() * 2);
  for (std::size_t i = 0; i < members_.size(); ++i) enter(i);
}

// Enters the member at `position`; false if its key is already there, and that member takes the value.
bool Object::enter(std::size_t position) {
  const KeyHash hash(members_[position].key);
  Slot& slot = slots_[find_slot(members_[position].key, hash)];
  if (slot.next != 0) {
    members_[slot.next - 1].value = std::move(members_[position].value);
    return false;
  }
  slot = {hash.part(), static_cast<std::uint32_t>(position + 1)};
  return true;
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
  if (members_.size() > kLinearMembers && slots_.size() < members_.size() * 2) {
    rebuild();
  } else if (!slots_.empty()) {
    enter(at);
  }
  return members_.back().value;
}

bool Object::erase(std::string_view key) {
  const std::size_t at = position(key);
  if (at == members_.size()) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(at));
  rebuild();
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

bool Value::is_true(std::string_view key) const {
  const Value* value = find(key);
  return value != nullptr && value->is_bool() && value->as_bool();
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
