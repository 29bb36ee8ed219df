#include "json/value.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <memory>

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
  out.members_ = std::move(members);
  const bool is_large = out.members_.size() > kLinearMembers;
  if (is_large) out.make_table(out.members_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.members_.size(); ++i) {
    if (kept != i) out.members_[kept] = std::move(out.members_[i]);
    if (is_large ? out.enter(kept) : out.is_new(kept)) ++kept;
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

// Does the same without a table, among the members before `position`.
bool Object::is_new(std::size_t position) {
  for (std::size_t i = 0; i < position; ++i) {
    if (!same_bytes(members_[i].key, members_[position].key)) continue;
    members_[i].value = std::move(members_[position].value);
    return false;
  }
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

Value::Value(std::int64_t value) : text_(std::to_string(value)), kind_(Kind::kInteger) {}
Value::Value(std::size_t value) : text_(std::to_string(value)), kind_(Kind::kInteger) {}
Value::Value(double value) : text_(python_float(value)), kind_(Kind::kFloat) {
  if (text_ == "inf") text_ = "Infinity";
  if (text_ == "-inf") text_ = "-Infinity";
  if (text_ == "nan") text_ = "NaN";
}

Value::Value(const Value& other) : source_(other.source_) {
  switch (other.kind_) {
    case Kind::kNull: break;
    case Kind::kBool: truth_ = other.truth_; break;
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kString: std::construct_at(&text_, other.text_); break;
    case Kind::kArray: std::construct_at(&array_, other.array_); break;
    case Kind::kObject: std::construct_at(&object_, other.object_); break;
  }
  kind_ = other.kind_;
}

void Value::take(Value& other) noexcept {
  switch (other.kind_) {
    case Kind::kNull: break;
    case Kind::kBool: truth_ = other.truth_; break;
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kString: std::construct_at(&text_, std::move(other.text_)); break;
    case Kind::kArray: std::construct_at(&array_, std::move(other.array_)); break;
    case Kind::kObject: std::construct_at(&object_, std::move(other.object_)); break;
  }
  kind_ = other.kind_;
}

void Value::clear() noexcept {
  switch (kind_) {
    case Kind::kNull:
    case Kind::kBool: break;
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kString: std::destroy_at(&text_); break;
    case Kind::kArray: std::destroy_at(&array_); break;
    case Kind::kObject: std::destroy_at(&object_); break;
  }
  kind_ = Kind::kNull;
}

Value& Value::operator=(const Value& other) { return *this = Value(other); }

Value& Value::operator=(Value&& other) noexcept {
  source_ = other.source_;
  if (kind_ > Kind::kBool) {
    Value taken(std::move(other));  // first, because it may be a part of this value
    clear();
    take(taken);
  } else {
    take(other);
  }
  return *this;
}

Array& Value::make_array() {
  clear();
  std::construct_at(&array_);
  kind_ = Kind::kArray;
  return array_;
}

bool Value::operator==(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNull: return true;
    case Kind::kBool: return truth_ == other.truth_;
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kString: return text_ == other.text_;
    case Kind::kArray: return array_ == other.array_;
    case Kind::kObject: return object_ == other.object_;
  }
  return false;
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
