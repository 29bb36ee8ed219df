// Tools for operations on strings: code points, slices, and builders that keep the runs right.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t size = 0;
};

// Decodes the code point at byte `at`.  A lone surrogate in three bytes is one code point.  An invalid byte stands for
// itself.
[[nodiscard]] CodePoint decode_at(std::string_view text, std::size_t at);
// Returns the start of the code point that ends at byte `end`.
//
// REQUIRES: 0 < end.
[[nodiscard]] std::size_t previous_start(std::string_view text, std::size_t end);

// Returns whether the string is not a concatenation, or is a joined one.
[[nodiscard]] inline bool is_leaf(const String& string) { return string.data != nullptr || string.size == 0; }

// Visits the leaves of a concatenation from left to right without joining it.  A string that was doubled often has many
// more leaves than nodes, so compare visited() with a limit.
class Leaves {
 public:
  explicit Leaves(const String& string) { push(&string, text::ContextId::kNone); }

  struct Leaf {
    const String* string;
    text::ContextId stamp;  // of the innermost concatenation around the leaf that has one
  };
  // Puts the next leaf into `out`.  Returns false at the end.
  bool next(Leaf& out) {
    if (size_ == 0) return false;
    const Leaf& top = stack()[--size_];
    const String* string = top.string;
    text::ContextId stamp = top.stamp;
    for (++visited_; !is_leaf(*string); ++visited_) {
      if (string->pair.stamp != text::ContextId::kNone) stamp = string->pair.stamp;
      push(string->pair.right, stamp);
      string = string->pair.left;
    }
    out.string = string;
    out.stamp = stamp;
    return true;
  }
  // Returns how many nodes were visited, concatenations included.
  [[nodiscard]] std::size_t visited() const { return visited_; }

 private:
  static constexpr std::size_t kFew = 16;

  void push(const String* string, text::ContextId stamp) {
    if (many_.empty() && size_ < kFew) {
      few_[size_].string = string;
      few_[size_++].stamp = stamp;
    } else {
      push_slowly({string, stamp});
    }
  }
  void push_slowly(const Leaf& leaf);
  Leaf* stack() { return many_.empty() ? few_.data() : many_.data(); }

  std::array<Leaf, kFew> few_;
  std::vector<Leaf> many_;
  std::size_t size_ = 0;
  std::size_t visited_ = 0;
};

// Joins a concatenation: sets its data and runs.
//
// REQUIRES: it is not joined yet.
void join(Runtime& runtime, String& string);
// A joined string: `data` and `runs` are set.
[[nodiscard]] inline const String& joined(Runtime& runtime, const Value& value) {
  String& string = value.as_string();
  if (!is_leaf(string)) join(runtime, string);
  return string;
}
// Also splits whole dumps into the runs of their parts.  For code that reads the runs.
void take_dumps_apart(Runtime& runtime, String& string);
[[nodiscard]] inline const String& joined_parts(Runtime& runtime, const Value& value) {
  static_cast<void>(joined(runtime, value));
  String& string = value.as_string();
  if (string.has_dumps) take_dumps_apart(runtime, string);
  return string;
}
// Returns the bytes of a string, and joins it if necessary.
//
// REQUIRES: value.is_string().
[[nodiscard]] std::string_view bytes_of(Runtime& runtime, const Value& value);
[[nodiscard]] std::span<const text::Run> runs_of(Runtime& runtime, const Value& value);  // without dumps
// Returns the number of code points, which is counted once.
[[nodiscard]] std::size_t code_points(Runtime& runtime, const Value& value);
// Returns the byte offset of code point `index`, or the size if there are fewer.
[[nodiscard]] std::size_t byte_offset(Runtime& runtime, const Value& value, std::size_t index);
// The same for any bytes.
[[nodiscard]] std::size_t count_code_points(std::string_view text);
[[nodiscard]] std::size_t code_point_offset(std::string_view text, std::size_t index);

// Returns bytes [begin, end) of a string; they share its memory.  The chain of input runs gets `step` (if it is not
// empty), even if nothing was cut off.  Keeps path and markup.
[[nodiscard]] Value substring(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end,
                              std::string_view step);
// Returns left + right; the bytes are joined later.  Input runs without an owner get the current context if that is
// bound to a message.
[[nodiscard]] Value concatenate(Runtime& runtime, const Value& left, const Value& right);
// Returns all strings in sequence without copying their bytes.
[[nodiscard]] Value join_parts(Runtime& runtime, std::span<const Value> strings);
// Returns the strings with `separator` between them.
[[nodiscard]] Value join_strings(Runtime& runtime, const Value& separator, std::span<const Value> strings);
// Returns `size` blanks or other characters as computed text.
[[nodiscard]] Value padding(Runtime& runtime, std::size_t size, std::string_view character = " ");
// Returns a new empty string without path and runs.  Results of different origin cannot share one.
[[nodiscard]] Value empty_string(Runtime& runtime);

// Returns true for runs that come from the input: their chain grows, and the context that emits them may own them.
[[nodiscard]] inline bool is_input(const text::Run& run) {
  return run.kind != text::RunKind::kLiteral && run.kind != text::RunKind::kComputed;
}
[[nodiscard]] inline bool has_source(const text::Run& run) {
  return run.kind == text::RunKind::kLiteral || run.kind == text::RunKind::kData;
}

