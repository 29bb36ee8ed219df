#include "jinja/compile/expression_compiler.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/globals.h"
#include "jinja/builtins/tests.h"
#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "jinja/compile/folding.h"
#include "jinja/compile/symbols.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

std::uint32_t ExpressionCompiler::emit(Op op, Place place, std::uint32_t a, std::uint32_t b, std::uint8_t flag,
                                       std::uint16_t small) {
  program_.code.push_back({op, flag, small, a, b, place});
  return here() - 1;
}

void ExpressionCompiler::fail(Place place, std::string message) {
  if (error_) return;
  error_ = Error(ErrorCode::kTemplateSyntax, std::move(message), name_)
               .at(place.line, place.column, line_text(program_.source, place.line));
}

std::uint32_t ExpressionCompiler::add_function(std::string function_name) {
  program_.functions.emplace_back();
  program_.functions.back().name = std::move(function_name);
  return static_cast<std::uint32_t>(program_.functions.size() - 1);
}

std::uint32_t ExpressionCompiler::slot(const Symbols& owner, NameId id) {
  for (OpenFunction& open : functions_) {
    if (open.id != owner.function()) continue;
    const auto key = std::make_pair(owner.level(), id);
    return open.slots.try_emplace(key, static_cast<std::uint32_t>(open.slots.size())).first->second;
  }
  return kNoSlot;
}

std::uint16_t ExpressionCompiler::functions_out(const Symbols& owner) const {
  std::uint16_t out = 0;
  while (functions_[functions_.size() - 1 - out].id != owner.function()) ++out;
  return out;
}

void ExpressionCompiler::open_scope(Place place) {
  for (const Symbols::Entry& entry : symbols_->entries()) {
    const std::string& text = names_.at(entry.name);
    const bool is_given = is_global_name(text) || (program_.has_self && text == "self");
    if (entry.load == Load::kResolve && !is_given) undeclared_.insert(text);
    if (entry.load == Load::kParameter || is_by_name(entry)) continue;
    const std::uint32_t target = slot(*symbols_, entry.name);
    if (entry.load == Load::kUndefined) {
      emit(Op::kClearSlot, place, target);
    } else if (entry.load == Load::kResolve) {
      emit(Op::kResolveSlot, place, target, entry.name);
    } else {
      const Symbols* owner = symbols_->parent()->owner(entry.name);
      if (is_by_name(*owner->find(entry.name))) {
        emit(Op::kResolveSlot, place, target, entry.name);
      } else {
        emit(Op::kCopySlot, place, target, slot(*owner, entry.name), 0, functions_out(*owner));
      }
    }
  }
}

BinaryOp ExpressionCompiler::operation(const Expr& node) const {
  const BinaryOp op = binary_op(node.token);
  const bool folds = op == BinaryOp::kPow && !in_constant_ && !escaping_.open && is_constant(*node.items[0]) &&
                     !is_constant(*node.items[1]);
  return folds ? BinaryOp::kConstantPow : op;
}

void ExpressionCompiler::load_name(std::string_view text, Place place) {
  const NameId id = name(text);
  const Symbols* owner = symbols_->owner(id);
  if (owner == nullptr || is_by_name(*owner->find(id))) {
    emit(Op::kLoadName, place, id);
  } else if (owner->function() == function().id) {
    emit(Op::kLoadSlot, place, slot(*owner, id), id);
  } else {
    emit(Op::kLoadOuter, place, slot(*owner, id), id, 0, functions_out(*owner));
  }
}

void ExpressionCompiler::store(const Expr& target, bool binds) {
  switch (target.kind) {
    case ExprKind::kName: {
      const NameId id = name(target.text);
      emit(Op::kStoreSlot, target.place, slot(*symbols_->owner(id), id), 0, binds ? 1 : 0);
      break;
    }
    case ExprKind::kNsRef:
      load_name(target.text, target.place);
      emit(Op::kSetMember, target.place, name(target.attribute));
      break;
    default:
      emit(Op::kUnpack, target.place, static_cast<std::uint32_t>(target.items.size()));
      for (const ExprPtr& item : target.items) store(*item, binds);
      break;
  }
}

