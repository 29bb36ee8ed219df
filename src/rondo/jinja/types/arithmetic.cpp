// The arithmetic operators, as Python has them.
#include "jinja/types/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "jinja/common/operators.h"
#include "jinja/types/access.h"
#include "jinja/types/format.h"
#include "jinja/types/markup.h"
#include "jinja/types/views.h"
#include "jinja/value/bigint.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

std::string_view symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return "+";
    case BinaryOp::kSub: return "-";
    case BinaryOp::kMul: return "*";
    case BinaryOp::kDiv: return "/";
    case BinaryOp::kFloorDiv: return "//";
    case BinaryOp::kMod: return "%";
    case BinaryOp::kConstantPow:
    case BinaryOp::kPow: return "** or pow()";
  }
  return "?";
}

[[noreturn]] void unsupported(Runtime& runtime, BinaryOp op, const Value& left, const Value& right) {
  runtime.fail("unsupported operand type(s) for " + std::string(symbol(op)) + ": '" + type_name(left) + "' and '" +
               type_name(right) + "'");
}

// The result if it fits 64 bits.
std::optional<std::int64_t> small_arithmetic(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (op) {
    case BinaryOp::kAdd: return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryOp::kSub: return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryOp::kMul: return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryOp::kFloorDiv:
      if (b == -1) return __builtin_sub_overflow(0, a, &out) ? std::nullopt : std::optional(out);
      return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    case BinaryOp::kMod:
      if (b == -1) return 0;
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    default: return std::nullopt;
  }
}

double finite_double(Runtime& runtime, const Value& value) {
  const double out = to_double(value);
  if (!value.is_float() && std::isinf(out)) runtime.fail("int too large to convert to float");
  return out;
}

double float_modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) rest += b;
  } else {
    rest = std::copysign(0.0, b);
  }
  return rest;
}

