#include "jinja/vm/vm.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "jinja/builtins/globals.h"
#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/emit.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/methods.h"
#include "jinja/types/repr.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "jinja/vm/loop.h"

namespace rondo::jinja {
namespace {

// A parameter without an argument, or a variable that is not set yet.
bool is_missing(const Value& value) { return value.is_undefined() && value.undefined_info() == nullptr; }

// The path of add_generation_prompt if it is true, otherwise kNone.
text::PathId true_generation_prompt(Runtime& runtime, const json::Object& variables) {
  static constexpr std::string_view kName = "add_generation_prompt";
  const json::Value* value = variables.find(kName);
  if (value == nullptr || !truthy(runtime, wrap_variable(runtime, kName, *value))) return text::PathId::kNone;
  return runtime.origins.paths.variable(kName);
}

// Shortens deep recursion: equal neighbours are counted, and the middle of a long trail is left out.
void shorten(std::vector<std::string>& trail) {
  constexpr std::size_t kFirst = 12;
  constexpr std::size_t kLast = 4;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < trail.size();) {
    std::size_t end = i + 1;
    while (end < trail.size() && trail[end] == trail[i]) ++end;
    out.push_back(trail[i] + (end - i > 1 ? ", " + std::to_string(end - i) + " times" : ""));
    i = end;
  }
  if (out.size() > kFirst + kLast + 1) {
    const auto begin = out.begin() + kFirst;
    const auto end = out.end() - kLast;
    *begin = "... " + std::to_string(end - begin) + " more callers";
    out.erase(begin + 1, end);
  }
  trail = std::move(out);
}

}  // namespace

Vm::Vm(const Program& program, const json::Object& variables, Runtime& runtime)
    : program_(program),
      variables_(variables),
      runtime_(runtime),
      control_(runtime, runtime.tracing ? true_generation_prompt(runtime, variables) : text::PathId::kNone),
      outputs_({&text_}, &runtime.heap),
      output_(&text_),
      loops_(&runtime.heap),
      spare_loops_(&runtime.heap),
      autoescapes_(&runtime.heap),
      spare_stacks_(&runtime.heap),
      spare_arguments_(&runtime.heap),
      spare_activations_(runtime.heap.allocate_array<Activation*>(program.functions.size())),
      known_{runtime.heap.allocate_array<Value>(program.names.size()),
             runtime.heap.allocate_array<bool>(program.names.size()),
             runtime.heap.allocate_array<SeenMember>(program.names.size()),
             runtime.heap.allocate_array<String*>(program.literal_texts.size())} {
  std::fill_n(spare_activations_, program.functions.size(), nullptr);
  std::fill_n(known_.has_variable, program.names.size(), false);
  std::uninitialized_fill_n(known_.members, program.names.size(), SeenMember{nullptr, nullptr, 0});
  std::fill_n(known_.constants, program.literal_texts.size(), nullptr);
}

void Vm::render() {
  Activation* root = enter(0, nullptr);
  try {
    run(*root);
  } catch (Failure& failure) {
    shorten(failure.error().trail);
    throw;
  }
}

// ---- activations

Activation* Vm::enter(std::uint32_t function, Activation* parent) {
  Activation*& spare = spare_activations_[function];
  const std::uint32_t slots = program_.functions[function].slots;
  Activation* activation = spare;
  if (activation == nullptr) {
    activation = static_cast<Activation*>(runtime_.heap.allocate(sizeof(Activation), alignof(Activation)));
    activation->slots = runtime_.heap.allocate_array<Value>(slots);
  } else {
    spare = activation->parent;
  }
  std::uninitialized_fill_n(activation->slots, slots, Value());
  activation->parent = parent;
  activation->function = function;
  return activation;
}

void Vm::leave(Activation* activation) {
  // Inner functions may still read the variables of a function that encloses them.
  if (program_.functions[activation->function].encloses) return;
  activation->parent = spare_activations_[activation->function];
  spare_activations_[activation->function] = activation;
}

// ---- variables

