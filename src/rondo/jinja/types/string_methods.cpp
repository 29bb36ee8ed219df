// The table of str's methods, and those that pad, join and translate.
#include "jinja/types/string_methods.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/types/access.h"
#include "jinja/types/format.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/methods.h"
#include "jinja/types/params.h"
#include "jinja/types/string_case.h"
#include "jinja/types/string_search.h"
#include "jinja/value/dicts.h"
#include "jinja/value/making.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

enum class Align : std::uint8_t { kLeft, kRight, kCenter };

Value pad(Runtime& runtime, std::string_view method, const Value& self, const Args& args, Align align) {
  require_positional(runtime, c_function(method), args, 1, 2);
  const Params params(runtime, c_function(method), args, {"width", "fillchar"}, 1);
  const auto size = static_cast<std::int64_t>(code_points(runtime, self));
  const std::int64_t width = params.integer(0, 0);
  Value fill = params.value(1, make_computed(runtime, " "));
  if (self.is_markup()) fill = escape_html(runtime, fill);  // of any type
  if (!fill.is_string()) runtime.fail("The fill character must be a unicode character, not " + type_name(fill));
  if (code_points(runtime, fill) != 1) runtime.fail("The fill character must be exactly one character long");
  if (width <= size) return self;
  const std::int64_t blanks = width - size;
  std::int64_t left = align == Align::kRight ? blanks : 0;
  if (align == Align::kCenter) left = blanks / 2 + (blanks & width & 1);
  const std::string_view character = bytes_of(runtime, fill);
  const Value parts[] = {padding(runtime, static_cast<std::size_t>(left), character), self,
                         padding(runtime, static_cast<std::size_t>(blanks - left), character)};
  return join_parts(runtime, parts).with_path(self.path()).with_markup(self.is_markup());
}

Value str_center(Runtime& runtime, const Value& self, const Args& args) {
  return pad(runtime, "center", self, args, Align::kCenter);
}

Value ljust(Runtime& runtime, const Value& self, const Args& args) {
  return pad(runtime, "ljust", self, args, Align::kLeft);
}

Value rjust(Runtime& runtime, const Value& self, const Args& args) {
  return pad(runtime, "rjust", self, args, Align::kRight);
}

Value zfill(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("str", "zfill"), args, 1, 1);
  const Params params(runtime, c_function("zfill"), args, {"width"}, 1);
  const auto size = static_cast<std::int64_t>(code_points(runtime, self));
  const std::int64_t width = params.integer(0, 0);
  if (width <= size) return self;
  const std::string_view text = bytes_of(runtime, self);
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const Value parts[] = {substring(runtime, self, 0, sign, ""),
                         padding(runtime, static_cast<std::size_t>(width - size), "0"),
                         substring(runtime, self, sign, text.size(), "")};
  return join_parts(runtime, parts).with_path(self.path()).with_markup(self.is_markup());
}

Value expandtabs(Runtime& runtime, const Value& self, const Args& args) {
  const Params params(runtime, c_function("expandtabs"), args, {"tabsize"});
  const std::int64_t size = params.c_int(0, 8);
  const std::string_view text = bytes_of(runtime, self);
  Rewriter out(runtime, self, "expandtabs");
  std::int64_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.size;
    if (c.value == '\t') {
      const std::int64_t blanks = size > 0 ? size - column % size : 0;
      column += blanks;
      runtime.pay_for_filling(static_cast<std::size_t>(blanks));
      out.replace(c.size, std::string(static_cast<std::size_t>(blanks), ' '));
      continue;
    }
    column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    out.keep(c.size);
  }
  return out.finish();
}

Value str_join(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("str", "join"), args, 1, 1);
  const Value& elements = args.positional[0];
  if (!elements.is_string() && !elements.is_sequence() && !elements.is_dict() && !elements.is_object() &&
      !elements.is_undefined()) {
    runtime.fail("can only join an iterable");
  }
  std::vector<Value> parts = collect(runtime, elements);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (self.is_markup()) parts[i] = escape_html(runtime, parts[i]);  // of any type
    if (!parts[i].is_string()) {
      runtime.fail("sequence item " + std::to_string(i) + ": expected str instance, " + type_name(parts[i]) + " found");
    }
  }
  return join_strings(runtime, self, parts).with_markup(self.is_markup());
}

Value str_format(Runtime& runtime, const Value& self, const Args& args) {
  return format_braces(runtime, self, args, nullptr);
}

Value format_map(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, c_function("format_map"), args, 1, 1);
  return format_braces(runtime, self, {}, &args.positional[0]);
}

