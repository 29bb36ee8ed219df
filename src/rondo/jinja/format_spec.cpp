// format(value, spec): Python's format mini-language for numbers and strings, and reading numbers back.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/utf8.h"
#include "jinja/characters.h"
#include "jinja/format_spec.h"
#include "jinja/operations.h"
#include "jinja/string_functions.h"
#include "jinja/strings.h"
#include "json/print.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

constexpr std::size_t kMostDigitsOfInt = 4300;  // sys.int_info.default_max_str_digits

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

std::string printf_double(char type, std::int64_t precision, bool alternate, double value) {
  constexpr std::int64_t kExactDigits = 1100;  // all further ones of a double are zeros
  std::string format = alternate ? "%#.*" : "%.*";
  format += type;
  const int digits = static_cast<int>(std::min(precision, kExactDigits));
  std::string out(static_cast<std::size_t>(std::snprintf(nullptr, 0, format.c_str(), digits, value)), '\0');
  std::snprintf(out.data(), out.size() + 1, format.c_str(), digits, value);
  const bool drops_zeros = (type == 'g' || type == 'G') && !alternate;
  if (precision > kExactDigits && !drops_zeros && std::isfinite(value)) {
    const std::size_t end = std::min(out.find_first_of("eE"), out.size());
    out.insert(end, static_cast<std::size_t>(precision - kExactDigits), '0');
  }
  return out;
}

// How many digits stand before the point, an exponent or a percent sign.
std::size_t whole_digits(const std::string& digits, std::size_t group) {
  std::size_t whole = 0;
  while (whole < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[whole])) != 0) ++whole;
  return group == 3 ? std::min(whole, digits.find('e')) : whole;
}

