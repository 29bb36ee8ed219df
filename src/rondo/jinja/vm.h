// Runs a program over a runtime.  It knows instructions, never the tree they came from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "jinja/control.h"
#include "jinja/instructions.h"
#include "jinja/runtime.h"
#include "json/value.h"

namespace rondo::jinja {

class LoopState;

// The local variables of one run of a function, and those of the functions around it.
struct Activation {
  Activation* parent = nullptr;
  Value* slots = nullptr;
  std::uint32_t function = 0;
};

class Vm {
 public:
  // All arguments must outlive the Vm.
  Vm(const Program& program, const json::Object& variables, Runtime& runtime);

  // Runs the template; throws Failure.
  void render();

  // Elements of the lists among the variables: how much there is to render.
  [[nodiscard]] std::size_t input_elements() const { return input_elements_; }
  [[nodiscard]] text::Text& output() { return *outputs_.front(); }
  [[nodiscard]] text::Text take_output() { return std::move(*outputs_.front()); }
  [[nodiscard]] std::vector<Decision>& decisions() { return control_.decisions(); }
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>>& generation_blocks() { return generation_blocks_; }

  // For macros and loops, which are called as values.
  Value call_macro(std::uint32_t function, Activation* parent, const Args& args);
  Value call_loop(std::uint32_t function, Activation* parent, const Value& iterable, std::int64_t depth);
  // Whether the filter of a loop takes `item`, in the context of that item.
  bool passes_filter(std::uint32_t function, Activation* parent, const Value& item, text::ContextId outer);

  [[nodiscard]] Runtime& runtime() { return runtime_; }
  [[nodiscard]] const Program& program() const { return program_; }

 private:
  // Arguments of a call with keywords or stars, copied off the stack.
  struct Taken {
    std::vector<Value> positional;
    std::vector<NamedValue> named;
    [[nodiscard]] Args args() const { return {positional, named}; }
  };

  // Runs a function from its entry to its return; what kReturnTop left is the result.  `argument`, if any, is on the
  // stack when it begins.
  Value run(Activation& activation, const Value* argument = nullptr);
  Value run_on_new_stack(Activation& activation, const Value* argument);
  // The instructions that are more than a few lines.
  [[nodiscard]] Value load(const Value& slot, std::uint32_t name);
  [[nodiscard]] Value variable(std::uint32_t name);
  void unpack(std::uint32_t count);
  void make_dict_of(std::uint32_t pairs);
  // Calls `callee(Args)` with the arguments of that shape on the stack, and leaves the result in their place and that of
  // the value below them.
  template <typename Callee>
  void with_arguments(const CallShape& shape, const Callee& callee);
  void take_arguments(const CallShape& shape, Taken& taken);
  void take_double_star(const Value& value, Taken& taken);
  [[nodiscard]] Value make_macro(std::uint32_t function, Activation* parent);
  void call_top(const Instruction& instruction);
  void call_method_of_top(const Instruction& instruction);
  void filter_top(const Instruction& instruction);
  // Writes the filter's result without making it, if that is the same; `expression` as kEmit's.
  [[nodiscard]] bool write_filtered(const Instruction& instruction, std::uint32_t expression);
  void test_top(const Instruction& instruction);
  // Gives back a taken argument buffer, so that its memory is used again.
  [[nodiscard]] std::unique_ptr<Taken> borrow();
  void give_back(std::unique_ptr<Taken> taken);

  void begin_loop(const Instruction& instruction, Activation& activation);
  [[nodiscard]] bool next_item(LoopState& loop);
  void leave_iteration(const LoopState& loop);
  void end_loop();
  [[nodiscard]] Value loop_attribute(const Instruction& instruction);

  void bind_arguments(const Function& function, Activation& activation, const Args& args);
  void begin_capture();
  [[nodiscard]] Value end_capture();
  void end_generation();

  [[nodiscard]] Activation* enter(std::uint32_t function, Activation* parent);
  void leave(Activation* activation);

  void push(const Value& value) { *top_++ = value; }
  Value pop() { return *--top_; }
  void grow_stack();
  // The string of a constant; belongs to whoever uses it first, see take_run().
  [[nodiscard]] Value constant(std::uint32_t literal);
  // A value that outlives the expression it comes from: constants get the context they were made under.
  [[nodiscard]] Value settled(const Value& value) {
    return value.is_string() && value.as_string().is_constant && runtime_.context != text::ContextId::kNone
               ? settled_constant(value)
               : value;
  }
  [[nodiscard]] Value settled_constant(const Value& value);
  [[nodiscard]] Value attribute(const Value& object, std::uint32_t name);
  [[nodiscard]] Value element(const Value& object, const Instruction& instruction);
  // The member of that name, looked for anywhere; nullptr if there is none.
  [[nodiscard]] const Value* member(Dict& dict, std::uint32_t name);
  // The same of a namespace.
  [[nodiscard]] Value* variable_of(Dict& name_space, std::uint32_t name);
  // A member of the input that was looked at before and stands where another dict had one of that name; else nullptr.
  [[nodiscard, gnu::always_inline]] inline const Value* known_member(const Dict& dict, std::uint32_t name) const {
    if (dict.source == nullptr || dict.members == nullptr) return nullptr;
    const std::uint32_t place = places_of_members_[name];
    const json::Member* member = dict.source->begin() + place;
    if (member >= dict.source->end() || dict.members[place].is_undefined()) return nullptr;
    return same_bytes(member->key, program_.names[name]) ? dict.members + place : nullptr;
  }
  [[nodiscard]] bool is_true(const Value& value) const {
    if (value.is_bool()) return value.as_bool();
    return value.is_string() ? value.as_string().size != 0 : truthy(runtime_, value);
  }
  [[nodiscard]] Value binary_of(BinaryOp op, const Value& left, const Value& right);
  [[nodiscard]] bool comparison_of(CompareOp op, const Value& left, const Value& right);
  [[nodiscard]] bool writes_parts() const;
  void add_part(const Instruction& instruction);
  void emit_concat(const Instruction& instruction);
  [[nodiscard]] bool equals_string(const Value& left, std::uint32_t literal);
  [[nodiscard]] const Method* method_of(const Value& object, std::uint32_t name) const;

  const Program& program_;
  const json::Object& variables_;
  Runtime& runtime_;
  std::size_t input_elements_;
  Control control_;
  Value* top_ = nullptr;  // of the stack: where the next value goes
  Value* stack_end_ = nullptr;
  std::vector<std::unique_ptr<text::Text>> outputs_;  // the text and the captures in it; those behind depth_ are spare
  std::size_t output_ = 0;                            // the current one
  std::vector<LoopState*> loops_;
  std::vector<LoopState*> spare_loops_;
  std::vector<bool> autoescapes_;
  std::vector<std::vector<Activation*>> spare_activations_;  // by function
  std::vector<std::unique_ptr<Taken>> spare_arguments_;
  Value* variables_seen_;             // by name
  bool* variables_known_;             // by name
  std::uint32_t* places_of_members_;  // by name: where an input dict had a member of that name last
  String** constants_;                // by LiteralId; made when first used
  std::int64_t loop_depth_ = 0;       // of the recursive loop that is about to begin
  std::vector<std::pair<std::size_t, std::size_t>> generation_blocks_;
};

}  // namespace rondo::jinja