Value translate(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("str", "translate"), args, 1, 1);
  const std::string_view text = bytes_of(runtime, self);
  const Value& table = args.positional[0];
  if (!text.empty()) require_defined(runtime, table);
  const bool subscriptable = table.is_dict() || table.is_sequence() || table.is_string() ||
                             (table.is_object() && table.as_object().is_sequence());
  if (!subscriptable && !text.empty()) runtime.fail("'" + type_name(table) + "' object is not subscriptable");
  Rewriter out(runtime, self, "translate");
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.size;
    const Value image = get_item(runtime, table, Value::integer(static_cast<std::int64_t>(c.value)));
    if (image.is_undefined()) {
      out.keep(c.size);
    } else if (image.is_none()) {
      out.drop(c.size);
    } else if (image.is_string()) {
      out.replace(c.size, image);
    } else if (image.is_small_int() && image.as_int() >= 0 && image.as_int() <= 0x10FFFF) {
      std::string bytes;
      utf8::append(bytes, static_cast<char32_t>(image.as_int()));
      out.replace(c.size, bytes);
    } else {
      runtime.fail("character mapping must return integer, None or str");
    }
  }
  return out.finish();
}

Value encode(Runtime& runtime, const Value&, const Args&) { runtime.fail("bytes are not supported in templates"); }

Value maketrans(Runtime& runtime, const Value&, const Args& args) {
  require_positional(runtime, method_of("str", "maketrans"), args, 1, 3);
  const Value out = make_dict(runtime);
  const auto ordinal = [&](const Value& key) {
    if (!key.is_string()) return key;
    return Value::integer(static_cast<std::int64_t>(decode_at(bytes_of(runtime, key), 0).value));
  };
  if (args.size() == 1) {
    if (!args.positional[0].is_dict()) runtime.fail("if you give only one argument to maketrans it must be a dict");
    for (const Dict::Entry& entry : entries_of(runtime, args.positional[0])) {
      if (entry.key.is_string() && code_points(runtime, entry.key) != 1) {
        runtime.fail("string keys in translate table must be of length 1");
      }
      set_item(runtime, out.as_dict(), ordinal(entry.key), entry.value);
    }
    return out;
  }
  const std::vector<Value> from = collect(runtime, require_string(runtime, args.positional[0]));
  const std::vector<Value> to = collect(runtime, require_string(runtime, args.positional[1]));
  if (from.size() != to.size()) runtime.fail("the first two maketrans arguments must have equal length");
  for (std::size_t i = 0; i < from.size(); ++i) set_item(runtime, out.as_dict(), ordinal(from[i]), ordinal(to[i]));
  if (args.size() == 3) {
    for (const Value& gone : collect(runtime, require_string(runtime, args.positional[2]))) {
      set_item(runtime, out.as_dict(), ordinal(gone), Value::none());
    }
  }
  return out;
}

Value markup_striptags(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("Markup", "striptags"), args, 0, 0);
  return strip_tags(runtime, self);
}

Value unescape(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("Markup", "unescape"), args, 0, 0);
  return unescape_text(runtime, self);
}

constexpr auto kMethods = std::to_array<Method>({
    {"capitalize", str_capitalize},
    {"casefold", str_casefold},
    {"center", str_center},
    {"count", str_count},
    {"encode", encode},
    {"endswith", str_endswith},
    {"expandtabs", expandtabs},
    {"find", str_find},
    {"format", str_format},
    {"format_map", format_map},
    {"index", str_index},
    {"isalnum", str_isalnum},
    {"isalpha", str_isalpha},
    {"isascii", str_isascii},
    {"isdecimal", str_isdecimal},
    {"isdigit", str_isdigit},
    {"isidentifier", str_isidentifier},
    {"islower", str_islower},
    {"isnumeric", str_isnumeric},
    {"isprintable", str_isprintable},
    {"isspace", str_isspace},
    {"istitle", str_istitle},
    {"isupper", str_isupper},
    {"join", str_join},
    {"ljust", ljust},
    {"lower", str_lower},
    {"lstrip", str_lstrip},
    {"maketrans", maketrans},
    {"partition", str_partition},
    {"removeprefix", str_removeprefix},
    {"removesuffix", str_removesuffix},
    {"replace", str_replace},
    {"rfind", str_rfind},
    {"rindex", str_rindex},
    {"rjust", rjust},
    {"rpartition", str_rpartition},
    {"rsplit", str_rsplit},
    {"rstrip", str_rstrip},
    {"split", str_split},
    {"splitlines", str_splitlines},
    {"startswith", str_startswith},
    {"strip", str_strip},
    {"striptags", markup_striptags, false, true},
    {"swapcase", str_swapcase},
    {"title", str_title},
    {"translate", translate},
    {"unescape", unescape, false, true},
    {"upper", str_upper},
    {"zfill", zfill},
});
static_assert(std::ranges::is_sorted(kMethods, {}, &Method::name));

}  // namespace

std::span<const Method> string_methods() { return kMethods; }

}  // namespace rondo::jinja
