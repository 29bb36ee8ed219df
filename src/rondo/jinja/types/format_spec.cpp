// format(value, spec): Python's format mini-language for numbers and strings.
#include "jinja/types/format_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/utf8.h"
#include "jinja/common/characters.h"
#include "jinja/types/repr.h"
#include "jinja/value/bigint.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "json/print.h"

namespace rondo::jinja {
namespace {

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

std::string printf_double(char type, std::int64_t precision, bool alternate, double value) {
  constexpr std::int64_t kExactDigits = 1100;  // all further digits of a double are zeros
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

// How many digits come before the point, an exponent or a percent sign.
std::size_t whole_digits(const std::string& digits, std::size_t group) {
  std::size_t whole = 0;
  while (whole < digits.size() && std::isxdigit(static_cast<unsigned char>(digits[whole])) != 0) ++whole;
  return group == 3 ? std::min(whole, digits.find('e')) : whole;
}

// Groups the digits before the point by three (by four for binary, octal and hexadecimal).
std::string group_digits(const std::string& digits, char separator, std::size_t size) {
  const std::size_t whole = whole_digits(digits, size);
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i != 0 && (whole - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string not_finite(double magnitude, char type) {
  std::string out = std::isnan(magnitude) ? "nan" : "inf";
  if (type == 'F' || type == 'E' || type == 'G')
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return static_cast<char>(c - 32); });
  return type == '%' ? out + "%" : out;
}

// The shortest digits, as repr() has them.
std::string plain_digits(double magnitude, bool alternate) {
  std::string out = json::python_float(magnitude);
  const std::size_t exponent = out.find('e');
  const bool wants_point = alternate && exponent != std::string::npos && out.find('.') == std::string::npos;
  return wants_point ? out.insert(exponent, 1, '.') : out;
}

// A precision without a type works like 'g', but keeps a digit after the point and switches to an exponent one digit
// earlier.
std::string rounded_digits(double magnitude, const FormatSpec& spec) {
  const std::int64_t precision = std::max<std::int64_t>(spec.precision, 1);
  std::string out = printf_double('e', precision - 1, false, magnitude);
  const std::int64_t exponent = std::strtol(out.c_str() + out.find('e') + 1, nullptr, 10);
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

// The digits of a finite or infinite magnitude, without sign.
std::string float_digits(double magnitude, const FormatSpec& spec) {
  if (!std::isfinite(magnitude)) return not_finite(magnitude, spec.type);
  const std::int64_t precision = spec.precision < 0 ? 6 : spec.precision;
  switch (spec.type) {
    case 0: return spec.precision < 0 ? plain_digits(magnitude, spec.alternate) : rounded_digits(magnitude, spec);
    case '%': return printf_double('f', precision, spec.alternate, magnitude * 100) + "%";
    case 'n': return printf_double('g', precision, spec.alternate, magnitude);
    default: return printf_double(spec.type, precision, spec.alternate, magnitude);
  }
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
  runtime.pay_for_filling(digits_behind);
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

// Checks which types allow digit separators.
void check_grouping(Runtime& runtime, const FormatSpec& spec) {
  if (spec.grouping == 0 || spec.type == 0 || std::string_view("deEfFgG%").find(spec.type) != std::string_view::npos) {
    return;
  }
  if (spec.grouping == '_' && std::string_view("boxX").find(spec.type) != std::string_view::npos) return;
  runtime.fail(std::string("Cannot specify '") + spec.grouping + "' with '" + spec.type + "'.");
}

// How many bytes [[fill]align] at the beginning of `spec` take, and whether that includes a fill.
struct Alignment {
  std::size_t size = 0;
  bool has_fill = false;
};

Alignment read_alignment(std::string_view spec, FormatSpec& out) {
  if (spec.empty()) return {};
  const CodePoint first = decode_at(spec, 0);
  if (first.size < spec.size() && is_align(decode_at(spec, first.size).value)) {
    out.fill = spec.substr(0, first.size);
    out.align = spec[first.size];
    return {first.size + 1, true};
  }
  if (!is_align(first.value)) return {};
  out.align = spec[0];
  return {1, false};
}

}  // namespace

FormatSpec parse_format_spec(Runtime& runtime, std::string_view spec, const Value& value) {
  FormatSpec out;
  const bool numeric = value.is_number();
  out.align = numeric ? '>' : '<';
  const Alignment alignment = read_alignment(spec, out);
  std::size_t at = alignment.size;
  const auto next_is = [&](std::string_view set) {
    return at < spec.size() && set.find(spec[at]) != std::string_view::npos;
  };
  out.has_sign = next_is("+- ");
  if (out.has_sign) out.sign = spec[at++];
  if (next_is("z")) out.no_negative_zero = spec[at++] == 'z';
  if (next_is("#")) out.alternate = spec[at++] == '#';
  if (!alignment.has_fill && next_is("0")) {
    ++at;
    out.fill = "0";
    if (alignment.size == 0 && numeric) out.align = '=';
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

namespace {

std::string format_text(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  if (spec.grouping != 0) runtime.fail(std::string("Cannot specify '") + spec.grouping + "' with 's'.");
  if (spec.has_sign) runtime.fail("Sign not allowed in string format specifier");
  if (spec.no_negative_zero) runtime.fail("Negative zero coercion (z) not allowed in string format specifier");
  if (spec.alternate) runtime.fail("Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') runtime.fail("'=' alignment not allowed in string format specifier");
  std::string_view bytes = bytes_of(runtime, value);
  if (spec.precision >= 0) bytes = bytes.substr(0, code_point_offset(bytes, static_cast<std::size_t>(spec.precision)));
  return pad_number("", std::string(bytes), spec);
}

// The types that a value may be formatted as, besides none.
std::string_view format_types(const Value& value) {
  if (value.is_string()) return "s";
  return value.is_float() ? "eEfFgGn%" : "bcdoxXneEfFgG%";
}

}  // namespace

std::string format_value(Runtime& runtime, const Value& value, std::string_view text) {
  if (text.empty()) return std::string(bytes_of(runtime, to_text(runtime, value)));
  if (!value.is_number() && !value.is_string()) {
    runtime.fail("unsupported format string passed to " + type_name(value) + ".__format__");
  }
  FormatSpec spec = parse_format_spec(runtime, text, value);
  runtime.pay_for_filling(static_cast<std::size_t>(std::max<std::int64_t>(spec.width, 0)));
  if (spec.type != 0 && format_types(value).find(spec.type) == std::string_view::npos) {
    runtime.fail("Unknown format code '" + std::string(1, spec.type) + "' for object of type '" + type_name(value) +
                 "'");
  }
  if (value.is_string()) return format_text(runtime, value, spec);
  if (value.is_float()) return format_float(runtime, value.as_float(), spec);
  if (spec.type == 0 || std::string_view("bcdoxXn").find(spec.type) != std::string_view::npos) {
    return format_integer(runtime, to_big(value), spec);
  }
  if (std::isinf(to_double(value))) runtime.fail("int too large to convert to float");
  return format_float(runtime, to_double(value), spec);
}

}  // namespace rondo::jinja
