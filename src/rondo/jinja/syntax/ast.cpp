#include "jinja/syntax/ast.h"

namespace rondo::jinja {
namespace {

const Expr* find_target(const Expr& target, std::string_view name) {
  if (target.kind == ExprKind::kName && target.text == name) return &target;
  for (const ExprPtr& item : target.items) {
    if (const Expr* found = find_target(*item, name)) return found;
  }
  return nullptr;
}

const Expr* find_in_body(const Body& body, std::string_view name) {
  for (const StmtPtr& node : body) {
    if (const Expr* found = find_assigned(*node, name)) return found;
  }
  return nullptr;
}

}  // namespace

const Expr* find_assigned(const Stmt& node, std::string_view name) {
  if (node.target) {
    if (const Expr* found = find_target(*node.target, name)) return found;
  }
  if (const Expr* found = find_in_body(node.body, name)) return found;
  if (const Expr* found = find_in_body(node.else_body, name)) return found;
  for (const Body& branch : node.branches) {
    if (const Expr* found = find_in_body(branch, name)) return found;
  }
  return nullptr;
}

}  // namespace rondo::jinja
