#include "apis/fields.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace rondo::apis {
namespace {

std::string shown(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", number);
  return text.data();
}

}  // namespace

Fields::Fields(const json::Value* object, std::string place, std::optional<Fault>& fault)
    : object_(object), place_(std::move(place)), fault_(fault) {}

void Fields::refuse(std::string_view key, std::string message, std::string code) {
  if (!fault_) fault_ = invalid(path(key), "`" + path(key) + "` " + std::move(message), std::move(code));
}

const json::Value* Fields::any(std::string_view key) {
  const json::Value* found = object_ == nullptr ? nullptr : object_->find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const json::Value* Fields::typed(std::string_view key, bool (json::Value::*is)() const, std::string_view expected) {
  const json::Value* found = any(key);
  if (found == nullptr || (found->*is)()) return found;
  refuse_type(key, expected);
  return nullptr;
}

void Fields::refuse_type(std::string_view key, std::string_view expected) {
  const json::Value* found = any(key);
  const std::string_view kind = found == nullptr ? "null" : describe(found->kind());
  refuse(key, "must be " + std::string(expected) + ", found " + std::string(kind), "invalid_type");
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const json::Value* found = typed(key, &json::Value::is_bool, "a boolean");
  return found == nullptr ? std::nullopt : std::optional(found->as_bool());
}

std::optional<std::int64_t> Fields::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const json::Value* found = typed(key, &json::Value::is_number, "an integer");
  if (found == nullptr) return std::nullopt;
  std::optional<std::int64_t> value = found->to_int64();
  // Some clients write all numbers as floats.
  const double as_float = found->to_double().value_or(0.5);
  constexpr double kExact = 9007199254740992.0;
  if (!value && as_float >= -kExact && as_float <= kExact &&
      as_float == static_cast<double>(static_cast<std::int64_t>(as_float)))
    value = static_cast<std::int64_t>(as_float);
  if (!value) {
    refuse(key, "must be an integer, found " + found->number(), "invalid_type");
  } else if (*value < least || *value > most) {
    const bool is_low = *value < least;
    refuse(key, "must be at " + std::string(is_low ? "least " : "most ") + std::to_string(is_low ? least : most) +
                    ", found " + found->number());
    return std::nullopt;
  }
  return value;
}

std::optional<double> Fields::number(std::string_view key, double least, double most) {
  const json::Value* found = typed(key, &json::Value::is_number, "a number");
  if (found == nullptr) return std::nullopt;
  const double value = found->to_double().value_or(0);
  if (value >= least && value <= most) return value;
  refuse(key, "must be between " + shown(least) + " and " + shown(most) + ", found " + found->number());
  return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view key) {
  const json::Value* found = typed(key, &json::Value::is_string, "a string");
  return found == nullptr ? std::nullopt : std::optional(found->as_string());
}

std::optional<std::string> Fields::word(std::string_view key, std::initializer_list<std::string_view> words) {
  std::optional<std::string> found = text(key);
  if (!found || std::ranges::find(words, *found) != words.end()) return found;
  std::string list;
  for (const std::string_view word : words) list += (list.empty() ? "`" : ", `") + std::string(word) + "`";
  refuse(key, "must be one of " + list + ", found `" + *found + "`");
  return std::nullopt;
}

const json::Array* Fields::array(std::string_view key, std::size_t most) {
  const json::Value* found = typed(key, &json::Value::is_array, "an array");
  if (found == nullptr) return nullptr;
  if (found->as_array().size() <= most) return &found->as_array();
  refuse(key, "has " + std::to_string(found->as_array().size()) + " elements, at most " + std::to_string(most) +
                  " are taken");
  return nullptr;
}

const json::Value* Fields::object(std::string_view key) { return typed(key, &json::Value::is_object, "an object"); }

Fields Fields::inside(std::string_view key) { return {object(key), path(key) + ".", fault_}; }

void Fields::each(std::string_view key, std::size_t most,
                  const std::function<void(Fields& element, std::size_t index)>& read) {
  const json::Array* elements = array(key, most);
  for (std::size_t i = 0; elements != nullptr && i < elements->size() && !failed(); ++i) {
    const json::Value& element = (*elements)[i];
    const std::string place = std::string(key) + "[" + std::to_string(i) + "]";
    if (!element.is_object())
      return refuse(place, "must be an object, found " + std::string(describe(element.kind())), "invalid_type");
    Fields inside(&element, path(place) + ".", fault_);
    read(inside, i);
  }
}

}  // namespace rondo::apis
