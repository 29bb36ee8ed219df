// The operators of expressions.  The syntax tree, the instructions and the values use the same names.
#pragma once

#include <cstdint>

namespace rondo::jinja {

// kConstantPow: a power with a constant on its left and a variable part on its right; see compile/folding.h.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow, kConstantPow };
enum class CompareOp : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

}  // namespace rondo::jinja