Value Vm::variable(std::uint32_t name) {
  if (known_.has_variable[name]) return load(known_.variables[name], name);
  const std::string& text = program_.names[name];
  Value value;  // missing, if nothing has this name: each use is then an undefined value of its own
  if (program_.has_self && text == "self") {
    value = template_reference(runtime_);
  } else if (const json::Value* given = variables_.find(text)) {
    value = wrap_variable(runtime_, text, *given);
  } else if (const std::optional<Value> global = find_global(runtime_, text)) {
    value = *global;
  }
  known_.variables[name] = value;
  known_.has_variable[name] = true;
  return load(value, name);
}

Value Vm::load(const Value& slot, std::uint32_t name) {
  return is_missing(slot) ? make_undefined(runtime_, program_.names[name]) : slot;
}

// ---- values

Value Vm::constant(std::uint32_t literal) {
  String*& string = known_.constants[literal];
  if (string == nullptr) {
    const Value made = make_literal(runtime_, program_.literal_texts[literal], static_cast<text::LiteralId>(literal),
                                    text::ContextId::kNone);
    string = &made.as_string();
    string->is_constant = true;
  }
  return Value::string(string);
}

Value Vm::settled_constant(const Value& value) {
  String* copy = runtime_.heap.make_string();
  *copy = value.as_string();
  copy->is_constant = false;
  if (copy->run_count != 0) {
    copy->runs = &copy->single;
    copy->single.context = runtime_.context;
  }
  return Value::string(copy).with_path(value.path()).with_markup(value.is_markup());
}

const Value* Vm::known_elsewhere(const Dict& dict, std::uint32_t name, SeenMember& seen) {
  if (dict.members == nullptr) return nullptr;
  const json::Member* const member = dict.source->begin() + seen.place;
  if (member >= dict.source->end() || dict.members[seen.place].is_undefined()) return nullptr;
  if (!same_bytes(member->key, program_.names[name])) return nullptr;
  seen.dict = &dict;
  seen.value = dict.members + seen.place;
  return seen.value;
}

const Value* Vm::member(Dict& dict, std::uint32_t name) {
  const std::string& text = program_.names[name];
  if (dict.source == nullptr) return find_item(runtime_, dict, text);
  SeenMember& seen = known_.members[name];
  if (seen.dict == &dict) return seen.value;
  if (seen.place >= dict.source->size() || !same_bytes(dict.source->begin()[seen.place].key, text)) {
    const std::size_t index = dict.source->position(text);
    if (index == dict.source->size()) return nullptr;
    seen.place = static_cast<std::uint32_t>(index);
  }
  seen.dict = &dict;
  seen.value = &source_member(runtime_, dict, seen.place);
  return seen.value;
}

Value* Vm::variable_of(Dict& name_space, std::uint32_t name) {
  const std::string& text = program_.names[name];
  std::uint32_t& place = known_.members[name].place;
  if (place >= name_space.entries.size()) place = 0;
  if (place < name_space.entries.size()) {
    Dict::Entry& entry = name_space.entries[place];
    const String* key = entry.key.is_string() ? &entry.key.as_string() : nullptr;
    if (key != nullptr && is_leaf(*key) && same_bytes({key->data, key->size}, text)) return &entry.value;
  }
  Value* const found = find_item(runtime_, name_space, text);
  for (std::size_t i = 0; found != nullptr && i < name_space.entries.size(); ++i) {
    if (&name_space.entries[i].value == found) place = static_cast<std::uint32_t>(i);
  }
  return found;
}

// Dict members whose names are not methods are found without a search for attributes.
Value Vm::attribute(const Value& object, std::uint32_t name) {
  if (object.is_dict() && program_.name_infos[name].is_plain) {
    const Value* found = member(object.as_dict(), name);
    if (found == nullptr) return missing_attribute(runtime_, object, program_.names[name]);
    runtime_.note(*found);
    return *found;
  }
  if (object.kind() == Kind::kNamespace && program_.name_infos[name].is_plain) {
    if (const Value* found = variable_of(object.as_dict(), name)) {
      runtime_.note(*found);
      return *found;
    }
  }
  return get_attr(runtime_, object, program_.names[name]);
}

Value Vm::element(const Value& object, const Instruction& instruction) {
  if (object.is_dict()) {
    if (const Value* found = member(object.as_dict(), instruction.b)) {
      runtime_.note(*found);
      return *found;
    }
  }
  return get_item(runtime_, object, constant(instruction.a));
}

