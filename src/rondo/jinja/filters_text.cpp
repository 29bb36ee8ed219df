// Filters that make text of a value.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/filters.h"
#include "jinja/operations.h"
#include "jinja/string_functions.h"
#include "jinja/strings.h"
#include "unicode/case.h"
#include "unicode/classes.h"

namespace rondo::jinja {
namespace {

// The value if it is a string, else an error as Python's for calling a method of str.
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

bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
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
  const std::string_view fill = bytes_of(runtime, blanks);
  // Blanks inside a printed value belong to that value.
  const text::Run run = computed_run(runtime, subject.path());
  const auto insert = [&](Rewriter& out) {
    if (width.is_string()) {
      out.insert(blanks);
    } else {
      out.insert(fill, run);
    }
  };
  const std::string_view text = bytes_of(runtime, subject);
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
  Value old = to_text(runtime, params[0]);
  Value with = to_text(runtime, params[1]);
  const std::int64_t count = params[2].is_none() ? -1 : params.integer(2, -1);
  if (!runtime.autoescape) return replace_text(runtime, text.with_markup(false), old, with, count);
  if (old.is_markup() || (with.is_markup() && !text.is_markup())) text = escape_html(runtime, text);
  if (text.is_markup()) {
    old = escape_html(runtime, old);
    with = escape_html(runtime, with);
  }
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

// jinja2's title(): words begin behind blanks, hyphens and opening brackets.
Value title(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_title", 1), args, {});
  const Value text = to_text(runtime, subject);
  const std::string_view bytes = bytes_of(runtime, text);
  Rewriter out(runtime, text, "title");
  bool begins = true;
  std::size_t tail = 0;  // the rest of the word, which the reference lowers alone: [tail, tail_end)
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
  return out.finish();
}

Value trim(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_trim", 1), args, {"chars"});
  return strip_text(runtime, to_text(runtime, subject), Side::kBoth, params[0]);
}

Value truncate(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_truncate", 2), args, {"length", "killwords", "end", "leeway"});
  const std::int64_t length = params.integer(0, 255);
  const Value end = params.given(2) ? params.string(2) : make_computed(runtime, "...");
  constexpr std::int64_t kLeeway = 5;  // environment.policies["truncate.leeway"]
  const std::int64_t leeway = params[3].is_none() ? kLeeway : params.integer(3, kLeeway);
  const auto end_size = static_cast<std::int64_t>(code_points(runtime, end));
  if (length < end_size) {
    runtime.fail("expected length >= " + std::to_string(end_size) + ", got " + std::to_string(length));
  }
  if (leeway < 0) runtime.fail("expected leeway >= 0, got " + std::to_string(leeway));
  const std::optional<std::size_t> size = length_of(runtime, subject);
  if (!size) runtime.fail("object of type '" + type_name(subject) + "' has no len()");
  if (static_cast<std::int64_t>(*size) <= length + leeway) return subject;
  require_text(runtime, subject, "rsplit");
  const std::size_t cut = byte_offset(runtime, subject, static_cast<std::size_t>(length - end_size));
  Value head = substring(runtime, subject, 0, cut, "truncate");
  if (!params.boolean(1, false)) {
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

bool is_word(char32_t c) {
  return c == '_' || unicode::is_letter(c) || unicode::is_numeric(c) ||
         unicode::category(c) == unicode::Category::kNd || unicode::is_digit(c);
}

Value wordcount(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_wordcount", 1), args, {});
  const Value text = to_text(runtime, subject);
  const std::string_view bytes = bytes_of(runtime, text);
  runtime.spend(bytes.size() / 2);  // the classes of characters take their time
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

// --- wordwrap: textwrap.wrap() of every line.

struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t width = 0;  // code points
  bool blank = false;
};

class Wrapper {
 public:
  Wrapper(Runtime& runtime, const Value& line, std::size_t width, bool break_long, bool break_hyphens)
      : runtime_(runtime), line_(line), text_(bytes_of(runtime, line)), width_(width), break_long_(break_long) {
    split(break_hyphens);
  }

  [[nodiscard]] std::vector<Value> lines() {
    std::vector<Value> out;
    std::size_t at = 0;
    while (at < chunks_.size()) {
      runtime_.spend();
      if (chunks_[at].blank && !out.empty()) ++at;
      std::size_t last = at;
      std::size_t used = 0;
      while (last < chunks_.size() && used + chunks_[last].width <= width_) used += chunks_[last++].width;
      if (last < chunks_.size() && chunks_[last].width > width_) last = break_chunk(at, last, width_ - used);
      std::size_t stop = last;
      if (stop > at && chunks_[stop - 1].blank) --stop;
      if (stop > at) out.push_back(substring(runtime_, line_, chunks_[at].begin, chunks_[stop - 1].end, "wordwrap"));
      at = last;
    }
    return out;
  }

 private:
  // A chunk wider than a line: as much of it as fits, or all of it if it must not be broken and stands alone.
  std::size_t break_chunk(std::size_t first, std::size_t chunk, std::size_t room) {
    if (!break_long_) return chunk == first ? chunk + 1 : chunk;
    const std::size_t count = width_ == 0 ? 1 : std::max<std::size_t>(room, room == 0 && chunk == first ? 1 : 0);
    if (count == 0) return chunk;
    Chunk rest = chunks_[chunk];
    const std::size_t cut = rest.begin + code_point_offset(text_.substr(rest.begin, rest.end - rest.begin), count);
    chunks_[chunk].end = cut;
    chunks_[chunk].width = count;
    rest.begin = cut;
    rest.width -= count;
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, rest);
    return chunk + 1;
  }

  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  // May a line end behind the hyphen at `at`?  Between letters, with at least two word characters before it.
  [[nodiscard]] bool breaks_behind(std::size_t begin, std::size_t at) const {
    if (text_[at] != '-' || at + 1 >= text_.size() || at < begin + 2) return false;
    const auto letter = [&](std::size_t where) {
      const char32_t c = decode_at(text_, where).value;
      return is_word(c) && !unicode::is_digit(c);
    };
    if (!letter(at + 1)) return false;
    const std::size_t before = previous_start(text_, at);
    if (before < begin || !letter(before) || before == begin) return false;
    const std::size_t next = at + 1 + decode_at(text_, at + 1).size;
    const bool two_before = letter(previous_start(text_, before));
    return two_before && next < text_.size() && (letter(next) || text_[next] == '-');
  }

  void split(bool break_hyphens) {
    for (std::size_t at = 0; at < text_.size();) {
      Chunk chunk{at, at, 0, is_blank(text_[at])};
      while (at < text_.size() && is_blank(text_[at]) == chunk.blank) {
        const bool ends = !chunk.blank && break_hyphens && breaks_behind(chunk.begin, at);
        at += decode_at(text_, at).size;
        ++chunk.width;
        if (ends) break;
      }
      chunk.end = at;
      chunks_.push_back(chunk);
    }
  }

  Runtime& runtime_;
  const Value& line_;
  std::string_view text_;
  std::size_t width_;
  bool break_long_;
  std::vector<Chunk> chunks_;
};

Value wordwrap(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_wordwrap", 2), args,
                      {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  require_text(runtime, subject, "splitlines");
  const std::int64_t width = params.integer(0, 79);
  if (width <= 0) runtime.fail("invalid width " + std::to_string(width) + " (must be > 0)");
  const Value separator = params[2].is_none() ? make_computed(runtime, "\n") : params.string(2);
  std::vector<Value> paragraphs;
  for (const Value& line : items_of(runtime, str_splitlines(runtime, subject, {}))) {
    Wrapper wrapper(runtime, line, static_cast<std::size_t>(width), params.boolean(1, true), params.boolean(3, true));
    paragraphs.push_back(join_strings(runtime, separator, wrapper.lines()));
  }
  return join_strings(runtime, separator, paragraphs);
}

constexpr auto kFilters = std::to_array<Filter>({
    {"capitalize", capitalize},
    {"center", center},
    {"format", format},
    {"indent", indent},
    {"lower", lower},
    {"pprint", pprint},
    {"replace", replace},
    {"string", string},
    {"title", title},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", upper},
    {"wordcount", wordcount},
    {"wordwrap", wordwrap},
});

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace rondo::jinja