void ExpressionCompiler::expression(const Expr& node) {
  if (constants_ != nullptr && !in_constant_) {
    computed_expression(node);
    return;
  }
  const bool outermost = !in_constant_ && is_constant(node);
  const bool folding = std::exchange(folding_, folding_ || begins_folding(node));
  in_constant_ = in_constant_ || outermost;
  if (outermost) constant_ = &node;
  value_of(node);
  folding_ = folding;
  if (outermost) in_constant_ = false;
}

void ExpressionCompiler::computed_expression(const Expr& node) {
  const bool folding = std::exchange(folding_, folding_ || begins_folding(node));
  std::optional<Value> value;
  if (node.kind == ExprKind::kFloat) value = constants_->value(node, escaping_);  // as written
  if (!value && folding_) value = constants_->replacement(node, escaping_);
  if (value) {
    const std::string_view missing = constants_->undefined_number(*value);
    if (missing.empty()) {
      in_constant_ = true;
      constant_ = &node;
      value_of(node);
      in_constant_ = false;
    } else {
      emit(Op::kUndefinedNumber, node.place, name(missing));
    }
  } else {
    value_of(node);
  }
  folding_ = folding;
}

void ExpressionCompiler::value_of(const Expr& node) {
  if (error_) return;
  const auto count = static_cast<std::uint32_t>(node.items.size());
  switch (node.kind) {
    case ExprKind::kText:
    case ExprKind::kString: emit(Op::kPushString, node.place, node.literal); break;
    case ExprKind::kInteger:
    case ExprKind::kFloat: number(node); break;
    case ExprKind::kBool: emit(Op::kPushBool, node.place, 0, 0, node.flag ? 1 : 0); break;
    case ExprKind::kNone: emit(Op::kPushNone, node.place); break;
    case ExprKind::kNsRef:
    case ExprKind::kName: load_name(node.text, node.place); break;
    case ExprKind::kTuple: apply(node, Op::kTuple, count); break;
    case ExprKind::kList: apply(node, Op::kList, count); break;
    case ExprKind::kDict:
      if (folding_ && !escaping_.open && has_unhashable_key(node)) fail(node.place, "a list or dict cannot be a key");
      apply(node, Op::kDict, count / 2);
      break;
    case ExprKind::kConcat: apply(node, Op::kConcat, count, escaping_.of_join()); break;
    case ExprKind::kGetAttr: attribute(node); break;
    case ExprKind::kGetItem: subscript(node); break;
    case ExprKind::kSlice: fail(node.place, "a slice stands for nothing by itself"); break;
    case ExprKind::kCall: call(node, kNoFunction); break;
    case ExprKind::kFilter: filter(node, true); break;
    case ExprKind::kTest: test(node); break;
    case ExprKind::kNot: apply(node, Op::kNot); break;
    case ExprKind::kNegative: apply(node, Op::kNegative); break;
    case ExprKind::kPositive: apply(node, Op::kPositive); break;
    case ExprKind::kBinary: apply(node, Op::kBinary, 0, static_cast<std::uint8_t>(operation(node))); break;
    case ExprKind::kAnd: short_cut(node, Op::kJumpIfFalse); break;
    case ExprKind::kOr: short_cut(node, Op::kJumpIfTrue); break;
    case ExprKind::kCompare: comparison(node); break;
    case ExprKind::kInlineIf: inline_if(node); break;
  }
}

void ExpressionCompiler::number(const Expr& node) {
  const bool is_float = node.kind == ExprKind::kFloat;
  std::int32_t small = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [read_to, error] = std::from_chars(node.text.data(), end, small);
  if (!is_float && error == std::errc() && read_to == end) {
    emit(Op::kPushInteger, node.place, static_cast<std::uint32_t>(small));
    return;
  }
  const auto next = static_cast<std::uint32_t>(program_.numbers.size());
  const auto [found, is_new] = number_ids_.try_emplace({is_float, node.text}, next);
  if (is_new) program_.numbers.push_back({is_float, node.text});
  emit(Op::kPushNumber, node.place, found->second);
}