// The most common operations.  The general functions do the rest.
Value Vm::binary_of(BinaryOp op, const Value& left, const Value& right) {
  if (left.kind() == Kind::kInt && right.kind() == Kind::kInt) {
    std::int64_t out = 0;
    if (op == BinaryOp::kAdd && !__builtin_add_overflow(left.as_int(), right.as_int(), &out))
      return Value::integer(out);
    if (op == BinaryOp::kSub && !__builtin_sub_overflow(left.as_int(), right.as_int(), &out))
      return Value::integer(out);
  }
  return binary(runtime_, op, left, right);
}

bool Vm::comparison_of(CompareOp op, const Value& left, const Value& right) {
  if (left.kind() == Kind::kInt && right.kind() == Kind::kInt) {
    switch (op) {
      case CompareOp::kEq: return left.as_int() == right.as_int();
      case CompareOp::kNe: return left.as_int() != right.as_int();
      case CompareOp::kLt: return left.as_int() < right.as_int();
      case CompareOp::kLe: return left.as_int() <= right.as_int();
      case CompareOp::kGt: return left.as_int() > right.as_int();
      case CompareOp::kGe: return left.as_int() >= right.as_int();
      default: break;
    }
  }
  return compare(runtime_, op, left, right);
}

const Method* Vm::method_of(const Value& object, std::uint32_t name) const {
  const NameInfo& info = program_.name_infos[name];
  switch (object.kind()) {
    case Kind::kString: return info.string_method;
    case Kind::kDict: return info.dict_method;
    case Kind::kList: return info.list_method;
    default: return lookup_method(object, program_.names[name]);
  }
}

void Vm::unpack(std::uint32_t count) {
  const std::vector<Value> items = unpack_items(runtime_, pop(), count);
  for (std::size_t i = items.size(); i-- > 0;) push(items[i]);
}

void Vm::make_dict_of(std::uint32_t pairs) {
  const Value dict = make_dict(runtime_);
  dict.as_dict().entries.reserve(pairs);
  Value* const base = top_ - 2 * std::size_t{pairs};
  for (const Value* pair = base; pair < top_; pair += 2) {
    set_item(runtime_, dict.as_dict(), settled(pair[0]), settled(pair[1]));
  }
  top_ = base;
  push(dict);
}

// ---- loops

void Vm::begin_loop(const Instruction& instruction, Activation& activation) {
  const Value iterable = pop();
  const bool is_value = instruction.b != kNoSlot;
  LoopState* loop = nullptr;
  if (is_value || spare_loops_.empty()) {
    loop = runtime_.heap.make_object<LoopState>(*this);
  } else {
    loop = spare_loops_.back();
    spare_loops_.pop_back();
  }
  loop->begin(iterable, instruction.a, &activation);
  loop->is_value = is_value;
  loop->outside.control = control_.state();
  loop->outside.marks = control_.marks();
  loop->outside.outputs = outputs_.size();
  loop->outside.autoescapes = autoescapes_.size();
  if (instruction.small != 0) {
    loop->recursion.function = activation.function;
    loop->recursion.parent = activation.parent;
    loop->recursion.depth0 = loop_depth_;
    loop_depth_ = 0;
  }
  if (is_value) activation.slots[instruction.b] = Value::object(loop);
  loops_.push_back(loop);
}

// Leaves everything that a break or continue jumps out of.
void Vm::leave_iteration(const LoopState& loop) {
  control_.unwind(loop.outside.marks);
  while (outputs_.size() > loop.outside.outputs) static_cast<void>(end_capture());
  while (autoescapes_.size() > loop.outside.autoescapes) {
    runtime_.autoescape = autoescapes_.back();
    autoescapes_.pop_back();
  }
}

bool Vm::next_item(LoopState& loop) {
  if (!loop.advance()) return false;
  control_.enter_item(loop.current(), loop.outside.control.context);
  return true;
}

void Vm::end_loop() {
  LoopState* loop = loops_.back();
  loops_.pop_back();
  control_.restore(loop->outside.control);
  if (!loop->is_value) spare_loops_.push_back(loop);
}

