#include "json/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/hex.h"
#include "base/utf8.h"
#include "json/append.h"

namespace rondo::json {
namespace {

void append_hex_escape(std::string& out, unsigned code) {
  out += "\\u";
  hex::append(out, code, 4);
}

// The escape for an ASCII character that needs one in either form.
void append_ascii_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: append_hex_escape(out, static_cast<unsigned char>(c));
  }
}

// The code point of a surrogate in three bytes at `at`, else 0.
unsigned surrogate_at(std::string_view text, std::size_t at) {
  if (at + 3 > text.size() || text[at] != '\xED') return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const auto third = static_cast<unsigned char>(text[at + 2]);
  if (second < 0xA0 || second > 0xBF || third < 0x80 || third > 0xBF) return 0;
  return 0xD000U | ((second & 0x3FU) << 6U) | (third & 0x3FU);
}

// Writes one character from 0x80 on as `\uXXXX` or a pair of them; returns its size.
std::size_t append_unicode_escape(std::string& out, std::string_view text, std::size_t at) {
  if (const unsigned surrogate = surrogate_at(text, at); surrogate != 0) {
    append_hex_escape(out, surrogate);
    return 3;
  }
  const utf8::Decoded decoded = utf8::decode(text, at);
  const auto code = static_cast<unsigned>(decoded.code_point);
  if (code < 0x10000) {
    append_hex_escape(out, code);
  } else {
    append_hex_escape(out, 0xD800U + ((code - 0x10000U) >> 10U));
    append_hex_escape(out, 0xDC00U + ((code - 0x10000U) & 0x3FFU));
  }
  return decoded.size;
}

bool needs_escape(char c, bool ensure_ascii) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || c == '"' || c == '\\' || (ensure_ascii && byte >= 0x7F);
}

// For output that must be valid UTF-8: invalid parts become U+FFFD, lone surrogates an escape.
void append_valid(std::string& out, std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t bad = begin + utf8::first_invalid(text.substr(begin));
    append_escaped(out, text.substr(begin, bad - begin), false);
    if (bad == text.size()) return;
    if (const unsigned surrogate = surrogate_at(text, bad); surrogate != 0) {
      append_hex_escape(out, surrogate);
      begin = bad + 3;
    } else {
      utf8::append(out, utf8::kReplacement);
      begin = bad + utf8::decode(text, bad).size;
    }
  }
}

// How the printers differ.
struct Style {
  bool python_numbers = false;
  bool valid_utf8 = false;
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ",";
  std::string key_separator = ":";
};

class Printer {
 public:
  Printer(std::string& out, const Style& style) : out_(out), style_(style) {}

  void value(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull: out_ += "null"; break;
      case Kind::kBool: out_ += value.as_bool() ? "true" : "false"; break;
      case Kind::kInteger:
      case Kind::kFloat: {
        const bool is_float = value.kind() == Kind::kFloat;
        out_ += style_.python_numbers ? python_number({value.number(), is_float}) : value.number();
        break;
      }
      case Kind::kString: string(value.as_string()); break;
      case Kind::kArray: array(value.as_array()); break;
      case Kind::kObject: object(value.as_object()); break;
    }
  }

 private:
  void string(std::string_view text) {
    out_ += '"';
    if (style_.valid_utf8) {
      append_valid(out_, text);
    } else {
      append_escaped(out_, text, style_.ensure_ascii);
    }
    out_ += '"';
  }

  void array(const Array& elements) {
    if (elements.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      begin_item(i == 0);
      value(elements[i]);
    }
    --depth_;
    new_line();
    out_ += ']';
  }

  void object(const Object& object) {
    if (object.empty()) {
      out_ += "{}";
      return;
    }
    std::vector<const Member*> members;
    members.reserve(object.size());
    for (const Member& member : object) members.push_back(&member);
    if (style_.sort_keys) {
      // The order of bytes is the order of code points.
      std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
    }
    out_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < members.size(); ++i) {
      begin_item(i == 0);
      string(members[i]->key);
      out_ += style_.key_separator;
      value(members[i]->value);
    }
    --depth_;
    new_line();
    out_ += '}';
  }

  void begin_item(bool first) {
    if (!first) out_ += style_.item_separator;
    new_line();
  }

  void new_line() {
    if (!style_.indent) return;
    out_ += '\n';
    for (int i = 0; i < depth_; ++i) out_ += *style_.indent;
  }

  std::string& out_;
  const Style& style_;
  int depth_ = 0;
};

std::string print(const Value& value, const Style& style) {
  std::string out;
  Printer(out, style).value(value);
  return out;
}

}  // namespace

std::string to_compact(const Value& value) {
  Style style;
  style.valid_utf8 = true;
  return print(value, style);
}

void append_compact(std::string& out, std::string_view text) {
  out += '"';
  append_valid(out, text);
  out += '"';
}

std::string to_pretty(const Value& value) {
  Style style;
  style.valid_utf8 = true;
  style.indent = "  ";
  style.key_separator = ": ";
  return print(value, style);
}

std::string to_python(const Value& value, const PythonOptions& options) {
  Style style;
  style.python_numbers = true;
  style.ensure_ascii = options.ensure_ascii;
  style.sort_keys = options.sort_keys;
  style.indent = options.indent;
  style.item_separator = options.separators ? options.separators->first : options.indent ? "," : ", ";
  style.key_separator = options.separators ? options.separators->second : ": ";
  return print(value, style);
}

void append_escaped(std::string& out, std::string_view text, bool ensure_ascii) {
  std::size_t plain = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (!needs_escape(c, ensure_ascii)) {
      ++at;
      continue;
    }
    out.append(text, plain, at - plain);
    if (static_cast<unsigned char>(c) < 0x80) {
      append_ascii_escape(out, c);
      ++at;
    } else {
      at += append_unicode_escape(out, text, at);
    }
    plain = at;
  }
  out.append(text, plain, at - plain);
}

// Python's repr: the shortest digits that read back as the same double, in exponent form iff the exponent is below -4
// or at least 16.
std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto printed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(printed.ptr - buffer.data()));
  const std::size_t mark = text.find('e');  // "-d.ddde-05": like Python, to_chars writes at least two exponent digits
  int exponent = 0;
  const std::size_t exponent_at = mark + (text[mark + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + exponent_at, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);

  std::string out = text[0] == '-' ? "-" : "";
  std::string digits;
  for (const char c : text.substr(out.size(), mark - out.size())) {
    if (c != '.') digits += c;
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return out + digits + std::string(whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string python_number(const Number& number) {
  if (!number.is_float) return number.text == "-0" ? "0" : number.text;
  const double value = Value(number).to_double().value_or(0);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return python_float(value);
}

}  // namespace rondo::json
