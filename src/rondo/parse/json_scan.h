// Reads one JSON value byte by byte.  Tells where values begin and end, under which keys they are, and what would close
// the value from here.
//
// The scanner also accepts mistakes of models that leave the end of the value clear: single quotes, Python's words,
// line ends and unknown escapes in strings, a comma before a closing bracket.  is_loose() then returns true, because
// the text is not valid JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::parse {

class JsonScanner {
 public:
  // What one byte did.
  struct Step {
    bool bad = false;           // the byte is not allowed here, and the scan cannot continue
    bool begins_value = false;  // it is the first byte of a value
    bool ends_value = false;    // it is the last byte of a value (string, object, array)
    bool ended_before = false;  // a number or word ended just before it
    bool left_over = false;     // ... and it was the outermost value: the byte is not part of it
  };
  [[nodiscard]] Step step(char byte);

  // Returns true once the outermost value is complete.  A number or word at the top level ends only at the next byte.
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] bool started() const { return state_ != State::kValue || !frames_.empty(); }
  [[nodiscard]] bool is_loose() const { return is_loose_; }
  void forget_loose() { is_loose_ = false; }
  // Returns true inside a string that contains a line end: its closing quote may have been forgotten.
  [[nodiscard]] bool is_doubtful() const { return is_doubtful_; }
  // Returns how many bytes at the start of `text` lie inside the open string and change no state.  The caller need not
  // pass them to step().
  [[nodiscard]] std::size_t plain_prefix(std::string_view text) const;

  // Returns the nesting depth: 0 outside, 1 inside the outermost object or array.
  [[nodiscard]] std::size_t depth() const { return frames_.size(); }
  // Returns the key of the current or next value in the frame at `depth` (from 1), as written between its quotes; "" in
  // an array.
  //
  // REQUIRES: 1 <= depth <= depth().
  [[nodiscard]] const std::string& key_at(std::size_t depth) const { return frames_[depth - 1].key; }
  [[nodiscard]] bool is_array_at(std::size_t depth) const { return frames_[depth - 1].is_array; }

  // Returns the text that completes the value from here: the rest of an open string or word, then the closing brackets.
  // `none` is the value of a key that has none yet.
  [[nodiscard]] std::string closing(std::string_view none = "null") const;
  // Returns true inside a key, or after it, before its value begins.
  [[nodiscard]] bool awaits_value() const {
    return !frames_.empty() && !frames_.back().is_array &&
           (state_ == State::kInKey || state_ == State::kColon || state_ == State::kValue);
  }

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
  struct Frame {
    bool is_array = false;
    std::string key;
  };

  void open_quote(char byte);
  [[nodiscard]] Step begin_value(char byte);
  [[nodiscard]] Step end_value();
  [[nodiscard]] Step in_string(char byte);
  [[nodiscard]] Step in_scalar(char byte);
  [[nodiscard]] Step after_value(char byte);
  [[nodiscard]] Step close_frame(char byte);

  State state_ = State::kValue;
  char quote_ = '"';
  bool is_loose_ = false;
  bool is_doubtful_ = false;
  int escape_ = 0;      // 0: none; 1: after a backslash; 2 to 5: this minus one hexadecimal digits are still to come
  std::string scalar_;  // the number or word so far
  std::vector<Frame> frames_;
};

}  // namespace rondo::parse
