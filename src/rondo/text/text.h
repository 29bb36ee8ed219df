// Text: bytes that remember where they came from.
//
// A Text is UTF-8 bytes plus runs; a run says of some consecutive bytes what kind they are (written by the template,
// copied from the input, printed from a number, ...), which place of the input or template they came from, which
// transformations they went through, and under whose control the template was when it wrote them.
//
//   Text greeting = Text::literal("Hello ", literal_id, 0, context);
//   greeting.append(Text::data("Ann", path, context));
//   greeting.slice(4, 8)   // "o An": two runs, the second with source bytes [0, 2)
//
// A Text is a value: copies are independent.  It does not own the dictionaries (origins.h) that its ids refer to.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/append.h"
#include "text/origins.h"

namespace rondo::text {

enum class RunKind : std::uint8_t {
  kLiteral,     // template text or a string constant of the template; origin: LiteralId, source: bytes of the literal
  kData,        // copied from a string of the input, byte for byte; origin: PathId, source: bytes of that string
  kEscaped,     // stands for `source_size` bytes of an input string that a transformation rewrote; origin: PathId
  kScalar,      // a number, bool or null of the input, printed; origin: PathId
  kSerialiser,  // structure that a serialiser wrote around input values: braces, quotes, commas; origin: PathId
  kComputed,  // made by the template: a length, a date, indentation; origin: PathId of the value it stands for or none
};

// Some consecutive bytes with one origin.
struct Run {
  std::uint32_t size = 0;           // bytes in the text; never 0 inside a Text
  std::uint32_t origin = 0;         // LiteralId for kLiteral, else PathId
  std::uint32_t source_offset = 0;  // kLiteral, kData, kEscaped: first byte in the literal or input string
  std::uint32_t source_size = 0;    // kLiteral, kData: equal to `size`; kEscaped: bytes it stands for; else 0
  ContextId context = ContextId::kNone;
  ChainId chain = ChainId::kNone;
  RunKind kind = RunKind::kComputed;
  // Which output expression of the template wrote the run, counted from 1 (jinja::Template::expressions); where several
  // did (a macro inside an expression), the innermost.  0 for literals, which have a place of their own, and unknown.
  std::uint16_t expression = 0;

  [[nodiscard]] bool is_input() const { return kind != RunKind::kLiteral; }
  // kNone for literals.
  [[nodiscard]] PathId path() const { return kind == RunKind::kLiteral ? PathId::kNone : static_cast<PathId>(origin); }
  // REQUIRES: kind == kLiteral.
  [[nodiscard]] LiteralId literal() const { return static_cast<LiteralId>(origin); }
  bool operator==(const Run&) const = default;
};

// Copies field by field: a run is mostly copied right after its fields were set, and a processor that is to load a word
// which was stored in parts just now waits until all of them have reached the cache.
inline void copy_fields(const Run& from, Run& to) {
  // Keeps the compiler from joining the loads.
  const auto loaded = [](auto field) {
    asm("" : "+r"(field));  // NOLINT(hicpp-no-assembler): no instruction
    return field;
  };
  to.size = loaded(from.size);
  to.origin = loaded(from.origin);
  to.source_offset = loaded(from.source_offset);
  to.source_size = loaded(from.source_size);
  to.context = loaded(from.context);
  to.chain = loaded(from.chain);
  to.kind = loaded(from.kind);
  to.expression = loaded(from.expression);
}

class Text {
 public:
  Text() = default;

