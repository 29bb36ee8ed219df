// Runs a program with a runtime.  It knows the instructions, never the tree that they came from.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "jinja/common/events.h"
#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/types/access.h"
#include "jinja/types/methods.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "jinja/vm/control.h"
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

  [[nodiscard]] text::Text& output() { return text_; }
  [[nodiscard]] text::Text take_output() { return std::move(text_); }
  [[nodiscard]] std::vector<Decision>& decisions() { return control_.decisions(); }
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>>& generation_blocks() { return generation_blocks_; }

  // Runs a macro, which writes to the current output.
  void run_macro(std::uint32_t function, Activation* parent, const Args& args);
  // Macros and loops are called through these.
  Value call_macro(std::uint32_t function, Activation* parent, const Args& args);
  Value call_loop(std::uint32_t function, Activation* parent, const Value& iterable, std::int64_t depth);
  // Returns whether the filter of a loop accepts `item`, evaluated in the context of that item.
  bool passes_filter(std::uint32_t function, Activation* parent, const Value& item, text::ContextId outer);

  [[nodiscard]] Runtime& runtime() { return runtime_; }
  [[nodiscard]] const Program& program() const { return program_; }

 private:
  // The arguments of a call with keywords or stars, copied from the stack.
  struct Taken {
    explicit Taken(std::pmr::memory_resource* memory) : positional(memory), named(memory) {}
    std::pmr::vector<Value> positional;
    std::pmr::vector<NamedValue> named;
    [[nodiscard]] Args args() const { return {positional, named}; }
  };

  // The last place where a member of some name was found: a dict that is still in the input, the member's value, and
  // its position, which other dicts often share.
  struct SeenMember {
    const Dict* dict;
    const Value* value;
    std::uint32_t place;
  };

  // Runs a function from its entry to its return.  The result is what kReturnTop left.  `argument`, if any, is on the
  // stack when the function begins.
  Value run(Activation& activation, const Value* argument = nullptr);
  Value run_on_new_stack(Activation& activation, const Value* argument);
  // The instructions that take more than a few lines.
  [[nodiscard]] Value load(const Value& slot, std::uint32_t name);
  [[nodiscard]] Value variable(std::uint32_t name);
  void unpack(std::uint32_t count);
  void make_dict_of(std::uint32_t pairs);
  // Calls `callee(Args)` with the arguments of that shape on the stack.  The result replaces the arguments and the
  // value below them.
  template <typename Callee>
  void with_arguments(const CallShape& shape, const Callee& callee);
  void take_arguments(const CallShape& shape, Taken& taken);
  void take_double_star(const Value& value, Taken& taken);
  [[nodiscard]] Value make_macro(std::uint32_t function, Activation* parent);
  void call_top(const Instruction& instruction);
  void call_method_of_top(const Instruction& instruction);
  void filter_top(const Instruction& instruction);
  // These write a result directly to the output, in place of the instruction `writer`, if that gives the same text.
  // They leave on the stack what `writer` would leave.
  [[nodiscard]] bool write_call(const Instruction& instruction, const Instruction& writer);
  [[nodiscard]] bool write_filtered(const Instruction& instruction, const Instruction& writer);
  [[nodiscard]] bool begin_writing(const Instruction& writer, Value* result);
  void test_top(const Instruction& instruction);
  // Returns a used argument buffer, so that its memory is used again.
  [[nodiscard]] Taken& borrow();
  void give_back(Taken& taken) { spare_arguments_.push_back(&taken); }

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
  // Returns the string of a constant.  The constant belongs to the context that uses it first; see take_run().
  [[nodiscard]] Value constant(std::uint32_t literal);
  // Returns a value that outlives its expression: a constant gets the context in which it was made.
  [[nodiscard]] Value settled(const Value& value) {
    return value.is_string() && value.as_string().is_constant && runtime_.context != text::ContextId::kNone
               ? settled_constant(value)
               : value;
  }
  [[nodiscard]] Value settled_constant(const Value& value);
  [[nodiscard]] Value attribute(const Value& object, std::uint32_t name);
  [[nodiscard]] Value element(const Value& object, const Instruction& instruction);
  // Returns the member of that name, searched everywhere; nullptr if there is none.
  [[nodiscard]] const Value* member(Dict& dict, std::uint32_t name);
  // Does the same for a namespace.
  [[nodiscard]] Value* variable_of(Dict& name_space, std::uint32_t name);
  // Returns a member of the input that was read before, in this dict or at the same position as in another dict;
  // otherwise nullptr.
  [[nodiscard, gnu::always_inline]] inline const Value* known_member(const Dict& dict, std::uint32_t name) {
    if (dict.source == nullptr) return nullptr;
    SeenMember& seen = known_.members[name];
    return seen.dict == &dict ? seen.value : known_elsewhere(dict, name, seen);
  }
  [[nodiscard]] const Value* known_elsewhere(const Dict& dict, std::uint32_t name, SeenMember& seen);
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
  Control control_;
  Value* top_ = nullptr;  // where the next value goes on the stack
  Value* stack_end_ = nullptr;
  text::Text text_;
  // All lists of a run are in the heap: growing costs only memory, and nothing frees them.
  std::pmr::vector<text::Text*> outputs_;  // the text and the captures in it
  text::Text* output_;                     // the last of them
  std::pmr::vector<LoopState*> loops_;
  std::pmr::vector<LoopState*> spare_loops_;
  std::pmr::vector<bool> autoescapes_;
  std::pmr::vector<Value*> spare_stacks_;
  std::pmr::vector<Taken*> spare_arguments_;
  Activation** spare_activations_;  // by function; further ones follow through their parents
  // What was looked up before.
  struct Known {
    Value* variables;     // by name
    bool* has_variable;   // by name
    SeenMember* members;  // by name
    String** constants;   // by LiteralId; made on first use
  };
  Known known_;
  std::int64_t loop_depth_ = 0;  // for the recursive loop that is about to begin
  std::vector<std::pair<std::size_t, std::size_t>> generation_blocks_;
};

}  // namespace rondo::jinja
