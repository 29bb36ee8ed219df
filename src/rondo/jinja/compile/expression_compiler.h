// Compiles expressions.  Statements are built on this part.  Internal to compiler.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "jinja/compile/constants.h"
#include "jinja/compile/folding.h"
#include "jinja/compile/symbols.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "rondo/result.h"

namespace rondo::jinja {

class ExpressionCompiler {
 public:
  ExpressionCompiler(Tree tree, std::string source, std::string name) : tree_(std::move(tree)), name_(std::move(name)) {
    program_.source = std::move(source);
  }

 protected:
  // ---- emitting

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  std::uint32_t emit(Op op, Place place, std::uint32_t a = 0, std::uint32_t b = 0, std::uint8_t flag = 0,
                     std::uint16_t small = 0);
  // Makes the jump at `instruction` go to the next instruction.
  void land(std::uint32_t instruction) { program_.code[instruction].a = here(); }

  void fail(Place place, std::string message);

  NameId name(std::string_view text) { return names_.intern(text); }

  // ---- functions and scopes

  // A function that is being compiled.
  struct OpenFunction {
    std::uint32_t id = 0;
    std::map<std::pair<std::uint32_t, NameId>, std::uint32_t> slots;  // by level and name
    // The open loops, innermost last.  Each has the scope that declares `loop`, if the loop has that variable, and the
    // number of blocks inside it that break and continue cannot leave.
    struct Loop {
      const Symbols* scope = nullptr;
      bool closed = false;
      std::uint32_t next = 0;
      std::vector<std::uint32_t> breaks;
    };
    std::vector<Loop> loops;
  };

  std::uint32_t add_function(std::string function_name);
  void enter_function(std::uint32_t id) {
    if (!functions_.empty()) program_.functions[functions_.back().id].encloses = true;
    functions_.push_back({id, {}, {}});
  }
  void leave_function() {
    program_.functions[functions_.back().id].slots = static_cast<std::uint32_t>(functions_.back().slots.size());
    functions_.pop_back();
  }
  OpenFunction& function() { return functions_.back(); }

  // Makes `symbols` the current scope while it lives.
  class Scope {
   public:
    Scope(ExpressionCompiler& compiler, const Symbols& symbols, bool soft)
        : compiler_(compiler), symbols_(compiler.symbols_), soft_(compiler.soft_) {
      compiler_.symbols_ = &symbols;
      compiler_.soft_ = soft;
    }
    ~Scope() {
      compiler_.symbols_ = symbols_;
      compiler_.soft_ = soft_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ExpressionCompiler& compiler_;
    const Symbols* symbols_;
    bool soft_;
  };

  // The slot of a name, and how many functions out it is.
  std::uint32_t slot(const Symbols& owner, NameId id);
  std::uint16_t functions_out(const Symbols& owner) const;
  // A name that its scope only reads needs no slot, because the variables of a render do not change.
  static bool is_by_name(const Symbols::Entry& entry) { return entry.load == Load::kResolve && !entry.stored; }

  // Emits the instructions at the start of a scope: copies, variables and cleared slots for the names that it sets.
  void open_scope(Place place);

  // Returns the operator; for a power with a constant on its left, the special one.
  BinaryOp operation(const Expr& node) const;

  void load_name(std::string_view text, Place place);

  // Stores the value on top into `target`.
  void store(const Expr& target, bool binds);

  // ---- expressions: each pushes one value

  void items(const std::vector<ExprPtr>& nodes) {
    for (const ExprPtr& node : nodes) expression(*node);
  }

  void apply(const Expr& node, Op op, std::uint32_t count = 0, std::uint8_t flag = 0) {
    items(node.items);
    emit(op, node.place, count, 0, flag);
  }

  void expression(const Expr& node);

  void value_of(const Expr& node);

  void number(const Expr& node);

  // Returns the loop, counted outwards in this function, whose `loop` variable `node` names.
  std::optional<std::uint16_t> named_loop(const Expr& node);

  void attribute(const Expr& node);

  void subscript(const Expr& node);

  // Pushes the arguments.  `caller`, if any, becomes the last keyword argument.
  std::uint32_t arguments(const Arguments& call, std::uint32_t caller, Place place);

  // Compiles an expression whose constants may have to be known; see constants.h.
  void computed_expression(const Expr& node);

  [[nodiscard]] static bool may_fail(const Arguments& call);
  void call(const Expr& node, std::uint32_t caller);

  // Compiles the filters of a filter or set block, innermost first; the text is on top.
  void filter(const Expr& node, bool of_value = false);

  void test(const Expr& node);

  void short_cut(const Expr& node, Op jump);

  void comparison(const Expr& node);

  // Compiles `x == 'constant'` as one instruction.  Returns false if comparison `i` of `node` does not have this form.
  bool compare_with_string(const Expr& node, std::size_t i);

  void inline_if(const Expr& node);

  // Compiles a test.  If it is false, the returned jump is taken.
  std::uint32_t condition(const Expr& node, std::uint8_t flag);
  // Does the same after an instruction that has begun the test.
  std::uint32_t begun_condition(const Expr& node, std::uint8_t flag);
  static std::uint8_t negated(const Expr& node) {
    if (node.kind != ExprKind::kNot) return 0;
    return negated(*node.items[0]) != 0 ? 0 : kTestNegated;
  }

  Tree tree_;
  std::string name_;
  Program program_;
  Names names_;
  std::map<std::pair<bool, std::string>, std::uint32_t> number_ids_;
  std::map<CallShape, std::uint32_t> call_ids_;
  std::vector<OpenFunction> functions_;
  const Symbols* symbols_ = nullptr;
  Escaping escaping_;
  std::unique_ptr<Constants> constants_;  // nullptr if no constant can be infinite
  bool folding_ = false;            // the reference looks here for expressions that it can compute when it compiles
  bool in_constant_ = false;        // inside one of these expressions
  const Expr* constant_ = nullptr;  // the last of them that was not written at once
  bool soft_ = false;               // inside a conditional branch, where unknown filters are looked up only at run time
  std::set<std::string> undeclared_;
  std::optional<Error> error_;
};

}  // namespace rondo::jinja
