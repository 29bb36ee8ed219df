// The JSON value that a call's arguments are so far, while they arrive.
//
//   PartialValue value;
//   for (const Event& event : parser.feed(piece))
//     if (event.kind == EventKind::kArguments) value.feed(event.text);
//   show(value.value());
//
// A string is there with its first character, objects and arrays with their opening bracket; a number or word only when
// it is complete, a member only when its value has begun.  Fed the whole of a valid text in any pieces, value() equals
// json::parse of it.  Work is linear in the text, however often value() is looked at.  Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::parse {

class PartialValue {
 public:
  PartialValue() = default;
  PartialValue(const PartialValue&) = delete;  // points into itself
  PartialValue& operator=(const PartialValue&) = delete;

  // The next piece.  From a byte that no JSON has there on, nothing more is read.
  void feed(std::string_view text);
  // The text ends here: a number at the top, which has no end of its own, is complete.
  void close();

  // Null before the value has begun.  Valid until the next feed().
  [[nodiscard]] const json::Value& value() const { return root_; }
  // The value without a string that is not complete.
  [[nodiscard]] json::Value without_open_text() const;
  // A JSON pointer to the innermost value that has begun and is not complete, "" for the whole; nullopt if there is none.
  [[nodiscard]] std::optional<std::string> open_path() const;
  [[nodiscard]] bool has_begun() const { return state_ != State::kValue || !open_.empty() || !is_valid_; }
  [[nodiscard]] bool is_complete() const { return state_ == State::kDone; }
  [[nodiscard]] bool is_valid() const { return is_valid_; }

 private:
  enum class State : std::uint8_t {
    kValue,
    kValueOrEnd,
    kKey,
    kKeyOrEnd,
    kInKey,
    kColon,
    kInString,
    kInScalar,
    kAfterValue,
    kDone
  };

  // False: the byte was not taken and must be looked at again.
  [[nodiscard]] bool take(char byte);
  void begin_value(char byte);
  json::Value& place(json::Value value);
  void end_value();
  void end_container(char byte);
  void in_string(char byte);
  void escape(char byte);
  void append_code(char32_t code);
  void flush_surrogate();
  bool end_scalar();
  [[nodiscard]] std::string& text();

  json::Value root_;
  std::vector<json::Value*> open_;  // a container is not moved while one inside it is open
  json::Value* string_ = nullptr;   // the string being read
  State state_ = State::kValue;
  bool is_valid_ = true;
  std::string key_;
  std::string scalar_;
  int escape_ = 0;          // 0: none; 1: behind a backslash; 5 to 2: hexadecimal digits to come, plus one
  char32_t code_ = 0;       // of these digits
  char32_t surrogate_ = 0;  // a first half that waits for its second
};

}  // namespace rondo::parse
