// The control context of a render: for which message the template is running, and which conditions decided that.
//
// The rules are those of docs/provenance.md.  A loop over messages binds its body to the element.  A loop over numbers
// is bound by the first `set m = messages[i]`.  A macro called outside any binding takes the message of its first
// argument that belongs to one.  A condition that read exactly one message binds its branches weakly (guard).  A branch
// taken because add_generation_prompt is true writes the generation prompt.
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
  // `generation_prompt` is the path of add_generation_prompt if it is true, otherwise kNone.
  Control(Runtime& runtime, text::PathId generation_prompt)
      : runtime_(runtime), generation_prompt_(generation_prompt), ifs_(&runtime.heap), saved_(&runtime.heap) {}

  // Conditions.  Reads between begin_test and end_test belong to the decision, and to the decisions around it.
  void begin_test() {
    if (runtime_.tracing) runtime_.begin_reading();
  }
  // In an if statement: if the condition holds, its branch begins.
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
    // If a message is already bound, a condition that read one adds nothing.
    if (begin != end && runtime_.origins.contexts.at(current.outside).message == text::kNoMessage)
      note_messages(current, begin);
    if (outcome) {
      guard(flag);
    } else if (generation_prompt && (flag & kTestNegated) != 0) {
      current.generation_prompt = true;
    }
  }

  // If statements: called before the statement, with its first condition, and at the start of its else branch.
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

  // Inline ifs and generation blocks: remember the context to return to.
  void enter_choice(std::uint8_t flag);
  void enter_generation();
  [[nodiscard]] text::ContextId saved() const { return saved_.back(); }
  void leave_saved();

  // How the running code got its message.
  enum class Binding : std::uint8_t { kNone, kItem, kOpen, kBound };  // kOpen: a loop whose items bind to no message

  // Returns the context of a loop's iteration over `item`, if the loop runs in the context `outer`; kNone if the item
  // binds nothing.
  [[nodiscard]] text::ContextId item_context(const Value& item, text::ContextId outer);
  // Starts an iteration.
  void enter_item(const Value& item, text::ContextId outer);
  // `set x = value`: binds the rest of the iteration of an open loop if `value` is a message.
  void bind(const Value& value) {
    if (binding_ == Binding::kOpen && value.is_dict() && value.has_path()) bind_slowly(value);
  }
  // The state around a macro call; leave the call with `restore`.
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

  // The nesting to which a break or continue returns.
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
    text::ContextId branch;   // context at the start of the branch
    std::int32_t message;     // the message that the conditions have read, if `outside` is bound to none
    bool several;             // whether they have read more than one
    bool generation_prompt;   // whether a failed condition shows that add_generation_prompt is true
  };

  // The cached context of an item that is a message or belongs to one.  It depends on the surrounding contexts only
  // through their flags.  For templates that visit a long list again and again.
  struct ItemContext {
    text::PathId path = text::PathId::kNone;
    text::ContextId made = text::ContextId::kNone;
    std::uint8_t flags = 0;
  };
  static constexpr std::size_t kItemsKept = 256;
  static constexpr std::size_t kManyItems = 64;  // with fewer items the table does not pay

  // Notes the messages among the reads from `begin` on.
  void note_messages(If& current, std::size_t begin) const;
  void enter_branch(std::uint8_t flag);
  void bind_slowly(const Value& value);
  void keep_binding();
  [[nodiscard]] text::Context now() const { return runtime_.origins.contexts.at(runtime_.context); }
  void set(const text::Context& context) { runtime_.context = runtime_.origins.contexts.intern(context); }

  Runtime& runtime_;
  text::PathId generation_prompt_;
  Binding binding_ = Binding::kNone;
  bool read_generation_prompt_ = false;  // whether the last condition read it
  std::pmr::vector<If> ifs_;
  std::pmr::vector<text::ContextId> saved_;
  std::vector<Decision> decisions_;
  std::vector<ItemContext> lately_;  // by path; empty until there are many items
  std::size_t items_made_ = 0;
};

}  // namespace rondo::jinja
