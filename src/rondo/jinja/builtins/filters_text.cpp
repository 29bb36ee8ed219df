// Filters that make text from a value.
#include "jinja/builtins/filters_text.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/builtins/filters.h"
#include "jinja/builtins/pprint.h"
#include "jinja/builtins/wordwrap.h"
#include "jinja/common/characters.h"
#include "jinja/common/operators.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/format.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_case.h"
#include "jinja/types/string_search.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "unicode/case.h"
#include "unicode/classes.h"

namespace rondo::jinja {
namespace {

// The value if it is a string, otherwise Python's error for calling a method of str.
Value require_text(Runtime& runtime, const Value& value, std::string_view method) {
  require_defined(runtime, value);
  if (!value.is_string())
    runtime.fail("'" + type_name(value) + "' object has no attribute '" + std::string(method) + "'");
  return value;
}

Value capitalize(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_capitalize", 1), args, {});
  return capitalize_text(runtime, to_text(runtime, subject));
}

Value center(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_center", 1), args, {"width"});
  const Value width = params.value(0, Value::integer(80));
  return call_method(runtime, to_text(runtime, subject), "center", {std::span(&width, 1), {}});
}

Value format(Runtime& runtime, const Value& subject, const Args& args) {
  if (args.find("value") != nullptr) runtime.fail("do_format() got multiple values for argument 'value'");
  const Value text = to_text(runtime, subject);
  if (args.named.empty()) {
    return format_percent(runtime, text, jinja::make_tuple(runtime, {args.positional.begin(), args.positional.end()}));
  }
  if (!args.positional.empty()) { runtime.fail("can't handle positional and keyword arguments at the same time"); }
  const Value mapping = make_dict(runtime);
  for (const NamedValue& argument : args.named) {
    set_item(runtime, mapping.as_dict(), make_computed(runtime, argument.name), argument.value);
  }
  return format_percent(runtime, text, mapping);
}

// indent() of plain text by markup.  It follows the reference's additions, which escape the indented lines.
Value indent_by_markup(Runtime& runtime, const Value& subject, const Value& blanks, bool first, bool blank) {
  const Value newline = make_computed(runtime, "\n");
  const auto sum = [&](const Value& left, const Value& right) { return binary(runtime, BinaryOp::kAdd, left, right); };
  const Value lines = str_splitlines(runtime, sum(subject, newline), {});
  std::vector<Value> parts(items_of(runtime, lines).begin(), items_of(runtime, lines).end());
  Value out = parts.front();
  if (blank) {
    const Value separator = sum(newline, blanks);
    for (Value& part : parts) part = escape_html(runtime, part);
    out = join_strings(runtime, separator, parts).with_markup(true);
  } else {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const Value line = parts[i].as_string().size == 0 ? parts[i] : sum(blanks, parts[i]).with_markup(false);
      out = sum(sum(out, newline), line);
    }
  }
  return first ? sum(blanks, out) : out;
}

Value indent(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_indent", 1), args, {"width", "first", "blank"});
  require_defined(runtime, subject);
  if (!subject.is_string()) {
    runtime.fail("unsupported operand type(s) for +=: '" + type_name(subject) + "' and 'str'");
  }
  const bool blank = params.boolean(2, false);
  const Value width = params.value(0, Value::integer(4));
  const Value blanks =
      width.is_string() ? width
                        : padding(runtime, static_cast<std::size_t>(std::max<std::int64_t>(params.integer(0, 4), 0)));
  if (blanks.is_markup() && !subject.is_markup()) {
    return indent_by_markup(runtime, subject, blanks, params.boolean(1, false), blank);
  }
  const std::string_view fill = bytes_of(runtime, blanks);
  // White space inside a printed value belongs to that value.
  const text::Run run = computed_run(runtime, subject.path());
  const auto insert = [&](Rewriter& out) {
    if (width.is_string()) {
      out.insert(blanks);
    } else {
      out.insert(fill, run);
    }
  };
  const std::string_view text = bytes_of(runtime, subject);
  runtime.spend_on_characters(text.size());
  Rewriter out(runtime, subject, "indent");
  if (params.boolean(1, false)) insert(out);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.size;
    if (!is_line_break(c.value)) {
      out.keep(c.size);
      continue;
    }
    std::size_t size = c.size;
    if (c.value == '\r' && at < text.size() && text[at] == '\n') {
      ++at;
      ++size;
    }
    if (c.value == '\r' && at == text.size() && size == 1) {  // joins the one that the reference adds
      out.drop(size);
      break;
    }
    if (c.value == '\n') {
      out.keep(size);
    } else {
      out.replace(size, "\n");
    }
    const bool empty = at == text.size() || is_line_break(decode_at(text, at).value);
    if (blank || !empty) insert(out);
  }
  return out.finish();
}

Value lower(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_lower", 1), args, {});
  return lower_text(runtime, to_text(runtime, subject));
}

Value pprint(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_pprint", 1), args, {});
  return make_computed(runtime, pretty_print(runtime, subject), subject.path());
}

Value replace(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_replace", 2), args, {"old", "new", "count"}, 2);
  Value text = to_text(runtime, subject);
  const Value old = to_text(runtime, params[0]);
  Value with = to_text(runtime, params[1]);
  const std::int64_t count = params[2].is_none() ? -1 : params.integer(2, -1);
  if (!runtime.autoescape) return replace_text(runtime, text.with_markup(false), old, with, count);
  if (old.is_markup() || (with.is_markup() && !text.is_markup())) text = escape_html(runtime, text);
  if (text.is_markup()) with = escape_html(runtime, with);
  return replace_text(runtime, text, old, with, count);
}

