// Which name means what: the scoping rules of jinja2.idtracking, decided when a template is compiled.
//
// Every scope (the template, a loop's body, a macro, ...) has a Symbols: what each name it mentions is at the start of
// the scope.  The rules are the reference's, oddities included: a name that a loop's body sets is a copy of the outer
// variable in each iteration; a name that is set on one branch of an if only is looked up outside on the others.
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

// Gives names numbers.
class Names {
 public:
  NameId intern(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  [[nodiscard]] const std::string& at(NameId name) const { return names_[name]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId> ids_;
};

// What a name is when its scope begins.
enum class Load : std::uint8_t {
  kParameter,  // set by whatever opens the scope: a loop's target, a macro's argument
  kResolve,    // a variable of the render or a global
  kAlias,      // a copy of the surrounding scope's
  kUndefined,  // nothing yet
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

  // The entry of this scope; nullptr if the scope does not mention the name.
  [[nodiscard]] const Entry* find(NameId name) const;
  // The scope, this one or an outer one, that the name belongs to; nullptr if nobody mentions it.
  [[nodiscard]] const Symbols* owner(NameId name) const;

  void load(NameId name);
  void store(NameId name);
  void declare_parameter(NameId name);

  // The branches of an if statement: each starts from the scope as it is at a mark.  What it did is taken back, and in
  // the end what all of them did is merged.
  struct Mark {
    std::size_t entries = 0;
    std::size_t changes = 0;
  };
  [[nodiscard]] Mark mark() const { return {entries_.size(), changes_.size()}; }
  // Makes the scope what it was at `mark`, the latest that was not taken back; returns the entries that differed.
  [[nodiscard]] std::vector<Entry> take_back(Mark mark);
  void merge_branches(const std::vector<std::vector<Entry>>& branches);

 private:
  struct Change {
    std::size_t at = 0;
    Entry before;
  };
  // Up to here a search is faster than a hash.
  static constexpr std::size_t kFewEntries = 12;

  [[nodiscard]] std::optional<std::size_t> position(NameId name) const;
  void add(const Entry& entry);
  void change(std::size_t at, const Entry& entry);

  const Symbols* parent_;
  std::uint32_t level_;
  std::uint32_t function_;
  std::vector<Entry> entries_;
  std::vector<Change> changes_;                        // of entries that were there, in order
  std::unordered_map<NameId, std::size_t> positions_;  // in entries_, once these are more than a few
};

// Walks statements and expressions as they stand in one scope and fills its Symbols.  Inner scopes are not entered.
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

// True if `name` is read somewhere in `statements`, at any depth, before anything there sets it.
[[nodiscard]] bool mentions(const Body& statements, std::string_view name);

}  // namespace rondo::jinja
