#include "parse/partial_value.h"

#include <algorithm>
#include "base/hex.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/pointer.h"

namespace rondo::parse {
namespace {

bool is_scalar_byte(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
         byte == '+' || byte == '.';
}

// Returns the step from `container` to `inner`.  `inner` is the container's last value, unless a key came twice.
std::string step_to(const json::Value& container, const json::Value* inner) {
  if (container.is_array()) return json::pointer_step(std::to_string(container.as_array().size() - 1));
  const json::Object& members = container.as_object();
  const json::Member* at = members.end() - 1;
  while (at != members.begin() && &at->value != inner) --at;
  return json::pointer_step(at->key);
}

bool is_first_half(char32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_second_half(char32_t code) { return code >= 0xDC00 && code < 0xE000; }

}  // namespace

void PartialValue::feed(std::string_view text) {
  for (const char byte : text) {
    while (is_valid_ && !take(byte)) {}
    if (!is_valid_) return;
  }
}

void PartialValue::close() {
  if (is_valid_ && state_ == State::kInScalar) is_valid_ = end_scalar();
}

std::optional<std::string> PartialValue::open_path() const {
  const bool is_leaf = state_ == State::kInString || state_ == State::kInScalar;
  if (state_ == State::kDone || (open_.empty() && !is_leaf)) return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i < open_.size(); ++i) out += step_to(*open_[i - 1], open_[i]);
  if (open_.empty() || !is_leaf) return out;
  if (state_ == State::kInString) return out + step_to(*open_.back(), string_);
  // A number or word is not placed in its container before it is complete.
  const json::Value& container = *open_.back();
  return out + json::pointer_step(container.is_object() ? key_ : std::to_string(container.as_array().size()));
}

json::Value PartialValue::without_open_text() const {
  json::Value out = root_;
  if (state_ != State::kInString) return out;
  if (open_.empty()) return {};
  // Returns the key of the open value in `container`, an object.
  const auto key_of = [](const json::Value& container, const json::Value* open) {
    const json::Object& members = container.as_object();
    return std::ranges::find_if(members, [&](const json::Member& member) { return &member.value == open; })->key;
  };
  json::Value* at = &out;
  for (std::size_t i = 1; i < open_.size(); ++i) {
    at = at->is_array() ? &at->as_array().back() : at->as_object().find(key_of(*open_[i - 1], open_[i]));
  }
  if (at->is_array()) {
    at->as_array().pop_back();
  } else {
    at->as_object().erase(key_of(*open_.back(), string_));
  }
  return out;
}

// The byte that ends a number or word is not taken, because it also has a meaning of its own.
bool PartialValue::take(char byte) {
  if (state_ == State::kInString || state_ == State::kInKey) {
    in_string(byte);
    return true;
  }
  if (state_ == State::kInScalar) {
    if (is_scalar_byte(byte)) {
      scalar_ += byte;
      return true;
    }
    is_valid_ = end_scalar();
    return false;
  }
  if (format::is_space(byte)) return true;
  const bool is_array_end = state_ == State::kValueOrEnd && byte == ']';
  const bool is_object_end = state_ == State::kKeyOrEnd && byte == '}';
  const bool is_end_behind_value = state_ == State::kAfterValue && (byte == ']' || byte == '}');
  if (is_array_end || is_object_end || is_end_behind_value) {
    end_container(byte);
  } else if (state_ == State::kValue || state_ == State::kValueOrEnd) {
    begin_value(byte);
  } else if ((state_ == State::kKey || state_ == State::kKeyOrEnd) && byte == '"') {
    key_.clear();
    state_ = State::kInKey;
  } else if (state_ == State::kColon && byte == ':') {
    state_ = State::kValue;
  } else if (state_ == State::kAfterValue && byte == ',') {
    state_ = open_.back()->is_array() ? State::kValue : State::kKey;
  } else {
    is_valid_ = false;
  }
  return true;
}

void PartialValue::begin_value(char byte) {
  if (byte == '{' || byte == '[') {
    is_valid_ = open_.size() < static_cast<std::size_t>(limits::kJsonDepth);
    if (!is_valid_) return;
    open_.push_back(&place(byte == '{' ? json::Value(json::Object{}) : json::Value(json::Array{})));
    state_ = byte == '{' ? State::kKeyOrEnd : State::kValueOrEnd;
  } else if (byte == '"') {
    string_ = &place(json::Value(""));
    state_ = State::kInString;
  } else if (is_scalar_byte(byte)) {
    scalar_.assign(1, byte);
    state_ = State::kInScalar;
  } else {
    is_valid_ = false;
  }
}

json::Value& PartialValue::place(json::Value value) {
  if (open_.empty()) return root_ = std::move(value);
  if (open_.back()->is_object()) return open_.back()->as_object().set(key_, std::move(value));
  return open_.back()->as_array().emplace_back(std::move(value));
}

void PartialValue::end_value() { state_ = open_.empty() ? State::kDone : State::kAfterValue; }

void PartialValue::end_container(char byte) {
  is_valid_ = open_.back()->is_array() == (byte == ']');
  if (!is_valid_) return;
  open_.pop_back();
  end_value();
}

std::string& PartialValue::text() {
  if (state_ == State::kInKey) return key_;
  return const_cast<std::string&>(string_->as_string());  // the value is not const, so a string grows in place
}

void PartialValue::in_string(char byte) {
  if (escape_ != 0) return escape(byte);
  if (byte == '\\') {
    escape_ = 1;
    return;
  }
  flush_surrogate();
  if (byte != '"') {
    text() += byte;
  } else if (state_ == State::kInKey) {
    state_ = State::kColon;
  } else {
    end_value();
  }
}

void PartialValue::escape(char byte) {
  if (escape_ == 1) {
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    const std::size_t found = kFrom.find(byte);
    is_valid_ = byte == 'u' || found != std::string_view::npos;
    escape_ = byte == 'u' ? 5 : 0;
    code_ = 0;
    if (found == std::string_view::npos) return;
    flush_surrogate();
    text() += kTo[found];
    return;
  }
  const std::optional<unsigned> digit = hex::digit(byte);
  is_valid_ = digit.has_value();
  code_ = code_ * 16 + digit.value_or(0);
  if (--escape_ > 1) return;
  escape_ = 0;
  append_code(code_);
}

void PartialValue::append_code(char32_t code) {
  if (surrogate_ != 0 && is_second_half(code)) {
    const char32_t whole = 0x10000 + ((surrogate_ - 0xD800) << 10U) + (code - 0xDC00);
    surrogate_ = 0;
    utf8::append(text(), whole);
    return;
  }
  flush_surrogate();
  if (is_first_half(code)) {
    surrogate_ = code;
  } else {
    utf8::append(text(), code);
  }
}

// Writes a first half without its second half, as json::parse does.
void PartialValue::flush_surrogate() {
  if (surrogate_ != 0) utf8::append(text(), surrogate_);
  surrogate_ = 0;
}

// Places the number or word.  Returns false if it is not valid JSON.
bool PartialValue::end_scalar() {
  auto parsed = json::parse(scalar_);
  if (!parsed.ok()) return false;
  (void)place(std::move(parsed).value());
  end_value();
  return true;
}

}  // namespace rondo::parse
