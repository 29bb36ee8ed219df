// What a running template needs besides its instructions: the heap, the dictionaries of origins, limits, logs, and all
// operations on values.
//
// Failure.  Operations throw `Failure`; Template::render catches it and returns its error, so no exception leaves this
// folder.  Set `place` before an operation: errors, strips and probes carry it.
//
// Origins.  Every string that an operation makes has runs that name the source of each byte; the table in
// docs/provenance is the specification.  Strings the template writes itself take the current `context`.
//
// Names passed as string_view (attributes, variables) must outlive the render: they may stay in undefined values.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append.h"
#include "jinja/lexer.h"
#include "jinja/template.h"
#include "jinja/value.h"
#include "rondo/result.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {

// A render that cannot go on.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] Error& error() { return error_; }

 private:
  Error error_;
};

// kConstantPow: a power with a constant on its left and none on its right; see folding.h.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow, kConstantPow };
enum class CompareOp : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

class Runtime {
 public:
  // All arguments must outlive the runtime.
  Runtime(text::Origins& origins, const RenderOptions& options, BlockPool& pool);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  text::Origins& origins;
  const RenderOptions& options;
  Heap heap;

  const bool tracing;                                // whether strings have runs, and decisions are logged
  text::ContextId context = text::ContextId::kNone;  // under whose control the template is now
  const Place* place = nullptr;                      // of the instruction that runs; nullptr before the first
  std::uint16_t expression = 0;                      // the output expression that is being written, see text::Run
  bool autoescape = false;

  // Whether the current context is bound to a message; never without tracing.
  [[nodiscard]] bool in_message() const { return origins.contexts.at(context).message != text::kNoMessage; }
  [[nodiscard]] std::int32_t line() const { return place == nullptr ? 0 : place->line; }
  [[nodiscard]] std::int32_t column() const { return place == nullptr ? 0 : place->column; }

  std::vector<Strip> strips;
  std::vector<Probe> probes;

  // Throws kTemplateError, kTemplateRaised, kLimit at the current place.
  [[noreturn]] void fail(std::string message) const;
  [[noreturn]] void fail(ErrorCode code, std::string message) const;

  // Counts work that is not an instruction of its own; fails with kLimit when the fuel is used up.
  void spend(std::uint64_t units = 1) {
    if (units > fuel_) out_of_fuel();
    fuel_ -= units;
  }
  // More fuel, before the render begins.
  void grant(std::uint64_t units) {
    fuel_ += units;
    granted_ += units;
  }
  // Counts work on `bytes` bytes of text: copying, comparing, searching, mapping.
  void spend_bytes(std::size_t bytes) { spend(bytes / 32); }
  // Counts one more loop iteration (range, for, filters).
  void iterate_once() {
    if (iterations_ == 0) out_of_iterations();
    --iterations_;
  }

  // What conditions read.  Conditions nest; what an inner one reads belongs to the outer one too.
  void begin_reading() {
    append_to(outer_readers_, reading_from_);
    reading_from_ = reads.size();
  }
  // Where in `reads` those of the innermost condition begin.
  std::size_t end_reading() {
    const std::size_t begin = reading_from_;
    reading_from_ = outer_readers_.back();
    outer_readers_.pop_back();
    return begin;
  }
  [[nodiscard]] bool is_reading() const { return reading_from_ != kNotReading; }
  // All that was read so far, in order.
  std::vector<text::PathId> reads;
  // REQUIRES: is_reading().
  void add_read(text::PathId path) {
    // The same value is mostly read again soon, if at all.
    const std::size_t count = reads.size() - reading_from_;
    if (count > 0 && reads.back() == path) return;
    if (count > 1 && reads[reads.size() - 2] == path) return;
    append_to(reads, path);
  }
  // Notes a read of the value: its path, or for a string without one the paths of its runs.
  void note(const Value& value) {
    if (!is_reading()) return;
    if (value.has_path()) {
      add_read(value.path());
    } else if (value.is_string()) {
      note_runs(value);
    }
  }

