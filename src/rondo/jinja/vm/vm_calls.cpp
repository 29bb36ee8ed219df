// Calls: arguments, macros, call blocks and recursive loops.
#include <algorithm>
#include <optional>
#include <span>
#include <typeinfo>
#include <utility>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/tests.h"
#include "jinja/common/place.h"
#include "jinja/program/instructions.h"
#include "jinja/types/access.h"
#include "jinja/types/emit.h"
#include "jinja/types/iteration.h"
#include "jinja/types/methods.h"
#include "jinja/types/params.h"
#include "jinja/value/dicts.h"
#include "jinja/value/making.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "jinja/vm/control.h"
#include "jinja/vm/vm.h"

namespace rondo::jinja {
namespace {

// A macro or call block: a function and the variables around its definition.
class Macro final : public Object {
 public:
  Macro(Vm& vm, std::uint32_t function, Activation* parent) : vm_(vm), function_(function), parent_(parent) {}

  [[nodiscard]] std::string_view type_name() const override { return "Macro"; }
  [[nodiscard]] std::string object_type() const override { return "jinja2.runtime.Macro object"; }
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& /*runtime*/, const Args& args) override { return vm_.call_macro(function_, parent_, args); }
  // Writes to the current output.
  void run(const Args& args) const { vm_.run_macro(function_, parent_, args); }

  [[nodiscard]] std::string repr(Runtime& /*runtime*/) override {
    const std::string& name = function().name;
    return name.empty() ? "<Macro anonymous>" : "<Macro '" + name + "'>";
  }

  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    if (name == "name") { return function().name.empty() ? Value::none() : make_computed(runtime, function().name); }
    if (name == "arguments") {
      std::vector<Value> names;
      for (const std::uint32_t id : function().parameters) {
        names.push_back(make_computed(runtime, vm_.program().names[id]));
      }
      return jinja::make_tuple(runtime, std::move(names));
    }
    if (name == "catch_kwargs") return Value::boolean(function().kwargs_slot != kNoSlot);
    if (name == "catch_varargs") return Value::boolean(function().varargs_slot != kNoSlot);
    if (name == "caller") return Value::boolean(function().uses_caller);
    return std::nullopt;
  }

 private:
  [[nodiscard]] const Function& function() const { return vm_.program().functions[function_]; }

  Vm& vm_;
  std::uint32_t function_;
  Activation* parent_;
};

void add_caller(Failure& failure, const std::string& callee, Place place) {
  failure.error().trail.push_back("in " + callee + " called at line " + std::to_string(place.line));
}

}  // namespace

Value Vm::make_macro(std::uint32_t function, Activation* parent) {
  return Value::object(runtime_.heap.make_object<Macro>(*this, function, parent));
}

Vm::Taken& Vm::borrow() {
  if (spare_arguments_.empty())
    return *new (runtime_.heap.allocate(sizeof(Taken), alignof(Taken))) Taken(&runtime_.heap);  // never destroyed
  Taken& taken = *spare_arguments_.back();
  spare_arguments_.pop_back();
  taken.positional.clear();
  taken.named.clear();
  return taken;
}

void Vm::take_arguments(const CallShape& shape, Taken& taken) {
  const Value* at = top_ - shape.size();
  taken.positional.reserve(shape.positional);
  taken.named.reserve(shape.keywords.size());
  for (std::uint32_t i = 0; i < shape.positional; ++i) taken.positional.push_back(settled(*at++));
  for (const std::uint32_t keyword : shape.keywords) taken.named.push_back({program_.names[keyword], settled(*at++)});
  if (shape.star) {
    const Value& star = *at++;
    if (!is_iterable(runtime_, star)) runtime_.fail("Value after * must be an iterable, not " + type_name(star));
    const std::vector<Value> more = collect(runtime_, star);
    taken.positional.insert(taken.positional.end(), more.begin(), more.end());
  }
  if (shape.double_star) take_double_star(*at++, taken);
}

template <typename Callee>
void Vm::with_arguments(const CallShape& shape, const Callee& callee) {
  Value* const base = top_ - shape.size();
  if (shape.size() == shape.positional) {
    for (Value* argument = base; argument != top_; ++argument) *argument = settled(*argument);
    const Value result = callee(Args{{base, shape.positional}, {}});
    base[-1] = result;
  } else {
    Taken& taken = borrow();
    take_arguments(shape, taken);
    base[-1] = callee(taken.args());
    give_back(taken);
  }
  top_ = base;
}

void Vm::take_double_star(const Value& value, Taken& taken) {
  if (!value.is_dict()) runtime_.fail("argument after ** must be a mapping, not " + type_name(value));
  for (const Dict::Entry& entry : entries_of(runtime_, value)) {
    if (!entry.key.is_string()) runtime_.fail("keywords must be strings");
    const std::string_view key = bytes_of(runtime_, entry.key);
    runtime_.spend(1 + taken.named.size() / 8);
    if (taken.args().find(key) != nullptr) {
      runtime_.fail("got multiple values for keyword argument '" + std::string(key) + "'");
    }
    taken.named.push_back({key, entry.value});
  }
}

