// Reads JSON text piece by piece, for documents that are too large to become values.  It stores nothing, and allocates
// nothing per element.
//
//   json::Reader in(R"({"vocab": {"a": 0, "b": 1}})");
//   std::string_view key;
//   for (in.enter_object(); in.member(key);) {
//     if (key != "vocab") { in.skip(); continue; }
//     std::int64_t id = 0;
//     for (in.enter_object(); in.member(key);) if (in.integer(id)) use(key, id);
//   }
//   if (in.failed()) return in.error();
//
// Every reading function returns false if it fails; after a failure, all of them do.  The language, the limit on
// nesting and the errors are those of parse.h.  Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/parse.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::json {

class Reader {
 public:
  // Reads from byte `at` of `text`, which must outlive this.  Places in errors count from the beginning of the text.
  explicit Reader(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}
  // Does the same for a value that skip() has already passed.  Its strings are not checked again, which is faster.
  struct Checked {};
  Reader(std::string_view text, std::size_t at, Checked /*tag*/) : text_(text), at_(at), is_checked_(true) {}

  // Enters an object or array.  Then member() or element() moves to the next value, which must be read or skipped.
  // They return false after the last one.
  bool enter_object();
  bool member(std::string_view& key);
  bool enter_array();
  bool element();
  // Enters an array whose text begins with `begun`, the text of an earlier array up to the end of one of its elements.
  // element() then moves to the value after that.  Returns false, and reads nothing, if the text begins differently.
  bool enter_array_behind(std::string_view begun);

  // Read one value of that kind.  What `out` refers to lives until the next key or string is read.
  bool string(std::string_view& out);
  bool integer(std::int64_t& out);     // fails for fractions, exponents and more than 64 bits
  bool number(std::string_view& out);  // its spelling
  bool value(Value& out);              // any value, as parse() reads it
  bool skip();                         // any value; checks it just as thoroughly

  // Returns the first byte of the next value or closing bracket; 0 at the end of the text.
  [[nodiscard]] char peek();
  // Returns true if only white space is left, and fails otherwise.
  bool finish();
  [[nodiscard]] std::size_t at() const { return at_; }  // the offset after what was read
  [[nodiscard]] bool failed() const { return failed_; }
  // Returns the failure: kJson or kLimit, with line, column and offset.
  //
  // REQUIRES: failed().
  [[nodiscard]] const Error& error() const { return error_; }

  // Reports a failure of the caller's own: `message`, with the place of the value at `offset`.
  bool fail_at(std::size_t offset, std::string message, ErrorCode code = ErrorCode::kJson);

 private:
  friend class Parser;
  bool fail(std::string message, ErrorCode code = ErrorCode::kJson) { return fail_at(at_, std::move(message), code); }
  [[nodiscard]] std::string found() const;
  void skip_space() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ' &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next(char close, const char* what);
  bool open(char bracket, const char* what);
  bool string_into(std::string& out);
  bool string_view(std::string_view& out);
  bool plain_part();
  bool escape(std::string& out);
  bool hex4(std::size_t at, char32_t& out) const;
  bool number_text(std::string_view& out, bool& is_float);
  bool word(std::string_view word);
  bool digits();
  bool skip_scalar();
  bool skip_open(char bracket);

  std::string_view text_;
  std::size_t at_;
  bool is_first_ = false;  // directly after an opening bracket
  bool is_checked_ = false;
  bool failed_ = false;
  std::string decoded_;     // the last string with escapes
  std::vector<char> open_;  // in skip(): what closes the open containers
  Error error_;
};

}  // namespace rondo::json
