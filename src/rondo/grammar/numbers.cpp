#include "grammar/numbers.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace rondo::grammar {
namespace {

// A number that is not negative.  The digits before the point have no leading zeros, and those after it no trailing
// ones.
struct Decimal {
  std::string whole;
  std::string fraction;
};

// Returns whether a is less than b.  Both are whole numbers without leading zeros.
bool is_less(const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

Decimal decimal_of(std::string_view digits) {
  const std::size_t point = digits.find('.');
  Decimal out{std::string(digits.substr(0, point)),
              point == std::string_view::npos ? "" : std::string(digits.substr(point + 1))};
  out.whole.erase(0, std::min(out.whole.find_first_not_of('0'), out.whole.size()));
  if (out.whole.empty()) out.whole = "0";
  while (!out.fraction.empty() && out.fraction.back() == '0') out.fraction.pop_back();
  return out;
}

bool is_zero(const Decimal& number) { return number.whole == "0" && number.fraction.empty(); }

std::string next_whole(std::string digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return digits;
    }
    digits[i] = '0';
  }
  return "1" + digits;
}

// REQUIRES: `digits` is not zero.
std::string previous_whole(std::string digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '0') {
      --digits[i];
      break;
    }
    digits[i] = '9';
  }
  if (digits.size() > 1 && digits[0] == '0') digits.erase(0, 1);
  return digits;
}

// The part of a range that is not negative.
struct Side {
  Decimal least{"0", ""};
  bool least_is_exclusive = false;
  std::optional<Decimal> most;
  bool most_is_exclusive = false;
};

// Returns that part of the range; nullopt if the range has none.
std::optional<Side> positive_side(const NumberRange& range) {
  Side out;
  if (range.least && !range.least->digits.starts_with('-')) {
    out.least = decimal_of(range.least->digits);
    out.least_is_exclusive = range.least->is_exclusive;
  }
  if (range.most) {
    if (range.most->digits.starts_with('-')) {
      if (!is_zero(decimal_of(range.most->digits.substr(1)))) return std::nullopt;
      out.most = Decimal{"0", ""};
    } else {
      out.most = decimal_of(range.most->digits);
    }
    out.most_is_exclusive = range.most->is_exclusive;
  }
  return out;
}

// Returns the range with its sign turned, so negative numbers become positive.
NumberRange turned(const NumberRange& range) {
  const auto turn = [](const std::optional<Bound>& bound) -> std::optional<Bound> {
    if (!bound) return std::nullopt;
    const std::string& digits = bound->digits;
    return Bound{digits.starts_with('-') ? digits.substr(1) : "-" + digits, bound->is_exclusive};
  };
  return {turn(range.most), turn(range.least)};
}

class Digits {
 public:
  explicit Digits(Grammar& grammar) : g_(grammar) {}

  NodeId one(char first, char last) {
    return first > last ? g_.never()
                        : g_.chars(CharSet::range(static_cast<char32_t>(first), static_cast<char32_t>(last)));
  }
  NodeId exactly(std::size_t count) { return g_.repeat(one('0', '9'), narrow(count), narrow(count)); }
  NodeId any() { return g_.any_number(one('0', '9')); }

  // Numbers with as many digits as `least` that are not below it.  upto() and between() are alike.
  NodeId from(std::string_view least) {
    if (least.empty()) return g_.empty();
    const char digit = least[0];
    return g_.choice({g_.sequence({one(digit, digit), from(least.substr(1))}),
                      g_.sequence({one(static_cast<char>(digit + 1), '9'), exactly(least.size() - 1)})});
  }
  NodeId upto(std::string_view most) {
    if (most.empty()) return g_.empty();
    const char digit = most[0];
    return g_.choice({g_.sequence({one('0', static_cast<char>(digit - 1)), exactly(most.size() - 1)}),
                      g_.sequence({one(digit, digit), upto(most.substr(1))})});
  }
  NodeId between(std::string_view least, std::string_view most) {
    if (least.empty()) return g_.empty();
    const char low = least[0];
    const char high = most[0];
    if (low == high) return g_.sequence({one(low, low), between(least.substr(1), most.substr(1))});
    return g_.choice(
        {g_.sequence({one(low, low), from(least.substr(1))}),
         g_.sequence({one(static_cast<char>(low + 1), static_cast<char>(high - 1)), exactly(least.size() - 1)}),
         g_.sequence({one(high, high), upto(most.substr(1))})});
  }

  // Whole numbers without leading zeros.  Numbers of each length are built apart, because only those with as many
  // digits as a bound must be compared with it.
  NodeId whole(const std::string& least, const std::optional<std::string>& most) {
    if (most && is_less(*most, least)) return g_.never();
    if (most && most->size() == least.size()) return between(least, *most);
    std::vector<NodeId> ways{from(least)};
    const std::size_t longest = most ? most->size() - 1 : least.size();
    for (std::size_t size = least.size() + 1; size <= longest; ++size)
      ways.push_back(g_.sequence({one('1', '9'), exactly(size - 1)}));
    if (most) {
      ways.push_back(between("1" + std::string(most->size() - 1, '0'), *most));
    } else {
      ways.push_back(g_.sequence({one('1', '9'), exactly(least.size()), any()}));
    }
    return g_.choice(ways);
  }

  // The digits of both bounds that are still to be compared.  A bound is unset once a digit was read that differs from
  // it.
  struct Rest {
    std::optional<std::string_view> least;
    bool least_is_exclusive = false;
    std::optional<std::string_view> most;
    bool most_is_exclusive = false;