Value string(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("soft_str", 1), args, {});
  return to_text(runtime, subject);
}

std::string upper_character(char32_t c) {
  const unicode::CaseImage image = unicode::to_upper(c);
  std::string out;
  for (std::size_t i = 0; i < image.count; ++i) utf8::append(out, image.code_points[i]);
  return out;
}

bool begins_word_behind(char32_t c) { return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<'; }

// jinja2's title(): words begin after white space, hyphens and opening brackets.
Value title(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_title", 1), args, {});
  const Value text = to_text(runtime, subject);
  const std::string_view bytes = bytes_of(runtime, text);
  runtime.spend_on_characters(bytes.size());
  Rewriter out(runtime, text, "title");
  bool begins = true;
  std::size_t tail = 0;  // the rest of the word, which the reference lowers separately: [tail, tail_end)
  std::size_t tail_end = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_at(bytes, at);
    const std::string_view rest = bytes.substr(tail, tail_end - tail);
    const std::string changed =
        begins || at >= tail_end ? upper_character(c.value) : lower_at(rest, at - tail, c.value);
    at += c.size;
    if (begins) {
      tail = at;
      for (tail_end = at; tail_end < bytes.size(); tail_end += decode_at(bytes, tail_end).size) {
        if (begins_word_behind(decode_at(bytes, tail_end).value)) break;
      }
    }
    if (changed == bytes.substr(at - c.size, c.size)) {
      out.keep(c.size);
    } else {
      out.replace(c.size, changed);
    }
    begins = begins_word_behind(c.value);
  }
  return out.finish().with_markup(false);  // joined from pieces
}

Value trim(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_trim", 1), args, {"chars"});
  return strip_text(runtime, to_text(runtime, subject), Side::kBoth, params[0]);
}

Value truncate(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_truncate", 2), args, {"length", "killwords", "end", "leeway"});
  const Value length = params.value(0, Value::integer(255));
  const Value end = params.given(2) ? params[2] : make_computed(runtime, "...");
  constexpr std::int64_t kLeeway = 5;  // environment.policies["truncate.leeway"]
  const Value leeway = params[3].is_none() ? Value::integer(kLeeway) : params[3];
  const std::optional<std::size_t> end_length = length_of(runtime, end);
  if (!end_length) runtime.fail("object of type '" + type_name(end) + "' has no len()");
  if (!compare(runtime, CompareOp::kGe, length, make_length(*end_length))) {
    runtime.fail("expected length >= " + std::to_string(*end_length) + ", got " +
                 std::string(bytes_of(runtime, to_text(runtime, length))));
  }
  if (!compare(runtime, CompareOp::kGe, leeway, Value::integer(0))) {
    runtime.fail("expected leeway >= 0, got " + std::string(bytes_of(runtime, to_text(runtime, leeway))));
  }
  const std::optional<std::size_t> size = length_of(runtime, subject);
  if (!size) runtime.fail("object of type '" + type_name(subject) + "' has no len()");
  if (compare(runtime, CompareOp::kLe, make_length(*size), binary(runtime, BinaryOp::kAdd, length, leeway))) {
    return subject;
  }
  require_text(runtime, subject, "rsplit");
  if (length.is_float()) runtime.fail("slice indices must be integers or None or have an __index__ method");
  const std::size_t cut = byte_offset(runtime, subject, static_cast<std::size_t>(params.integer(0, 255)) - *end_length);
  Value head = substring(runtime, subject, 0, cut, "truncate");
  if (!params.boolean(1, false)) {
    runtime.spend_bytes(cut);
    const std::size_t space = bytes_of(runtime, head).rfind(' ');
    if (space != std::string_view::npos) head = substring(runtime, head, 0, space, "truncate");
  }
  log_strip(runtime, subject, bytes_of(runtime, head).size(), bytes_of(runtime, subject).size());
  return binary(runtime, BinaryOp::kAdd, head, end);
}

Value upper(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_upper", 1), args, {});
  return upper_text(runtime, to_text(runtime, subject));
}

Value wordcount(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_wordcount", 1), args, {});
  const Value text = to_text(runtime, subject);
  const std::string_view bytes = bytes_of(runtime, text);
  runtime.spend(bytes.size() / 2);  // pays for classifying the characters
  std::int64_t count = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_at(bytes, at);
    at += c.size;
    if (is_word(c.value) && !in_word) ++count;
    in_word = is_word(c.value);
  }
  return Value::integer(count);
}

constexpr auto kTextFilters = std::to_array<Filter>({
    plain({"capitalize", capitalize}),
    {"center", center},
    {"format", format},
    plain({"indent", indent}),
    plain({"lower", lower}),
    {"pprint", pprint},
    plain({"replace", replace}),
    plain({"string", string}),
    {"title", title},
    plain({"trim", trim}),
    {"truncate", truncate},
    plain({"upper", upper}),
    {"wordcount", wordcount},
    {"wordwrap", wordwrap},
});
static_assert(std::ranges::is_sorted(kTextFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> text_filters() { return kTextFilters; }

}  // namespace rondo::jinja
