#include "jinja/syntax/expressions.h"

#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"

namespace rondo::jinja {
namespace {

bool can_assign(const Expr& target) {
  if (target.kind != ExprKind::kTuple) return target.kind == ExprKind::kName || target.kind == ExprKind::kNsRef;
  return std::all_of(target.items.begin(), target.items.end(), [](const ExprPtr& item) { return can_assign(*item); });
}

std::string_view node_name(ExprKind kind) {
  switch (kind) {
    case ExprKind::kString:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kBool:
    case ExprKind::kNone: return "const";
    case ExprKind::kList: return "list";
    case ExprKind::kDict: return "dict";
    case ExprKind::kTuple: return "tuple";
    case ExprKind::kGetAttr: return "getattr";
    case ExprKind::kGetItem: return "getitem";
    case ExprKind::kCall: return "call";
    case ExprKind::kFilter: return "filter";
    default: return "expression";
  }
}

}  // namespace

std::string quoted_name(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos ? '"' : '\'';
  return quote + std::string(text) + quote;
}

std::string describe_token(const Token& token) {
  return token.kind == TokenKind::kName ? token.text : std::string(describe(token.kind));
}

bool ExpressionParser::is_constant_name(std::string_view name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
}

std::string ExpressionParser::parse_name_target() {
  const Token token = current();
  std::string name = take_name();
  if (ok() && is_constant_name(name)) fail(token, "can't assign to 'name'");
  return name;
}

ExprPtr ExpressionParser::parse_target(TupleOptions options) {
  options.simplified = true;
  const Token token = current();
  ExprPtr target = parse_tuple(options);
  if (ok()) check_target(*target, token);
  return target;
}

void ExpressionParser::check_target(const Expr& target, const Token& token) {
  if (!can_assign(target)) fail(token, "can't assign to " + quoted_name(node_name(target.kind)));
}

ExprPtr ExpressionParser::parse_expression(bool inline_if) {
  if (!ok()) return nullptr;
  Nested nested(*this);
  return inline_if ? parse_inline_if() : parse_or();
}

ExprPtr ExpressionParser::parse_inline_if() {
  ExprPtr value = parse_or();
  while (ok() && skip_name("if")) {
    ExprPtr condition = parse_or();
    ExprPtr otherwise;
    if (ok() && skip_name("else")) {
      Nested nested(*this);
      if (ok()) otherwise = parse_inline_if();
    }
    if (!ok()) return nullptr;
    const Place place = condition->start;
    ExprPtr node = make(ExprKind::kInlineIf, place);
    node->start = value->start;
    add_item(*node, std::move(condition));
    add_item(*node, std::move(value));
    add_item(*node, std::move(otherwise));
    value = std::move(node);
  }
  return value;
}

ExprPtr ExpressionParser::parse_or() {
  ExprPtr left = parse_and();
  while (ok() && is_name("or")) left = parse_right(ExprKind::kOr, std::move(left), &ExpressionParser::parse_and);
  return left;
}

ExprPtr ExpressionParser::parse_and() {
  ExprPtr left = parse_not();
  while (ok() && is_name("and")) left = parse_right(ExprKind::kAnd, std::move(left), &ExpressionParser::parse_not);
  return left;
}

ExprPtr ExpressionParser::parse_right(ExprKind kind, ExprPtr left, ExprPtr (ExpressionParser::*rule)()) {
  const Token& token = take();
  ExprPtr node = make_over(kind, token.place, std::move(left));
  node->token = token.kind;
  ExprPtr right = (this->*rule)();
  if (!ok()) return nullptr;
  add_item(*node, std::move(right));
  return node;
}

ExprPtr ExpressionParser::parse_not() {
  if (!is_name("not")) return parse_compare();
  Nested nested(*this);
  if (!ok()) return nullptr;
  const Place place = take().place;
  ExprPtr item = parse_not();
  if (!ok()) return nullptr;
  ExprPtr node = make_over(ExprKind::kNot, place, std::move(item));
  node->start = place;
  return node;
}

std::optional<CompareOp> ExpressionParser::take_comparison() {
  std::optional<CompareOp> found;
  switch (current().kind) {
    case TokenKind::kEq: found = CompareOp::kEq; break;
    case TokenKind::kNe: found = CompareOp::kNe; break;
    case TokenKind::kLt: found = CompareOp::kLt; break;
    case TokenKind::kLtEq: found = CompareOp::kLe; break;
    case TokenKind::kGt: found = CompareOp::kGt; break;
    case TokenKind::kGtEq: found = CompareOp::kGe; break;
    case TokenKind::kName:
      if (current().text == "in") found = CompareOp::kIn;
      if (current().text == "not" && look().kind == TokenKind::kName && look().text == "in") {
        take();
        found = CompareOp::kNotIn;
      }
      break;
    default: break;
  }
  if (found) take();
  return found;
}

ExprPtr ExpressionParser::parse_compare() {
  ExprPtr left = parse_sum();
  if (!ok()) return nullptr;
  ExprPtr node;
  for (;;) {
    const Place place = current().place;
    const std::optional<CompareOp> comparison = take_comparison();
    if (!comparison) break;
    if (!node) node = make_over(ExprKind::kCompare, place, std::move(left));
    node->comparisons.push_back({*comparison, place});
    ExprPtr right = parse_sum();
    if (!ok()) return nullptr;
    add_item(*node, std::move(right));
  }
  return node ? std::move(node) : std::move(left);
}

ExprPtr ExpressionParser::parse_sum() {
  ExprPtr left = parse_concat();
  while (ok() && (is(TokenKind::kAdd) || is(TokenKind::kSub))) {
    left = parse_right(ExprKind::kBinary, std::move(left), &ExpressionParser::parse_concat);
  }
  return left;
}

ExprPtr ExpressionParser::parse_concat() {
  ExprPtr first = parse_product();
  if (!ok() || !is(TokenKind::kTilde)) return first;
  ExprPtr node = make_over(ExprKind::kConcat, current().place, std::move(first));
  while (ok() && skip(TokenKind::kTilde)) {
    ExprPtr item = parse_product();
    if (ok()) add_item(*node, std::move(item));
  }
  return node;
}

ExprPtr ExpressionParser::parse_product() {
  ExprPtr left = parse_power();
  while (ok() && (is(TokenKind::kMul) || is(TokenKind::kDiv) || is(TokenKind::kFloorDiv) || is(TokenKind::kMod))) {
    left = parse_right(ExprKind::kBinary, std::move(left), &ExpressionParser::parse_power);
  }
  return left;
}

ExprPtr ExpressionParser::parse_power() {
  ExprPtr left = parse_unary_filtered();
  while (ok() && is(TokenKind::kPow)) {
    left = parse_right(ExprKind::kBinary, std::move(left), &ExpressionParser::parse_unary_filtered);
  }
  return left;
}

ExprPtr ExpressionParser::parse_unary_filtered() { return parse_unary(true); }

ExprPtr ExpressionParser::parse_unary(bool with_filter) {
  ExprPtr node;
  if (is(TokenKind::kSub) || is(TokenKind::kAdd)) {
    Nested nested(*this);
    if (!ok()) return nullptr;
    const Token& token = take();
    ExprPtr item = parse_unary(false);
    if (!ok()) return nullptr;
    node = make_over(token.kind == TokenKind::kSub ? ExprKind::kNegative : ExprKind::kPositive, token.place,
                     std::move(item));
    node->start = token.place;
  } else {
    node = parse_primary(false);
  }
  node = parse_postfix(std::move(node));
  return with_filter ? parse_filters_and_tests(std::move(node)) : std::move(node);
}

ExprPtr ExpressionParser::parse_primary(bool namespaces) {
  if (!ok()) return nullptr;
  const Token& token = current();
  switch (token.kind) {
    case TokenKind::kName: return parse_name(namespaces);
    case TokenKind::kString: return parse_string();
    case TokenKind::kInteger:
    case TokenKind::kFloat: {
      take();
      ExprPtr node = make(token.kind == TokenKind::kInteger ? ExprKind::kInteger : ExprKind::kFloat, token.place);
      node->text = token.text;
      return node;
    }
    case TokenKind::kLParen: {
      take();
      TupleOptions options;
      options.parentheses = true;
      ExprPtr node = parse_tuple(options);
      expect(TokenKind::kRParen);
      return node;
    }
    case TokenKind::kLBracket: return parse_list();
    case TokenKind::kLBrace: return parse_dict();
    default: fail("unexpected " + quoted_name(describe_token(token))); return nullptr;
  }
}

ExprPtr ExpressionParser::parse_name(bool namespaces) {
  const Token& token = take();
  const std::string& text = token.text;
  if (is_constant_name(text)) {
    if (text == "none" || text == "None") return make(ExprKind::kNone, token.place);
    ExprPtr node = make(ExprKind::kBool, token.place);
    node->flag = text == "true" || text == "True";
    return node;
  }
  ExprPtr node = make(ExprKind::kName, token.place);
  node->text = text;
  if (namespaces && skip(TokenKind::kDot)) {
    node->kind = ExprKind::kNsRef;
    node->attribute = take_name();
  }
  return node;
}

ExprPtr ExpressionParser::parse_string() {
  const Place place = current().place;
  std::string text;
  while (is(TokenKind::kString)) text += take().text;
  const bool is_empty = text.empty();
  ExprPtr node = make_literal(ExprKind::kString, place, std::move(text));
  node->flag = !is_empty;
  return node;
}

// The reference intends `in` and `recursive` to end the tuples of a for too, but they never do: after a comma they are
// names.
bool ExpressionParser::at_tuple_end() const {
  return is(TokenKind::kVariableEnd) || is(TokenKind::kBlockEnd) || is(TokenKind::kRParen);
}

ExprPtr ExpressionParser::parse_tuple(TupleOptions options) {
  if (!ok()) return nullptr;
  const Place place = current().place;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  while (ok()) {
    if (!items.empty()) expect(TokenKind::kComma);
    if (!ok() || at_tuple_end()) break;
    items.push_back(options.simplified ? parse_target_item(options) : parse_expression(options.inline_if));
    if (!ok() || !is(TokenKind::kComma)) break;
    is_tuple = true;
  }
  if (!ok()) return nullptr;
  if (!is_tuple && !items.empty()) return std::move(items.front());
  if (!is_tuple && !options.parentheses) {
    fail("Expected an expression, got " + quoted_name(describe_token(current())));
    return nullptr;
  }
  ExprPtr node = make(ExprKind::kTuple, place);
  for (ExprPtr& item : items) add_item(*node, std::move(item));
  return node;
}

ExprPtr ExpressionParser::parse_target_item(const TupleOptions& options) {
  Nested nested(*this);
  return parse_primary(options.namespaces);
}

ExprPtr ExpressionParser::parse_list() {
  ExprPtr node = make(ExprKind::kList, take().place);
  while (ok() && !is(TokenKind::kRBracket)) {
    if (!node->items.empty() && !expect(TokenKind::kComma)) break;
    if (is(TokenKind::kRBracket)) break;
    ExprPtr item = parse_expression(true);
    if (ok()) add_item(*node, std::move(item));
  }
  expect(TokenKind::kRBracket);
  return node;
}

ExprPtr ExpressionParser::parse_dict() {
  ExprPtr node = make(ExprKind::kDict, take().place);
  while (ok() && !is(TokenKind::kRBrace)) {
    if (!node->items.empty() && !expect(TokenKind::kComma)) break;
    if (is(TokenKind::kRBrace)) break;
    ExprPtr key = parse_expression(true);
    if (!expect(TokenKind::kColon)) break;
    ExprPtr value = parse_expression(true);
    if (!ok()) break;
    add_item(*node, std::move(key));
    add_item(*node, std::move(value));
  }
  expect(TokenKind::kRBrace);
  return node;
}

ExprPtr ExpressionParser::parse_postfix(ExprPtr node) {
  while (ok()) {
    if (is(TokenKind::kDot) || is(TokenKind::kLBracket)) {
      node = parse_subscript(std::move(node));
    } else if (is(TokenKind::kLParen)) {
      node = parse_call(std::move(node));
    } else {
      break;
    }
  }
  return node;
}

ExprPtr ExpressionParser::parse_filters_and_tests(ExprPtr node) {
  while (ok()) {
    if (is(TokenKind::kPipe)) {
      node = parse_filters(std::move(node), false);
    } else if (is_name("is")) {
      node = parse_test(std::move(node));
    } else if (is(TokenKind::kLParen)) {
      node = parse_call(std::move(node));
    } else {
      break;
    }
  }
  return node;
}

ExprPtr ExpressionParser::parse_subscript(ExprPtr object) {
  const Token& token = take();
  if (token.kind == TokenKind::kDot) {
    const Token& member = current();
    if (member.kind == TokenKind::kName) {
      take();
      ExprPtr node = make_over(ExprKind::kGetAttr, member.place, std::move(object));
      node->text = member.text;
      return node;
    }
    if (member.kind != TokenKind::kInteger) {
      fail("expected name or number");
      return nullptr;
    }
    take();
    ExprPtr index = make(ExprKind::kInteger, member.place);
    index->text = member.text;
    ExprPtr node = make_over(ExprKind::kGetItem, token.place, std::move(object));
    add_item(*node, std::move(index));
    return node;
  }
  ExprPtr node = make_over(ExprKind::kGetItem, token.place, std::move(object));
  std::vector<ExprPtr> items;
  while (ok() && !is(TokenKind::kRBracket)) {
    if (!items.empty() && !expect(TokenKind::kComma)) break;
    items.push_back(parse_subscribed());
  }
  expect(TokenKind::kRBracket);
  if (!ok()) return nullptr;
  if (items.size() == 1) {
    add_item(*node, std::move(items.front()));
    return node;
  }
  ExprPtr tuple = make(ExprKind::kTuple, token.place);
  for (ExprPtr& item : items) add_item(*tuple, std::move(item));
  add_item(*node, std::move(tuple));
  return node;
}

ExprPtr ExpressionParser::parse_subscribed() {
  const Place place = current().place;
  ExprPtr parts[3];
  if (!is(TokenKind::kColon)) {
    parts[0] = parse_expression(true);
    if (!ok() || !is(TokenKind::kColon)) return std::move(parts[0]);
  }
  take();
  const auto at_end = [&] { return is(TokenKind::kRBracket) || is(TokenKind::kComma); };
  if (!is(TokenKind::kColon) && !at_end()) parts[1] = parse_expression(true);
  if (ok() && skip(TokenKind::kColon) && !at_end()) parts[2] = parse_expression(true);
  if (!ok()) return nullptr;
  ExprPtr node = make(ExprKind::kSlice, place);
  for (ExprPtr& part : parts) add_item(*node, std::move(part));
  return node;
}

ExprPtr ExpressionParser::parse_call(ExprPtr callee) {
  ExprPtr node = make_over(ExprKind::kCall, current().place, std::move(callee));
  if (node->items[0]) node->place = node->items[0]->place;
  parse_arguments(*node);
  return node;
}

void ExpressionParser::parse_arguments(Expr& node) {
  const Token open = current();
  Arguments& call = node.call;
  const auto ensure = [&](bool valid) {
    if (!valid) fail(open, "invalid syntax for function call expression");
  };
  const auto deepen = [&](const ExprPtr& item) {
    if (item) node.depth = std::max(node.depth, item->depth + 1);
  };
  take();
  bool first = true;
  while (ok() && !is(TokenKind::kRParen)) {
    if (!first && (!expect(TokenKind::kComma) || is(TokenKind::kRParen))) break;
    first = false;
    if (skip(TokenKind::kMul)) {
      ensure(!call.star && !call.double_star);
      call.star = parse_expression(true);
      deepen(call.star);
    } else if (skip(TokenKind::kPow)) {
      ensure(!call.double_star);
      call.double_star = parse_expression(true);
      deepen(call.double_star);
    } else if (is(TokenKind::kName) && look().kind == TokenKind::kAssign) {
      ensure(!call.double_star);
      std::string key = take().text;
      take();
      call.keyword.emplace_back(std::move(key), parse_expression(true));
      deepen(call.keyword.back().second);
    } else {
      ensure(!call.star && !call.double_star && call.keyword.empty());
      call.positional.push_back(parse_expression(true));
      deepen(call.positional.back());
    }
  }
  if (ok() && node.depth > kMaxHeight) fail("expression is too deeply nested");
  expect(TokenKind::kRParen);
}

std::string ExpressionParser::parse_dotted_name() {
  std::string name = take_name();
  while (ok() && skip(TokenKind::kDot)) name += "." + take_name();
  return name;
}

ExprPtr ExpressionParser::parse_filters(ExprPtr node, bool inline_start) {
  while (ok() && (inline_start || is(TokenKind::kPipe))) {
    if (!inline_start) take();
    inline_start = false;
    ExprPtr filter = make_over(ExprKind::kFilter, current().place, std::move(node));
    filter->text = parse_dotted_name();
    if (ok() && is(TokenKind::kLParen)) parse_arguments(*filter);
    node = std::move(filter);
  }
  return node;
}

ExprPtr ExpressionParser::parse_test(ExprPtr value) {
  take();
  const bool negated = skip_name("not");
  ExprPtr test = make_over(ExprKind::kTest, current().place, std::move(value));
  test->text = parse_dotted_name();
  if (!ok()) return nullptr;
  if (is(TokenKind::kLParen)) {
    parse_arguments(*test);
  } else if (at_test_operand()) {
    if (is_name("is")) {
      fail("You cannot chain multiple tests with is");
      return nullptr;
    }
    Nested nested(*this);
    ExprPtr operand = parse_postfix(parse_primary(false));
    if (!ok()) return nullptr;
    test->depth = std::max(test->depth, operand->depth + 1);
    test->call.positional.push_back(std::move(operand));
  }
  if (!negated) return test;
  const Place place = test->place;
  return make_over(ExprKind::kNot, place, std::move(test));
}

bool ExpressionParser::at_test_operand() const {
  switch (current().kind) {
    case TokenKind::kName: return !is_name("else") && !is_name("or") && !is_name("and");
    case TokenKind::kString:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kLBracket:
    case TokenKind::kLBrace: return true;
    default: return false;
  }
}

}  // namespace rondo::jinja
