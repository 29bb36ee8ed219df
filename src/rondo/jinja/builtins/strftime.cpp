// datetime.strftime() in the C locale, as Python makes it with glibc: %[flags][width][E or O]letter.
#include "jinja/builtins/strftime.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "jinja/common/options.h"

namespace rondo::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr int kHoursOfNoon = 12;
// Of anything written; Python gives up far below.
constexpr std::size_t kMostWidth = std::size_t{1} << 24U;

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

std::size_t month_index(const LocalTime& time) { return static_cast<std::size_t>(((time.month - 1) % 12 + 12) % 12); }

// Day of the year, from 0.
int day_of_year(const LocalTime& time) {
  static constexpr std::array<int, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int leap = time.month > 2 && is_leap(time.year) ? 1 : 0;
  return kBefore[month_index(time)] + leap + time.day - 1;
}

// Days since 1970-01-01.
std::int64_t day_number(const LocalTime& time) {
  const std::int64_t year = time.year - 1;
  const std::int64_t before = year * 365 + year / 4 - year / 100 + year / 400;
  return before - 719162 + day_of_year(time);
}

// 0 is Sunday.
int weekday(const LocalTime& time) { return static_cast<int>(((day_number(time) + 4) % 7 + 7) % 7); }

struct Directive {
  char pad = 0;           // '-', '_' or '0': the last of these flags
  bool is_upper = false;  // '^'
  bool is_other = false;  // '#': the other case
  std::size_t width = 0;  // at least so many bytes
  char modifier = 0;      // 'E' or 'O', which change nothing here
  char letter = 0;        // 0 at the end of the format
};

std::string padded(std::string text, const Directive& directive) {
  if (text.size() < directive.width) text.insert(0, directive.width - text.size(), directive.pad == '0' ? '0' : ' ');
  return text;
}

std::string number(std::int64_t value, std::size_t digits, const Directive& directive, char pad = '0') {
  if (directive.pad != 0) pad = directive.pad;
  std::string text = std::to_string(value);
  if (pad == '-') return padded(std::move(text), directive);
  const std::size_t width = std::max(digits, directive.width);
  if (text.size() < width) text.insert(0, width - text.size(), pad == '_' ? ' ' : '0');
  return text;
}

struct IsoWeek {
  int year = 0;
  int week = 0;
};