// Digits before the point in groups of three (four for binary, octal and hexadecimal).
std::string group_digits(const std::string& digits, char separator, std::size_t size) {
  const std::size_t whole = whole_digits(digits, size);
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i != 0 && (whole - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

// The digits of a finite or infinite magnitude, without sign.
std::string float_digits(double magnitude, const FormatSpec& spec) {
  char type = spec.type;
  if (std::isnan(magnitude) || std::isinf(magnitude)) {
    std::string out = std::isnan(magnitude) ? "nan" : "inf";
    if (type == 'F' || type == 'E' || type == 'G')
      std::transform(out.begin(), out.end(), out.begin(), [](char c) { return static_cast<char>(c - 32); });
    return type == '%' ? out + "%" : out;
  }
  if (type == '%')
    return printf_double('f', spec.precision < 0 ? 6 : spec.precision, spec.alternate, magnitude * 100) + "%";
  if (type == 0 && spec.precision < 0) {
    std::string out = json::python_float(magnitude);
    const std::size_t exponent = out.find('e');
    const bool wants_point = spec.alternate && exponent != std::string::npos && out.find('.') == std::string::npos;
    return wants_point ? out.insert(exponent, 1, '.') : out;
  }
  if (type == 'n') type = 'g';
  if (type != 0) return printf_double(type, spec.precision < 0 ? 6 : spec.precision, spec.alternate, magnitude);
  // No type but a precision: as 'g', with a digit behind the point, and an exponent one digit earlier.
  const std::int64_t precision = std::max<std::int64_t>(spec.precision, 1);
  std::string out = printf_double('e', precision - 1, false, magnitude);
  const int exponent = std::atoi(out.c_str() + out.find('e') + 1);
  if (spec.alternate)
    return printf_double(exponent == precision - 1 ? 'e' : 'g', exponent == precision - 1 ? precision - 1 : precision,
                         true, magnitude);
  out = printf_double('g', precision, false, magnitude);
  if (exponent < -4 || exponent >= precision || out.find('.') != std::string::npos) return out;
  if (exponent != precision - 1) return out + ".0";
  out = printf_double('e', precision - 1, false, magnitude);
  const std::size_t mark = out.find('e');
  std::size_t end = mark;
  while (precision > 1 && out[end - 1] == '0') --end;
  if (out[end - 1] == '.') --end;
  return out.erase(end, mark - end);
}

std::string sign_of(bool negative, char sign) {
  if (negative) return "-";
  return sign == '+' ? "+" : sign == ' ' ? " " : "";
}

std::string pad_number(const std::string& sign, std::string digits, const FormatSpec& spec) {
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(spec.width, 0));
  const std::size_t size = sign.size() + count_code_points(digits);
  if (spec.grouping != 0 && spec.align == '=' && spec.fill == "0" && size < width) {
    // Zeros are grouped too: format(5, "07,") is "000,005".
    const std::size_t group = spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b' ? 4 : 3;
    std::erase(digits, spec.grouping);
    const std::size_t wanted = width - std::min(width, sign.size());
    const std::size_t rest = digits.size() - whole_digits(digits, group);
    std::size_t whole = whole_digits(digits, group);
    while (rest + whole + (whole - 1) / group < wanted) ++whole;
    digits.insert(0, whole + rest - digits.size(), '0');
    return sign + group_digits(digits, spec.grouping, group);
  }
  if (size >= width) return sign + digits;
  std::string left;
  std::string right;
  const std::size_t blanks = width - size;
  const std::size_t before = spec.align == '<' ? 0 : spec.align == '^' ? blanks / 2 : blanks;
  for (std::size_t i = 0; i < blanks; ++i) (i < before ? left : right) += spec.fill;
  return spec.align == '=' ? sign + left + digits + right : left + sign + digits + right;
}

std::string format_integer(Runtime& runtime, const BigInt& value, const FormatSpec& spec) {
  runtime.spend(value.square() / 4);
  if (spec.precision >= 0) runtime.fail("Precision not allowed in integer format specifier");
  if (spec.no_negative_zero) runtime.fail("Negative zero coercion (z) not allowed in integer format specifier");
  std::string digits;
  std::size_t group = 4;
  switch (spec.type) {
    case 'b': digits = value.to_string(2); break;
    case 'o': digits = value.to_string(8); break;
    case 'x':
    case 'X': digits = value.to_string(16); break;
    case 'c': {
      const std::optional<std::int64_t> code = value.to_int64();
      if (spec.has_sign) runtime.fail("Sign not allowed with integer format specifier 'c'");
      if (spec.alternate) runtime.fail("Alternate form (#) not allowed with integer format specifier 'c'");
      if (!code || *code < 0 || *code > 0x10FFFF) runtime.fail("%c arg not in range(0x110000)");
      utf8::append(digits, static_cast<char32_t>(*code));
      return pad_number("", digits, spec);
    }
    default: digits = decimal_digits(runtime, value); group = 3;
  }
  if (value.is_negative()) digits.erase(0, 1);
  if (spec.grouping != 0) digits = group_digits(digits, spec.grouping, group);
  std::string sign = sign_of(value.is_negative(), spec.sign);
  if (spec.alternate && group == 4) sign += spec.type == 'X' ? "0x" : std::string("0") + spec.type;
  if (spec.type == 'X') {
    for (std::string* part : {&digits, &sign}) {
      std::transform(part->begin(), part->end(), part->begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    }
  }
  return pad_number(sign, digits, spec);
}

std::string format_float(Runtime& runtime, double value, const FormatSpec& spec) {
  if (spec.precision > std::numeric_limits<std::int32_t>::max()) runtime.fail("precision too big");
  const auto digits_behind = static_cast<std::size_t>(std::max<std::int64_t>(spec.precision, 0));
  runtime.spend(std::min<std::size_t>(digits_behind, 1100));
  pay_for_filling(runtime, digits_behind);
  std::string digits = float_digits(std::fabs(value), spec);
  const bool is_zero =
      std::isfinite(value) && digits.substr(0, digits.find('e')).find_first_of("123456789") == std::string::npos;
  const bool negative = std::signbit(value) && !std::isnan(value) && !(spec.no_negative_zero && is_zero);
  if (spec.grouping != 0) digits = group_digits(digits, spec.grouping, 3);
  return pad_number(sign_of(negative, spec.sign), digits, spec);
}

std::int64_t read_number(Runtime& runtime, std::string_view spec, std::size_t& at) {
  const std::size_t begin = at;
  while (at < spec.size() && is_digit(spec[at])) ++at;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(spec.data() + begin, spec.data() + at, out);
  if (error != std::errc() || end != spec.data() + at) runtime.fail("Too many decimal digits in format string");
  return out;
}

// White space cut off both ends, and the decimal digits of all scripts as ASCII digits.  Of ASCII characters only those
// count that C calls space.
std::string plain_number(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const bool is_ascii = c.value < 0x80;
    const int digit = is_ascii ? -1 : unicode::decimal_value(c.value);
    if (digit >= 0) {
      out += static_cast<char>('0' + digit);
    } else if (!is_ascii && is_space(c.value)) {
      out += ' ';
    } else {
      out += text.substr(at, c.size);
    }
    at += c.size;
  }
  out.erase(0, std::min(out.find_first_not_of(kSpaces), out.size()));
  out.resize(out.find_last_not_of(kSpaces) + 1);
  return out;
}

// The digits without the single underscores that may stand between them; nothing if they stand elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool between = i > 0 && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 &&
                         std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!between) return std::nullopt;
  }
  return out;
}