Value Vm::loop_attribute(const Instruction& instruction) {
  LoopState& loop = *loops_[loops_.size() - 1 - instruction.small];
  return loop.attribute_of(static_cast<LoopAttr>(instruction.a));
}

// ---- output

void Vm::begin_capture() {
  output_ = runtime_.borrow_text();
  outputs_.push_back(output_);
}

Value Vm::end_capture() {
  const Value out = make_string(runtime_, *output_);
  runtime_.give_back(output_);
  outputs_.pop_back();
  output_ = outputs_.back();
  return out;
}

void Vm::end_generation() {
  const Value text = end_capture();
  control_.leave_saved();
  const std::size_t begin = text_.size();
  generation_blocks_.emplace_back(begin, begin + text.as_string().size);
  emit(runtime_, text.with_markup(true), *output_);
}

// ---- the machine

// Whether the parts of a concatenation may be written one by one: nothing escapes them, and their owner does not depend
// on the other parts.
bool Vm::writes_parts() const {
  if (runtime_.autoescape || program_.may_have_markup || !runtime_.options.chat_globals) return false;
  return !runtime_.tracing || runtime_.in_message();
}

void Vm::add_part(const Instruction& instruction) {
  Value& left = top_[-2];
  const Value& right = top_[-1];
  if (left.is_string() && right.is_string() && writes_parts()) {
    runtime_.expression = static_cast<std::uint16_t>(instruction.a);
    emit(runtime_, left, *output_);
    left = right;
  } else {
    left = binary_of(BinaryOp::kAdd, left, right);
  }
  --top_;
}

void Vm::emit_concat(const Instruction& instruction) {
  top_ -= instruction.b;
  const std::span<const Value> parts(top_, instruction.b);
  runtime_.expression = static_cast<std::uint16_t>(instruction.a);
  if (writes_parts()) {
    for (const Value& part : parts) emit(runtime_, part, *output_);
  } else {
    emit(runtime_, concat(runtime_, parts), *output_);
  }
}

// `left == constant`, without making the constant unless it is needed.
bool Vm::equals_string(const Value& left, std::uint32_t literal) {
  if (left.is_string()) {
    const String& string = joined(runtime_, left);
    return same_bytes({string.data, string.size}, program_.literal_texts[literal]);
  }
  return compare(runtime_, CompareOp::kEq, left, constant(literal));
}

Value Vm::run_on_new_stack(Activation& activation, const Value* argument) {
  constexpr std::size_t kLevels = 8;  // of calls, before a new piece begins
  const std::size_t size = std::size_t{program_.stack_size} * kLevels;
  Value* const outer_top = top_;
  Value* const outer_end = stack_end_;
  if (spare_stacks_.empty()) spare_stacks_.push_back(runtime_.heap.allocate_array<Value>(size));
  Value* const stack = spare_stacks_.back();
  spare_stacks_.pop_back();
  top_ = stack;
  stack_end_ = stack + size;
  const Value result = run(activation, argument);
  spare_stacks_.push_back(stack);
  top_ = outer_top;
  stack_end_ = outer_end;
  return result;
}

