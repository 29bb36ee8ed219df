// Reads a JSON text while it arrives, such as the arguments of a call that a model is writing.
//
//   rondo::PartialValue value;
//   value.feed(R"({"city": "Par)");
//   value.json();        // {"city":"Par"}
//   value.open_path();   // "/city": this string may grow
//
// A string is visible from its first character, an object or array from its opening bracket.  A number or word becomes
// visible when it is complete, a member when its value has begun.  Once a whole valid text was fed, in any pieces,
// json() returns that text's value.  rondo/parser.h keeps one PartialValue for each call that it reads.  Not
// thread-safe; different values may be used in different threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rondo {

class PartialValue {
 public:
  PartialValue();
  ~PartialValue();
  PartialValue(PartialValue&&) noexcept;
  PartialValue& operator=(PartialValue&&) noexcept;

  // Feeds the next piece of UTF-8 text.  If a character is split, json() shows its first bytes until the rest comes.
  // Takes time linear in the size of the piece.  Reading stops for good at a byte that JSON does not allow there.
  void feed(std::string_view text);
  // Ends the text.  This completes a number at the top level, which has no end mark of its own.
  void close();

  // Returns the value as JSON text, with everything closed that is still open.  Returns "null" before the value begins.
  [[nodiscard]] std::string json() const;
  // Returns a JSON pointer to the innermost value that is still incomplete; "" is the whole value.  Returns nullopt if
  // no value is incomplete.
  [[nodiscard]] std::optional<std::string> open_path() const;
  [[nodiscard]] bool is_complete() const;
  // Returns false after a byte that JSON does not allow at its place.
  [[nodiscard]] bool is_valid() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo
