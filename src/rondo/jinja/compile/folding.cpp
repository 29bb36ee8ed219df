#include "jinja/compile/folding.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"

namespace rondo::jinja {
namespace {

// Whether `test` holds for a direct part of the expression.
template <typename Test>
bool any_part(const Expr& node, Test test) {
  const auto holds = [&](const ExprPtr& part) { return part != nullptr && test(*part); };
  const Arguments& call = node.call;
  return std::any_of(node.items.begin(), node.items.end(), holds) ||
         std::any_of(call.positional.begin(), call.positional.end(), holds) ||
         std::any_of(call.keyword.begin(), call.keyword.end(), [&](const auto& pair) { return holds(pair.second); }) ||
         holds(call.star) || holds(call.double_star);
}

bool is_unhashable(const Expr& node) {
  if (node.kind == ExprKind::kTuple) return any_part(node, is_unhashable);
  return node.kind == ExprKind::kList || node.kind == ExprKind::kDict;
}

bool has_filter_or_test(const Expr& node) {
  return node.kind == ExprKind::kFilter || node.kind == ExprKind::kTest || any_part(node, has_filter_or_test);
}

bool may_overflow(const Expr& node) {
  constexpr std::size_t kManyDigits = 300;
  const bool large = node.kind == ExprKind::kFloat &&
                     (node.text.find_first_of("eE") != std::string::npos || node.text.size() > kManyDigits);
  const bool converts = node.kind == ExprKind::kFilter && (node.text == "float" || node.text == "round");
  return large || converts || any_part(node, [](const Expr& part) { return may_overflow(part); });
}

}  // namespace

bool asks_for_variables(std::string_view filter) {
  static constexpr std::string_view kFilters[] = {"map", "random", "reject", "rejectattr", "select", "selectattr"};
  return std::find(std::begin(kFilters), std::end(kFilters), filter) != std::end(kFilters);
}

BinaryOp binary_op(TokenKind token) {
  switch (token) {
    case TokenKind::kSub: return BinaryOp::kSub;
    case TokenKind::kMul: return BinaryOp::kMul;
    case TokenKind::kDiv: return BinaryOp::kDiv;
    case TokenKind::kFloorDiv: return BinaryOp::kFloorDiv;
    case TokenKind::kMod: return BinaryOp::kMod;
    case TokenKind::kPow: return BinaryOp::kPow;
    default: return BinaryOp::kAdd;
  }
}

std::optional<bool> literal_truth(const Expr& node) {
  switch (node.kind) {
    case ExprKind::kNone: return false;
    case ExprKind::kString:
    case ExprKind::kBool: return node.flag;
    case ExprKind::kInteger: return node.text.find_first_of("123456789abcdefABCDEF") != std::string::npos;
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kDict: return is_constant(node) ? std::optional(!node.items.empty()) : std::nullopt;
    default: return std::nullopt;
  }
}

bool is_constant(const Expr& node) {
  switch (node.kind) {
    case ExprKind::kName:
    case ExprKind::kNsRef:
    case ExprKind::kCall:
    case ExprKind::kText: return false;
    case ExprKind::kFilter:
      if (asks_for_variables(node.text) || node.items.empty() || node.items[0] == nullptr) return false;
      break;
    case ExprKind::kInlineIf:  // only the branch that is taken counts
      if (const std::optional<bool> test = literal_truth(*node.items[0])) {
        const ExprPtr& taken = node.items[*test ? 1 : 2];
        return taken != nullptr && is_constant(*taken);
      }
      if (node.items[2] == nullptr) return false;
      break;
    case ExprKind::kAnd:
    case ExprKind::kOr:
      if (literal_truth(*node.items[0]) == (node.kind == ExprKind::kOr)) return true;
      break;
    default: break;
  }
  return !any_part(node, [](const Expr& part) { return !is_constant(part); });
}

bool begins_folding(const Expr& node) {
  switch (node.kind) {
    case ExprKind::kGetAttr:
    case ExprKind::kGetItem:
    case ExprKind::kCall:
    case ExprKind::kFilter:
    case ExprKind::kTest:
    case ExprKind::kNot:
    case ExprKind::kNegative:
    case ExprKind::kPositive:
    case ExprKind::kBinary:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kConcat:
    case ExprKind::kCompare:
    case ExprKind::kInlineIf: return true;
    default: return false;
  }
}

bool has_unhashable_key(const Expr& dict) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (!is_constant(*dict.items[i]) || !is_constant(*dict.items[i + 1])) return false;
    if (is_unhashable(*dict.items[i])) return true;
  }
  return false;
}

bool may_overflow(const Body& statements) {
  const auto holds = [](const ExprPtr& node) { return node != nullptr && may_overflow(*node); };
  return std::any_of(statements.begin(), statements.end(), [&](const StmtPtr& node) {
    return holds(node->value) || holds(node->test) || std::any_of(node->items.begin(), node->items.end(), holds) ||
           std::any_of(node->defaults.begin(), node->defaults.end(), holds) || may_overflow(node->body) ||
           may_overflow(node->else_body) ||
           std::any_of(node->branches.begin(), node->branches.end(),
                       [](const Body& body) { return may_overflow(body); });
  });
}

bool Escaping::is_used(const Body& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const StmtPtr& node) {
    return node->kind == StmtKind::kAutoescape || is_used(node->body) || is_used(node->else_body) ||
           std::any_of(node->branches.begin(), node->branches.end(), is_used);
  });
}

void Escaping::enter(const Expr& value) {
  if (const std::optional<bool> known = literal_truth(value)) {
    on = *known;
  } else {
    open = true;
  }
}

Escape Escaping::of_output(const Expr& item) const {
  const bool decided = !open || (is_constant(item) && !has_filter_or_test(item));
  return !used || !decided ? kEscapeAsSet : on ? kEscapeAlways : kEscapeNever;
}

Escape Escaping::of_join() const { return !used ? kEscapeAsSet : on && !open ? kEscapeAlways : kEscapeNever; }

}  // namespace rondo::jinja
