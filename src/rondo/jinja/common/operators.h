// The operators of expressions.  The syntax tree, the instructions and the values use the same names.
#pragma once

#include <cstdint>
#include <string_view>

namespace rondo::jinja {

// kConstantPow: a power with a constant on its left and a variable part on its right; see compile/folding.h.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow, kConstantPow };
enum class CompareOp : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

// As templates write it: `>=`, `not in`.
[[nodiscard]] constexpr std::string_view to_string(CompareOp comparison) {
  switch (comparison) {
    case CompareOp::kEq: return "==";
    case CompareOp::kNe: return "!=";
    case CompareOp::kLt: return "<";
    case CompareOp::kLe: return "<=";
    case CompareOp::kGt: return ">";
    case CompareOp::kGe: return ">=";
    case CompareOp::kIn: return "in";
    case CompareOp::kNotIn: return "not in";
  }
  return "?";
}

}  // namespace rondo::jinja
