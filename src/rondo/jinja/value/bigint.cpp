#include "jinja/value/bigint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rondo::jinja {
namespace {

using Limbs = std::vector<std::uint32_t>;

constexpr unsigned kLimbBits = 32;

int compare_limbs(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

Limbs add_limbs(const Limbs& a, const Limbs& b) {
  Limbs out;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    carry += (i < a.size() ? a[i] : 0U);
    carry += (i < b.size() ? b[i] : 0U);
    out.push_back(static_cast<std::uint32_t>(carry));
    carry >>= kLimbBits;
  }
  return out;
}

// REQUIRES: a >= b.
Limbs subtract_limbs(const Limbs& a, const Limbs& b) {
  Limbs out(a.size());
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t part = static_cast<std::int64_t>(a[i]) - (i < b.size() ? b[i] : 0U) + borrow;
    borrow = part < 0 ? -1 : 0;
    if (part < 0) part += std::int64_t{1} << kLimbBits;
    out[i] = static_cast<std::uint32_t>(part);
  }
  while (!out.empty() && out.back() == 0) out.pop_back();
  return out;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

}  // namespace

BigInt::BigInt(std::int64_t value) : negative_(value < 0) {
  auto magnitude = static_cast<std::uint64_t>(value);
  if (negative_) magnitude = ~magnitude + 1;
  for (; magnitude != 0; magnitude >>= kLimbBits) limbs_.push_back(static_cast<std::uint32_t>(magnitude));
}

std::optional<BigInt> BigInt::parse(std::string_view digits, unsigned base) {
  BigInt out;
  bool negative = false;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    const int digit = digit_value(c);
    if (digit >= static_cast<int>(base)) return std::nullopt;
    std::uint64_t carry = static_cast<std::uint64_t>(digit);
    for (std::uint32_t& limb : out.limbs_) {
      carry += static_cast<std::uint64_t>(limb) * base;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= kLimbBits;
    }
    if (carry != 0) out.limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
  out.negative_ = negative;
  out.trim();
  return out;
}

BigInt BigInt::truncate(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::trunc(value), &exponent);  // value = fraction * 2^exponent
  constexpr int kMantissaBits = std::numeric_limits<double>::digits;
  if (exponent <= kMantissaBits) return BigInt(static_cast<std::int64_t>(value));
  BigInt out(static_cast<std::int64_t>(std::ldexp(fraction, kMantissaBits)));
  const auto shift = static_cast<unsigned>(exponent - kMantissaBits);
  BigInt power;
  power.limbs_.assign(shift / kLimbBits, 0);
  power.limbs_.push_back(1U << (shift % kLimbBits));
  return out * power;
}

std::size_t BigInt::bit_length() const {
  if (limbs_.empty()) return 0;
  return limbs_.size() * kLimbBits - static_cast<std::size_t>(std::countl_zero(limbs_.back()));
}

std::optional<std::int64_t> BigInt::to_int64() const {
  if (limbs_.size() > 2) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) magnitude = magnitude << kLimbBits | limbs_[i];
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (magnitude > kLargest + (negative_ ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative_ ? ~magnitude + 1 : magnitude);
}

double BigInt::to_double() const {
  // The top 64 bits, with the lowest set if anything below them is.  Converting that rounds once, to nearest even.
  const std::size_t bits = bit_length();
  std::uint64_t top = 0;
  bool sticky = false;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    const std::size_t low = i * kLimbBits;
    if (bits <= 64 || low + 64 >= bits) {
      const std::size_t shift = bits <= 64 ? low : low + 64 - bits;
      top |= shift < 64 ? static_cast<std::uint64_t>(limbs_[i]) << shift : 0;
    } else if (low + 96 > bits) {
      const std::size_t drop = bits - 64 - low;
      top |= limbs_[i] >> drop;
      sticky = sticky || (limbs_[i] & ((1U << drop) - 1)) != 0;
    } else {
      sticky = sticky || limbs_[i] != 0;
    }
  }
  if (sticky) top |= 1;
  const double magnitude = std::ldexp(static_cast<double>(top), bits <= 64 ? 0 : static_cast<int>(bits - 64));
  return negative_ ? -magnitude : magnitude;
}

