// The state of a running template besides its instructions: the heap, the tables of origins, limits and logs.
//
// Failure.  Operations on values throw `Failure`.  Template::render catches it and returns its error, so no exception
// leaves this folder.  Set `place` before an operation: errors, strips and probes report it.
//
// Origins.  Every string that an operation makes has runs that name the source of each byte.  The table in
// docs/provenance.md is the specification.  Strings that the template itself writes get the current `context`.
//
// Names passed as string_view (attributes, variables) must outlive the render, because they may be kept in undefined
// values.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append.h"
#include "jinja/common/events.h"
#include "jinja/common/options.h"
#include "jinja/common/place.h"
#include "jinja/value/heap.h"
#include "jinja/value/value.h"
#include "rondo/result.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {

// An error that ends a render.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] Error& error() { return error_; }

 private:
  Error error_;
};

class Runtime {
 public:
  // All arguments must outlive the runtime.
  Runtime(text::Origins& origins, const RenderOptions& options, BlockPool& pool);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  text::Origins& origins;
  const RenderOptions& options;
  Heap heap;

  const bool tracing;                                // whether strings have runs and decisions are recorded
  text::ContextId context = text::ContextId::kNone;  // what controls the template now
  const Place* place = nullptr;                      // of the running instruction; nullptr before the first one
  std::uint16_t expression = 0;                      // the output expression that is being written; see text::Run
  bool autoescape = false;
  bool input_changed = false;  // a lenient render changed a list or dict in place, which may be one of the input

  // Returns whether the current context is bound to a message; always false without tracing.
  [[nodiscard]] bool in_message() const { return origins.contexts.at(context).message != text::kNoMessage; }
  [[nodiscard]] std::int32_t line() const { return place == nullptr ? 0 : place->line; }
  [[nodiscard]] std::int32_t column() const { return place == nullptr ? 0 : place->column; }

  std::vector<Strip> strips;
  std::vector<Probe> probes;

  // Throw kTemplateError, kTemplateRaised or kLimit at the current place.
  [[noreturn]] void fail(std::string message) const;
  [[noreturn]] void fail(ErrorCode code, std::string message) const;

  // Counts work besides instructions.  Fails with kLimit when the fuel is used up.
  void spend(std::uint64_t units = 1) {
    if (units > fuel_) out_of_fuel();
    fuel_ -= units;
  }
  // Fails with kLimit if an output of `bytes` bytes is too long.
  void check_output_size(std::size_t bytes) const {
    if (bytes > options.limits.output_bytes) output_too_long();
  }
  // Counts `bytes` bytes of padding or digits before they are made.  Fails if they exceed the memory of a render.
  void pay_for_filling(std::size_t bytes);
  // Adds fuel before the render begins.
  void grant(std::uint64_t units) {
    fuel_ += units;
    granted_ += units;
  }
  // Counts work on `bytes` bytes of text: copying, comparing, searching, mapping.
  void spend_bytes(std::size_t bytes) { spend(bytes / 32); }
  // Counts work on each character of `bytes` bytes of text: decoding, classifying, changing.
  void spend_on_characters(std::size_t bytes) { spend(bytes / 4); }
  // Counts one loop iteration (for, range, filters).
  void iterate_once() {
    if (iterations_ == 0) out_of_iterations();
    --iterations_;
  }

  // What conditions read.  Conditions nest: what an inner one reads also belongs to the outer one.
  void begin_reading() {
    append_to(outer_readers_, reading_from_);
    reading_from_ = reads.size();
  }
  // Returns the index in `reads` at which those of the innermost condition begin.
  std::size_t end_reading() {
    const std::size_t begin = reading_from_;
    reading_from_ = outer_readers_.back();
    outer_readers_.pop_back();
    return begin;
  }
  [[nodiscard]] bool is_reading() const { return reading_from_ != kNotReading; }
  // All reads so far, in order.
  std::vector<text::PathId> reads;
  // REQUIRES: is_reading().
  void add_read(text::PathId path) {
    // A value that is read twice is mostly read twice in a row.
    const std::size_t count = reads.size() - reading_from_;
    if (count > 0 && reads.back() == path) return;
    if (count > 1 && reads[reads.size() - 2] == path) return;
    append_to(reads, path);
  }
  // Records a read of the value: its path, or the paths of its runs for a string without a path.
  void note(const Value& value) {
    if (!is_reading()) return;
    if (value.has_path()) {
      add_read(value.path());
    } else if (value.is_string()) {
      note_runs(value);
    }
  }

  // Nesting of calls and values; see DepthGuard.
  void enter() {
    if (depth_ >= options.limits.depth) too_deep();
    ++depth_;
  }
  void leave() { --depth_; }

  // Returns an empty text for building a string.  Give it back, so that its memory is used again.
  [[nodiscard]] text::Text* borrow_text();
  void give_back(text::Text* text);

  // Returns `chain` with `step` appended.  Cached, so it is cheap.
  [[nodiscard]] text::ChainId extend(text::ChainId chain, std::string_view step);

  // The state of operations during one render.
  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  [[noreturn]] void out_of_fuel() const;
  [[noreturn]] void out_of_iterations() const;
  [[noreturn]] void too_deep() const;
  [[noreturn]] void output_too_long() const;
  void note_runs(const Value& value);

  std::uint64_t fuel_;
  std::uint64_t granted_ = 0;  // in addition to options.limits.instructions
  std::uint64_t iterations_;
  int depth_ = 0;
  // Where the reads of the innermost active condition begin, and those of the conditions around it.
  static constexpr std::size_t kNotReading = ~std::size_t{0};
  std::size_t reading_from_ = kNotReading;
  std::pmr::vector<std::size_t> outer_readers_;
  State* state_;  // belongs to the heap
};

// Counts one more level of nesting until the end of the scope.  Fails with kLimit if it is too deep.
class DepthGuard {
 public:
  explicit DepthGuard(Runtime& runtime) : runtime_(runtime) { runtime_.enter(); }
  ~DepthGuard() { runtime_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Runtime& runtime_;
};

}  // namespace rondo::jinja
