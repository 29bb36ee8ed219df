#include "jinja/reading/carried.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "jinja/syntax/ast.h"
#include "jinja/syntax/parser.h"

namespace rondo::jinja {
namespace {

constexpr auto kChangers = std::to_array<std::string_view>(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update"});

// Calls `visit` with each part of an expression.
template <typename Visit>
void visit_all(const Expr* node, const Visit& visit) {
  if (node == nullptr) return;
  visit(*node);
  for (const ExprPtr& item : node->items) visit_all(item.get(), visit);
  for (const ExprPtr& item : node->call.positional) visit_all(item.get(), visit);
  for (const auto& [name, value] : node->call.keyword) visit_all(value.get(), visit);
  visit_all(node->call.star.get(), visit);
  visit_all(node->call.double_star.get(), visit);
}

class CarriedFinder {
 public:
  Carried run(const Tree& tree) {
    body(tree.body, false);
    std::ranges::sort(out_.conditions, [](const text::Literal& a, const text::Literal& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return std::move(out_);
  }

 private:
  void add(const Expr& condition) { out_.conditions.push_back({condition.start.line, condition.start.column}); }

  // Whether evaluating it changes anything.
  bool changes(const Expr* node) const {
    bool found = false;
    visit_all(node, [&](const Expr& part) {
      if (part.kind != ExprKind::kCall) return;
      const Expr& callee = *part.items[0];
      const bool is_method =
          callee.kind == ExprKind::kGetAttr && std::ranges::find(kChangers, callee.text) != kChangers.end();
      found |= is_method || (callee.kind == ExprKind::kName && changers_.contains(callee.text));
    });
    return found;
  }

  void add_choices(const Expr* node) {
    visit_all(node, [&](const Expr& part) {
      if (part.kind == ExprKind::kInlineIf) add(*part.items[0]);
    });
  }

  // --- Counts

  // A list that does not belong to an element: one with a name, or a part of such a list.
  static bool is_named_list(const Expr& node) {
    if (node.kind == ExprKind::kName) return true;
    const bool looks_through = node.kind == ExprKind::kFilter || node.kind == ExprKind::kGetItem;
    return looks_through && node.items[0] != nullptr && is_named_list(*node.items[0]);
  }
  bool is_count(const Expr& node) const {
    bool found = false;
    visit_all(&node, [&](const Expr& part) {
      if (part.kind == ExprKind::kName) found |= part.text == "loop" || carried_.contains(part.text);
      if (part.kind == ExprKind::kFilter && (part.text == "length" || part.text == "count") && part.items[0] != nullptr)
        found |= is_named_list(*part.items[0]);
    });
    return found;
  }
  void count_to(const Expr& number) {
    visit_all(&number, [&](const Expr& part) {
      if (part.kind != ExprKind::kInteger) return;
      std::int64_t value = 0;
      const char* const end = part.text.data() + part.text.size();
      const auto read = std::from_chars(part.text.data(), end, value);
      if (read.ec != std::errc() || read.ptr != end) value = INT64_MAX;
      out_.counts_to = std::max(out_.counts_to, value);
    });
  }
  void counts(const Expr* node) {
    visit_all(node, [&](const Expr& part) {
      const bool is_lookup = part.kind == ExprKind::kGetItem && is_named_list(*part.items[0]);
      if (is_lookup) count_to(*part.items[1]);
      if (part.kind != ExprKind::kCompare && part.kind != ExprKind::kBinary) return;
      if (std::ranges::any_of(part.items, [&](const ExprPtr& item) { return is_count(*item); })) count_to(part);
    });
  }

  // --- Statements.  Each function returns whether the statement changes what is carried.

  bool is_carried(const Expr& target, bool is_local) {
    if (target.kind == ExprKind::kNsRef || (target.kind == ExprKind::kName && !is_local)) {
      carried_.insert(target.text);
      return true;
    }
    bool found = false;
    for (const ExprPtr& item : target.items) found |= is_carried(*item, is_local);
    return found;
  }

  bool choice(const Stmt& node, bool is_local) {
    bool found = body(node.else_body, is_local);
    for (const Body& branch : node.branches) found |= body(branch, is_local);
    if (found) {
      for (const ExprPtr& condition : node.items) add(*condition);
    }
    return found;
  }

  bool statement(const Stmt& node, bool is_local) {
    for (const ExprPtr* part : {&node.value, &node.test}) counts(part->get());
    for (const ExprPtr& item : node.items) counts(item.get());
    bool found = changes(node.value.get());
    for (const ExprPtr& item : node.items) found |= changes(item.get());
    switch (node.kind) {
      case StmtKind::kIf: return choice(node, is_local) || found;
      case StmtKind::kSet:
      case StmtKind::kSetBlock: found |= is_carried(*node.target, is_local); break;
      case StmtKind::kMacro:
        if (body(node.body, true)) changers_.insert(node.name);
        return false;
      case StmtKind::kFor:
        // What a loop has seen depends on which elements there are.
        if (node.test != nullptr) add(*node.test);
        break;
      case StmtKind::kBreak:
      case StmtKind::kContinue: return true;
      default: break;
    }
    if (found) {
      add_choices(node.value.get());
      for (const ExprPtr& item : node.items) add_choices(item.get());
    }
    const bool is_inner = is_local || node.kind == StmtKind::kFor;
    const bool inside = body(node.body, is_inner);
    return body(node.else_body, is_inner) || inside || found;
  }

  bool body(const Body& statements, bool is_local) {
    bool found = false;
    for (const StmtPtr& node : statements) found |= statement(*node, is_local);
    return found;
  }

  Carried out_;
  std::set<std::string> carried_;   // names of namespaces, and of variables that are set outside loops
  std::set<std::string> changers_;  // macros
};

}  // namespace

Carried find_carried(std::string_view source) {
  const Result<Tree> tree = parse(source, {}, "");
  return tree.ok() ? CarriedFinder().run(tree.value()) : Carried{};
}

}  // namespace rondo::jinja
