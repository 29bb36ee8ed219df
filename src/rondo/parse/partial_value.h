// The JSON value of a call's arguments while they arrive.
//
//   PartialValue value;
//   for (const Event& event : parser.feed(piece))
//     if (event.kind == EventKind::kArguments) value.feed(event.text);
//   show(value.value());
//
// A string is visible from its first character, and an object or array from its opening bracket.  A number or word
// becomes visible when it is complete, and a member together with its value.  Once a whole valid text was fed, in any
// pieces, value() equals json::parse of it.  The work is linear in the text, however often value() is called.  Not
// thread-safe.
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
  PartialValue(const PartialValue&) = delete;  // it contains pointers into itself
  PartialValue& operator=(const PartialValue&) = delete;

  // Feeds the next piece.  At a byte that JSON does not allow there, reading stops for good and is_valid() returns
  // false.
  void feed(std::string_view text);
  // Ends the text.  This completes a number or word at the top level, which has no closing mark of its own.
  void close();

  // Returns the value so far; null before it begins.  Valid until the next feed().
  [[nodiscard]] const json::Value& value() const { return root_; }
  // Returns the value without the string that is still incomplete, if there is one.
  [[nodiscard]] json::Value without_open_text() const;
  // Returns a JSON pointer to the innermost value that is incomplete; "" is the whole value.  Returns nullopt if no
  // value is incomplete.
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

  // Returns false if the byte was not taken and must be passed again.
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
  std::vector<json::Value*> open_;  // open containers; none moves while a value in it is open
  json::Value* string_ = nullptr;   // the string that is being read
  State state_ = State::kValue;
  bool is_valid_ = true;
  std::string key_;
  std::string scalar_;
  // 0: none; 1: after a backslash; 2 to 5: this minus one hexadecimal digits of an escape are still to come.
  int escape_ = 0;
  char32_t code_ = 0;       // the value of those digits
  char32_t surrogate_ = 0;  // a first half that waits for its second half
};

}  // namespace rondo::parse
