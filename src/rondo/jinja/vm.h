// Runs a program over a runtime.  It knows instructions, never the tree they came from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  // Arguments of a call, taken off the stack.
  struct Taken {
    std::vector<Value> positional;
    std::vector<NamedValue> named;
    [[nodiscard]] Args args() const { return {positional, named}; }
  };

  // Runs a function from its entry to its return; what kReturnTop left is the result.
  Value run(Activation& activation);
  // The instructions that are more than a few lines.
  void push_number(const NumberConstant& number);
  [[nodiscard]] Value load(const Value& slot, std::uint32_t name);
  [[nodiscard]] Value variable(std::uint32_t name);
  void unpack(std::uint32_t count);
  void make_dict_of(std::uint32_t pairs);
  void take_arguments(const CallShape& shape, Taken& taken);
  void take_double_star(const Value& value, Taken& taken);
  void call_top(const Instruction& instruction);
  void call_method_of_top(const Instruction& instruction);
  void filter_top(const Instruction& instruction);
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
  [[nodiscard]] text::Text end_capture();
  void end_generation();

  [[nodiscard]] Activation* enter(std::uint32_t function, Activation* parent);
  void leave(Activation* activation);

  void push(Value value) { stack_.push_back(value); }
  Value pop() {
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }

  const Program& program_;
  const json::Object& variables_;
  Runtime& runtime_;
  Control control_;
  std::vector<Value> stack_;
  std::vector<std::unique_ptr<text::Text>> outputs_;  // the text and the captures in it; those behind depth_ are spare
  std::size_t output_ = 0;                            // the current one
  std::vector<LoopState*> loops_;
  std::vector<LoopState*> spare_loops_;
  std::vector<bool> autoescapes_;
  std::vector<std::vector<Activation*>> spare_activations_;  // by function
  std::vector<std::unique_ptr<Taken>> spare_arguments_;
  std::vector<Value> variable_cache_;  // by name
  std::vector<bool> variable_known_;
  std::vector<const Filter*> filters_;  // by name; looked up when first used
  std::vector<const Test*> tests_;
  std::int64_t loop_depth_ = 0;  // of the recursive loop that is about to begin
  std::vector<std::pair<std::size_t, std::size_t>> generation_blocks_;
};

}  // namespace rondo::jinja