std::optional<std::uint16_t> ExpressionCompiler::named_loop(const Expr& node) {
  if (node.kind != ExprKind::kName || node.text != "loop") return std::nullopt;
  const Symbols* owner = symbols_->owner(name("loop"));
  const auto& loops = function().loops;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (owner != nullptr && loops[loops.size() - 1 - i].scope == owner) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

void ExpressionCompiler::attribute(const Expr& node) {
  static constexpr std::pair<std::string_view, LoopAttr> kAttributes[] = {
      {"index", LoopAttr::kIndex},         {"index0", LoopAttr::kIndex0},     {"revindex", LoopAttr::kRevIndex},
      {"revindex0", LoopAttr::kRevIndex0}, {"first", LoopAttr::kFirst},       {"last", LoopAttr::kLast},
      {"length", LoopAttr::kLength},       {"depth", LoopAttr::kDepth},       {"depth0", LoopAttr::kDepth0},
      {"previtem", LoopAttr::kPrevItem},   {"nextitem", LoopAttr::kNextItem},
  };
  if (const std::optional<std::uint16_t> out = named_loop(*node.items[0])) {
    for (const auto& [text, id] : kAttributes) {
      if (node.text != text) continue;
      emit(Op::kLoopAttr, node.place, static_cast<std::uint32_t>(id), 0, 0, *out);
      return;
    }
  }
  expression(*node.items[0]);
  const NameId id = name(node.text);
  Instruction& last = program_.code.back();
  if (last.op == Op::kLoadSlot && node.items[0]->kind == ExprKind::kName && last.b <= 0xFFFF) {
    last = {Op::kSlotAttr, 0, static_cast<std::uint16_t>(last.b), last.a, id, node.place};
    return;
  }
  emit(Op::kGetAttr, node.place, id);
}

void ExpressionCompiler::subscript(const Expr& node) {
  expression(*node.items[0]);
  const Expr& key = *node.items[1];
  if (key.kind == ExprKind::kString) {
    emit(Op::kGetMember, node.place, key.literal, name(tree_.literal_texts[key.literal]));
    return;
  }
  if (key.kind != ExprKind::kSlice) {
    expression(key);
    emit(Op::kGetItem, node.place);
    return;
  }
  for (const ExprPtr& part : key.items) {
    if (part) {
      expression(*part);
    } else {
      emit(Op::kPushNone, key.place);
    }
  }
  emit(Op::kSlice, node.place, 0, 0, in_constant_ && constant_ != &node ? 1 : 0);
}

std::uint32_t ExpressionCompiler::arguments(const Arguments& call, std::uint32_t caller, Place place) {
  CallShape shape;
  shape.positional = static_cast<std::uint32_t>(call.positional.size());
  items(call.positional);
  for (const auto& [key, value] : call.keyword) {
    const NameId id = name(key);
    if (std::find(shape.keywords.begin(), shape.keywords.end(), id) != shape.keywords.end()) {
      fail(place, "keyword argument repeated: " + key);
    }
    shape.keywords.push_back(id);
    expression(*value);
  }
  if (caller != kNoFunction) {
    shape.keywords.push_back(name("caller"));
    emit(Op::kMacro, place, caller);
  }
  shape.star = call.star != nullptr;
  if (shape.star) expression(*call.star);
  shape.double_star = call.double_star != nullptr;
  if (shape.double_star) expression(*call.double_star);
  const auto next = static_cast<std::uint32_t>(program_.calls.size());
  const auto [found, is_new] = call_ids_.try_emplace(shape, next);
  if (is_new) program_.calls.push_back(std::move(shape));
  return found->second;
}

// Whether computing the arguments may fail or call something.
bool ExpressionCompiler::may_fail(const Arguments& call) {
  const auto is_literal = [](const ExprPtr& node) {
    return node->kind == ExprKind::kString || node->kind == ExprKind::kInteger || node->kind == ExprKind::kBool ||
           node->kind == ExprKind::kNone;
  };
  const bool are_literals = std::all_of(call.positional.begin(), call.positional.end(), is_literal);
  return !are_literals || !call.keyword.empty() || call.star != nullptr || call.double_star != nullptr;
}

void ExpressionCompiler::call(const Expr& node, std::uint32_t caller) {
  const Expr& callee = *node.items[0];
  if (callee.kind == ExprKind::kGetAttr) {
    expression(*callee.items[0]);
    if (may_fail(node.call)) emit(Op::kRequireDefined, callee.place);
    const std::uint32_t shape = arguments(node.call, caller, node.place);
    emit(Op::kCallMethod, node.place, shape, name(callee.text));
  } else {
    expression(callee);
    const std::uint32_t shape = arguments(node.call, caller, node.place);
    emit(Op::kCall, node.place, shape);
  }
}

void ExpressionCompiler::filter(const Expr& node, bool of_value) {
  // If several filters are unknown, the reference names the outermost one.
  if (find_filter(node.text) == nullptr && !soft_) fail(node.place, "No filter named '" + node.text + "'.");
  if (of_value) {
    expression(*node.items[0]);
  } else if (!node.items.empty() && node.items[0]) {
    filter(*node.items[0]);
  }
  if (!soft_) program_.needed_filters.push_back(name(node.text));
  const std::uint32_t shape = arguments(node.call, kNoFunction, node.place);
  emit(Op::kFilter, node.place, shape, name(node.text));
}

void ExpressionCompiler::test(const Expr& node) {
  if (find_test(node.text) == nullptr && !soft_) fail(node.place, "No test named '" + node.text + "'.");
  if (!soft_) program_.needed_tests.push_back(name(node.text));
  expression(*node.items[0]);
  const std::uint32_t shape = arguments(node.call, kNoFunction, node.place);
  emit(Op::kTest, node.place, shape, name(node.text));
}

void ExpressionCompiler::short_cut(const Expr& node, Op jump) {
  expression(*node.items[0]);
  const std::uint32_t done = emit(jump, node.place);
  // A branch that a literal excludes is not compiled at all.
  const bool shut_out = literal_truth(*node.items[0]) == (jump == Op::kJumpIfTrue);
  const bool soft = std::exchange(soft_, soft_ || shut_out);
  expression(*node.items[1]);
  soft_ = soft;
  land(done);
}

void ExpressionCompiler::comparison(const Expr& node) {
  expression(*node.items[0]);
  std::vector<std::uint32_t> failures;
  for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
    const bool last = i + 1 == node.comparisons.size();
    if (last && compare_with_string(node, i)) break;
    expression(*node.items[i + 1]);
    const auto flag = static_cast<std::uint8_t>(node.comparisons[i].op);
    const std::uint32_t at = emit(last ? Op::kCompare : Op::kCompareChain, node.comparisons[i].place, 0, 0, flag);
    if (!last) failures.push_back(at);
  }
  for (const std::uint32_t failure : failures) land(failure);
}

