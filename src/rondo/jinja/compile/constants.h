// The values of expressions without variables, as the reference computes them when it compiles a template.
//
// Hardly a template needs them: what a constant expression gives is the same whenever it is computed.  But a value with an
// infinity or a NaN in it comes back from the Python source that the reference writes as a name that nobody defined, so
// there it matters which expressions it replaces, and that depends on what their parts give:
//
//   1 == 1e999 == x   is False: the reference compares the constants and is done
//   x == 1e999        fails: "name 'inf' is not defined"
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/compile/folding.h"
#include "jinja/syntax/ast.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

class Constants {
 public:
  // `tree` must outlive it.
  explicit Constants(const Tree& tree);
  ~Constants();
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  // Nothing where the reference gives up: for a variable, a failure, or too much work.  Lives as long as this.
  [[nodiscard]] std::optional<Value> value(const Expr& node, const Escaping& escaping);
  // The same where it replaces the expression by the value.
  [[nodiscard]] std::optional<Value> replacement(const Expr& node, const Escaping& escaping);

  // The name that stands for the first infinity or NaN in such a value: "inf" or "nan"; empty if there is none.
  [[nodiscard]] std::string_view undefined_number(const Value& value);

 private:
  struct State;

  [[nodiscard]] std::optional<Value> compute(const Expr& node);
  [[nodiscard]] std::optional<Value> compute_operation(const Expr& node);
  [[nodiscard]] std::optional<Value> compute_comparison(const Expr& node);
  [[nodiscard]] std::optional<Value> compute_element(const Expr& node);
  [[nodiscard]] std::optional<Value> compute_call(const Expr& node);
  [[nodiscard]] std::optional<std::vector<Value>> compute_all(const std::vector<ExprPtr>& nodes);

  const Tree& tree_;
  std::unique_ptr<State> state_;
  bool is_open_ = false;  // it is not known whether autoescape is on
};

}  // namespace rondo::jinja