void Vm::call_top(const Instruction& instruction) {
  const CallShape& shape = program_.calls[instruction.a];
  const Value& callee = *(top_ - shape.size() - 1);
  with_arguments(shape, [&](const Args& args) { return call(runtime_, callee, args); });
}

void Vm::call_method_of_top(const Instruction& instruction) {
  const CallShape& shape = program_.calls[instruction.a];
  const Value& object = *(top_ - shape.size() - 1);
  const Method* method = method_of(object, instruction.b);
  with_arguments(shape, [&](const Args& args) {
    if (method != nullptr && !(method->mutates && runtime_.options.strict)) {
      return run_method(runtime_, *method, object, args);
    }
    return call_method(runtime_, object, program_.names[instruction.b], args);
  });
}

void Vm::filter_top(const Instruction& instruction) {
  const Filter* filter = program_.name_infos[instruction.b].filter;
  if (filter == nullptr) runtime_.fail("No filter named '" + program_.names[instruction.b] + "' found.");
  const CallShape& shape = program_.calls[instruction.a];
  if (shape.size() == 0) {
    top_[-1] = call_filter(runtime_, *filter, top_[-1], {});
    return;
  }
  const Value& subject = *(top_ - shape.size() - 1);
  with_arguments(shape, [&](const Args& args) { return call_filter(runtime_, *filter, subject, args); });
}

// `result`: where the result would be on the stack.  Writes what precedes it in a sum; false if the result must be made
// after all.
bool Vm::begin_writing(const Instruction& writer, Value* result) {
  runtime_.expression = static_cast<std::uint16_t>(writer.a);
  if (writer.op == Op::kEmit) return true;
  Value& left = result[-1];
  if (!left.is_string() || !writes_parts()) return false;
  const Place* const place = std::exchange(runtime_.place, &writer.place);
  emit(runtime_, left, *output_);
  runtime_.place = place;
  left = empty_string(runtime_);
  return true;
}

bool Vm::write_call(const Instruction& instruction, const Instruction& writer) {
  const CallShape& shape = program_.calls[instruction.a];
  const Value& callee = *(top_ - shape.size() - 1);
  if (!callee.is_object()) return false;
  const auto& called = callee.as_object();
  if (typeid(called) != typeid(Macro)) return false;
  // Escaping needs the whole text, and generation blocks count positions in the text that they write to.
  if (runtime_.autoescape || program_.has_generation || !begin_writing(writer, top_ - shape.size() - 1)) return false;
  const auto& macro = static_cast<const Macro&>(called);
  with_arguments(shape, [&](const Args& args) {
    const DepthGuard guard(runtime_);
    const PartEmission part(runtime_, *output_);
    macro.run(args);
    runtime_.expression = static_cast<std::uint16_t>(writer.a);
    part.finish();
    return Value();
  });
  --top_;
  return true;
}

bool Vm::write_filtered(const Instruction& instruction, const Instruction& writer) {
  const Filter* filter = program_.name_infos[instruction.b].filter;
  if (filter == nullptr || filter->write == nullptr) return false;
  if (runtime_.autoescape || !runtime_.options.chat_globals) return false;
  const CallShape& shape = program_.calls[instruction.a];
  const Value& subject = *(top_ - shape.size() - 1);
  if (runtime_.tracing && !runtime_.in_message()) {
    // Text outside the messages belongs to a message if all its data does, so only what certainly does not is written
    // here.
    const bool is_other = subject.has_path() && runtime_.origins.paths.message(subject.path()) == text::kNoMessage;
    if (!is_other || runtime_.origins.paths.root(subject.path()) == "messages") return false;
  }
  if (!begin_writing(writer, top_ - shape.size() - 1)) return false;
  with_arguments(shape, [&](const Args& args) {
    filter->write(runtime_, subject, args, *output_);
    return Value();
  });
  --top_;
  return true;
}

void Vm::test_top(const Instruction& instruction) {
  const Test* test = program_.name_infos[instruction.b].test;
  if (test == nullptr) runtime_.fail("No test named '" + program_.names[instruction.b] + "' found.");
  const CallShape& shape = program_.calls[instruction.a];
  if (shape.size() == 0) {
    top_[-1] = Value::boolean(call_test(runtime_, *test, top_[-1], {}));
    return;
  }
  const Value& subject = *(top_ - shape.size() - 1);
  with_arguments(shape, [&](const Args& args) { return Value::boolean(call_test(runtime_, *test, subject, args)); });
}

namespace {

std::string macro_name(const Function& function) {
  return "macro " + (function.name.empty() ? std::string("None") : "'" + function.name + "'");
}

// The keyword arguments of a macro's call.  Each is taken once, by the parameter with its name.
class Keywords {
 public:
  Keywords(Runtime& runtime, const Args& args)
      : runtime_(runtime),
        named_(args.named),
        used_(runtime.heap.allocate_array<bool>(args.named.size()), args.named.size()) {
    std::fill(used_.begin(), used_.end(), false);
  }

