#include "tester/reader.h"

#include <algorithm>
#include <utility>

#include "base/printing.h"

namespace rondo::tester {
namespace {

std::string found_of(const json::Value& value) { return ", found " + std::string(json::describe(value.kind())); }

}  // namespace

Problems::Problems(const SuiteText& text) : text_(text) {
  for (std::size_t at = text.text.find('\n'); at != std::string_view::npos; at = text.text.find('\n', at + 1))
    line_ends_.push_back(at);
}

std::size_t Problems::lines_before(std::size_t offset) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(line_ends_, offset) - line_ends_.begin());
}

void Problems::add_at(std::size_t offset, const std::string& message) {
  if (error_) return;
  error_ = Error(ErrorCode::kInvalidArgument, message, text_.name);
  if (text_.text.empty()) return;
  const std::size_t line = lines_before(offset);
  const std::size_t begin = line == 0 ? 0 : line_ends_[line - 1] + 1;
  const std::size_t end = line < line_ends_.size() ? line_ends_[line] : text_.text.size();
  error_->line = static_cast<int>(line) + 1;
  error_->column = static_cast<int>(offset - begin) + 1;
  error_->line_text = text_.text.substr(begin, end - begin);
}

void Problems::add(const json::Value& at, const std::string& message) { add_at(at.source().begin, message); }

// A key has no place of its own.  Its place is the last text with its spelling before its value.
void Problems::add_key(const json::Member& member, const std::string& message) {
  const std::size_t value = member.value.source().begin;
  const std::size_t key = text_.text.substr(0, value).rfind(member.key);
  add_at(key == std::string_view::npos ? value : key, message);
}

int Problems::line(const json::Value& at) const {
  return text_.text.empty() ? 0 : static_cast<int>(lines_before(at.source().begin)) + 1;
}

bool check_object(const json::Value& value, const std::string& what, Problems& problems) {
  if (!value.is_object()) problems.add(value, what + " must be an object" + found_of(value));
  return value.is_object();
}

std::vector<std::string> texts_of(const json::Value& value, const std::string& what, Problems& problems) {
  if (value.is_string()) return {value.as_string()};
  std::vector<std::string> out;
  if (!value.is_array()) {
    problems.add(value, what + " must be a text or a list of texts" + found_of(value));
    return out;
  }
  for (const json::Value& one : value.as_array()) {
    if (!one.is_string()) {
      problems.add(one, what + " must be a list of texts" + found_of(one));
      return {};
    }
    out.push_back(one.as_string());
  }
  return out;
}

ObjectReader::ObjectReader(const json::Value& value, std::string what, Problems& problems)
    : value_(value), what_(std::move(what)), problems_(problems) {
  (void)check_object(value, what_, problems);
}

const json::Value* ObjectReader::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
  return value_.find(key);
}

void ObjectReader::wrong_type(std::string_view key, std::string_view expected, const json::Value& found) {
  problems_.add(found, "`" + std::string(key) + "` must be " + std::string(expected) + found_of(found));
}

std::optional<std::string> ObjectReader::text(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->as_string();
  wrong_type(key, "a text", *found);
  return std::nullopt;
}

std::optional<bool> ObjectReader::flag(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_bool()) return found->as_bool();
  wrong_type(key, "true or false", *found);
  return std::nullopt;
}

std::optional<int> ObjectReader::number(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  const auto number = found->to_int64();
  if (number && std::in_range<int>(*number)) return static_cast<int>(*number);
  wrong_type(key, "an integer", *found);
  return std::nullopt;
}

std::optional<json::Array> ObjectReader::objects(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_array()) {
    wrong_type(key, "a list", *found);
    return std::nullopt;
  }
  for (const json::Value& one : found->as_array()) {
    if (!one.is_object()) wrong_type(key, "a list of objects", one);
  }
  return found->as_array();
}

std::optional<json::Object> ObjectReader::object(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_object()) return found->as_object();
  wrong_type(key, "an object", *found);
  return std::nullopt;
}

std::vector<std::string> ObjectReader::texts(std::string_view key) {
  const json::Value* found = find(key);
  return found == nullptr ? std::vector<std::string>{} : texts_of(*found, "`" + std::string(key) + "`", problems_);
}

std::optional<std::string> ObjectReader::choice(std::string_view key, std::initializer_list<std::string_view> choices) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_string() && std::ranges::find(choices, found->as_string()) != choices.end()) return found->as_string();
  std::string message = "`" + std::string(key) + "` must be one of";
  for (const std::string_view one : choices) message += (one == *choices.begin() ? " " : ", ") + std::string(one);
  problems_.add(*found, message);
  return std::nullopt;
}

void ObjectReader::finish() {
  if (!value_.is_object()) return;
  for (const json::Member& member : value_.as_object()) {
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    std::string message = "unknown key `" + printing::excerpt(member.key) + "` in " + what_ + "; known are";
    for (const std::string_view key : known_) message += (key == known_.front() ? " " : ", ") + std::string(key);
    problems_.add_key(member, message);
  }
}

}  // namespace rondo::tester
