// The meaning of names: the scoping rules of jinja2.idtracking, applied when a template is compiled.
//
// Every scope (the template, a loop's body, a macro, ...) has a Symbols.  It says what each name in the scope is at its
// start.  The rules are the reference's, oddities included.  A name that a loop's body sets is a copy of the outer
// variable in each iteration.  A name that only one branch of an if sets is looked up outside the scope in the other
// branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jinja/syntax/ast.h"

namespace rondo::jinja {

using NameId = std::uint32_t;

// Numbers the names.
class Names {
 public:
  NameId intern(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  [[nodiscard]] const std::string& at(NameId name) const { return names_[name]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId> ids_;
};

// The meaning of a name at the start of its scope.
enum class Load : std::uint8_t {
  kParameter,  // set by whatever opens the scope: a loop's target, a macro's argument
  kResolve,    // a variable of the render or a global
  kAlias,      // a copy of the variable in the surrounding scope
  kUndefined,  // not set yet
};

class Symbols {
 public:
  struct Entry {
    NameId name = 0;
    Load load = Load::kUndefined;
    bool stored = false;
  };

  Symbols(const Symbols* parent, std::uint32_t function)
      : parent_(parent), level_(parent == nullptr ? 0 : parent->level_ + 1), function_(function) {}

  [[nodiscard]] const Symbols* parent() const { return parent_; }
  [[nodiscard]] std::uint32_t level() const { return level_; }
  [[nodiscard]] std::uint32_t function() const { return function_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // Returns the entry of this scope; nullptr if the scope does not mention the name.
  [[nodiscard]] const Entry* find(NameId name) const;
  // Returns the scope, this one or an outer one, that the name belongs to; nullptr if none mentions it.
  [[nodiscard]] const Symbols* owner(NameId name) const;

  void load(NameId name);
  void store(NameId name);
  void declare_parameter(NameId name);

  // For the branches of an if statement.  Each branch starts from the scope as it was at a Mark.  What it did is taken
  // back, and at the end the results of all branches are merged.
  struct Mark {
    std::size_t entries = 0;
    std::size_t changes = 0;
  };
  [[nodiscard]] Mark mark() const { return {entries_.size(), changes_.size()}; }
  // Restores the scope to `mark`, the latest that was not taken back.  Returns the entries that differed.
  [[nodiscard]] std::vector<Entry> take_back(Mark mark);
  void merge_branches(const std::vector<std::vector<Entry>>& branches);

 private:
  struct Change {
    std::size_t at = 0;
    Entry before;
  };
  // Up to this size a linear search is faster than a hash.
  static constexpr std::size_t kFewEntries = 12;

  [[nodiscard]] std::optional<std::size_t> position(NameId name) const;
  void add(const Entry& entry);
  void change(std::size_t at, const Entry& entry);

  const Symbols* parent_;
  std::uint32_t level_;
  std::uint32_t function_;
  std::vector<Entry> entries_;
  std::vector<Change> changes_;                        // of existing entries, in order
  std::unordered_map<NameId, std::size_t> positions_;  // positions in entries_, once there are more than kFewEntries
};

// Visits statements and expressions of one scope and fills its Symbols.  Does not enter inner scopes.
class ScopeScanner {
 public:
  ScopeScanner(Symbols& symbols, Names& names) : symbols_(symbols), names_(names) {}

  void body(const Body& statements);
  void statement(const Stmt& node);
  void expression(const Expr* node);
  void target(const Expr& node);            // stores
  void parameter_target(const Expr& node);  // declares parameters

 private:
  void if_statement(const Stmt& node);
  void arguments(const Arguments& call);

  Symbols& symbols_;
  Names& names_;
};

// Returns true if something in `statements`, at any depth, reads `name` before it is set there.
[[nodiscard]] bool mentions(const Body& statements, std::string_view name);

}  // namespace rondo::jinja
