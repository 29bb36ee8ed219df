// str.format() and the % operator, which keep the origins of the values that they insert.
#include "jinja/types/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/hex.h"
#include "jinja/common/characters.h"
#include "jinja/types/access.h"
#include "jinja/types/format_spec.h"
#include "jinja/types/markup.h"
#include "jinja/types/repr.h"
#include "jinja/value/bigint.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

// What a field costs besides the work on its text.
constexpr std::uint64_t kFieldFuel = 4;

// A number or text that was formatted from `value`.
Value formatted(Runtime& runtime, const Value& value, std::string_view bytes) {
  StringBuilder out(runtime);
  const text::ChainId chain = runtime.extend(text::ChainId::kNone, "format");
  if (value.is_number()) {
    out.append(bytes, printed_run(runtime, text::RunKind::kScalar, value.path(), chain));
  } else {
    out.append(bytes, computed_run(runtime, value.path()));
  }
  return out.finish();
}

// Text that is cut and padded as `spec` says, and still has its origins.
Value formatted_string(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  Value text = value;
  if (spec.precision >= 0) {
    text = substring(runtime, text, 0, byte_offset(runtime, text, static_cast<std::size_t>(spec.precision)), "slice");
  }
  const auto size = static_cast<std::int64_t>(code_points(runtime, text));
  if (spec.width <= size) return text;
  const auto blanks = static_cast<std::size_t>(spec.width - size);
  const std::size_t left = spec.align == '<' ? 0 : spec.align == '^' ? blanks / 2 : blanks;
  const Value parts[] = {padding(runtime, left, spec.fill), text, padding(runtime, blanks - left, spec.fill)};
  return join_parts(runtime, parts);
}

Value apply_spec(Runtime& runtime, const Value& value, std::string_view spec) {
  if (spec.empty()) return to_text(runtime, value);
  if (value.is_string()) runtime.spend_bytes(value.as_string().size);
  const std::string bytes = format_value(runtime, value, spec);  // checks the spec too
  if (value.is_string()) return formatted_string(runtime, value, parse_format_spec(runtime, spec, value));
  return formatted(runtime, value, bytes);
}