// Which types take separators of digits.
void check_grouping(Runtime& runtime, const FormatSpec& spec) {
  if (spec.grouping == 0 || spec.type == 0 || std::string_view("deEfFgG%").find(spec.type) != std::string_view::npos) {
    return;
  }
  if (spec.grouping == '_' && std::string_view("boxX").find(spec.type) != std::string_view::npos) return;
  runtime.fail(std::string("Cannot specify '") + spec.grouping + "' with '" + spec.type + "'.");
}

}  // namespace

FormatSpec parse_format_spec(Runtime& runtime, std::string_view spec, const Value& value) {
  FormatSpec out;
  std::size_t at = 0;
  const bool numeric = value.is_number();
  out.align = numeric ? '>' : '<';
  bool has_fill = false;
  bool has_align = false;
  if (!spec.empty()) {
    const CodePoint first = decode_at(spec, 0);
    if (first.size < spec.size() && is_align(decode_at(spec, first.size).value)) {
      out.fill = spec.substr(0, first.size);
      out.align = spec[first.size];
      has_fill = has_align = true;
      at = first.size + 1;
    } else if (is_align(first.value)) {
      out.align = spec[0];
      has_align = true;
      at = 1;
    }
  }
  const auto next_is = [&](std::string_view set) {
    return at < spec.size() && set.find(spec[at]) != std::string_view::npos;
  };
  out.has_sign = next_is("+- ");
  if (out.has_sign) out.sign = spec[at++];
  if (next_is("z")) out.no_negative_zero = spec[at++] == 'z';
  if (next_is("#")) out.alternate = spec[at++] == '#';
  if (!has_fill && next_is("0")) {
    ++at;
    out.fill = "0";
    if (!has_align && numeric) out.align = '=';
  }
  if (next_is("0123456789")) out.width = read_number(runtime, spec, at);
  if (next_is(",_")) out.grouping = spec[at++];
  if (out.grouping != 0 && next_is(",_")) {
    if (spec[at] != out.grouping) runtime.fail("Cannot specify both ',' and '_'.");
    runtime.fail(std::string("Cannot specify '") + out.grouping + "' with '" + out.grouping + "'.");
  }
  if (next_is(".")) {
    ++at;
    if (!next_is("0123456789")) runtime.fail("Format specifier missing precision");
    out.precision = read_number(runtime, spec, at);
  }
  if (at + 1 == spec.size()) out.type = spec[at++];
  check_grouping(runtime, out);
  if (at != spec.size()) {
    runtime.fail("Invalid format specifier '" + std::string(spec) + "' for object of type '" + type_name(value) + "'");
  }
  return out;
}

std::string format_value(Runtime& runtime, const Value& value, std::string_view text) {
  if (text.empty()) return std::string(bytes_of(runtime, to_text(runtime, value)));
  if (!value.is_number() && !value.is_string()) {
    runtime.fail("unsupported format string passed to " + type_name(value) + ".__format__");
  }
  FormatSpec spec = parse_format_spec(runtime, text, value);
  pay_for_filling(runtime, static_cast<std::size_t>(std::max<std::int64_t>(spec.width, 0)));
  const std::string unknown = "Unknown format code '" + std::string(1, spec.type == 0 ? '?' : spec.type) +
                              "' for object of type '" + type_name(value) + "'";
  if (value.is_string()) {
    if (spec.type != 0 && spec.type != 's') runtime.fail(unknown);
    if (spec.grouping != 0) runtime.fail(std::string("Cannot specify '") + spec.grouping + "' with 's'.");
    if (spec.has_sign) runtime.fail("Sign not allowed in string format specifier");
    if (spec.no_negative_zero) runtime.fail("Negative zero coercion (z) not allowed in string format specifier");
    if (spec.alternate) runtime.fail("Alternate form (#) not allowed in string format specifier");
    if (spec.align == '=') runtime.fail("'=' alignment not allowed in string format specifier");
    std::string_view bytes = bytes_of(runtime, value);
    if (spec.precision >= 0)
      bytes = bytes.substr(0, code_point_offset(bytes, static_cast<std::size_t>(spec.precision)));
    return pad_number("", std::string(bytes), spec);
  }
  if (value.is_float()) {
    if (spec.type != 0 && std::string_view("eEfFgGn%").find(spec.type) == std::string_view::npos) runtime.fail(unknown);
    return format_float(runtime, value.as_float(), spec);
  }
  if (spec.type == 0 || std::string_view("bcdoxXn").find(spec.type) != std::string_view::npos) {
    return format_integer(runtime, to_big(value), spec);
  }
  if (std::string_view("eEfFgG%").find(spec.type) == std::string_view::npos) runtime.fail(unknown);
  if (std::isinf(to_double(value))) runtime.fail("int too large to convert to float");
  return format_float(runtime, to_double(value), spec);
}

