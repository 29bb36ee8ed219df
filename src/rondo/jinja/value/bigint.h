// Integers of any size, for the few templates that need more than 64 bits.  Uses schoolbook arithmetic; callers limit
// sizes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::jinja {

class BigInt {
 public:
  BigInt() = default;  // 0
  explicit BigInt(std::int64_t value);

  // Parses digits in `base` (2 to 36) with an optional sign.  Returns nullopt for anything else.
  [[nodiscard]] static std::optional<BigInt> parse(std::string_view digits, unsigned base = 10);
  // Returns the integer part.
  //
  // REQUIRES: value is finite.
  [[nodiscard]] static BigInt truncate(double value);

  [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
  [[nodiscard]] bool is_negative() const { return negative_; }
  [[nodiscard]] bool is_odd() const { return !limbs_.empty() && (limbs_[0] & 1U) != 0; }
  [[nodiscard]] std::size_t bit_length() const;
  // Returns the square of the length in machine words: the cost of multiplying, dividing and printing.
  [[nodiscard]] std::size_t square() const { return limbs_.size() * limbs_.size(); }
  // Returns nullopt if it does not fit.
  [[nodiscard]] std::optional<std::int64_t> to_int64() const;
  [[nodiscard]] double to_double() const;  // rounded to nearest; infinite beyond the range
  [[nodiscard]] std::string to_string(unsigned base = 10) const;

  [[nodiscard]] BigInt negated() const;
  [[nodiscard]] BigInt operator+(const BigInt& other) const;
  [[nodiscard]] BigInt operator-(const BigInt& other) const { return *this + other.negated(); }
  [[nodiscard]] BigInt operator*(const BigInt& other) const;
  struct Division;
  // Returns the quotient rounded down, and the remainder with the sign of the divisor, as Python does.
  //
  // REQUIRES: !divisor.is_zero().
  [[nodiscard]] Division divide(const BigInt& divisor) const;

  bool operator==(const BigInt& other) const = default;
  std::strong_ordering operator<=>(const BigInt& other) const;

 private:
  void trim();
  [[nodiscard]] std::uint32_t divide_small(std::uint32_t divisor);  // in place; returns the remainder

  std::vector<std::uint32_t> limbs_;  // least significant first; no leading zeros
  bool negative_ = false;             // false for 0
};

struct BigInt::Division {
  BigInt quotient;
  BigInt remainder;
};

}  // namespace rondo::jinja
