#include "core/fields.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/printing.h"
#include "chat/conversation.h"

namespace rondo::core {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

}  // namespace

std::optional<jinja::LocalTime> parse_time(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() != kShape.size()) return std::nullopt;
  std::array<int, 6> numbers{};
  std::size_t index = 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd') {
      if (!is_digit(text[i])) return std::nullopt;
      numbers[index] = numbers[index] * 10 + (text[i] - '0');
    } else {
      if (text[i] != kShape[i]) return std::nullopt;
      ++index;
    }
  }
  const auto [year, month, day, hour, minute, second] = numbers;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return jinja::LocalTime{year, month, day, hour, minute, second};
}

std::string time_text(const jinja::LocalTime& time) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d", time.year, time.month, time.day, time.hour,
                time.minute, time.second);
  return text.data();
}

jinja::LocalTime local_time(const std::tm& time) {
  return {time.tm_year + 1900, time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec};
}

Fields::Fields(const json::Object& request) : request_(request), known_{"op", "id"} {}

// Every field that is asked for counts as known.  finish() refuses the others, so that a misspelt field is not silently
// ignored.
const json::Value* Fields::value(std::string_view name) {
  known_.emplace(name);
  const json::Value* found = request_.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const json::Value* found = value(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->as_string();
  wrong_type(name, "a string", *found);
  return std::nullopt;
}

std::string Fields::required_text(std::string_view name) {
  require(name);
  return text(name).value_or("");
}

bool Fields::flag(std::string_view name, bool otherwise) {
  const json::Value* found = value(name);
  if (found == nullptr) return otherwise;
  if (found->is_bool()) return found->as_bool();
  wrong_type(name, "a boolean", *found);
  return otherwise;
}

std::string Fields::choice(std::string_view name, std::initializer_list<std::string_view> choices) {
  const std::optional<std::string> found = text(name);
  if (!found) return std::string(*choices.begin());
  if (std::find(choices.begin(), choices.end(), *found) == choices.end()) {
    std::string message = "`" + std::string(name) + "` must be one of";
    for (const std::string_view option : choices) {
      message += (option == *choices.begin() ? " \"" : ", \"") + std::string(option) + "\"";
    }
    fail(message + ", found \"" + printing::excerpt(*found) + "\"");
  }
  return *found;
}

std::optional<json::Array> Fields::objects(std::string_view name) {
  const json::Value* found = value(name);
  if (found == nullptr) return std::nullopt;
  if (const Status status = chat::check_objects(*found, std::string(name)); !status.ok()) {
    fail(status.error());
    return std::nullopt;
  }
  return found->as_array();
}

json::Object Fields::object(std::string_view name) {
  const json::Value* found = value(name);
  if (found == nullptr) return {};
  if (found->is_object()) return found->as_object();
  wrong_type(name, "an object", *found);
  return {};
}

std::vector<std::string> Fields::required_texts(std::string_view name) {
  require(name);
  std::vector<std::string> texts;
  const json::Value* found = value(name);
  if (found == nullptr) return texts;
  if (!found->is_array()) {
    wrong_type(name, "an array of strings", *found);
    return texts;
  }
  for (const json::Value& element : found->as_array()) {
    if (!element.is_string()) {
      wrong_type(std::string(name) + "[" + std::to_string(texts.size()) + "]", "a string", element);
      return texts;
    }
    texts.push_back(element.as_string());
  }
  return texts;
}

std::vector<tokenizer::TokenId> Fields::required_ids(std::string_view name) {
  require(name);
  std::vector<tokenizer::TokenId> ids;
  const json::Value* found = value(name);
  if (found == nullptr) return ids;
  if (!found->is_array()) {
    wrong_type(name, "an array of token ids", *found);
    return ids;
  }
  ids.reserve(found->as_array().size());
  for (const json::Value& element : found->as_array()) {
    const std::string place = std::string(name) + "[" + std::to_string(ids.size()) + "]";
    if (element.kind() != json::Kind::kInteger) {
      wrong_type(place, "an integer", element);
      return ids;
    }
    const std::optional<std::int64_t> id = element.to_int64();
    if (!id || *id < 0 || *id > std::numeric_limits<tokenizer::TokenId>::max()) {
      fail(Error(ErrorCode::kTokenizer, place + ": id " + element.number() + " is out of range"));
      return ids;
    }
    ids.push_back(static_cast<tokenizer::TokenId>(*id));
  }
  return ids;
}

std::optional<jinja::LocalTime> Fields::time(std::string_view name) {
  const std::optional<std::string> found = text(name);
  if (!found) return std::nullopt;
  std::optional<jinja::LocalTime> time = parse_time(*found);
  if (!time) {
    fail("`" + std::string(name) + "` must be a time like \"2026-03-14T15:09:26\", found \"" +
         printing::excerpt(*found) + "\"");
  }
  return time;
}

void Fields::fail(std::string message) { fail(Error(ErrorCode::kInvalidArgument, std::move(message))); }

void Fields::fail(const Error& error) {
  // Reading goes on after a fault, with defaults.  Only the first is reported, because later ones may follow from it.
  if (!error_) error_ = error;
}

void Fields::require(std::string_view name) {
  if (value(name) == nullptr) fail("the field `" + std::string(name) + "` is missing");
}

Status Fields::finish() const {
  if (error_) return *error_;
  for (const json::Member& member : request_) {
    if (!known_.contains(member.key))
      return Error(ErrorCode::kInvalidArgument, "unknown field `" + printing::excerpt(member.key) + "`");
  }
  return Done{};
}

void Fields::wrong_type(std::string_view name, std::string_view expected, const json::Value& found) {
  fail("`" + std::string(name) + "` must be " + std::string(expected) + ", found " +
       std::string(json::describe(found.kind())));
}

}  // namespace rondo::core
