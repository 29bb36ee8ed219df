// What the reference computes when it compiles a template.
//
// jinja2 replaces expressions without variables by their values and writes those values into Python source as repr()
// has them.  Two of them come back as something else, and templates can see it: -2 binds weaker than the power behind it,
// and inf and nan are names that nobody defined.  The values themselves are computed here where they are used.
#pragma once

#include <optional>
#include <string_view>

#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"

namespace rondo::jinja {

// The operator of a kBinary.
[[nodiscard]] BinaryOp binary_op(TokenKind token);
// The truth of a literal; nothing for other expressions.
[[nodiscard]] std::optional<bool> literal_truth(const Expr& node);
// Whether the reference tries to replace the expression by its value: no variables, no calls, no filter that wants to
// know the variables.
[[nodiscard]] bool is_constant(const Expr& node);
// Whether the reference looks for constants in the expression and all below it: it does not begin at literals.
[[nodiscard]] bool begins_folding(const Expr& node);
// Whether computing the dict fails, for a constant key that is a list or dict, before it meets a part that is no constant.
// REQUIRES: `dict` is a kDict.
[[nodiscard]] bool has_unhashable_key(const Expr& dict);
// Whether a constant in them may be, or contain, an infinity or a NaN; see constants.h.
[[nodiscard]] bool may_overflow(const Body& statements);
// Filters that the reference never runs when it compiles.
[[nodiscard]] bool asks_for_variables(std::string_view filter);

// What is known of autoescape at a place of the template.  The reference decides when it compiles whether to escape, where
// it can: a macro escapes as the place does where it is defined, and a constant as the last setting says that is known.
struct Escaping {
  bool used = false;  // the template has an autoescape block; without one nothing needs a decision
  bool on = false;    // the last known setting
  bool open = false;  // a setting that is not known stands inside it

  // Whether a template or part of one has an autoescape block.
  [[nodiscard]] static bool is_used(const Body& statements);
  // A block that sets it to the truth of `value`.
  void enter(const Expr& value);
  // How {{ item }} and the operands of ~ are written.
  [[nodiscard]] Escape of_output(const Expr& item) const;
  [[nodiscard]] Escape of_join() const;
};

}  // namespace rondo::jinja
