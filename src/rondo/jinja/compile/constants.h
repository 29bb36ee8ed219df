// The values of expressions without variables, as the reference computes them when it compiles a template.
//
// Few templates need them, because a constant expression has the same value whenever it is computed.  But the reference
// writes its values as Python source.  In that source an infinity or a NaN is a name that nobody has defined.  So
// templates can see which expressions the reference replaces, and that depends on the values of their parts:
//
//   1 == 1e999 == x   is False: the reference compares the constants and stops
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
  // `tree` must outlive this.
  explicit Constants(const Tree& tree);
  ~Constants();
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  // Returns the value; nullopt if the reference gives up because of a variable, a failure or too much work.  The value
  // lives as long as this object.
  [[nodiscard]] std::optional<Value> value(const Expr& node, const Escaping& escaping);
  // Returns the value if the reference replaces the expression by it.
  [[nodiscard]] std::optional<Value> replacement(const Expr& node, const Escaping& escaping);

  // Returns "inf" or "nan": the name of the first infinity or NaN in such a value; empty if there is none.
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
  bool is_open_ = false;  // whether autoescape is on is not known
};

}  // namespace rondo::jinja
