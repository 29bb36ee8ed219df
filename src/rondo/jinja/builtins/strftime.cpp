// strftime() in the C locale, with the GNU flags '-', '_', '0', '^'.
#include "jinja/builtins/strftime.h"

#include <array>
#include <cstdint>

#include "jinja/common/options.h"

namespace rondo::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr int kHoursOfNoon = 12;

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

std::string number(std::int64_t value, std::size_t width, char flag, char fill = '0') {
  std::string digits = std::to_string(value);
  if (flag == '-') return digits;
  if (flag == '_') fill = ' ';
  if (flag == '0') fill = '0';
  return digits.size() < width ? std::string(width - digits.size(), fill) + digits : digits;
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

std::string date_part(const LocalTime& time, char directive, char flag) {
  const int hour12 = time.hour % kHoursOfNoon == 0 ? kHoursOfNoon : time.hour % kHoursOfNoon;
  const std::string_view day = kDays[static_cast<std::size_t>(weekday(time))];
  const std::string_view month = kMonths[month_index(time)];
  switch (directive) {
    case 'a': return std::string(day.substr(0, 3));
    case 'A': return std::string(day);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'B': return std::string(month);
    case 'C': return number(time.year / 100, 2, flag);
    case 'd': return number(time.day, 2, flag);
    case 'e': return number(time.day, 2, flag, ' ');
    case 'f': return "000000";
    case 'g': return number(iso_week(time).year % 100, 2, flag);
    case 'G': return number(iso_week(time).year, 4, flag);
    case 'H': return number(time.hour, 2, flag);
    case 'I': return number(hour12, 2, flag);
    case 'j': return number(day_of_year(time) + 1, 3, flag);
    case 'k': return number(time.hour, 2, flag, ' ');
    case 'l': return number(hour12, 2, flag, ' ');
    case 'm': return number(time.month, 2, flag);
    case 'M': return number(time.minute, 2, flag);
    case 'n': return "\n";
    case 'p': return time.hour < kHoursOfNoon ? "AM" : "PM";
    case 'P': return time.hour < kHoursOfNoon ? "am" : "pm";
    case 's': return std::to_string(((day_number(time) * 24 + time.hour) * 60 + time.minute) * 60 + time.second);
    case 'S': return number(time.second, 2, flag);
    case 't': return "\t";
    case 'u': return number((weekday(time) + 6) % 7 + 1, 1, flag);
    case 'U': return number((day_of_year(time) + 7 - weekday(time)) / 7, 2, flag);
    case 'V': return number(iso_week(time).week, 2, flag);
    case 'w': return number(weekday(time), 1, flag);
    case 'W': return number((day_of_year(time) + 7 - (weekday(time) + 6) % 7) / 7, 2, flag);
    case 'y': return number(time.year % 100, 2, flag);
    case 'Y': return number(time.year, flag == '_' || flag == '0' ? 4 : 1, flag);
    case 'z':
    case 'Z': return "";  // a time without a zone
    case '%': return "%";
    default: return "";
  }
}

// Directives that are short for several others.
std::string_view expansion(char directive) {
  switch (directive) {
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

}  // namespace

std::string format_time(const LocalTime& time, std::string_view format) {
  static constexpr std::string_view kKnown = "aAbBCdefgGhHIjklmMnpPsStuUVwWyYzZ%";
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      out += format[at];
      continue;
    }
    const std::size_t begin = at++;
    char flag = 0;
    if (std::string_view("-_0^#").find(format[at]) != std::string_view::npos && at + 1 < format.size())
      flag = format[at++];
    const char directive = format[at];
    std::string part;
    if (!expansion(directive).empty()) {
      part = format_time(time, expansion(directive));
    } else if (kKnown.find(directive) != std::string_view::npos) {
      part = date_part(time, directive, flag);
    } else {
      part = format.substr(begin, at - begin + 1);  // unknown ones are copied
    }
    out += flag == '^' ? upper(part) : part;
  }
  return out;
}

}  // namespace rondo::jinja
