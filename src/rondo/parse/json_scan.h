// Reads one JSON value byte by byte: where values begin and end, under which keys, and what would close it.
//
// It also goes along with what models write by mistake and whose end is clear all the same: single quotes, Python's
// words, line ends and unknown escapes inside strings, a comma before a closing bracket.  is_loose() then says that the
// text is no valid JSON.
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
    bool bad = false;           // the byte cannot stand here; the scanner stays where it was
    bool begins_value = false;  // it is the first byte of a value
    bool ends_value = false;    // it is the last byte of a value (string, object, array)
    bool ended_before = false;  // a number or word ended before it
    bool left_over = false;     // ... and it was the outermost value: the byte is not part of it
  };
  [[nodiscard]] Step step(char byte);

  // True once the outermost value is complete.  A number or word at the top ends only with the next byte.
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] bool started() const { return state_ != State::kValue || !frames_.empty(); }
  [[nodiscard]] bool is_loose() const { return is_loose_; }
  void forget_loose() { is_loose_ = false; }
  // Inside a string that holds a line end: perhaps its closing quote was forgotten.
  [[nodiscard]] bool is_doubtful() const { return is_doubtful_; }
  // How many bytes at the front of `text` are the inside of a string and nothing else; step() need not see them.
  [[nodiscard]] std::size_t plain_prefix(std::string_view text) const;

  // Nesting: 0 outside, 1 inside the outermost object or array.
  [[nodiscard]] std::size_t depth() const { return frames_.size(); }
  // The key, as written between the quotes, under which the current or next value stands in the frame at `depth`
  // (counting from 1); "" in arrays.
  [[nodiscard]] const std::string& key_at(std::size_t depth) const { return frames_[depth - 1].key; }
  [[nodiscard]] bool is_array_at(std::size_t depth) const { return frames_[depth - 1].is_array; }

  // What makes the value complete from here.
  [[nodiscard]] std::string closing() const;

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
  int escape_ = 0;      // bytes that still belong to an escape
  std::string scalar_;  // the number or word so far
  std::vector<Frame> frames_;
};

}  // namespace rondo::parse