// Does the same operations as CPython, so that it rounds alike.
double float_floor_division(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

BigInt power_of_two(std::size_t exponent) {
  return BigInt::parse("1" + std::string(exponent, '0'), 2).value_or(BigInt(1));
}

// a / b, rounded once, for any size.  REQUIRES: b != 0.
double divide_integers(Runtime& runtime, const BigInt& a, const BigInt& b) {
  constexpr std::size_t kExactBits = 53;
  if (a.bit_length() <= kExactBits && b.bit_length() <= kExactBits) return a.to_double() / b.to_double();
  const bool negative = a.is_negative() != b.is_negative();
  BigInt numerator = a.is_negative() ? a.negated() : a;
  BigInt denominator = b.is_negative() ? b.negated() : b;
  // A quotient of a few more bits than a double has.  The last bit says whether there is a remainder.
  constexpr auto kWanted = static_cast<std::ptrdiff_t>(kExactBits + 8);
  const std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(numerator.bit_length()) -
                               static_cast<std::ptrdiff_t>(denominator.bit_length()) - kWanted;
  runtime.spend(1 + (numerator.bit_length() + denominator.bit_length()) / 64);
  if (shift < 0) numerator = numerator * power_of_two(static_cast<std::size_t>(-shift));
  if (shift > 0) denominator = denominator * power_of_two(static_cast<std::size_t>(shift));
  const BigInt::Division parts = numerator.divide(denominator);
  const BigInt doubled = parts.quotient + parts.quotient + BigInt(parts.remainder.is_zero() ? 0 : 1);
  const double out =
      std::ldexp(doubled.to_double(), static_cast<int>(std::clamp<std::ptrdiff_t>(shift - 1, -5000, 5000)));
  if (std::isinf(out)) runtime.fail("integer division result too large for a float");
  return negative ? -out : out;
}

Value float_power(Runtime& runtime, double a, double b) {
  if (a == 0 && b < 0) runtime.fail("0.0 cannot be raised to a negative power");
  if (a < 0 && b != std::floor(b) && std::isfinite(a) && std::isfinite(b)) {
    runtime.fail("complex numbers are not supported");
  }
  const double out = std::pow(a, b);
  if (std::isinf(out) && std::isfinite(a) && std::isfinite(b)) runtime.fail("(34, 'Numerical result out of range')");
  return Value::floating(out);
}

Value integer_power(Runtime& runtime, const Value& left, const Value& right) {
  const BigInt exponent = to_big(right);
  if (exponent.is_negative()) return float_power(runtime, finite_double(runtime, left), finite_double(runtime, right));
  BigInt base = to_big(left);
  const std::optional<std::int64_t> times = exponent.to_int64();
  const bool trivial = base.bit_length() <= 1;  // 0, 1, -1
  constexpr std::int64_t kMostBits = 100'000;
  if (!trivial &&
      (!times || *times > kMostBits || static_cast<std::int64_t>(base.bit_length()) * *times > 2 * kMostBits)) {
    runtime.fail(ErrorCode::kLimit, "an integer of the template exceeds 100000 bits");
  }
  if (trivial) {
    if (base.is_negative() && !exponent.is_odd()) base = base.negated();
    return make_integer(runtime, exponent.is_zero() ? BigInt(1) : base);
  }
  BigInt out(1);
  for (std::int64_t left_over = *times; left_over != 0; left_over >>= 1) {
    runtime.spend(1 + base.square() / 8);
    if ((left_over & 1) != 0) out = out * base;
    if (left_over > 1) base = base * base;
  }
  return make_integer(runtime, std::move(out));
}

Value float_arithmetic(Runtime& runtime, BinaryOp op, const Value& left, const Value& right) {
  const double a = finite_double(runtime, left);
  const double b = finite_double(runtime, right);
  switch (op) {
    case BinaryOp::kAdd: return Value::floating(a + b);
    case BinaryOp::kSub: return Value::floating(a - b);
    case BinaryOp::kMul: return Value::floating(a * b);
    case BinaryOp::kConstantPow:
    case BinaryOp::kPow: return float_power(runtime, a, b);
    case BinaryOp::kDiv:
      if (b == 0) runtime.fail("float division by zero");
      return Value::floating(a / b);
    case BinaryOp::kFloorDiv:
      if (b == 0) runtime.fail("float floor division by zero");
      return Value::floating(float_floor_division(a, b));
    case BinaryOp::kMod:
      if (b == 0) runtime.fail("float modulo");
      return Value::floating(float_modulo(a, b));
  }
  return {};
}

Value numbers(Runtime& runtime, BinaryOp op, const Value& left, const Value& right) {
  if (left.is_float() || right.is_float()) return float_arithmetic(runtime, op, left, right);
  if (op == BinaryOp::kDiv) {
    if (right.is_small_int() && right.as_int() == 0) runtime.fail("division by zero");
    return Value::floating(divide_integers(runtime, to_big(left), to_big(right)));
  }
  if (op == BinaryOp::kPow) return integer_power(runtime, left, right);
  const bool divides = op == BinaryOp::kFloorDiv || op == BinaryOp::kMod;
  if (divides && right.is_small_int() && right.as_int() == 0) {
    runtime.fail(op == BinaryOp::kMod ? "integer modulo by zero" : "integer division or modulo by zero");
  }
  if (left.is_small_int() && right.is_small_int()) {
    if (const auto small = small_arithmetic(op, left.as_int(), right.as_int())) return Value::integer(*small);
  }
  const BigInt a = to_big(left);
  const BigInt b = to_big(right);
  // Division works bit by bit.
  runtime.spend(1 + (divides ? a.bit_length() : a.bit_length() / 32) * (b.bit_length() / 32) / 4 +
                a.bit_length() / 512);
  switch (op) {
    case BinaryOp::kAdd: return make_integer(runtime, a + b);
    case BinaryOp::kSub: return make_integer(runtime, a - b);
    case BinaryOp::kMul: return make_integer(runtime, a * b);
    case BinaryOp::kFloorDiv: return make_integer(runtime, a.divide(b).quotient);
    default: return make_integer(runtime, a.divide(b).remainder);
  }
}

Value add(Runtime& runtime, const Value& left, const Value& right) {
  if (left.is_string() && right.is_string()) {
    if (left.is_markup() || right.is_markup()) {
      return concatenate(runtime, escape_html(runtime, left), escape_html(runtime, right)).with_markup(true);
    }
    return concatenate(runtime, left, right);
  }
  if (left.is_sequence() && left.kind() == right.kind()) {
    const Values& first = items_of(runtime, left);
    std::vector<Value> items(first.begin(), first.end());
    const Values& more = items_of(runtime, right);
    runtime.spend((items.size() + more.size()) / 4);
    items.insert(items.end(), more.begin(), more.end());
    return left.is_list() ? make_list(runtime, std::move(items)) : jinja::make_tuple(runtime, std::move(items));
  }
  if (left.is_string() || left.is_sequence()) {
    const std::string type = left.is_string() ? "str" : type_name(left);
    runtime.fail("can only concatenate " + type + " (not \"" + type_name(right) + "\") to " + type);
  }
  unsupported(runtime, BinaryOp::kAdd, left, right);
}

Value repeat(Runtime& runtime, const Value& value, const Value& times) {
  if (!times.is_small_int()) runtime.fail("cannot fit 'int' into an index-sized integer");
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times.as_int(), 0));
  const std::size_t unit = value.is_string() ? value.as_string().size : items_of(runtime, value).size() * sizeof(Value);
  if (unit != 0 && count > runtime.options.limits.memory_bytes / unit) {
    runtime.fail(ErrorCode::kLimit, "a repeated value exceeds the memory of a render");
  }
  if (value.is_string()) {
    StringBuilder out(runtime);
    runtime.spend(unit == 0 ? 0 : count);
    if (unit != 0) runtime.heap.charge(unit * count);
    for (std::size_t i = 0; unit != 0 && i < count; ++i) out.append(value);
    return out.finish().with_markup(value.is_markup());
  }
  std::vector<Value> out;
  const Values& items = items_of(runtime, value);
  runtime.spend(items.size() * count);
  for (std::size_t i = 0; !items.empty() && i < count; ++i) out.insert(out.end(), items.begin(), items.end());
  return value.is_list() ? make_list(runtime, std::move(out)) : jinja::make_tuple(runtime, std::move(out));
}

}  // namespace

