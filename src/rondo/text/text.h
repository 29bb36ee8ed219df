// Text: bytes that remember where they came from.
//
// A Text is UTF-8 bytes plus runs.  A run describes consecutive bytes: their kind (written by the template, copied from
// the input, printed from a number, ...), the place in the input or template that they came from, the transformations
// they went through, and what controlled the template when it wrote them.
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

#include "text/origins.h"
#include "text/run.h"
#include "text/run_list.h"

namespace rondo::text {

class Text {
 public:
  Text() = default;

  [[nodiscard]] static Text literal(std::string_view bytes, LiteralId id, std::uint32_t offset, ContextId context);
  [[nodiscard]] static Text data(std::string_view bytes, PathId path, ContextId context);
  // Makes kScalar, kSerialiser or kComputed text.
  [[nodiscard]] static Text made(RunKind kind, std::string_view bytes, PathId path, ContextId context, ChainId chain);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::span<const Run> runs() const { return runs_.all(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  // Appends `other`.  A run that continues the last one (same origin, adjacent source) is merged with it.
  void append(const Text& other);
  // Appends bytes [begin, end) of `other` without making a temporary.  REQUIRES: begin <= end <= other.size().
  void append(const Text& other, std::size_t begin, std::size_t end);
  // Appends `bytes` with the origin that `run` describes; run.size is set from `bytes`.
  void append(std::string_view bytes, const Run& run) { append(bytes, run, run.context, run.expression); }
  // Appends `bytes` with the origin that `run` describes, but with another context and expression.
  void append(std::string_view bytes, const Run& run, ContextId context, std::uint16_t expression) {
    bytes_.append(bytes);
    const auto size = static_cast<std::uint32_t>(bytes.size());
    append_run(run, {size, has_source(run.kind) ? size : run.source_size, context, expression});
  }
  // The two halves of append(), for texts without runs and for callers that write many small pieces.  After the last
  // piece, the runs must cover the bytes.
  void append_bytes(std::string_view bytes) { bytes_.append(bytes); }
  void append_run(const Run& run) { append_run(run, run.context, run.expression); }
  void append_run(const Run& run, ContextId context, std::uint16_t expression) {
    append_run(run, {run.size, run.source_size, context, expression});
  }
  // Appends a run whose fields were set some time ago, so that it can be copied as a whole.
  void append_old_run(const Run& run, ContextId context, std::uint16_t expression) {
    if (Run* const last = runs_.open(); last != nullptr && continues(*last, run, context, expression)) {
      last->size += run.size;
      last->source_size += run.source_size;
      return;
    }
    Run& made = runs_.add();
    made = run;
    made.context = context;
    made.expression = expression;
  }
  // Adds a run that is not merged with the last one.  The caller sets all its fields at once.
  [[nodiscard]] Run& add_run() { return runs_.add(); }
  // Returns the run that the next one may be merged with, or nullptr.
  [[nodiscard]] Run* open_run() { return runs_.open(); }

  // Begins a part.  Until end_part(), its runs are not merged with those before it.
  struct Part {
    std::size_t first = 0;   // index of its first run
    std::size_t closed = 0;  // how many runs stay closed after end_part()
  };
  [[nodiscard]] Part begin_part() { return {runs_.size(), runs_.close()}; }
  // Returns the runs of the part that was begun last.
  [[nodiscard]] std::span<const Run> runs_of(const Part& part) const { return runs().subspan(part.first); }
  // Ends a part: `change` rewrites each of its runs and must keep their sizes.  `is_settled` tells whether `change`
  // would leave a run as it is.
  template <typename IsSettled, typename Change>
  void end_part(const Part& part, const IsSettled& is_settled, const Change& change) {
    const std::span<Run> all = runs_.all();
    std::size_t kept = part.first;
    for (std::size_t i = part.first; i < all.size(); ++i) {
      // Two neighbours that both stay as they are stay separate.
      if (is_settled(all[i])) {
        if (i != part.first && kept == i && is_settled(all[i - 1])) {
          ++kept;
          continue;
        }
      } else {
        change(all[i]);
      }
      if (kept > part.closed && continues(all[kept - 1], all[i], all[i].context, all[i].expression)) {
        all[kept - 1].size += all[i].size;
        all[kept - 1].source_size += all[i].source_size;
      } else {
        if (kept != i) all[kept] = all[i];
        ++kept;
      }
    }
    runs_.truncate(kept);
    runs_.reopen(part.closed);
  }

  void reserve(std::size_t bytes, std::size_t runs);
  // Empties the text and keeps its memory.
  void clear() {
    bytes_.clear();
    runs_.clear();
  }

  // Returns bytes [begin, end) with their runs.  A kEscaped run that is cut keeps its whole source range.
  //
  // REQUIRES: begin <= end <= size().
  [[nodiscard]] Text slice(std::size_t begin, std::size_t end) const;

  // Calls `change` on each run.  `change` must not change sizes.
  void map_runs(const std::function<void(Run&)>& change);

  // Returns whether any run is of kind kDump.
  [[nodiscard]] bool has_dumps() const;
  // Replaces each kDump run by the runs of its parts (dumps.h), and merges what continues the run before it.
  void take_dumps_apart(PathTable& paths);

  // Returns one line per run: `[begin,end) kind origin "bytes" context chain`.  For goldens and debugging.
  [[nodiscard]] std::string to_string(const Origins& origins) const;

  // Returns nullopt if every invariant holds: runs cover the bytes exactly, none is empty, ids exist, sources fit.
  // Otherwise returns a sentence that names the first violation.
  [[nodiscard]] std::optional<std::string> verify(const Origins& origins) const;

  bool operator==(const Text&) const = default;

 private:
  // Fields that replace those of an appended run.
  struct Changed {
    std::uint32_t size;
    std::uint32_t source_size;
    ContextId context;
    std::uint16_t expression;
  };

  // Returns true if `next` continues exactly where `last` ended, so that one run can describe both.
  [[nodiscard]] static bool continues(const Run& last, const Run& next, ContextId context, std::uint16_t expression) {
    if (last.origin != next.origin || last.kind != next.kind || last.context != context || last.chain != next.chain ||
        last.expression != expression)
      return false;
    if (has_source(last.kind)) return last.source_offset + last.source_size == next.source_offset;
    return last.kind == RunKind::kSerialiser;
  }
  // Copies field by field.  A run is mostly copied right after its fields were set, and a processor that loads a whole
  // word which was just stored in parts waits until all parts have reached the cache.
  [[gnu::always_inline]] void append_run(const Run& run, const Changed& changed) {
    if (changed.size == 0) return;
    if (Run* const last = runs_.open(); last != nullptr && continues(*last, run, changed.context, changed.expression)) {
      last->size += changed.size;
      last->source_size += changed.source_size;
      return;
    }
    // Keeps the compiler from joining the loads.
    const auto loaded = [](auto field) {
      asm("" : "+r"(field));  // NOLINT(hicpp-no-assembler): no instruction
      return field;
    };
    Run& made = runs_.add();
    made.size = changed.size;
    made.origin = loaded(run.origin);
    made.source_offset = loaded(run.source_offset);
    made.source_size = changed.source_size;
    made.context = changed.context;
    made.chain = loaded(run.chain);
    made.kind = loaded(run.kind);
    made.expression = changed.expression;
  }
  std::string bytes_;
  RunList runs_;
};

// Returns the name used in dumps: "literal", "data", ...
[[nodiscard]] std::string_view to_string(RunKind kind);

// Returns `bytes` in double quotes, with control characters, quotes and backslashes escaped.  For dumps and messages.
[[nodiscard]] std::string quoted(std::string_view bytes);

}  // namespace rondo::text