  // Nesting of calls and values, see DepthGuard.
  void enter() {
    if (depth_ >= options.limits.depth) too_deep();
    ++depth_;
  }
  void leave() { --depth_; }

  // An empty text to build a string in; give it back, its memory will be used again.
  [[nodiscard]] text::Text* borrow_text();
  void give_back(text::Text* text);

  // `chain` with a step behind it; remembered, so cheap.
  [[nodiscard]] text::ChainId extend(text::ChainId chain, std::string_view step);

  // Per-render state of operations.
  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  [[noreturn]] void out_of_fuel() const;
  [[noreturn]] void out_of_iterations() const;
  [[noreturn]] void too_deep() const;
  void note_runs(const Value& value);

  std::uint64_t fuel_;
  std::uint64_t granted_ = 0;  // beyond options.limits.instructions
  std::uint64_t iterations_;
  int depth_ = 0;
  // Where the reads of the innermost condition under evaluation begin, and of those around it.
  static constexpr std::size_t kNotReading = ~std::size_t{0};
  std::size_t reading_from_ = kNotReading;
  std::pmr::vector<std::size_t> outer_readers_;
  State* state_;  // the heap's
};

// One level deeper, until the end of the scope; fails with kLimit when too deep.
class DepthGuard {
 public:
  explicit DepthGuard(Runtime& runtime) : runtime_(runtime) { runtime_.enter(); }
  ~DepthGuard() { runtime_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Runtime& runtime_;
};

// --- Making values.

// The input value at `path`.  Containers are wrapped one level at a time, when they are first looked into; strings are
// not copied: `value` must outlive the render.
[[nodiscard]] Value wrap(Runtime& runtime, const json::Value& value, text::PathId path);
// The variable `name` of the input: wrap() with the path of that variable.
[[nodiscard]] Value wrap_variable(Runtime& runtime, std::string_view name, const json::Value& value);
// The string constant `literal` of the template under `context`; under kNone it belongs to the context that first takes a
// part of it.  `bytes` must outlive the render.
[[nodiscard]] Value make_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal,
                                 text::ContextId context);
// A number as the template spells it.
[[nodiscard]] Value make_number(Runtime& runtime, std::string_view spelling, bool is_float);
// Text that the template made (kComputed) under the current context; bytes are copied.
[[nodiscard]] Value make_computed(Runtime& runtime, std::string_view bytes, text::PathId path = text::PathId::kNone);
// A string with the bytes and runs of `text`: what a macro, set block or filter block wrote.
[[nodiscard]] Value make_string(Runtime& runtime, const text::Text& text);
[[nodiscard]] Value make_list(Runtime& runtime, std::span<const Value> items);
[[nodiscard]] Value make_tuple(Runtime& runtime, std::span<const Value> items);
[[nodiscard]] inline Value make_tuple(Runtime& runtime, std::initializer_list<Value> items) {
  return make_tuple(runtime, std::span(items.begin(), items.size()));
}
[[nodiscard]] Value make_dict(Runtime& runtime);  // empty; fill with set_item
[[nodiscard]] Value make_undefined(Runtime& runtime, std::string_view variable_name);
[[nodiscard]] Value make_undefined_hint(Runtime& runtime, std::string_view message);  // copied

// --- Looking into values.

// Bytes of a string; joins it if need be.  REQUIRES: value.is_string().
[[nodiscard]] std::string_view bytes_of(Runtime& runtime, const Value& value);
[[nodiscard]] std::span<const text::Run> runs_of(Runtime& runtime, const Value& value);  // no dumps among them
// Elements of a list or tuple.  The reference stays valid while nothing is added.
void wrap_items(Runtime& runtime, List& list);  // of a list of the input
[[nodiscard]] inline Values& items_of(Runtime& runtime, const Value& sequence) {
  List& list = sequence.as_list();
  if (list.source != nullptr) wrap_items(runtime, list);
  return list.items;
}
// Members of a dict or namespace.  Keys of input dicts: use key_of for the one with its origin.
[[nodiscard]] std::pmr::vector<Dict::Entry>& entries_of(Runtime& runtime, const Value& dict);
[[nodiscard]] Value key_of(Runtime& runtime, const Dict& dict, const Dict::Entry& entry);
// The key of a dict of the input that stands at `dict`.
[[nodiscard]] Value input_key(Runtime& runtime, std::string_view key, text::PathId dict);
// The value of member `i` of a dict that is still in the input.  REQUIRES: dict.source != nullptr.
[[nodiscard]] const Value& source_member(Runtime& runtime, Dict& dict, std::size_t i);
// nullptr if there is no such key or it is not hashable.
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, const Value& key);
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, std::string_view key);
// Fails for keys that cannot be hashed.
void set_item(Runtime& runtime, Dict& dict, const Value& key, const Value& value);
// {% set ns.name = value %}; fails if `target` is no namespace.
void set_attr(Runtime& runtime, const Value& target, std::string_view name, const Value& value);

[[nodiscard]] bool truthy(Runtime& runtime, const Value& value);
// object.name: attribute, then item.  object[key]: item, then attribute.  Missing ones are undefined; fails when the
// object is undefined itself.
[[nodiscard]] Value get_attr(Runtime& runtime, const Value& object, std::string_view name);
[[nodiscard]] Value get_item(Runtime& runtime, const Value& object, const Value& key);
// object[start:stop:step]; absent bounds are None.
[[nodiscard]] Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                              const Value& step);

// The same in a constant expression: undefined where it would fail, see folding.h.
[[nodiscard]] Value get_constant_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                                       const Value& step);

// One pass over the elements, lazily where Python is lazy; fails if the value cannot be iterated.
[[nodiscard]] Iterator* iterate(Runtime& runtime, const Value& value);
// All elements at once.
[[nodiscard]] std::vector<Value> collect(Runtime& runtime, const Value& value);
// len(): nothing if the value has none.
[[nodiscard]] std::optional<std::size_t> length_of(Runtime& runtime, const Value& value);

// --- Operators.

[[nodiscard]] Value binary(Runtime& runtime, BinaryOp op, const Value& left, const Value& right);
[[nodiscard]] Value negate(Runtime& runtime, const Value& value);
[[nodiscard]] Value positive(Runtime& runtime, const Value& value);
[[nodiscard]] bool compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right);
// The `~` operator over all operands at once.
[[nodiscard]] Value concat(Runtime& runtime, std::span<const Value> values);
// str(value) with origins; markup stays markup.
[[nodiscard]] Value to_text(Runtime& runtime, const Value& value);
[[nodiscard]] std::string repr(Runtime& runtime, const Value& value);  // Python's repr, without origins
[[nodiscard]] std::string type_name(const Value& value);               // "str", "NoneType", ...

// Writes {{ value }} to `out`: str(), escaping under autoescape, and the rule of ownership: bytes belong to the context
// at the place of emission if that is bound to a message, else to the one they were made under.
void emit(Runtime& runtime, const Value& value, text::Text& out);
// Template text; the same as emitting make_literal, without the string.
void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out);

// --- Calls.

// callee(args): functions, bound methods, macros; fails if it cannot be called.
Value call(Runtime& runtime, const Value& callee, const Args& args);
// object.name(args), without making the bound method.
Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Args& args);

struct Filter;  // builtin tables; pointers are valid for ever
struct Test;
// nullptr if there is none of that name.  Lenient-only filters are found always and fail under strict options.
[[nodiscard]] const Filter* find_filter(std::string_view name);
[[nodiscard]] const Test* find_test(std::string_view name);
Value call_filter(Runtime& runtime, const Filter& filter, const Value& subject, const Args& args);
bool call_test(Runtime& runtime, const Test& test, const Value& subject, const Args& args);
// range, dict, namespace, ...; nothing if there is no such global.
[[nodiscard]] std::optional<Value> find_global(Runtime& runtime, std::string_view name);

}  // namespace rondo::jinja