Value get_constant_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                         const Value& step) {
  require_defined(runtime, object);
  try {
    return get_slice(runtime, object, start, stop, step);
  } catch (const Failure& failure) {
    // A step of zero is not a TypeError.
    const bool ends =
        failure.error().code != ErrorCode::kTemplateError || failure.error().message.starts_with("slice step");
    if (ends) throw;
    return make_undefined_hint(runtime, object_type(object) + " has no such elements");
  }
}

namespace {

// The reference writes the constant on the left into Python source, where a sign binds weaker than the power.
Value constant_power(Runtime& runtime, const Value& left, const Value& right) {
  const bool negative = left.is_number() && !left.is_bool() &&
                        (left.is_float() ? std::signbit(left.as_float()) : order_numbers(left, Value::integer(0)) < 0);
  if (!negative) return binary(runtime, BinaryOp::kPow, left, right);
  return negate(runtime, binary(runtime, BinaryOp::kPow, negate(runtime, left), right));
}

// Repeats a sequence, on whichever side of the `*` it is; nothing if neither side is one.
std::optional<Value> repeated(Runtime& runtime, const Value& left, const Value& right) {
  const auto is_sequence = [](const Value& value) { return value.is_string() || value.is_sequence(); };
  if (is_sequence(left) && right.is_integral()) return repeat(runtime, left, right);
  if (is_sequence(right) && left.is_integral()) return repeat(runtime, right, left);
  if (is_sequence(left) || is_sequence(right)) {
    runtime.fail("can't multiply sequence by non-int of type '" + type_name(is_sequence(left) ? right : left) + "'");
  }
  return std::nullopt;
}

}  // namespace

Value binary(Runtime& runtime, BinaryOp op, const Value& left, const Value& right) {
  require_defined(runtime, left);
  if (op == BinaryOp::kConstantPow) return constant_power(runtime, left, right);
  if (op == BinaryOp::kMod && left.is_string()) return format_percent(runtime, left, right);
  if (op == BinaryOp::kSub && (left.is_object() || right.is_object())) {
    if (const std::optional<Value> set = subtract_views(runtime, left, right)) return *set;
  }
  require_defined(runtime, right);
  if (left.is_number() && right.is_number()) return numbers(runtime, op, left, right);
  if (op == BinaryOp::kAdd) return add(runtime, left, right);
  if (op == BinaryOp::kMul) {
    if (const std::optional<Value> value = repeated(runtime, left, right)) return *value;
  }
  unsupported(runtime, op, left, right);
}

Value negate(Runtime& runtime, const Value& value) {
  require_defined(runtime, value);
  if (value.is_float()) return Value::floating(-value.as_float());
  if (value.is_integral()) return numbers(runtime, BinaryOp::kSub, Value::integer(0), value);
  runtime.fail("bad operand type for unary -: '" + type_name(value) + "'");
}

Value positive(Runtime& runtime, const Value& value) {
  require_defined(runtime, value);
  if (value.is_bool()) return Value::integer(value.as_int());
  if (value.is_number()) return value;
  runtime.fail("bad operand type for unary +: '" + type_name(value) + "'");
}

}  // namespace rondo::jinja
