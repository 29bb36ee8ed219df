// Filters for HTML and URLs.
#include "jinja/builtins/filters_web.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/builtins/filters.h"
#include "jinja/builtins/urlize.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/making.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

Value escape(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("escape", 1), args, {});
  return escape_html(runtime, subject);
}

Value forceescape(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_forceescape", 1), args, {});
  return escape_html(runtime, to_text(runtime, subject).with_markup(false));
}

Value safe(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_mark_safe", 1), args, {});
  return to_text(runtime, subject).with_markup(true);
}

Value striptags(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_striptags", 1), args, {});
  return strip_tags(runtime, to_text(runtime, subject));
}

// --- urlencode

// What Python considers iterable.  `self` supports iteration but has no __iter__.
bool is_iterable_object(Runtime& runtime, const Value& value) {
  return value.is_object() && value.as_object().type_name() != "TemplateReference" &&
         value.as_object().iterate(runtime) != nullptr;
}

// The string with everything quoted that is not plain in a URL, or in its query.
Value quote_url(Runtime& runtime, const Value& value, bool query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  const Value text = to_text(runtime, value);
  const std::string_view bytes = bytes_of(runtime, text);
  Rewriter out(runtime, text, "urlencode");
  while (out.at() < bytes.size()) {
    const char c = bytes[out.at()];
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (!query && c == '/');
    if (plain) {
      out.keep(1);
    } else if (query && c == ' ') {
      out.replace(1, "+");
    } else {
      const std::size_t size = utf8::decode(bytes, out.at()).size;
      std::string quoted;
      for (const char part : bytes.substr(out.at(), size)) {
        const auto byte = static_cast<unsigned char>(part);
        quoted += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
      }
      out.replace(size, quoted);
    }
  }
  return out.finish().with_markup(false);
}

Value urlencode(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_urlencode", 1), args, {});
  const bool pairs =
      subject.is_dict() || subject.is_sequence() || subject.is_undefined() || is_iterable_object(runtime, subject);
  if (!pairs) return quote_url(runtime, subject, false);
  std::vector<Value> parts;
  const Value items = subject.is_dict() ? make_view(runtime, subject, DictPart::kItems) : subject;
  for (const Value& item : collect(runtime, items)) {
    const std::vector<Value> pair = unpack_items(runtime, item, 2);
    if (!parts.empty()) parts.push_back(make_computed(runtime, "&"));
    parts.push_back(quote_url(runtime, pair[0], true));
    parts.push_back(make_computed(runtime, "="));
    parts.push_back(quote_url(runtime, pair[1], true));
  }
  return join_parts(runtime, parts);
}

// --- xmlattr

Value xmlattr(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_xmlattr", 2), args, {"autospace"});
  require_defined(runtime, subject);
  if (!subject.is_dict()) runtime.fail("'" + type_name(subject) + "' object has no attribute 'items'");
  std::vector<Value> parts;
  const auto literal = [&](std::string_view bytes) { parts.push_back(make_computed(runtime, bytes)); };
  for (const Dict::Entry& entry : entries_of(runtime, subject)) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    const Value key = key_of(runtime, subject.as_dict(), entry);
    if (!key.is_string()) runtime.fail("expected string or bytes-like object, got '" + type_name(key) + "'");
    if (bytes_of(runtime, key).find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      runtime.fail("Invalid character in attribute name: " + repr(runtime, key));
    }
    if (!parts.empty() || params.boolean(0, true)) literal(" ");
    parts.push_back(escape_html(runtime, key));
    literal("=\"");
    parts.push_back(escape_html(runtime, entry.value));
    literal("\"");
  }
  return join_parts(runtime, parts).with_markup(runtime.autoescape);
}

constexpr auto kWebFilters = std::to_array<Filter>({
    {"e", escape},
    {"escape", escape},
    {"forceescape", forceescape},
    {"safe", safe},
    {"striptags", striptags},
    {"urlencode", urlencode},
    {"urlize", urlize},
    {"xmlattr", xmlattr},
});
static_assert(std::ranges::is_sorted(kWebFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> web_filters() { return kWebFilters; }

}  // namespace rondo::jinja