  [[nodiscard]] static Text literal(std::string_view bytes, LiteralId id, std::uint32_t offset, ContextId context);
  [[nodiscard]] static Text data(std::string_view bytes, PathId path, ContextId context);
  // kScalar, kSerialiser and kComputed text.
  [[nodiscard]] static Text made(RunKind kind, std::string_view bytes, PathId path, ContextId context, ChainId chain);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  // Appends; a run that continues the last one (same origin, adjacent source) is merged with it.
  void append(const Text& other);
  // Appends bytes [begin, end) of `other` without making a temporary.  REQUIRES: begin <= end <= other.size().
  void append(const Text& other, std::size_t begin, std::size_t end);
  // Appends `bytes` with the origin that `run` describes; run.size is set from `bytes`.
  void append(std::string_view bytes, const Run& run) {
    bytes_.append(bytes);
    append_run(run, bytes.size());
  }
  // Appends `bytes` with runs that cover them, each as `change` leaves its copy; sizes must stay.
  template <typename Change>
  void append(std::string_view bytes, std::span<const Run> runs, const Change& change) {
    bytes_.append(bytes);
    for (const Run& run : runs) {
      Run copy;
      copy_fields(run, copy);
      change(copy);
      append_run(copy);
    }
  }
  // The two halves of append(), for texts without runs, and for who writes many small pieces: when the last was written,
  // the runs must cover the bytes.
  void append_bytes(std::string_view bytes) { bytes_.append(bytes); }
  void append_run(const Run& run) { append_run(run, run.size, run.source_size); }
  // The same with `size` bytes in the place of run.size.
  void append_run(const Run& run, std::size_t size) {
    const auto count = static_cast<std::uint32_t>(size);
    append_run(run, count, has_source(run.kind) ? count : run.source_size);
  }
  // Several that cannot go on with each other.
  void append_runs(std::span<const Run> runs) {
    if (runs.empty()) return;
    append_run(runs.front());
    runs_.insert(runs_.end(), runs.begin() + 1, runs.end());
  }
  void reserve(std::size_t bytes, std::size_t runs);
  // Empties the text and keeps its memory.
  void clear() {
    bytes_.clear();
    runs_.clear();
  }

  // Bytes [begin, end) with their runs.  A kEscaped run that is cut keeps its whole source range.
  // REQUIRES: begin <= end <= size().
  [[nodiscard]] Text slice(std::size_t begin, std::size_t end) const;

  // The same runs over other bytes of the same length (upper, lower, ...).  REQUIRES: bytes.size() == size().
  [[nodiscard]] Text with_bytes(std::string bytes) const;

  // Each run replaced by what `change` makes of it; `change` must not change sizes.
  void map_runs(const std::function<void(Run&)>& change);

  // One line per run: `[begin,end) kind origin "bytes" context chain`.  For goldens and debugging.
  [[nodiscard]] std::string to_string(const Origins& origins) const;

  // Nothing if every invariant holds: runs cover the bytes exactly, none is empty, ids exist, sources fit.
  // Otherwise a sentence that names the first violation.
  [[nodiscard]] std::optional<std::string> verify(const Origins& origins) const;

  bool operator==(const Text&) const = default;

 private:
  // Template text and data: each byte has a byte of the source.
  [[nodiscard]] static bool has_source(RunKind kind) { return kind == RunKind::kLiteral || kind == RunKind::kData; }
  // True when `next` goes on exactly where `last` ended, so that one run can stand for both.
  [[nodiscard]] static bool continues(const Run& last, const Run& next) {
    if (last.kind != next.kind || last.origin != next.origin || last.context != next.context ||
        last.chain != next.chain || last.expression != next.expression)
      return false;
    if (has_source(last.kind)) return last.source_offset + last.source_size == next.source_offset;
    return last.kind == RunKind::kSerialiser;
  }
  // append_run() with other sizes than those of `run`.
  void append_run(const Run& run, std::uint32_t size, std::uint32_t source_size) {
    if (size == 0) return;
    if (!runs_.empty() && continues(runs_.back(), run)) {
      runs_.back().size += size;
      runs_.back().source_size += source_size;
      return;
    }
    if (runs_.size() == runs_.capacity()) make_room(runs_);
    if (runs_.size() == runs_.capacity()) __builtin_unreachable();
    copy_fields(run, runs_.emplace_back());
    runs_.back().size = size;
    runs_.back().source_size = source_size;
  }
  std::string bytes_;
  std::vector<Run> runs_;
};

// The name used in dumps: "literal", "data", ...
[[nodiscard]] std::string_view to_string(RunKind kind);

// `bytes` in double quotes with control characters, quotes and backslashes escaped, for dumps and messages.
[[nodiscard]] std::string quoted(std::string_view bytes);

}  // namespace rondo::text
