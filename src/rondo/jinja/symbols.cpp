#include "jinja/symbols.h"

#include <algorithm>

namespace rondo::jinja {

NameId Names::intern(std::string_view name) {
  const auto [at, added] = ids_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
  if (added) names_.emplace_back(name);
  return at->second;
}

const Symbols::Entry* Symbols::find(NameId name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

Symbols::Entry* Symbols::find_own(NameId name) { return const_cast<Entry*>(find(name)); }

const Symbols* Symbols::owner(NameId name) const {
  const Symbols* scope = this;
  while (scope != nullptr && scope->find(name) == nullptr) scope = scope->parent_;
  return scope;
}

void Symbols::load(NameId name) {
  if (owner(name) == nullptr) entries_.push_back({name, Load::kResolve, false});
}

void Symbols::store(NameId name) {
  if (Entry* entry = find_own(name)) {
    entry->stored = true;
    return;
  }
  const bool outside = parent_ != nullptr && parent_->owner(name) != nullptr;
  entries_.push_back({name, outside ? Load::kAlias : Load::kUndefined, true});
}

void Symbols::declare_parameter(NameId name) {
  if (Entry* entry = find_own(name)) {
    *entry = {name, Load::kParameter, true};
  } else {
    entries_.push_back({name, Load::kParameter, true});
  }
}

void Symbols::merge_branches(const std::vector<Symbols>& branches) {
  std::vector<NameId> newly_stored;
  for (const Symbols& branch : branches) {
    for (const Entry& entry : branch.entries_) {
      const Entry* before = find(entry.name);
      if (entry.stored && (before == nullptr || !before->stored)) newly_stored.push_back(entry.name);
    }
  }
  for (const Symbols& branch : branches) {
    for (const Entry& entry : branch.entries_) {
      if (Entry* own = find_own(entry.name)) {
        own->load = entry.load;
        own->stored = own->stored || entry.stored;
      } else {
        entries_.push_back(entry);
      }
    }
  }
  for (const NameId name : newly_stored) {
    const bool outside = parent_ != nullptr && parent_->owner(name) != nullptr;
    find_own(name)->load = outside ? Load::kAlias : Load::kResolve;
  }
}

void ScopeScanner::body(const Body& statements) {
  for (const StmtPtr& node : statements) statement(*node);
}

void ScopeScanner::statement(const Stmt& node) {
  switch (node.kind) {
    case StmtKind::kOutput:
      for (const ExprPtr& item : node.items) expression(item.get());
      break;
    case StmtKind::kIf: if_statement(node); break;
    case StmtKind::kFor: expression(node.value.get()); break;
    case StmtKind::kSet:
      expression(node.value.get());
      target(*node.target);
      break;
    case StmtKind::kSetBlock: target(*node.target); break;
    case StmtKind::kMacro: symbols_->store(names_.intern(node.name)); break;
    case StmtKind::kCallBlock:
    case StmtKind::kFilterBlock: expression(node.value.get()); break;
    case StmtKind::kWith:
      for (const ExprPtr& item : node.items) expression(item.get());
      break;
    case StmtKind::kAutoescape:
    case StmtKind::kGeneration:
    case StmtKind::kBreak:
    case StmtKind::kContinue: break;
  }
}

void ScopeScanner::if_statement(const Stmt& node) {
  expression(node.items[0].get());
  Symbols* original = symbols_;
  std::vector<Symbols> branches(3, *original);
  symbols_ = &branches[0];
  body(node.branches[0]);
  // The elif branches count as one branch, in which each is a branch of its own.
  symbols_ = &branches[1];
  for (std::size_t i = 1; i < node.items.size(); ++i) {
    expression(node.items[i].get());
    std::vector<Symbols> inner(1, branches[1]);
    symbols_ = &inner[0];
    body(node.branches[i]);
    symbols_ = &branches[1];
    branches[1].merge_branches(inner);
  }
  symbols_ = &branches[2];
  body(node.else_body);
  symbols_ = original;
  symbols_->merge_branches(branches);
}

void ScopeScanner::arguments(const Arguments& call) {
  for (const ExprPtr& item : call.positional) expression(item.get());
  for (const auto& [name, value] : call.keyword) expression(value.get());
  expression(call.star.get());
  expression(call.double_star.get());
}

void ScopeScanner::expression(const Expr* node) {
  if (node == nullptr) return;
  if (node->kind == ExprKind::kName || node->kind == ExprKind::kNsRef) symbols_->load(names_.intern(node->text));
  for (const ExprPtr& item : node->items) expression(item.get());
  arguments(node->call);
}

void ScopeScanner::target(const Expr& node) {
  if (node.kind == ExprKind::kName) symbols_->store(names_.intern(node.text));
  if (node.kind == ExprKind::kNsRef) symbols_->load(names_.intern(node.text));
  for (const ExprPtr& item : node.items) target(*item);
}

void ScopeScanner::parameter_target(const Expr& node) {
  if (node.kind == ExprKind::kName) symbols_->declare_parameter(names_.intern(node.text));
  for (const ExprPtr& item : node.items) parameter_target(*item);
}

namespace {

// Looks for reads of one name, in the order of the source; a write before any read ends the search.
class MentionFinder {
 public:
  explicit MentionFinder(std::string_view name) : name_(name) {}

  bool found() const { return found_; }

  void body(const Body& statements) {
    for (const StmtPtr& node : statements) statement(*node);
  }

 private:
  bool done() const { return found_ || hidden_; }

  void write(std::string_view name) { hidden_ = hidden_ || (!found_ && name == name_); }

  void target(const Expr& node) {
    if (node.kind == ExprKind::kName) write(node.text);
    for (const ExprPtr& item : node.items) target(*item);
  }

  void expression(const Expr* node) {
    if (node == nullptr || done()) return;
    if (node->kind == ExprKind::kName && node->text == name_) found_ = true;
    for (const ExprPtr& item : node->items) expression(item.get());
    for (const ExprPtr& item : node->call.positional) expression(item.get());
    for (const auto& [name, value] : node->call.keyword) expression(value.get());
    expression(node->call.star.get());
    expression(node->call.double_star.get());
  }

  void statement(const Stmt& node) {
    if (done()) return;
    if (node.kind == StmtKind::kFilterBlock) {
      body(node.body);
      expression(node.value.get());
      return;
    }
    if (node.kind == StmtKind::kCallBlock) expression(node.value.get());
    if (node.target) target(*node.target);
    for (const ExprPtr& item : node.targets) target(*item);
    for (const std::string& parameter : node.parameters) write(parameter);
    for (const ExprPtr& item : node.defaults) expression(item.get());
    if (node.kind == StmtKind::kIf) {
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        expression(node.items[i].get());
        body(node.branches[i]);
      }
    } else {
      for (const ExprPtr& item : node.items) expression(item.get());
      if (node.kind != StmtKind::kCallBlock) expression(node.value.get());
    }
    body(node.body);
    body(node.else_body);
    expression(node.test.get());
  }

  std::string_view name_;
  bool found_ = false;
  bool hidden_ = false;
};

}  // namespace

bool mentions(const Body& statements, std::string_view name) {
  MentionFinder finder(name);
  finder.body(statements);
  return finder.found();
}

}  // namespace rondo::jinja
