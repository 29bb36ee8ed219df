// Tells what the reference computes when it compiles a template.
//
// jinja2 replaces an expression without variables by its value, written into Python source with repr().  Two kinds of
// values come back as something else, and templates can see it: -2 binds weaker than a power after it, and inf and nan
// are undefined names.  The values themselves are computed here at the places that use them.
#pragma once

#include <optional>
#include <string_view>

#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"

namespace rondo::jinja {

// Returns the operator of a kBinary.
[[nodiscard]] BinaryOp binary_op(TokenKind token);
// Returns the truth of a literal; nullopt for other expressions.
[[nodiscard]] std::optional<bool> literal_truth(const Expr& node);
// Returns whether the reference tries to replace the expression by its value: it has no variables, no calls, and no
// filter that reads the variables.
[[nodiscard]] bool is_constant(const Expr& node);
// Returns whether the reference looks for constants in this expression and below it; it does not start at literals.
[[nodiscard]] bool begins_folding(const Expr& node);
// Returns whether computing the dict fails because of a constant key that is a list or dict, before it meets a part
// that is not constant.
//
// REQUIRES: `dict` is a kDict.
[[nodiscard]] bool has_unhashable_key(const Expr& dict);
// Returns whether a constant in the statements may be or contain an infinity or a NaN; see constants.h.
[[nodiscard]] bool may_overflow(const Body& statements);
// Returns whether the reference never runs this filter when it compiles.
[[nodiscard]] bool asks_for_variables(std::string_view filter);

// What is known about autoescape at a place of the template.  If possible, the reference decides at compile time
// whether to escape.  A macro escapes as the place of its definition does, and a constant as the last known setting
// says.
struct Escaping {
  bool used = false;  // the template has an autoescape block; without one nothing needs a decision
  bool on = false;    // the last known setting
  bool open = false;  // an unknown setting is active

  // Returns whether a template, or a part of one, has an autoescape block.
  [[nodiscard]] static bool is_used(const Body& statements);
  // Enters a block that sets autoescape to the truth of `value`.
  void enter(const Expr& value);
  // Returns how {{ item }}, or an operand of ~, is written.
  [[nodiscard]] Escape of_output(const Expr& item) const;
  [[nodiscard]] Escape of_join() const;
};

}  // namespace rondo::jinja
