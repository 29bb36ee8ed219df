#include "jinja/compile/roles.h"

#include <set>

#include "jinja/syntax/ast.h"

namespace rondo::jinja {
namespace {

class RoleFinder {
 public:
  std::set<std::string> run(const Tree& tree) {
    tree_ = &tree;
    body(tree.body);
    return std::move(roles_);
  }

 private:
  bool is_role_text(const Expr& node) const {
    return node.kind == ExprKind::kString && tree_->literal_texts[node.literal] == "role";
  }
  // role, x.role, x['role'], x.get('role'), and any of these through filters.
  bool is_role(const Expr& node) const {
    switch (node.kind) {
      case ExprKind::kName:
      case ExprKind::kGetAttr: return node.text == "role";
      case ExprKind::kGetItem: return is_role_text(*node.items[1]);
      case ExprKind::kFilter: return node.items[0] && is_role(*node.items[0]);
      case ExprKind::kCall: {
        const Expr& callee = *node.items[0];
        if (callee.kind != ExprKind::kGetAttr) return false;
        if (callee.text == "get") return !node.call.positional.empty() && is_role_text(*node.call.positional[0]);
        return is_role(*callee.items[0]);
      }
      default: return false;
    }
  }

  void take(const Expr& node) {
    if (node.kind == ExprKind::kString) roles_.insert(tree_->literal_texts[node.literal]);
    if (node.kind == ExprKind::kList || node.kind == ExprKind::kTuple) {
      for (const ExprPtr& item : node.items) take(*item);
    }
    if (node.kind == ExprKind::kDict) {
      for (std::size_t i = 0; i < node.items.size(); i += 2) take(*node.items[i]);
    }
  }

  void expression(const Expr* node) {
    if (node == nullptr) return;
    if (node->kind == ExprKind::kCompare) {
      for (std::size_t i = 0; i + 1 < node->items.size(); ++i) {
        if (is_role(*node->items[i])) take(*node->items[i + 1]);
        if (is_role(*node->items[i + 1])) take(*node->items[i]);
      }
    }
    if (node->kind == ExprKind::kGetItem && is_role(*node->items[1])) take(*node->items[0]);
    if (node->kind == ExprKind::kTest && is_role(*node->items[0])) {
      for (const ExprPtr& item : node->call.positional) take(*item);
    }
    // messages | selectattr("role", "equalto", "user")
    if (node->kind == ExprKind::kFilter && (node->text == "selectattr" || node->text == "rejectattr") &&
        node->call.positional.size() > 2 && is_role_text(*node->call.positional[0])) {
      for (std::size_t i = 2; i < node->call.positional.size(); ++i) take(*node->call.positional[i]);
    }
    for (const ExprPtr& item : node->items) expression(item.get());
    for (const ExprPtr& item : node->call.positional) expression(item.get());
    for (const auto& [name, value] : node->call.keyword) expression(value.get());
    expression(node->call.star.get());
    expression(node->call.double_star.get());
  }

  void body(const Body& statements) {
    for (const StmtPtr& node : statements) {
      expression(node->value.get());
      expression(node->test.get());
      for (const ExprPtr& item : node->items) expression(item.get());
      for (const ExprPtr& item : node->defaults) expression(item.get());
      body(node->body);
      body(node->else_body);
      for (const Body& branch : node->branches) body(branch);
    }
  }

  const Tree* tree_ = nullptr;
  std::set<std::string> roles_;
};

}  // namespace

std::vector<std::string> compared_roles(const Tree& tree) {
  const std::set<std::string> roles = RoleFinder().run(tree);
  return {roles.begin(), roles.end()};
}

}  // namespace rondo::jinja
