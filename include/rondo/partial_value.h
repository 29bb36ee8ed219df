// The JSON value that a text is so far, while it arrives: for example the arguments of a call that a model is writing.
//
//   rondo::PartialValue value;
//   value.feed(R"({"city": "Par)");
//   value.json();        // {"city":"Par"}
//   value.open_path();   // "/city": more of it may come
//
// A string is there with its first character, an object or array with its opening bracket.  A number or word is there only
// when it is complete, a member only when its value has begun.  Fed a whole valid text, in any pieces, it is that text's value.
// rondo/parser.h keeps one for each call that it reads.  Not thread-safe; different ones may live in different threads.
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

  // The next piece, in UTF-8; of a character that is cut the first bytes stand in json() meanwhile.  Takes time linear in the piece.  From a byte that no JSON has there on,
  // nothing more is read.
  void feed(std::string_view text);
  // The text ends here: a number at the top, which has no end of its own, is complete.
  void close();

  // The value as JSON text, closed where it breaks off; "null" before it has begun.
  [[nodiscard]] std::string json() const;
  // A JSON pointer to the innermost value that has begun and is not complete, "" for the whole; nullopt where there is none.
  [[nodiscard]] std::optional<std::string> open_path() const;
  [[nodiscard]] bool is_complete() const;
  // False once a byte came that no JSON has there.
  [[nodiscard]] bool is_valid() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo
