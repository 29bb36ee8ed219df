// The control context of a render: on behalf of which message the template is running, and which conditions decided.
//
// The rules are those of the provenance design: a loop over messages binds its body to the element; a loop over numbers
// is bound by the first `set m = messages[i]`; a macro called outside any binding takes the message of its first such
// argument; a condition that read exactly one message binds its branches weakly (guard); a branch taken because
// add_generation_prompt is true writes the generation prompt.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/append.h"
#include "jinja/common/events.h"
#include "jinja/program/instructions.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

class Control {
 public:
  // `generation_prompt`: the path of a true add_generation_prompt, else kNone.
  Control(Runtime& runtime, text::PathId generation_prompt)
      : runtime_(runtime), generation_prompt_(generation_prompt), ifs_(&runtime.heap), saved_(&runtime.heap) {}

  // Conditions.  What is read between begin_test and end_test belongs to the decision (and to those around it).
  void begin_test() {
    if (runtime_.tracing) runtime_.begin_reading();
  }
  // Of an if statement: if it holds, its branch begins.
  void end_test(bool outcome, std::uint32_t node, std::uint8_t flag) {
    if (!runtime_.tracing) return;
    const std::size_t begin = runtime_.end_reading();
    const std::size_t end = runtime_.reads.size();
    bool generation_prompt = false;
    for (std::size_t i = begin; i < end; ++i) generation_prompt |= runtime_.reads[i] == generation_prompt_;
    read_generation_prompt_ = generation_prompt;
    append_to(decisions_, {runtime_.place->line, runtime_.place->column, node, runtime_.context,
                           static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), outcome});
    if ((flag & kTestOfIf) == 0) return;
    If& current = ifs_.back();
    // Where a message is bound already, a condition that read one says nothing more.
    if (begin != end && runtime_.origins.contexts.at(current.outside).message == text::kNoMessage)
      note_messages(current, begin);
    if (outcome) {
      guard(flag);
    } else if (generation_prompt && (flag & kTestNegated) != 0) {
      current.generation_prompt = true;
    }
  }

  // If statements: around the statement, with its first condition, and on entry to its else branch.
  void enter_if() {
    if (!runtime_.tracing) return;
    append_to(ifs_, {runtime_.context, runtime_.context, text::kNoMessage, false, false});
    runtime_.begin_reading();
  }
  void guard(std::uint8_t flag) {
    if (!runtime_.tracing) return;
    const If& current = ifs_.back();
    const bool generation_prompt = read_generation_prompt_ || current.generation_prompt;
    if (generation_prompt || current.message != text::kNoMessage) enter_branch(flag);
  }
  void leave_if() {
    if (!runtime_.tracing) return;
    if (ifs_.back().branch != runtime_.context) keep_binding();
    runtime_.context = ifs_.back().outside;
    ifs_.pop_back();
  }

  // Inline ifs and generation blocks: the context to return to is remembered.
  void enter_choice(std::uint8_t flag);
  void enter_generation();
  [[nodiscard]] text::ContextId saved() const { return saved_.back(); }
  void leave_saved();

  // What binds the code that runs now.
  enum class Binding : std::uint8_t { kNone, kItem, kOpen, kBound };  // kOpen: a loop whose items say nothing

  // The context of a loop's iteration over `item`, where the loop stands under `outer`; kNone if the item says nothing.
  [[nodiscard]] text::ContextId item_context(const Value& item, text::ContextId outer);
  // Starts an iteration.
  void enter_item(const Value& item, text::ContextId outer);
  // `set x = value`: binds the rest of an open loop's iteration if value is a message.
  void bind(const Value& value) {
    if (binding_ == Binding::kOpen && value.is_dict() && value.has_path()) bind_slowly(value);
  }
  // A macro call; leave with `restore`.
  struct State {
    text::ContextId context;
    Binding binding;
  };
  [[nodiscard]] State state() const { return {runtime_.context, binding_}; }
  void restore(const State& state) {
    runtime_.context = state.context;
    binding_ = state.binding;
  }
  void enter_macro(const Args& args);

  // The nesting that a break or continue leaves.
  struct Marks {
    std::size_t ifs;
    std::size_t saved;
  };
  [[nodiscard]] Marks marks() const { return {ifs_.size(), saved_.size()}; }
  void unwind(const Marks& marks) {
    ifs_.resize(marks.ifs);
    saved_.resize(marks.saved);
  }

  [[nodiscard]] std::vector<Decision>& decisions() { return decisions_; }

 private:
  struct If {
    text::ContextId outside;  // context of the statement
    text::ContextId branch;   // context the branch began with
    std::int32_t message;     // read by the conditions so far, if `outside` is bound to none
    bool several;             // they read more than one
    bool generation_prompt;   // a condition that failed says that add_generation_prompt is true
  };

  // The context of an item that is a message or belongs to one: it says nothing of those around but their flags.  For
  // templates that go through a long list again and again.
  struct ItemContext {
    text::PathId path = text::PathId::kNone;
    text::ContextId made = text::ContextId::kNone;
    std::uint8_t flags = 0;
  };
  static constexpr std::size_t kItemsKept = 256;
  static constexpr std::size_t kManyItems = 64;  // fewer are not worth the table

  // Of the reads from `begin` on.
  void note_messages(If& current, std::size_t begin) const;
  void enter_branch(std::uint8_t flag);
  void bind_slowly(const Value& value);
  void keep_binding();
  [[nodiscard]] text::Context now() const { return runtime_.origins.contexts.at(runtime_.context); }
  void set(const text::Context& context) { runtime_.context = runtime_.origins.contexts.intern(context); }

  Runtime& runtime_;
  text::PathId generation_prompt_;
  Binding binding_ = Binding::kNone;
  bool read_generation_prompt_ = false;  // by the last condition
  std::pmr::vector<If> ifs_;
  std::pmr::vector<text::ContextId> saved_;
  std::vector<Decision> decisions_;
  std::vector<ItemContext> lately_;  // by path; empty until there are many
  std::size_t items_made_ = 0;
};

}  // namespace rondo::jinja