// Adjusts a run of which a part is taken.  Its chain gets `step`.  A constant of the template that was just made
// (make_literal) gets the current context.
inline void take_run(Runtime& runtime, text::Run& run, std::string_view step) {
  if (is_input(run)) {
    run.chain = runtime.extend(run.chain, step);
  } else if (run.context == text::ContextId::kNone) {
    run.context = runtime.context;
  }
}

// Returns a kComputed run under the current context.
[[nodiscard]] inline text::Run computed_run(const Runtime& runtime, text::PathId path = text::PathId::kNone) {
  text::Run run;
  run.kind = text::RunKind::kComputed;
  run.origin = static_cast<std::uint32_t>(path);
  run.context = runtime.context;
  return run;
}
// Returns a run of `kind` (kScalar, kSerialiser) for the value at `path`.  It has no context, so the context that emits
// it owns it.  A value without a path gives a computed run.
[[nodiscard]] inline text::Run printed_run(const Runtime& runtime, text::RunKind kind, text::PathId path,
                                           text::ChainId chain) {
  if (path == text::PathId::kNone) return computed_run(runtime);
  text::Run run;
  run.kind = kind;
  run.origin = static_cast<std::uint32_t>(path);
  run.chain = chain;
  return run;
}

// Collects bytes and runs; finish() makes the string.
class StringBuilder {
 public:
  explicit StringBuilder(Runtime& runtime) : runtime_(runtime), text_(runtime.borrow_text()) {}
  // Writes to `output` directly, as emit() would write the finished string under the current context.
  StringBuilder(Runtime& runtime, text::Text& output) : runtime_(runtime), text_(&output), is_output_(true) {}
  ~StringBuilder() {
    if (!is_output_) runtime_.give_back(text_);
  }
  StringBuilder(const StringBuilder&) = delete;
  StringBuilder& operator=(const StringBuilder&) = delete;

  void append(std::string_view bytes, const text::Run& run) {
    if (bytes.empty()) return;
    if (!runtime_.tracing) {
      text_->append_bytes(bytes);
    } else if (!is_output_) {
      text_->append(bytes, run);
    } else {
      text::Run owned = run;
      if (run.context == text::ContextId::kNone) owned.context = runtime_.context;
      if (run.kind != text::RunKind::kLiteral) owned.expression = runtime_.expression;
      text_->append(bytes, owned);
    }
    unchecked_ += bytes.size() + sizeof(text::Run);
    if (unchecked_ > kCheckBytes) check();
  }
  // Appends bytes [begin, end) of a joined string, without cutting a dump.  Chains of input runs get `step`.
  void append(const String& string, std::size_t begin, std::size_t end, std::string_view step = {});
  void append(const Value& string, std::string_view step = {});
  void append_computed(std::string_view bytes) { append(bytes, computed_run(runtime_)); }

  [[nodiscard]] std::size_t size() const { return text_->size(); }
  [[nodiscard]] const std::string& bytes() const { return text_->bytes(); }
  // REQUIRES: this does not write to an output.
  [[nodiscard]] Value finish(text::PathId path = text::PathId::kNone);

 private:
  // How much may be added before the memory limit is checked again.
  static constexpr std::size_t kCheckBytes = std::size_t{64} << 10U;
  void check();

  Runtime& runtime_;
  text::Text* text_;
  bool is_output_ = false;
  std::size_t unchecked_ = 0;
};

// Goes through a string from left to right and writes a changed copy.  Each byte is kept, mapped, replaced or dropped
// exactly once; finish() keeps the rest.  Chains of input runs get `step`.
class Rewriter {
 public:
  Rewriter(Runtime& runtime, const Value& source, std::string_view step);

  void keep(std::size_t bytes) { at_ += bytes; }
  // Replaces `bytes` bytes by `with`.  The run stays the same if the length does; otherwise as replace().
  void map(std::size_t bytes, std::string_view with);
  // Replaces `bytes` bytes by `with`: as a kEscaped run if they came from the input, otherwise as template text.
  void replace(std::size_t bytes, std::string_view with);
  // Does the same, but `with` keeps its own runs if the bytes did not come from the input.
  void replace(std::size_t bytes, const Value& with);
  void drop(std::size_t bytes);
  void insert(std::string_view bytes, const text::Run& run);
  void insert(const Value& string);

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] Value finish();

 private:
  void flush();
  // Returns the run that contains byte `at` of the source, cut to this one byte.
  [[nodiscard]] text::Run run_at(std::size_t at);

  Runtime& runtime_;
  const String& source_;
  text::PathId path_;
  std::string step_;
  StringBuilder out_;
  std::size_t at_ = 0;         // how many bytes of the source are done
  std::size_t kept_from_ = 0;  // [kept_from_, at_) is kept but not written yet
  std::size_t run_ = 0;        // the run that contains kept_from_, and where it starts
  std::size_t run_start_ = 0;
  bool markup_;
};

// Records that bytes [begin, end) of `value` were cut off, for each input string that they came from.
void log_strip(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end);
// Records that the template compared, searched or split `subject` by `constant`, if the subject is message data and the
// constant is not input.
void log_probe(Runtime& runtime, std::string_view operation, const Value& constant, const Value& subject);

}  // namespace rondo::jinja
