#include "jinja/reading/compared.h"

#include <functional>
#include <set>

#include "jinja/syntax/ast.h"
#include "jinja/syntax/parser.h"

namespace rondo::jinja {
namespace {

// "x" for a name, "ns.x" for an attribute of one; "" for everything else.
std::string place_name(const Expr& node) {
  if (node.kind == ExprKind::kName) return node.text;
  if (node.kind == ExprKind::kNsRef) return node.text + "." + node.attribute;
  if (node.kind == ExprKind::kGetAttr && node.items[0]->kind == ExprKind::kName)
    return node.items[0]->text + "." + node.text;
  return "";
}

class ComparedFinder {
 public:
  explicit ComparedFinder(const Tree& tree) : tree_(tree) {}

  std::map<std::string, std::vector<std::string>> run() {
    // Collects the names for a variable first, because a comparison may come before the assignment, in a macro or a
    // loop.
    visit_ = [this](const Expr& node) { note_namespace(node); };
    body(tree_.body, true);
    visit_ = [this](const Expr& node) { note_comparison(node); };
    body(tree_.body, false);
    std::map<std::string, std::vector<std::string>> out;
    for (const auto& [name, constants] : found_) out[name].assign(constants.begin(), constants.end());
    return out;
  }

 private:
  // The variables whose value `node` may be, directly or through filters, defaults and choices.
  void sources(const Expr& node, std::set<std::string>& out) const {
    const std::string name = place_name(node);
    if (!name.empty()) {
      out.insert(name);
      const auto known = aliases_.find(name);
      if (known != aliases_.end()) out.insert(known->second.begin(), known->second.end());
      return;
    }
    switch (node.kind) {
      case ExprKind::kFilter:
        if (node.items[0]) sources(*node.items[0], out);
        break;
      case ExprKind::kCall:
        // x.lower()
        if (node.items[0]->kind == ExprKind::kGetAttr) sources(*node.items[0]->items[0], out);
        break;
      case ExprKind::kOr:
      case ExprKind::kAnd:
        for (const ExprPtr& item : node.items) sources(*item, out);
        break;
      case ExprKind::kInlineIf:
        sources(*node.items[1], out);
        if (node.items[2]) sources(*node.items[2], out);
        break;
      default: break;
    }
  }

  void assign(const std::string& target, const Expr& value) {
    if (target.empty()) return;
    std::set<std::string> names;
    sources(value, names);
    names.erase(target);
    aliases_[target].insert(names.begin(), names.end());
  }

  // ns = namespace(x = value)
  void note_namespace(const Expr& node) {
    if (assigned_to_.empty() || node.kind != ExprKind::kCall || place_name(*node.items[0]) != "namespace") return;
    for (const auto& [name, value] : node.call.keyword) assign(assigned_to_ + "." + name, *value);
  }

  void take(const std::set<std::string>& names, const Expr& node) {
    if (node.kind == ExprKind::kString) {
      for (const std::string& name : names) found_[name].insert(tree_.literal_texts[node.literal]);
    }
    if (node.kind == ExprKind::kList || node.kind == ExprKind::kTuple) {
      for (const ExprPtr& item : node.items) take(names, *item);
    }
  }

  void note_comparison(const Expr& node) {
    const auto compare = [this](const Expr& one, const Expr& other) {
      std::set<std::string> names;
      sources(one, names);
      if (!names.empty()) take(names, other);
    };
    if (node.kind == ExprKind::kCompare) {
      for (std::size_t i = 0; i + 1 < node.items.size(); ++i) {
        compare(*node.items[i], *node.items[i + 1]);
        compare(*node.items[i + 1], *node.items[i]);
      }
    }
    if (node.kind == ExprKind::kTest) {
      for (const ExprPtr& item : node.call.positional) compare(*node.items[0], *item);
    }
  }

  void expression(const Expr* node) {
    if (node == nullptr) return;
    visit_(*node);
    for (const ExprPtr& item : node->items) expression(item.get());
    for (const ExprPtr& item : node->call.positional) expression(item.get());
    for (const auto& [name, value] : node->call.keyword) expression(value.get());
    expression(node->call.star.get());
    expression(node->call.double_star.get());
  }

  void body(const Body& statements, bool is_assigning) {
    for (const StmtPtr& node : statements) {
      const bool is_set = node->kind == StmtKind::kSet;
      assigned_to_ = is_set && is_assigning ? place_name(*node->target) : "";
      expression(node->value.get());
      if (is_set && is_assigning) assign(assigned_to_, *node->value);
      assigned_to_.clear();
      expression(node->test.get());
      for (const ExprPtr& item : node->items) expression(item.get());
      for (const ExprPtr& item : node->defaults) expression(item.get());
      body(node->body, is_assigning);
      body(node->else_body, is_assigning);
      for (const Body& branch : node->branches) body(branch, is_assigning);
    }
  }

  const Tree& tree_;
  std::function<void(const Expr&)> visit_;
  std::string assigned_to_;
  std::map<std::string, std::set<std::string>> aliases_;
  std::map<std::string, std::set<std::string>> found_;
};

}  // namespace

std::map<std::string, std::vector<std::string>> compared_constants(const std::string& source) {
  const Result<Tree> tree = parse(source, {}, "");
  if (!tree.ok()) return {};
  return ComparedFinder(tree.value()).run();
}

}  // namespace rondo::jinja