    // The next digit is between these.
    //
    // REQUIRES: `most` is unset or has a digit left.
    [[nodiscard]] char low() const { return least && !least->empty() ? least->front() : '0'; }
    [[nodiscard]] char high() const { return most ? most->front() : '9'; }
    // Returns what is still to be compared once `digit` was read, which is between low() and high().
    [[nodiscard]] Rest behind(char digit) const {
      Rest out = *this;
      if (digit > low()) out.least.reset();
      if (out.least && !out.least->empty()) out.least->remove_prefix(1);
      if (digit < high()) out.most.reset();
      if (out.most) out.most->remove_prefix(1);
      return out;
    }
  };

  // Digits after the point.  No digits are accepted only if that is within the bounds.
  NodeId fraction(const Rest& rest, bool may_be_empty) {
    if (rest.least && rest.least->empty() && !rest.least_is_exclusive)
      return fraction({std::nullopt, false, rest.most, rest.most_is_exclusive}, may_be_empty);
    const bool is_at_least = rest.least && rest.least->empty();  // the number must still exceed it
    const bool is_at_most = rest.most && rest.most->empty();
    if (is_at_most && (rest.most_is_exclusive || rest.least)) return g_.never();
    if (is_at_most) return g_.repeat(one('0', '0'), may_be_empty ? 0 : 1, kUnbounded);
    if (!rest.most && is_at_least) return g_.sequence({g_.any_number(one('0', '0')), one('1', '9'), any()});
    if (!rest.most && !rest.least) return g_.repeat(one('0', '9'), may_be_empty ? 0 : 1, kUnbounded);
    std::vector<NodeId> ways;
    if (may_be_empty && !rest.least) ways.push_back(g_.empty());
    for (char digit = rest.low(); digit <= rest.high(); ++digit)
      ways.push_back(g_.sequence({one(digit, digit), fraction(rest.behind(digit), true)}));
    return g_.choice(ways);
  }

  // A point and digits, or nothing if the bounds allow that.
  NodeId pointed(const Rest& rest) {
    std::vector<NodeId> ways{g_.sequence({g_.literal("."), fraction(rest, false)})};
    const bool may_be_empty = (!rest.least || (rest.least->empty() && !rest.least_is_exclusive)) &&
                              (!rest.most || !rest.most->empty() || !rest.most_is_exclusive);
    if (may_be_empty) ways.push_back(g_.empty());
    return g_.choice(ways);
  }

 private:
  static std::uint32_t narrow(std::size_t count) { return static_cast<std::uint32_t>(count); }
  Grammar& g_;
};

// The largest whole number of the side; "" if there is none, and nullopt if there is no bound.
std::optional<std::string> whole_most(const Side& side) {
  if (!side.most) return std::nullopt;
  if (side.most->fraction.empty() && side.most_is_exclusive)
    return side.most->whole == "0" ? std::optional<std::string>("") : previous_whole(side.most->whole);
  return side.most->whole;
}

std::string whole_least(const Side& side) {
  const bool is_next = !side.least.fraction.empty() || side.least_is_exclusive;
  return is_next ? next_whole(side.least.whole) : side.least.whole;
}

NodeId whole_side(Grammar& grammar, const Side& side, bool without_zero) {
  std::string least = whole_least(side);
  if (without_zero && least == "0") least = "1";
  const auto most = whole_most(side);
  if (most && most->empty()) return grammar.never();
  return Digits(grammar).whole(least, most);
}

// Only numbers with the whole part of a bound are limited in their fraction, so they are built apart from those
// between.
NodeId decimal_side(Grammar& grammar, const Side& side) {
  Digits digits(grammar);
  using Rest = Digits::Rest;
  const std::string& low = side.least.whole;
  const Rest from{side.least.fraction, side.least_is_exclusive, std::nullopt, false};
  if (!side.most) {
    return grammar.choice({grammar.sequence({grammar.literal(low), digits.pointed(from)}),
                           grammar.sequence({digits.whole(next_whole(low), std::nullopt), digits.pointed({})})});
  }
  const std::string& high = side.most->whole;
  if (is_less(high, low)) return grammar.never();
  if (low == high) {
    return grammar.sequence({grammar.literal(low), digits.pointed({side.least.fraction, side.least_is_exclusive,
                                                                   side.most->fraction, side.most_is_exclusive})});
  }
  const Rest upto{std::nullopt, false, side.most->fraction, side.most_is_exclusive};
  return grammar.choice({grammar.sequence({grammar.literal(low), digits.pointed(from)}),
                         grammar.sequence({digits.whole(next_whole(low), previous_whole(high)), digits.pointed({})}),
                         grammar.sequence({grammar.literal(high), digits.pointed(upto)})});
}

}  // namespace

NodeId integers_within(Grammar& grammar, const NumberRange& range) {
  std::vector<NodeId> ways;
  if (const auto side = positive_side(range)) ways.push_back(whole_side(grammar, *side, false));
  if (const auto side = positive_side(turned(range)))
    ways.push_back(grammar.sequence({grammar.literal("-"), whole_side(grammar, *side, true)}));
  return grammar.token(grammar.choice(ways));
}

NodeId numbers_within(Grammar& grammar, const NumberRange& range) {
  std::vector<NodeId> ways;
  if (const auto side = positive_side(range)) ways.push_back(decimal_side(grammar, *side));
  if (const auto side = positive_side(turned(range)))
    ways.push_back(grammar.sequence({grammar.literal("-"), decimal_side(grammar, *side)}));
  return grammar.token(grammar.choice(ways));
}

}  // namespace rondo::grammar
