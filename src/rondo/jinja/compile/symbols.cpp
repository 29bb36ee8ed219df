#include "jinja/compile/symbols.h"

#include "jinja/syntax/ast.h"

namespace rondo::jinja {

NameId Names::intern(std::string_view name) {
  const auto [at, added] = ids_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
  if (added) names_.emplace_back(name);
  return at->second;
}

std::optional<std::size_t> Symbols::position(NameId name) const {
  if (entries_.size() > kFewEntries) {
    const auto found = positions_.find(name);
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].name == name) return i;
  }
  return std::nullopt;
}

const Symbols::Entry* Symbols::find(NameId name) const {
  const auto at = position(name);
  return at ? &entries_[*at] : nullptr;
}

void Symbols::add(const Entry& entry) {
  entries_.push_back(entry);
  if (entries_.size() == kFewEntries + 1) {
    for (std::size_t i = 0; i < entries_.size(); ++i) positions_.emplace(entries_[i].name, i);
  } else if (entries_.size() > kFewEntries) {
    positions_.emplace(entry.name, entries_.size() - 1);
  }
}

void Symbols::change(std::size_t at, const Entry& entry) {
  changes_.push_back({at, entries_[at]});
  entries_[at] = entry;
}

const Symbols* Symbols::owner(NameId name) const {
  const Symbols* scope = this;
  while (scope != nullptr && scope->find(name) == nullptr) scope = scope->parent_;
  return scope;
}

void Symbols::load(NameId name) {
  if (owner(name) == nullptr) add({name, Load::kResolve, false});
}

void Symbols::store(NameId name) {
  if (const auto at = position(name)) {
    if (!entries_[*at].stored) change(*at, {name, entries_[*at].load, true});
    return;
  }
  const bool outside = parent_ != nullptr && parent_->owner(name) != nullptr;
  add({name, outside ? Load::kAlias : Load::kUndefined, true});
}

void Symbols::declare_parameter(NameId name) {
  const Entry parameter = {name, Load::kParameter, true};
  if (const auto at = position(name)) {
    change(*at, parameter);
  } else {
    add(parameter);
  }
}

std::vector<Symbols::Entry> Symbols::take_back(Mark mark) {
  std::vector<Entry> out;
  for (std::size_t i = mark.changes; i < changes_.size(); ++i) {
    if (changes_[i].at < mark.entries) out.push_back(entries_[changes_[i].at]);
  }
  out.insert(out.end(), entries_.begin() + static_cast<std::ptrdiff_t>(mark.entries), entries_.end());
  for (; changes_.size() > mark.changes; changes_.pop_back()) entries_[changes_.back().at] = changes_.back().before;
  for (; entries_.size() > mark.entries; entries_.pop_back()) positions_.erase(entries_.back().name);
  if (entries_.size() <= kFewEntries) positions_.clear();
  return out;
}

void Symbols::merge_branches(const std::vector<std::vector<Entry>>& branches) {
  std::vector<NameId> newly_stored;
  for (const std::vector<Entry>& branch : branches) {
    for (const Entry& entry : branch) {
      const Entry* before = find(entry.name);
      if (entry.stored && (before == nullptr || !before->stored)) newly_stored.push_back(entry.name);
    }
  }
  for (const std::vector<Entry>& branch : branches) {
    for (const Entry& entry : branch) {
      if (const auto at = position(entry.name)) {
        change(*at, {entry.name, entry.load, entries_[*at].stored || entry.stored});
      } else {
        add(entry);
      }
    }
  }
  for (const NameId name : newly_stored) {
    const bool outside = parent_ != nullptr && parent_->owner(name) != nullptr;
    change(*position(name), {name, outside ? Load::kAlias : Load::kResolve, true});
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
    case StmtKind::kMacro: symbols_.store(names_.intern(node.name)); break;
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
  const Symbols::Mark start = symbols_.mark();
  std::vector<std::vector<Symbols::Entry>> branches;
  body(node.branches[0]);
  branches.push_back(symbols_.take_back(start));
  // The elif branches count as one branch, and inside it each is a branch of its own.
  for (std::size_t i = 1; i < node.items.size(); ++i) {
    expression(node.items[i].get());
    const Symbols::Mark inner = symbols_.mark();
    body(node.branches[i]);
    symbols_.merge_branches({symbols_.take_back(inner)});
  }
  branches.push_back(symbols_.take_back(start));
  body(node.else_body);
  branches.push_back(symbols_.take_back(start));
  symbols_.merge_branches(branches);
}

void ScopeScanner::arguments(const Arguments& call) {
  for (const ExprPtr& item : call.positional) expression(item.get());
  for (const auto& [name, value] : call.keyword) expression(value.get());
  expression(call.star.get());
  expression(call.double_star.get());
}

void ScopeScanner::expression(const Expr* node) {
  if (node == nullptr) return;
  if (node->kind == ExprKind::kName || node->kind == ExprKind::kNsRef) symbols_.load(names_.intern(node->text));
  for (const ExprPtr& item : node->items) expression(item.get());
  arguments(node->call);
}

void ScopeScanner::target(const Expr& node) {
  if (node.kind == ExprKind::kName) symbols_.store(names_.intern(node.text));
  if (node.kind == ExprKind::kNsRef) symbols_.load(names_.intern(node.text));
  for (const ExprPtr& item : node.items) target(*item);
}

void ScopeScanner::parameter_target(const Expr& node) {
  if (node.kind == ExprKind::kName) symbols_.declare_parameter(names_.intern(node.text));
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