bool ExpressionCompiler::compare_with_string(const Expr& node, std::size_t i) {
  const auto [comparison, place] = node.comparisons[i];
  const Expr& right = *node.items[i + 1];
  if (right.kind != ExprKind::kString) return false;
  if (comparison != CompareOp::kEq && comparison != CompareOp::kNe) return false;
  emit(Op::kEqualsString, place, right.literal, 0, comparison == CompareOp::kNe ? 1 : 0);
  return true;
}

void ExpressionCompiler::inline_if(const Expr& node) {
  const bool soft = std::exchange(soft_, true);
  const std::uint32_t otherwise = condition(*node.items[0], 0);
  emit(Op::kEnterChoice, node.place, 0, 0, negated(*node.items[0]));
  expression(*node.items[1]);
  emit(Op::kLeaveChoice, node.place);
  const std::uint32_t end = emit(Op::kJump, node.place);
  land(otherwise);
  if (node.items[2]) {
    expression(*node.items[2]);
  } else {
    emit(Op::kPushUndefinedChoice, node.place);
  }
  land(end);
  soft_ = soft;
}

std::uint32_t ExpressionCompiler::condition(const Expr& node, std::uint8_t flag) {
  emit(Op::kBeginTest, node.start);
  return begun_condition(node, flag);
}

std::uint32_t ExpressionCompiler::begun_condition(const Expr& node, std::uint8_t flag) {
  expression(node);
  const auto id = static_cast<std::uint32_t>(program_.conditions.size());
  program_.conditions.push_back(node.start);
  return emit(Op::kEndTest, node.start, 0, id, flag);
}

}  // namespace rondo::jinja
