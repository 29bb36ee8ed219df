// A running for loop: its position, and the value that templates know as `loop`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jinja/program/instructions.h"
#include "jinja/value/input.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "jinja/vm/control.h"
#include "jinja/vm/vm.h"

namespace rondo::jinja {

class LoopState final : public Object {
 public:
  explicit LoopState(Vm& vm) : vm_(vm) {}

  // Begins a loop over `iterable`.  `filter` is a function that selects the items, or kNoFunction.
  void begin(const Value& iterable, std::uint32_t filter, Activation* activation);
  // Moves to the next item.  Returns false at the end.
  bool advance() { return has_after_ || !is_plain_ ? advance_slowly() : advance_plainly(); }
  [[nodiscard]] const Value& current() const { return current_; }
  [[nodiscard]] Value attribute_of(LoopAttr attribute);

  // What the VM returns to when it leaves an iteration or the loop.
  struct Outside {
    Control::State control;         // around the loop
    Control::Marks marks = {0, 0};  // nesting of control at the start of an iteration
    std::size_t outputs = 0;        // nesting of captures
    std::size_t autoescapes = 0;
  };
  // How loop(...) calls the loop again.
  struct Recursion {
    std::uint32_t function = kNoFunction;
    Activation* parent = nullptr;
    std::int64_t depth0 = 0;
  };
  Outside outside;
  Recursion recursion;
  bool completed = false;  // an iteration ran to the end of the body
  bool is_value = false;   // the template may hold it as `loop`

  [[nodiscard]] std::string_view type_name() const override { return "LoopContext"; }
  [[nodiscard]] std::string object_type() const override { return "jinja2.runtime.LoopContext object"; }
  [[nodiscard]] std::string repr(Runtime& runtime) override;
  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override;
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& runtime, const Args& args) override;
  [[nodiscard]] Iterator* iterate(Runtime& runtime) override;
  [[nodiscard]] std::optional<std::size_t> length(Runtime& runtime) override;

  [[nodiscard]] Value cycle(const Args& args);
  [[nodiscard]] bool changed(const Args& args);

 private:
  bool advance_slowly();
  bool advance_plainly() {
    // Looked up each time, because the body may add to the list.
    const Values& items = items_of(vm_.runtime(), iterable_);
    if (position_ >= items.size()) return false;
    vm_.runtime().iterate_once();
    ++index0_;
    before_ = current_;
    current_ = items[position_++];
    return true;
  }
  bool read(Value& out);      // the next item that passes the filter
  bool read_any(Value& out);  // the next item
  bool peek();                // sets `after_`; whether there is a next item
  [[nodiscard]] std::size_t count();

  Vm& vm_;
  Value iterable_;
  Iterator* iterator_ = nullptr;  // nullptr while iterating over a list or tuple
  std::size_t position_ = 0;      // in the list or tuple
  bool is_plain_ = false;         // a list or tuple without a filter
  std::uint32_t filter_ = kNoFunction;
  Activation* activation_ = nullptr;
  // Items that `length` had to read ahead.
  struct Ahead {
    std::vector<Value> items;
    std::size_t position = 0;
    bool is_used = false;
  };
  Ahead ahead_;
  std::optional<std::size_t> length_;
  std::int64_t index0_ = -1;
  Value before_;
  Value current_;
  Value after_;
  bool has_after_ = false;
  std::optional<std::vector<Value>> last_changed_;
};

}  // namespace rondo::jinja