  const Value* take(std::string_view name) {
    runtime_.spend(named_.size() / 8);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (used_[i] || named_[i].name != name) continue;
      used_[i] = true;
      return &named_[i].value;
    }
    return nullptr;
  }
  [[nodiscard]] Value rest() const {
    const Value out = make_dict(runtime_);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (!used_[i]) set_item(runtime_, out.as_dict(), make_computed(runtime_, named_[i].name), named_[i].value);
    }
    return out;
  }
  // Fails if any are left.
  void require_none(const Function& function) const {
    const auto unused = std::find(used_.begin(), used_.end(), false);
    if (unused == used_.end()) return;
    const std::string macro = macro_name(function);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (used_[i] || named_[i].name != "caller") continue;
      runtime_.fail(macro + " was invoked with two values for the special caller argument. This is most likely a bug.");
    }
    const auto first = static_cast<std::size_t>(unused - used_.begin());
    runtime_.fail(macro + " takes no keyword argument '" + std::string(named_[first].name) + "'");
  }

 private:
  Runtime& runtime_;
  std::span<const NamedValue> named_;
  std::span<bool> used_;
};

}  // namespace

// jinja2.runtime.Macro.__call__: positional arguments first, then keywords, then caller, kwargs and varargs.
void Vm::bind_arguments(const Function& function, Activation& activation, const Args& args) {
  const std::size_t count = function.parameters.size();
  const std::size_t given = std::min(count, args.positional.size());
  for (std::size_t i = 0; i < given; ++i) activation.slots[function.parameter_slots[i]] = args.positional[i];
  Keywords keywords(runtime_, args);
  for (std::size_t i = given; i < count; ++i) {
    const Value* value = keywords.take(program_.names[function.parameters[i]]);
    if (value != nullptr) activation.slots[function.parameter_slots[i]] = *value;
  }
  if (function.caller_slot != kNoSlot) {
    const Value* caller = keywords.take("caller");
    activation.slots[function.caller_slot] =
        caller != nullptr && !caller->is_none() ? *caller : make_undefined_hint(runtime_, "No caller defined");
  }
  if (function.kwargs_slot != kNoSlot) {
    activation.slots[function.kwargs_slot] = keywords.rest();
  } else {
    keywords.require_none(function);
  }
  if (function.varargs_slot != kNoSlot) {
    activation.slots[function.varargs_slot] = jinja::make_tuple(
        runtime_, {args.positional.begin() + static_cast<std::ptrdiff_t>(given), args.positional.end()});
  } else if (args.positional.size() > count) {
    runtime_.fail(macro_name(function) + " takes not more than " + std::to_string(count) + " argument(s)");
  }
}

void Vm::run_macro(std::uint32_t function, Activation* parent, const Args& args) {
  const DepthGuard depth(runtime_);
  const Control::State state = control_.state();
  const Place* const caller = runtime_.place;
  Activation* activation = enter(function, parent);
  bind_arguments(program_.functions[function], *activation, args);
  control_.enter_macro(args);
  try {
    run(*activation);
  } catch (Failure& failure) {
    const std::string& name = program_.functions[function].name;
    add_caller(failure, name.empty() ? "a call block" : "macro `" + name + "`", *caller);
    throw;
  }
  leave(activation);
  control_.restore(state);
  runtime_.place = caller;
}

Value Vm::call_macro(std::uint32_t function, Activation* parent, const Args& args) {
  begin_capture();
  run_macro(function, parent, args);
  const Value result = end_capture();
  return runtime_.autoescape ? result.with_markup(true) : result;
}

Value Vm::call_loop(std::uint32_t function, Activation* parent, const Value& iterable, std::int64_t depth) {
  const DepthGuard guard(runtime_);
  const Control::State state = control_.state();
  Activation* activation = enter(function, parent);
  begin_capture();
  loop_depth_ = depth;
  const Value argument = settled(iterable);
  const Place* const caller = runtime_.place;
  try {
    run(*activation, &argument);
  } catch (Failure& failure) {
    if (depth > 0)
      add_caller(failure, "a recursive loop", *caller);  // the place of the outermost call is already in the error
    throw;
  }
  const Value result = end_capture();
  leave(activation);
  control_.restore(state);
  return runtime_.autoescape ? result.with_markup(true) : result;
}

bool Vm::passes_filter(std::uint32_t function, Activation* parent, const Value& item, text::ContextId outer) {
  const DepthGuard guard(runtime_);
  const Control::State state = control_.state();
  const text::ContextId context = control_.item_context(item, outer);
  control_.restore({context == text::ContextId::kNone ? outer : context, Control::Binding::kNone});
  Activation* activation = enter(function, parent);
  const bool passes = truthy(runtime_, run(*activation, &item));
  leave(activation);
  control_.restore(state);
  return passes;
}

}  // namespace rondo::jinja