// Longer than a function should be: it is the table of instructions, and each takes a few lines.
Value Vm::run(Activation& activation, const Value* argument) {
  if (static_cast<std::size_t>(stack_end_ - top_) <= program_.stack_size) return run_on_new_stack(activation, argument);
  Value* const slots = activation.slots;
  const Instruction* const code = program_.code.data();
  const Instruction* next = code + program_.functions[activation.function].entry;
  const Instruction* paid = next;  // instructions before this one are paid for
  const auto pay = [&] { runtime_.spend(static_cast<std::uint64_t>(next - paid)); };
  const auto jump = [&](std::uint32_t target) {
    pay();
    next = paid = code + target;
  };
  // The top of the stack, in a register.  All other code uses `top_` and leaves it as it finds it.
  Value* const base = top_;
  Value* top = base;
  const auto push = [&](const Value& value) { *top++ = value; };
  const auto pop = [&]() -> const Value& { return *--top; };
  // Records that a member was read.  True if the next instruction compares it with a constant: then `holds` is the
  // outcome, otherwise the member is pushed.
  bool holds = false;
  const auto is_compared = [&](const Value& value) __attribute__((always_inline)) {
    runtime_.note(value);
    if (next->op != Op::kEqualsString) {
      push(value);
      return false;
    }
    const Instruction& equals = *next++;
    runtime_.place = &equals.place;
    holds = equals_string(value, equals.a) == (equals.flag == 0);
    return true;
  };
  if (argument != nullptr) push(*argument);
  for (;;) {
    const Instruction& instruction = *next++;
    assert(static_cast<std::size_t>(top - base) < program_.stack_size);
    runtime_.place = &instruction.place;
    top_ = top;
    switch (instruction.op) {
      case Op::kPushNone: push(Value::none()); continue;
      case Op::kPushBool: push(Value::boolean(instruction.flag != 0)); continue;
      case Op::kPushInteger: push(Value::integer(static_cast<std::int32_t>(instruction.a))); continue;
      case Op::kPushNumber:
        push(make_number(runtime_, program_.numbers[instruction.a].text, program_.numbers[instruction.a].is_float));
        continue;
      case Op::kPushString: push(constant(instruction.a)); continue;
      case Op::kPushUndefinedChoice:
        push(make_undefined_hint(runtime_, "the inline if-expression on line " + std::to_string(runtime_.line()) +
                                               " evaluated to false and no else section was defined."));
        continue;
      case Op::kPushNoCaller: push(make_undefined_hint(runtime_, "No caller defined")); continue;
      case Op::kPop: --top; continue;
      case Op::kLoadSlot:
        if (const Value& slot = slots[instruction.a]; is_missing(slot)) {
          push(make_undefined(runtime_, program_.names[instruction.b]));
        } else {
          runtime_.note(slot);
          if (next->op == Op::kGetMember && slot.is_dict()) {
            if (const Value* known = known_member(slot.as_dict(), next->b)) {
              ++next;
              if (is_compared(*known)) break;
              continue;
            }
          }
          push(slot);
        }
        continue;
      case Op::kLoadOuter: {
        const Activation* outer = &activation;
        for (std::uint16_t i = 0; i < instruction.small; ++i) outer = outer->parent;
        push(load(outer->slots[instruction.a], instruction.b));
        runtime_.note(top[-1]);
        continue;
      }
      case Op::kSlotAttr: {
        const Value& object = slots[instruction.a];
        if (object.is_dict() && instruction.flag != 0) {
          if (const Value* known = known_member(object.as_dict(), instruction.b)) {
            if (is_compared(*known)) break;
            continue;
          }
        }
        if (!object.is_dict()) runtime_.note(object);  // reading a dict means reading its member
        push(attribute(is_missing(object) ? load(object, instruction.small) : object, instruction.b));
        continue;
      }
      case Op::kLoadName:
        push(variable(instruction.a));
        runtime_.note(top[-1]);
        continue;
      case Op::kStoreSlot:
        slots[instruction.a] = settled(pop());
        if (instruction.flag != 0) control_.bind(slots[instruction.a]);
        continue;
      case Op::kClearSlot: slots[instruction.a] = Value(); continue;
      case Op::kCopySlot: {
        const Activation* outer = &activation;
        for (std::uint16_t i = 0; i < instruction.small; ++i) outer = outer->parent;
        slots[instruction.a] = outer->slots[instruction.b];
        continue;
      }
      case Op::kResolveSlot: {
        const Value value = variable(instruction.b);
        slots[instruction.a] = value;
        continue;
      }
      case Op::kUnpack:
        unpack(instruction.a);
        top = top_;
        continue;
      case Op::kCheckNamespace:
        if (pop().kind() != Kind::kNamespace) runtime_.fail("cannot assign attribute on non-namespace object");
        continue;
      case Op::kSetMember: {
        const Value& target = *--top;
        const Value value = settled(*--top);
        Value* const known = target.kind() == Kind::kNamespace ? variable_of(target.as_dict(), instruction.a) : nullptr;
        if (known != nullptr) {
          *known = value;
        } else {
          set_attr(runtime_, target, program_.names[instruction.a], value);
        }
        continue;
      }
      case Op::kGetAttr: top[-1] = attribute(top[-1], instruction.a); continue;
      case Op::kGetItem:
        --top;
        top[-1] = get_item(runtime_, top[-1], top[0]);
        continue;
      case Op::kGetMember:
        if (top[-1].is_dict()) {
          if (const Value* known = known_member(top[-1].as_dict(), instruction.b)) {
            --top;
            if (is_compared(*known)) break;
            continue;
          }
        }
        top[-1] = element(top[-1], instruction);
        continue;
      case Op::kSlice:
        top -= 3;
        top[-1] = instruction.flag != 0 ? get_constant_slice(runtime_, top[-1], top[0], top[1], top[2])
                                        : get_slice(runtime_, top[-1], top[0], top[1], top[2]);
        continue;
      case Op::kLoopAttr: push(loop_attribute(instruction)); continue;
      case Op::kList:
      case Op::kTuple: {
        for (Value* item = top - instruction.a; item != top; ++item) *item = settled(*item);
        top -= instruction.a;
        const std::span<const Value> items(top, instruction.a);
        push(instruction.op == Op::kList ? make_list(runtime_, items) : jinja::make_tuple(runtime_, items));
        continue;
      }
      case Op::kDict:
        make_dict_of(instruction.a);
        top = top_;
        continue;
      case Op::kConcat: {
        const bool escapes = runtime_.autoescape;
        if (instruction.flag != kEscapeAsSet) runtime_.autoescape = instruction.flag == kEscapeAlways;
        top -= instruction.a;
        const Value text = concat(runtime_, std::span<const Value>(top, instruction.a));
        runtime_.autoescape = escapes;
        push(text);
        continue;
      }
      case Op::kBinary:
        --top;
        top[-1] = binary_of(static_cast<BinaryOp>(instruction.flag), top[-1], top[0]);
        continue;
      case Op::kNegative: top[-1] = negate(runtime_, top[-1]); continue;
      case Op::kPositive: top[-1] = positive(runtime_, top[-1]); continue;
      case Op::kUndefinedNumber: runtime_.fail("name '" + program_.names[instruction.a] + "' is not defined");
      case Op::kNot: holds = !is_true(*--top); break;
      case Op::kCompare:
        top -= 2;
        holds = comparison_of(static_cast<CompareOp>(instruction.flag), top[0], top[1]);
        break;
      case Op::kCompareChain:
        --top;
        if (comparison_of(static_cast<CompareOp>(instruction.flag), top[-1], top[0])) {
          top[-1] = top[0];
        } else {
          top[-1] = Value::boolean(false);
          jump(instruction.a);
        }
        continue;
      case Op::kEqualsString:
        --top;
        holds = equals_string(*top, instruction.a) == (instruction.flag == 0);
        break;
      case Op::kRequireDefined: require_defined(runtime_, top[-1]); continue;
      case Op::kCall:
        if (instruction.flag != 0 && write_call(instruction, *next)) {
          ++next;
        } else {
          call_top(instruction);
        }
        top = top_;
        continue;
      case Op::kCallMethod:
        call_method_of_top(instruction);
        top = top_;
        continue;
      case Op::kFilter:
        if (instruction.flag != 0 && write_filtered(instruction, *next)) {
          ++next;
        } else {
          filter_top(instruction);
        }
        top = top_;
        continue;
      case Op::kTest:
        test_top(instruction);
        top = top_ - 1;
        holds = top->as_bool();
        break;
      case Op::kMacro: push(make_macro(instruction.a, &activation)); continue;
      case Op::kCallLoop: push(call_loop(instruction.a, &activation, pop(), 0)); continue;
      case Op::kReturn:
        pay();
        top_ = base;
        return Value();
      case Op::kReturnTop:
        pay();
        top_ = base;
        return settled(top[-1]);
      case Op::kJump: jump(instruction.a); continue;
      case Op::kJumpIfFalse:
      case Op::kJumpIfTrue:
        if (is_true(top[-1]) == (instruction.op == Op::kJumpIfTrue)) {
          jump(instruction.a);
        } else {
          --top;
        }
        continue;
      case Op::kJumpIfBound:
        if (!is_missing(slots[instruction.b])) jump(instruction.a);
        continue;
      case Op::kBindMissing:
        slots[instruction.a] =
            make_undefined_hint(runtime_, "parameter '" + program_.names[instruction.b] + "' was not provided");
        continue;
      case Op::kBeginTest: control_.begin_test(); continue;
      case Op::kEndTest: {
        const bool outcome = is_true(*--top);
        control_.end_test(outcome, instruction.b, instruction.flag);
        if (!outcome) jump(instruction.a);
        continue;
      }
      case Op::kEnterIf: control_.enter_if(); continue;
      case Op::kGuard: control_.guard(instruction.flag); continue;
      case Op::kLeaveIf:
        control_.leave_if();
        jump(instruction.a);
        continue;
      case Op::kEnterChoice: control_.enter_choice(instruction.flag); continue;
      case Op::kLeaveChoice:
        if (control_.saved() != runtime_.context) top[-1] = settled(top[-1]);
        control_.leave_saved();
        continue;
      case Op::kForBegin:
        begin_loop(instruction, activation);
        top = top_;
        continue;
      case Op::kForNext:
        if (!next_item(*loops_.back())) {
          jump(instruction.a);
        } else if (next->op == Op::kStoreSlot) {
          slots[next->a] = loops_.back()->current();
          ++next;
        } else {
          push(loops_.back()->current());
        }
        continue;
      case Op::kForCompleted: loops_.back()->completed = true; continue;
      case Op::kForEnd: {
        const bool completed = loops_.back()->completed;
        end_loop();
        if (completed) jump(instruction.a);
        continue;
      }
      case Op::kBreak:
      case Op::kContinue:
        leave_iteration(*loops_.back());
        jump(instruction.a);
        continue;
      case Op::kText:
        emit_literal(runtime_, program_.literal_texts[instruction.a], static_cast<text::LiteralId>(instruction.a),
                     *output_);
        continue;
      case Op::kEmitString:
        if (runtime_.autoescape) {
          emit(runtime_, constant(instruction.a), *output_);
        } else {
          emit_literal(runtime_, program_.literal_texts[instruction.a], static_cast<text::LiteralId>(instruction.a),
                       *output_);
        }
        continue;
      case Op::kAddPart:
        add_part(instruction);
        top = top_;
        continue;
      case Op::kEmitConcat:
        emit_concat(instruction);
        top = top_;
        continue;
      case Op::kEmit: {
        Value& value = *--top;
        if (instruction.flag != kEscapeAsSet) {
          if (instruction.flag == 2 && !value.is_string()) {
            runtime_.fail("sequence item 0: expected str instance, " + type_name(value) + " found");
          }
          if (instruction.flag == kEscapeAlways) value = escape_html(runtime_, value);
          value = to_text(runtime_, value).with_markup(true);
        }
        runtime_.expression = static_cast<std::uint16_t>(instruction.a);
        emit(runtime_, value, *output_);
        continue;
      }
      case Op::kBeginCapture: begin_capture(); continue;
      case Op::kEndCapture: push(end_capture().with_markup(instruction.flag != 0 && runtime_.autoescape)); continue;
      case Op::kAutoescape:
        autoescapes_.push_back(runtime_.autoescape);
        runtime_.autoescape = truthy(runtime_, pop());
        continue;
      case Op::kMarkSafe:
        if (runtime_.autoescape) top[-1] = to_text(runtime_, top[-1]).with_markup(true);
        continue;
      case Op::kEndAutoescape:
        runtime_.autoescape = autoescapes_.back();
        autoescapes_.pop_back();
        continue;
      case Op::kBeginGeneration:
        control_.enter_generation();
        begin_capture();
        continue;
      case Op::kEndGeneration: end_generation(); continue;
      default: __builtin_unreachable();  // saves a comparison per instruction
    }
    // `holds` is the outcome of a comparison or test.  Most outcomes feed a condition and need not pass through the
    // stack.
    for (;;) {
      const Instruction& behind = *next;
      if (behind.op == Op::kEndTest) {
        ++next;
        runtime_.place = &behind.place;
        control_.end_test(holds, behind.b, behind.flag);
        if (!holds) jump(behind.a);
        break;
      }
      if (behind.op != Op::kJumpIfFalse && behind.op != Op::kJumpIfTrue) {
        push(Value::boolean(holds));
        break;
      }
      ++next;
      if (holds != (behind.op == Op::kJumpIfTrue)) break;
      jump(behind.a);
    }
  }
}

}  // namespace rondo::jinja