IsoWeek iso_week(const LocalTime& time) {
  const int monday_based = (weekday(time) + 6) % 7;
  const int week = (day_of_year(time) - monday_based + 10) / 7;
  const auto weeks_in = [](int year) {
    const int first = weekday({year, 1, 1, 0, 0, 0});
    return first == 4 || (first == 3 && is_leap(year)) ? 53 : 52;
  };
  if (week < 1) return {time.year - 1, weeks_in(time.year - 1)};
  if (week > weeks_in(time.year)) return {time.year + 1, 1};
  return {time.year, week};
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::int64_t seconds_of(const LocalTime& time) {
  return ((day_number(time) * 24 + time.hour) * 60 + time.minute) * 60 + time.second;
}

std::optional<std::string> number_part(const LocalTime& time, const Directive& directive) {
  const int hour12 = time.hour % kHoursOfNoon == 0 ? kHoursOfNoon : time.hour % kHoursOfNoon;
  switch (directive.letter) {
    case 'C': return number(time.year / 100, 1, directive);
    case 'd': return number(time.day, 2, directive);
    case 'e': return number(time.day, 2, directive, '_');
    case 'g': return number(iso_week(time).year % 100, 2, directive);
    case 'G': return number(iso_week(time).year, 1, directive);
    case 'H': return number(time.hour, 2, directive);
    case 'I': return number(hour12, 2, directive);
    case 'j': return number(day_of_year(time) + 1, 3, directive);
    case 'k': return number(time.hour, 2, directive, '_');
    case 'l': return number(hour12, 2, directive, '_');
    case 'm': return number(time.month, 2, directive);
    case 'M': return number(time.minute, 2, directive);
    case 'S': return number(time.second, 2, directive);
    case 'u': return number((weekday(time) + 6) % 7 + 1, 1, directive);
    case 'U': return number((day_of_year(time) + 7 - weekday(time)) / 7, 2, directive);
    case 'V': return number(iso_week(time).week, 2, directive);
    case 'w': return number(weekday(time), 1, directive);
    case 'W': return number((day_of_year(time) + 7 - (weekday(time) + 6) % 7) / 7, 2, directive);
    case 'y': return number(time.year % 100, 2, directive);
    case 'Y': return number(time.year, 1, directive);
    default: return std::nullopt;
  }
}

std::optional<std::string> text_part(const LocalTime& time, const Directive& directive) {
  const std::string day(kDays[static_cast<std::size_t>(weekday(time))]);
  const std::string month(kMonths[month_index(time)]);
  const bool is_upper = directive.is_upper || directive.is_other;
  const auto name = [&](std::string text) { return is_upper ? upper(std::move(text)) : text; };
  const bool is_morning = time.hour < kHoursOfNoon;
  switch (directive.letter) {
    case 'a': return name(day.substr(0, 3));
    case 'A': return name(day);
    case 'b':
    case 'h': return name(month.substr(0, 3));
    case 'B': return name(month);
    case 'n': return "\n";
    case 'p':
      if (!directive.is_other) return is_morning ? "AM" : "PM";
      [[fallthrough]];
    case 'P': return is_morning ? "am" : "pm";
    case 's': return std::to_string(seconds_of(time));
    case 't': return "\t";
    case 'Z': return "";  // a time without a zone
    case '%': return "%";
    default: return std::nullopt;
  }
}

// Directives that are short for several others.
std::string_view expansion(char letter) {
  switch (letter) {
    case 'c': return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'F': return "%Y-%m-%d";
    case 'r': return "%I:%M:%S %p";
    case 'R': return "%H:%M";
    case 'T':
    case 'X': return "%H:%M:%S";
    default: return "";
  }
}

bool allows_modifier(const Directive& directive) {
  const std::string_view letters =
      directive.modifier == 'E' ? "cnprstuxyzCPRTXYZ%" : "bdeghjklmnprstuwyzBCGHIMPRSTUVWZ%";
  return directive.modifier == 0 || letters.find(directive.letter) != std::string_view::npos;
}

// Reads the directive behind the '%' at `at`, and moves `at` behind it.
Directive read_directive(std::string_view format, std::size_t& at) {
  Directive out;
  for (++at; at < format.size() && std::string_view("-_0^#").find(format[at]) != std::string_view::npos; ++at) {
    if (format[at] == '^') {
      out.is_upper = true;
    } else if (format[at] == '#') {
      out.is_other = true;
    } else {
      out.pad = format[at];
    }
  }
  for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at)
    out.width = std::min(out.width * 10 + static_cast<std::size_t>(format[at] - '0'), kMostWidth);
  if (at < format.size() && (format[at] == 'E' || format[at] == 'O')) out.modifier = format[at++];
  if (at < format.size()) out.letter = format[at++];
  return out;
}

std::string formatted_time(const LocalTime& time, std::string_view format);

std::string date_part(const LocalTime& time, const Directive& directive, std::string_view spelling) {
  if (allows_modifier(directive)) {
    if (directive.letter == 'z') return "";
    if (const std::optional<std::string> part = number_part(time, directive)) return *part;
    if (const std::optional<std::string> part = text_part(time, directive)) return padded(*part, directive);
    if (const std::string_view parts = expansion(directive.letter); !parts.empty()) {
      const std::string whole = formatted_time(time, parts);
      return padded(directive.is_upper ? upper(whole) : whole, directive);
    }
  }
  const std::string copy(spelling);
  return padded(directive.is_upper ? upper(copy) : copy, directive);
}

// What glibc's strftime() writes.
std::string formatted_time(const LocalTime& time, std::string_view format) {
  std::string out;
  for (std::size_t at = 0; at < format.size() && out.size() <= kMostWidth;) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const std::size_t begin = at;
    const Directive directive = read_directive(format, at);
    out += date_part(time, directive, format.substr(begin, at - begin));
  }
  return out;
}

// The format as Python passes it on: it writes some directives itself, if they have no flags, and C strings end at a
// zero byte.
std::string passed_format(std::string_view format) {
  std::string out;
  for (std::size_t at = 0; at < format.size() && format[at] != '\0'; ++at) {
    out += format[at];
    if (format[at] != '%' || at + 1 == format.size() || format[at + 1] == '\0') continue;
    const char letter = format[++at];
    if (letter == 'f' || letter == 'z' || letter == 'Z') {
      out.pop_back();
      out += letter == 'f' ? "000000" : "";
    } else {
      out += letter;
    }
  }
  return out;
}

}  // namespace

std::string format_time(const LocalTime& time, std::string_view format) {
  const std::string passed = passed_format(format);
  std::string out = formatted_time(time, passed);
  // Python gives up when a buffer of this size is too small.
  std::size_t room = 1024;
  while (room < 256 * passed.size()) room *= 2;
  return out.size() < room ? out : "";
}

}  // namespace rondo::jinja
