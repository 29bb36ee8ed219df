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

// The code point at byte `at`; lone surrogates in three bytes are one, a byte that fits nowhere stands for itself.
[[nodiscard]] CodePoint decode_at(std::string_view text, std::size_t at);
// The start of the code point that ends at byte `end`.  REQUIRES: 0 < end.
[[nodiscard]] std::size_t previous_start(std::string_view text, std::size_t end);

// Whether it is no concatenation, or a joined one.
[[nodiscard]] inline bool is_leaf(const String& string) { return string.data != nullptr || string.size == 0; }

// Goes through the leaves of a concatenation from left to right, without joining it.  A string that was doubled often has
// many more of them than nodes: count visited() against a limit.
class Leaves {
 public:
  explicit Leaves(const String& string) { push(&string, text::ContextId::kNone); }

  struct Leaf {
    const String* string;
    text::ContextId stamp;  // of the innermost concatenation around it that has one
  };
  // The next one; false at the end.
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
  // Nodes so far, concatenations included.
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

// Joins a concatenation: sets its data and runs.  REQUIRES: it is none yet.
void join(Runtime& runtime, String& string);
// A joined string: `data` and `runs` are set.
[[nodiscard]] inline const String& joined(Runtime& runtime, const Value& value) {
  String& string = value.as_string();
  if (!is_leaf(string)) join(runtime, string);
  return string;
}
// The same, and none of its runs stands for a whole dump: for who goes into the runs.
void take_dumps_apart(Runtime& runtime, String& string);
[[nodiscard]] inline const String& joined_parts(Runtime& runtime, const Value& value) {
  static_cast<void>(joined(runtime, value));
  String& string = value.as_string();
  if (string.has_dumps) take_dumps_apart(runtime, string);
  return string;
}
// Bytes of a string; joins it if need be.  REQUIRES: value.is_string().
[[nodiscard]] std::string_view bytes_of(Runtime& runtime, const Value& value);
[[nodiscard]] std::span<const text::Run> runs_of(Runtime& runtime, const Value& value);  // no dumps among them
// Number of code points, counted once.
[[nodiscard]] std::size_t code_points(Runtime& runtime, const Value& value);
// Byte offset of code point `index`; the size when there are fewer.
[[nodiscard]] std::size_t byte_offset(Runtime& runtime, const Value& value, std::size_t index);
// The same for any bytes.
[[nodiscard]] std::size_t count_code_points(std::string_view text);
[[nodiscard]] std::size_t code_point_offset(std::string_view text, std::size_t index);

// Bytes [begin, end) of a string, sharing its memory; the chain of input runs goes on with `step` (if not empty), even
// when nothing was cut.  Keeps path and markup.
[[nodiscard]] Value substring(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end,
                              std::string_view step);
// left + right; the bytes are joined later.  Unowned input runs get the current context if that is bound to a message.
[[nodiscard]] Value concatenate(Runtime& runtime, const Value& left, const Value& right);
// Every string in a row, without copying their bytes.
[[nodiscard]] Value join_parts(Runtime& runtime, std::span<const Value> strings);
// `separator` between strings.
[[nodiscard]] Value join_strings(Runtime& runtime, const Value& separator, std::span<const Value> strings);
// `size` blanks or other characters, computed here.
[[nodiscard]] Value padding(Runtime& runtime, std::size_t size, std::string_view character = " ");
// str() of `left` and `right` of different origin share nothing; this one has neither path nor runs.
[[nodiscard]] Value empty_string(Runtime& runtime);

// True for runs that come from the input: their chain grows, and the context they are emitted under may own them.
[[nodiscard]] inline bool is_input(const text::Run& run) {
  return run.kind != text::RunKind::kLiteral && run.kind != text::RunKind::kComputed;
}
[[nodiscard]] inline bool has_source(const text::Run& run) {
  return run.kind == text::RunKind::kLiteral || run.kind == text::RunKind::kData;
}

// Goes on with a run of which a part is taken: its chain gets `step`, and a constant of the template that was made just
// now (make_literal) belongs to the current context.
inline void take_run(Runtime& runtime, text::Run& run, std::string_view step) {
  if (is_input(run)) {
    run.chain = runtime.extend(run.chain, step);
  } else if (run.context == text::ContextId::kNone) {
    run.context = runtime.context;
  }
}

// A kComputed run under the current context.
[[nodiscard]] inline text::Run computed_run(const Runtime& runtime, text::PathId path = text::PathId::kNone) {
  text::Run run;
  run.kind = text::RunKind::kComputed;
  run.origin = static_cast<std::uint32_t>(path);
  run.context = runtime.context;
  return run;
}
// A run of `kind` (kScalar, kSerialiser) for the value at `path`; of no context, so that whoever emits it owns it.
// Values without a path are computed.
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
  // Writes to `output` at once, as emit() would write the finished string under the current context.
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
  // Bytes [begin, end) of a joined string, of which no dump is cut; chains of input runs go on with `step`.
  void append(const String& string, std::size_t begin, std::size_t end, std::string_view step = {});
  void append(const Value& string, std::string_view step = {});
  void append_computed(std::string_view bytes) { append(bytes, computed_run(runtime_)); }

  [[nodiscard]] std::size_t size() const { return text_->size(); }
  [[nodiscard]] const std::string& bytes() const { return text_->bytes(); }
  // REQUIRES: it does not write to an output.
  [[nodiscard]] Value finish(text::PathId path = text::PathId::kNone);

 private:
  // How much may be added before the limit on memory is asked again.
  static constexpr std::size_t kCheckBytes = std::size_t{64} << 10U;
  void check();

  Runtime& runtime_;
  text::Text* text_;
  bool is_output_ = false;
  std::size_t unchecked_ = 0;
};

// Walks over a string from left to right and writes a changed copy.  Every byte is kept, mapped, replaced or dropped
// exactly once; finish() keeps what is left.  Chains of input runs go on with `step`.
class Rewriter {
 public:
  Rewriter(Runtime& runtime, const Value& source, std::string_view step);

  void keep(std::size_t bytes) { at_ += bytes; }
  // The bytes become `with`: the same run if the length is the same, else as replace().
  void map(std::size_t bytes, std::string_view with);
  // The bytes become `with`: a kEscaped run if they came from the input, else template text.
  void replace(std::size_t bytes, std::string_view with);
  // The same, but where the bytes did not come from the input, `with` keeps its own runs.
  void replace(std::size_t bytes, const Value& with);
  void drop(std::size_t bytes);
  void insert(std::string_view bytes, const text::Run& run);
  void insert(const Value& string);

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] Value finish();

 private:
  void flush();
  // The run that byte `at` of the source belongs to, as a run of one byte there.
  [[nodiscard]] text::Run run_at(std::size_t at);

  Runtime& runtime_;
  const String& source_;
  text::PathId path_;
  std::string step_;
  StringBuilder out_;
  std::size_t at_ = 0;         // bytes of the source dealt with
  std::size_t kept_from_ = 0;  // [kept_from_, at_) is to be kept but not written yet
  std::size_t run_ = 0;        // the run that kept_from_ lies in, and where it starts
  std::size_t run_start_ = 0;
  bool markup_;
};

// Logs that bytes [begin, end) of `value` were cut off, for each input string they came from.
void log_strip(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end);
// Logs that the template compared, searched or split `subject` by `constant`, if the subject is message data and the
// constant is not input.
void log_probe(Runtime& runtime, std::string_view operation, const Value& constant, const Value& subject);

}  // namespace rondo::jinja