std::uint32_t BigInt::divide_small(std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    rest = rest << kLimbBits | limbs_[i];
    limbs_[i] = static_cast<std::uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim();
  return static_cast<std::uint32_t>(rest);
}

std::string BigInt::to_string(unsigned base) const {
  if (is_zero()) return "0";
  std::string out;
  BigInt rest = *this;
  // Several digits at a time, for fewer passes over the limbs.
  std::uint32_t chunk = base;
  unsigned digits = 1;
  while (static_cast<std::uint64_t>(chunk) * base <= std::numeric_limits<std::uint32_t>::max()) {
    chunk *= base;
    ++digits;
  }
  while (!rest.is_zero()) {
    std::uint32_t part = rest.divide_small(chunk);
    for (unsigned i = 0; i < digits && (part != 0 || !rest.is_zero()); ++i, part /= base) {
      out += "0123456789abcdefghijklmnopqrstuvwxyz"[part % base];
    }
  }
  if (negative_) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

BigInt BigInt::negated() const {
  BigInt out = *this;
  out.negative_ = !negative_ && !is_zero();
  return out;
}

BigInt BigInt::operator+(const BigInt& other) const {
  BigInt out;
  if (negative_ == other.negative_) {
    out.limbs_ = add_limbs(limbs_, other.limbs_);
    out.negative_ = negative_;
  } else if (compare_limbs(limbs_, other.limbs_) >= 0) {
    out.limbs_ = subtract_limbs(limbs_, other.limbs_);
    out.negative_ = negative_;
  } else {
    out.limbs_ = subtract_limbs(other.limbs_, limbs_);
    out.negative_ = other.negative_;
  }
  out.trim();
  return out;
}

BigInt BigInt::operator*(const BigInt& other) const {
  BigInt out;
  out.limbs_.assign(limbs_.size() + other.limbs_.size(), 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.limbs_.size() || carry != 0; ++j) {
      carry += out.limbs_[i + j];
      if (j < other.limbs_.size()) carry += static_cast<std::uint64_t>(limbs_[i]) * other.limbs_[j];
      out.limbs_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= kLimbBits;
    }
  }
  out.negative_ = negative_ != other.negative_;
  out.trim();
  return out;
}

BigInt::Division BigInt::divide(const BigInt& divisor) const {
  Division out;
  if (divisor.limbs_.size() == 1) {
    out.quotient.limbs_ = limbs_;
    const std::uint32_t rest = out.quotient.divide_small(divisor.limbs_[0]);
    if (rest != 0) out.remainder.limbs_.push_back(rest);
  } else {
    // Works bit by bit: callers bound the sizes, and nobody divides such numbers in a loop.
    out.quotient.limbs_.assign(limbs_.size(), 0);
    for (std::size_t bit = bit_length(); bit-- > 0;) {
      Limbs& rest = out.remainder.limbs_;
      std::uint32_t carry = limbs_[bit / kLimbBits] >> (bit % kLimbBits) & 1U;
      for (std::uint32_t& limb : rest) {
        const std::uint32_t high = limb >> (kLimbBits - 1);
        limb = limb << 1U | carry;
        carry = high;
      }
      if (carry != 0) rest.push_back(carry);
      if (compare_limbs(rest, divisor.limbs_) < 0) continue;
      rest = subtract_limbs(rest, divisor.limbs_);
      out.quotient.limbs_[bit / kLimbBits] |= 1U << (bit % kLimbBits);
    }
  }
  out.quotient.negative_ = negative_ != divisor.negative_;
  out.remainder.negative_ = negative_;
  out.quotient.trim();
  out.remainder.trim();
  if (!out.remainder.is_zero() && negative_ != divisor.negative_) {
    out.quotient = out.quotient - BigInt(1);
    out.remainder = out.remainder + divisor;
  }
  return out;
}

std::strong_ordering BigInt::operator<=>(const BigInt& other) const {
  if (negative_ != other.negative_) return negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  const int order = compare_limbs(limbs_, other.limbs_);
  if (order == 0) return std::strong_ordering::equal;
  return (order < 0) != negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
}

void BigInt::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

}  // namespace rondo::jinja