std::string decimal_digits(Runtime& runtime, const BigInt& value) {
  // The time to print grows with the square of the length; log2(10) < 3.33.
  runtime.spend(std::min(value.square() / 4, kMostDigitsOfInt * kMostDigitsOfInt));
  const bool fits = value.bit_length() <= kMostDigitsOfInt * 333 / 100;
  std::string out = fits ? value.to_string() : "";
  if (fits && out.size() - (value.is_negative() ? 1 : 0) <= kMostDigitsOfInt) return out;
  runtime.fail(
      "Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase "
      "the limit");
}

Value make_number(Runtime& runtime, std::string_view spelling, bool is_float) {
  if (is_float) {
    double value = 0;
    const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
    // Beyond the range Python reads infinity or zero.
    if (error == std::errc::result_out_of_range)
      value = spelling.find("e-") == std::string_view::npos && spelling.find("E-") == std::string_view::npos ? HUGE_VAL
                                                                                                             : 0.0;
    return Value::floating(value);
  }
  int base = 10;
  std::string_view digits = spelling;
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) digits.remove_prefix(2);
  }
  std::int64_t small = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), small, base);
  if (error == std::errc() && end == digits.data() + digits.size()) return Value::integer(small);
  // The time to read digits grows with their square; Python has the same limit.
  if (digits.size() > kMostDigitsOfInt) runtime.fail("Exceeds the limit (4300 digits) for integer string conversion");
  std::optional<BigInt> big = BigInt::parse(digits, static_cast<unsigned>(base));
  if (!big) runtime.fail("invalid integer");
  return Value::big(runtime.heap.keep(*std::move(big)));
}

std::optional<Value> parse_integer(Runtime& runtime, std::string_view text, unsigned base) {
  const std::string plain = plain_number(text);
  text = plain;
  std::string sign;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    const unsigned marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (marked != 0 && (base == 0 || base == marked)) {
      base = marked;
      text.remove_prefix(2);
      if (!text.empty() && text[0] == '_') text.remove_prefix(1);
    }
  }
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || digits->empty() || !std::isalnum(static_cast<unsigned char>(digits->front()))) return std::nullopt;
  if (base == 0) {  // a literal: no leading zeros
    if (digits->front() == '0' && digits->find_first_not_of('0') != std::string::npos) return std::nullopt;
    base = 10;
  }
  if (digits->size() > kMostDigitsOfInt) return std::nullopt;
  runtime.spend(digits->size() * digits->size() / 512);
  const std::optional<BigInt> value = BigInt::parse(sign + *digits, base);
  if (!value) return std::nullopt;
  return make_integer(runtime, *value);
}

std::optional<double> parse_float(std::string_view text) {
  const std::optional<std::string> plain = without_underscores(plain_number(text));
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  std::string lower(digits);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = HUGE_VAL;
  } else if (lower == "nan") {
    value = std::nan("");
  } else {
    if (!is_digit(lower[0]) && lower[0] != '.') return std::nullopt;
    const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), value);
    if (end != lower.data() + lower.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {  // too large or too small: a longer type tells which
      long double wide = lower.find("e-") == std::string::npos ? HUGE_VALL : 0;
      std::from_chars(lower.data(), lower.data() + lower.size(), wide);
      value = static_cast<double>(wide);
    }
    if (error == std::errc::invalid_argument) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace rondo::jinja