// What ascii() makes from a repr().
Value to_ascii(Runtime& runtime, const Value& repr) {
  const std::string_view text = bytes_of(runtime, repr);
  Rewriter out(runtime, repr, "ascii");
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    if (c.value < 0x80) {
      out.keep(c.size);
    } else {
      out.replace(c.size, hex_escape(c.value));
    }
    at += c.size;
  }
  return out.finish();
}

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Value& format, const Args& args, const Value* mapping)
      : runtime_(runtime), format_(format), text_(bytes_of(runtime, format)), args_(args), mapping_(mapping) {}

  Value run() {
    expand(0, text_.size(), 2);
    return join_parts(runtime_, parts_).with_markup(format_.is_markup());
  }

 private:
  // Writes [at, end) of the format to parts_, with `depth` levels of fields inside fields allowed.
  void expand(std::size_t at, std::size_t end, int depth) {
    runtime_.spend_bytes(end - at);
    std::size_t begin = at;
    while (at < end) {
      const char c = text_[at];
      if (c != '{' && c != '}') {
        ++at;
        continue;
      }
      if (at + 1 < end && text_[at + 1] == c) {
        literal(begin, at + 1);
        at += 2;
        begin = at;
        continue;
      }
      if (c == '}') runtime_.fail("Single '}' encountered in format string");
      literal(begin, at);
      at = field(at + 1, end, depth);
      begin = at;
    }
    literal(begin, end);
  }

  void literal(std::size_t begin, std::size_t end) {
    if (begin < end) parts_.push_back(substring(runtime_, format_, begin, end, "format"));
  }

  // The offset of the '}' that closes the field whose name begins at `at`.
  [[nodiscard]] std::size_t field_end(std::size_t at, std::size_t end) const {
    std::size_t close = at;
    bool in_name = true;
    for (int open = 1; close < end; ++close) {
      if (text_[close] == '{') ++open;
      if (text_[close] == '}' && --open == 0) return close;
      // Inside [] only its end counts.
      if (text_[close] == '[' && in_name) close = std::min(text_.find(']', close), end) - 1;
      if (text_[close] == '!' || text_[close] == ':') in_name = false;
    }
    runtime_.fail("expected '}' before end of string");
  }

  // Where the name of a field ends: at its conversion, its spec, or `close`.
  [[nodiscard]] std::size_t field_name_end(std::size_t at, std::size_t close) const {
    for (bool subscript = false; at < close; ++at) {
      if (text_[at] == '[') subscript = true;
      if (text_[at] == ']') subscript = false;
      if (!subscript && (text_[at] == '!' || text_[at] == ':')) break;
    }
    return at;
  }

  // Writes one field, whose name begins at `at`, and returns the offset after its '}'.
  std::size_t field(std::size_t at, std::size_t end, int depth) {
    runtime_.spend(kFieldFuel);
    if (at >= end) runtime_.fail("Single '{' encountered in format string");
    const std::size_t close = field_end(at, end);
    const std::size_t name_end = field_name_end(at, close);
    Value value = lookup(text_.substr(at, name_end - at));
    std::size_t spec = name_end;
    if (spec < close && text_[spec] == '!') {
      if (spec + 1 >= close) runtime_.fail("unmatched '{' in format spec");
      value = convert(value, text_[spec + 1]);
      spec += 2;
      if (spec < close && text_[spec] != ':') runtime_.fail("expected ':' after conversion specifier");
    }
    std::string spec_text;
    if (spec < close) spec_text = expand_spec(spec + 1, close, depth);
    if (format_.is_markup() && value.is_markup() && !spec_text.empty()) {
      runtime_.fail("Unsupported format specification for Markup.");
    }
    value = apply_spec(runtime_, value, spec_text);
    parts_.push_back(format_.is_markup() ? escape_html(runtime_, value) : value);
    return close + 1;
  }

  std::string expand_spec(std::size_t begin, std::size_t end, int depth) {
    const std::string_view spec = text_.substr(begin, end - begin);
    if (spec.find('{') == std::string_view::npos) return std::string(spec);
    if (depth <= 1) runtime_.fail("Max string recursion exceeded");
    std::vector<Value> outer = std::move(parts_);
    parts_.clear();
    expand(begin, end, depth - 1);
    const Value inner = join_parts(runtime_, parts_);
    parts_ = std::move(outer);
    return std::string(bytes_of(runtime_, inner));
  }

  Value convert(const Value& value, char conversion) {
    if (conversion == 's') return to_text(runtime_, value).with_markup(false);
    if (conversion == 'r') return to_repr(runtime_, value);
    if (conversion == 'a') return to_ascii(runtime_, to_repr(runtime_, value));
    runtime_.fail(std::string("Unknown conversion specifier ") + conversion);
  }

  Value lookup(std::string_view name) {
    const std::size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, first_end));
    std::string_view rest = name.substr(first_end);
    while (!rest.empty()) {
      if (rest[0] == '.') {
        const std::size_t end = std::min(rest.find_first_of(".[", 1), rest.size());
        if (end == 1) runtime_.fail("Empty attribute in format string");
        value = get_attr(runtime_, value, runtime_.heap.copy(rest.substr(1, end - 1)));
        rest.remove_prefix(end);
        continue;
      }
      const std::size_t end = rest.find(']');
      if (rest[0] != '[') runtime_.fail("Only '.' or '[' may follow ']' in format field specifier");
      if (end == std::string_view::npos) runtime_.fail("Missing ']' in format string");
      if (end == 1) runtime_.fail("Empty attribute in format string");
      value = get_item(runtime_, value, key(rest.substr(1, end - 1)));
      rest.remove_prefix(end + 1);
    }
    return value;
  }

  Value key(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      if (const std::optional<Value> index = parse_integer(runtime_, text, 10)) return *index;
    }
    return make_computed(runtime_, text);
  }

  Value first(std::string_view name) {
    const bool digits = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return named(name);
    if (name.empty() ? manual_ : next_ != 0) {
      runtime_.fail("cannot switch from manual field specification to automatic field numbering");
    }
    std::size_t index = next_;
    if (name.empty()) {
      ++next_;
    } else {
      manual_ = true;
      if (name.size() > 9) runtime_.fail("Too many decimal digits in format string");
      index = static_cast<std::size_t>(std::stoul(std::string(name)));
    }
    if (index >= args_.positional.size()) runtime_.fail("tuple index out of range");
    return args_.positional[index];
  }

  void require_subscriptable(const Value& value) {
    if (value.is_number() || value.is_none()) {
      runtime_.fail("'" + type_name(value) + "' object is not subscriptable");
    }
  }

  Value named(std::string_view name) {
    if (mapping_ != nullptr) {
      if (!mapping_->is_dict()) require_subscriptable(*mapping_);
      const Value found = get_item(runtime_, *mapping_, make_computed(runtime_, name));
      if (!found.is_undefined()) return found;
    } else if (const Value* argument = args_.find(name)) {
      return *argument;
    }
    runtime_.fail("'" + std::string(name) + "'");
  }

  Runtime& runtime_;
  const Value& format_;
  std::string_view text_;
  const Args& args_;
  const Value* mapping_;
  std::vector<Value> parts_;
  std::size_t next_ = 0;
  bool manual_ = false;
};

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& format, const Value& values)
      : runtime_(runtime), format_(format), text_(bytes_of(runtime, format)), values_(values) {
    if (values.is_tuple()) {
      const Values& items = items_of(runtime, values);
      arguments_.assign(items.begin(), items.end());
    } else {
      arguments_ = {values};
    }
  }

  Value run() {
    runtime_.spend_bytes(text_.size());
    std::size_t begin = 0;
    while (at_ < text_.size()) {
      if (text_[at_] != '%') {
        ++at_;
        continue;
      }
      if (begin < at_) parts_.push_back(substring(runtime_, format_, begin, at_, "format"));
      ++at_;
      conversion();
      begin = at_;
    }
    if (begin < at_) parts_.push_back(substring(runtime_, format_, begin, at_, "format"));
    const bool mapping = values_.is_dict() || values_.is_list() || values_.is_undefined() ||
                         (values_.is_object() && values_.as_object().is_sequence());
    if (next_ < arguments_.size() && !mapping) runtime_.fail("not all arguments converted during string formatting");
    return join_parts(runtime_, parts_).with_markup(format_.is_markup());
  }

 private:
  char peek() const {
    if (at_ >= text_.size()) runtime_.fail("incomplete format");
    return text_[at_];
  }

  Value take() {
    if (next_ >= arguments_.size()) runtime_.fail("not enough arguments for format string");
    return arguments_[next_++];
  }

  // Writes one conversion; at_ is after the '%', and then after the conversion's letter.
  void conversion() {
    runtime_.spend(kFieldFuel);
    if (peek() == '%') {
      ++at_;
      parts_.push_back(substring(runtime_, format_, at_ - 1, at_, "format"));
      return;
    }
    FormatSpec spec;
    spec.align = '>';
    std::optional<Value> named;
    if (peek() == '(') named = mapped();
    for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++at_) {
      switch (text_[at_]) {
        case '-': spec.align = '<'; break;
        case '#': spec.alternate = true; break;
        case '0': spec.fill = "0"; break;
        default:
          if (spec.sign != '+') spec.sign = text_[at_];
      }
    }
    if (const std::optional<std::int64_t> width =
            number(std::numeric_limits<std::int64_t>::max(), "width", "ssize_t")) {
      if (*width < 0) spec.align = '<';
      spec.width = *width < 0 ? -std::max(*width, -std::numeric_limits<std::int64_t>::max()) : *width;
    }
    if (peek() == '.') {
      ++at_;
      const std::int64_t precision = number(std::numeric_limits<std::int32_t>::max(), "precision", "int").value_or(0);
      spec.precision = std::max<std::int64_t>(precision, 0);
    }
    while (std::string_view("hlL").find(peek()) != std::string_view::npos) ++at_;
    spec.type = peek();
    ++at_;
    convert(named ? *named : take(), spec);
  }

  Value mapped() {
    const std::size_t begin = ++at_;
    int open = 1;
    if (!values_.is_dict()) runtime_.fail("format requires a mapping");
    for (; open != 0; ++at_) {
      if (at_ >= text_.size()) runtime_.fail("incomplete format key");
      if (text_[at_] == '(') ++open;
      if (text_[at_] == ')') --open;
    }
    const std::string_view key = text_.substr(begin, at_ - begin - 1);
    const Value* found = find_item(runtime_, values_.as_dict(), key);
    if (found == nullptr) runtime_.fail("'" + std::string(key) + "'");
    next_ = arguments_.size();
    return *found;
  }

  // A width or precision, either literal or from the arguments; nothing if there is none.
  std::optional<std::int64_t> number(std::int64_t most, const char* what, const char* c_type) {
    if (peek() == '*') {
      ++at_;
      const Value given = take();
      if (!given.is_integral() || format_.is_markup()) runtime_.fail("* wants int");
      const std::int64_t size = clipped(given);
      if (!given.is_small_int() || size > most || size < -most - 1) {
        runtime_.fail(std::string("Python int too large to convert to C ") + c_type);
      }
      return size;
    }
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (begin == at_) return std::nullopt;
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + at_, out);
    if (error != std::errc() || out > most) runtime_.fail(std::string(what) + " too big");
    return out;
  }

  // Converts an argument of markup with int() and float().  It arrives wrapped, so other numbers do not count as
  // numbers.
  Value number_for_markup(const Value& value, char type) {
    require_defined(runtime_, value);
    const bool is_float = std::string_view("eEfFgG").find(type) != std::string_view::npos;
    if (!value.is_string()) {
      if (value.is_number()) return value;
      if (is_float) {
        runtime_.fail("float() argument must be a string or a real number, not '" + type_name(value) + "'");
      }
      runtime_.fail(std::string("%") + type + " format: a real number is required, not _MarkupEscapeHelper");
    }
    const std::string_view text = bytes_of(runtime_, value);
    if (!is_float) {
      if (const std::optional<Value> whole = parse_integer(runtime_, text, 10)) return *whole;
      runtime_.fail("invalid literal for int() with base 10: " + repr(runtime_, value.with_markup(false)));
    }
    if (const std::optional<double> number = parse_float(runtime_, text)) return Value::floating(*number);
    runtime_.fail("could not convert string to float: " + repr(runtime_, value));
  }

  void convert(Value value, FormatSpec spec) {
    const std::string_view numbers = "diueEfFgG";
    if (format_.is_markup() && numbers.find(spec.type) != std::string_view::npos) {
      value = number_for_markup(value, spec.type);
    }
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a': {
        spec.fill = " ";
        Value text = spec.type == 's' ? to_text(runtime_, value) : to_repr(runtime_, value);
        if (spec.type == 'a') text = to_ascii(runtime_, text);
        if (format_.is_markup()) text = escape_html(runtime_, text);
        parts_.push_back(formatted_string(runtime_, text, spec));
        return;
      }
      case 'c': character(value, spec); return;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': integer(value, spec); return;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        require_defined(runtime_, value);
        if (!value.is_number()) runtime_.fail("must be real number, not " + type_name(value));
        if (!value.is_float() && std::isinf(to_double(value))) runtime_.fail("int too large to convert to float");
        parts_.push_back(
            formatted(runtime_, value, format_value(runtime_, Value::floating(to_double(value)), spec_text(spec))));
        return;
      default: unsupported(spec.type);
    }
  }

  [[noreturn]] void unsupported(char type) {
    std::string code = "0x";
    hex::append(code, static_cast<unsigned char>(type), 2);
    runtime_.fail(std::string("unsupported format character '") + type + "' (" + code + ") at index " +
                  std::to_string(at_ - 1));
  }

  void character(const Value& value, FormatSpec spec) {
    spec.fill = " ";
    spec.precision = -1;
    if (format_.is_markup()) runtime_.fail("%c requires int or char");
    if (value.is_string()) {
      if (code_points(runtime_, value) != 1) runtime_.fail("%c requires int or char");
      parts_.push_back(formatted_string(runtime_, value, spec));
    } else if (value.is_integral()) {
      parts_.push_back(
          formatted_string(runtime_, formatted(runtime_, value, format_value(runtime_, value, "c")), spec));
    } else {
      runtime_.fail("%c requires int or char");
    }
  }

  void integer(const Value& value, FormatSpec spec) {
    const bool decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    if (decimal) require_defined(runtime_, value);
    Value whole = value;
    if (value.is_float() && decimal) {
      if (!(value.as_float() - value.as_float() == 0)) runtime_.fail("cannot convert float infinity or NaN to integer");
      whole = make_integer(runtime_, BigInt::truncate(value.as_float()));
    }
    if (!whole.is_integral() || (format_.is_markup() && !decimal)) {
      const std::string type = format_.is_markup() ? "_MarkupEscapeHelper" : type_name(value);
      const std::string kind = decimal ? "a real number" : "an integer";
      runtime_.fail(std::string("%") + spec.type + " format: " + kind + " is required, not " + type);
    }
    if (decimal) spec.type = 'd';
    std::string digits =
        format_value(runtime_, whole, spec_text({.sign = spec.sign, .alternate = spec.alternate, .type = spec.type}));
    // The precision of an integer is a number of digits.
    const std::size_t sign = digits.find_first_not_of("+- ");
    const std::size_t prefix = spec.alternate && !decimal ? 2 : 0;
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(spec.precision, 0));
    const std::size_t have = digits.size() - sign - prefix;
    if (spec.precision > std::numeric_limits<std::int32_t>::max() - 3) runtime_.fail("precision too large");
    runtime_.pay_for_filling(wanted);
    if (have < wanted) digits.insert(sign + prefix, wanted - have, '0');
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(spec.width, 0));
    if (digits.size() < width) {
      runtime_.pay_for_filling(width);
      const std::size_t blanks = width - digits.size();
      if (spec.align == '<') {
        digits.append(blanks, ' ');
      } else if (spec.fill == "0") {
        digits.insert(sign + prefix, blanks, '0');
      } else {
        digits.insert(0, blanks, ' ');
      }
    }
    parts_.push_back(formatted(runtime_, value, digits));
  }

  // The same specification in the syntax of format().
  static std::string spec_text(const FormatSpec& spec) {
    std::string out;
    if (spec.width >= 0 && (spec.align == '<' || spec.fill != "0")) out += spec.align;
    if (spec.sign != '-') out += spec.sign;
    if (spec.alternate) out += '#';
    if (spec.fill == "0" && spec.align != '<') out += '0';
    if (spec.width >= 0) out += std::to_string(spec.width);
    if (spec.precision >= 0) out += "." + std::to_string(spec.precision);
    return out + spec.type;
  }

  Runtime& runtime_;
  const Value& format_;
  std::string_view text_;
  const Value& values_;
  std::vector<Value> arguments_;
  std::vector<Value> parts_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Value format_braces(Runtime& runtime, const Value& format, const Args& args, const Value* mapping) {
  return BraceFormatter(runtime, format, args, mapping).run();
}

Value format_percent(Runtime& runtime, const Value& format, const Value& values) {
  return PercentFormatter(runtime, format, values).run();
}

}  // namespace rondo::jinja
