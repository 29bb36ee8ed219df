// Error and Result: the return types of every function in rondo that can fail.
//
// No function of the library throws across a folder, prints, or exits: it returns a Result<T>, which holds either the
// value or an Error.
//
//   rondo::Result<Tokenizer> tokenizer = Tokenizer::load(path);
//   if (!tokenizer.ok()) return tokenizer.error();
//   tokenizer.value().encode(...);
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rondo {

// The kind of a failure, for callers that branch on it.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // the request itself does not fit: wrong type, missing field, impossible option
  kNotFound,         // a named file or entry does not exist or cannot be opened
  kIo,               // reading or writing failed midway
  kJson,             // a JSON text does not parse
  kTemplateSyntax,   // a template does not parse
  kTemplateRaised,   // the template called raise_exception; the message is exactly its argument
  kTemplateError,    // any other failure while a template ran
  kTokenizer,        // a tokenizer file is damaged or of an unsupported kind, or an id is out of range
  kParse,            // strict parsing met text that does not fit the format
  kCannotBridge,     // the next turn cannot be appended without changing earlier tokens
  kEngine,           // the inference engine refused or failed
  kLimit,            // a limit on time, depth, iterations or size was reached
  kUnsupported,      // well-formed, but this build cannot serve it
  kInternal,         // a fault in rondo itself
};

// Returns the code's name as the line protocol spells it ("template_syntax"); see docs/batch.md.
[[nodiscard]] const char* to_string(ErrorCode code);

// A failure: a code to branch on, a sentence for people, and the place in the input where it happened.
//
// `line` and `column` count from 1; 0 means unknown.  `column` counts bytes; what people and other languages get
// is code_point_column().  `offset` is a byte offset, for inputs that are not read by lines (sampled text, GGUF).
//
// `at` and `at_offset` add the place to an error and return it, so that one expression makes the error and returns it.
// Each leaves the other's fields alone.
//
//   return Error(ErrorCode::kNotFound, "no such file", path);
//   return Error(ErrorCode::kTemplateSyntax, "expected `%}`", name).at(line, column, text_of_line);
//   return Error(ErrorCode::kTokenizer, "the file ends inside a key", path).at_offset(offset);
struct Error {
  Error() = default;  // kInternal without a message, for a place that is filled later
  Error(ErrorCode error_code, std::string error_message, std::string error_source = {})
      : code(error_code), message(std::move(error_message)), source(std::move(error_source)) {}

  [[nodiscard]] Error at(int at_line, int at_column, std::string text_of_line = {}) && {
    line = at_line;
    column = at_column;
    line_text = std::move(text_of_line);
    return std::move(*this);
  }
  [[nodiscard]] Error at_offset(std::uint64_t byte_offset) && {
    offset = byte_offset;
    return std::move(*this);
  }

  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // lower case, no full stop
  std::string source;   // file name or input name, "" if unknown
  int line = 0;
  int column = 0;
  std::string line_text;  // the text of line `line`, for the code frame; "" if unknown
  std::optional<std::uint64_t> offset;
  std::string hint;                // a sentence that says what is at fault or what would help; "" if unknown
  std::vector<std::string> trail;  // callers, innermost first ("in macro `render_tool` called at line 12")

  // Returns the column in code points where `line_text` is known, otherwise in bytes; 0: unknown.
  [[nodiscard]] int code_point_column() const;

  // Returns "source:line:column: message", then the line with a caret below its column, the trail and the hint.  The
  // column is code_point_column().  Parts that are unknown are left out.
  [[nodiscard]] std::string to_string() const;
};

// Either a T or an Error.  Never empty.  Thread-compatible.
// REQUIRES for value(): ok().  REQUIRES for error(): !ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }

  [[nodiscard]] const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace rondo
