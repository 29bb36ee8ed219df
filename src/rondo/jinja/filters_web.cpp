// Filters for HTML and URLs.
#include <algorithm>
#include <array>

#include "jinja/entities.h"
#include "jinja/filters.h"
#include "jinja/operations.h"
#include "jinja/string_functions.h"
#include "jinja/strings.h"
#include "jinja/views.h"

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

// --- striptags

// Where `close` ends that follows an `open` which ends at `at`; they may share characters.
std::size_t behind_close(std::string_view text, std::size_t at, std::string_view open, std::string_view close) {
  for (std::size_t shared = close.size() - 1; shared != 0; --shared) {
    if (open.ends_with(close.substr(0, shared)) && text.substr(at).starts_with(close.substr(shared))) {
      return at + close.size() - shared;
    }
  }
  const std::size_t found = text.find(close, at);
  return found == std::string_view::npos ? found : found + close.size();
}

// The text without every `open` ... `close`; what stands around a cut may make a new one.
std::string without(std::string_view text, std::string_view open, std::string_view close) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    out += text[at++];
    if (!out.ends_with(open)) continue;
    const std::size_t end = behind_close(text, at, open, close);
    if (end == std::string_view::npos) return out.append(text.substr(at));
    out.resize(out.size() - open.size());
    at = end;
  }
  return out;
}

Value striptags(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_striptags", 1), args, {});
  return strip_tags(runtime, to_text(runtime, subject));
}

// --- urlencode

// What Python counts as iterable; `self` can be gone through, but has no __iter__.
bool is_iterable_object(Runtime& runtime, const Value& value) {
  return value.is_object() && value.as_object().type_name() != "TemplateReference" &&
         value.as_object().iterate(runtime) != nullptr;
}

std::string quote_url(std::string_view text, bool query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (!query && c == '/');
    if (plain) {
      out += c;
    } else if (query && c == ' ') {
      out += '+';
    } else {
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

Value urlencode(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_urlencode", 1), args, {});
  const bool pairs =
      subject.is_dict() || subject.is_sequence() || subject.is_undefined() || is_iterable_object(runtime, subject);
  if (!pairs)
    return make_computed(runtime, quote_url(bytes_of(runtime, to_text(runtime, subject)), false), subject.path());
  std::string out;
  const Value items = subject.is_dict() ? make_view(runtime, subject, DictPart::kItems) : subject;
  for (const Value& item : collect(runtime, items)) {
    const std::vector<Value> pair = unpack_items(runtime, item, 2);
    if (!out.empty()) out += '&';
    out += quote_url(bytes_of(runtime, to_text(runtime, pair[0])), true) + '=';
    out += quote_url(bytes_of(runtime, to_text(runtime, pair[1])), true);
  }
  return make_computed(runtime, out, subject.path());
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

}  // namespace

Value strip_tags(Runtime& runtime, const Value& text) {
  const std::string plain = without(without(bytes_of(runtime, text), "<!--", "-->"), "<", ">");
  const Value words = str_split(runtime, make_computed(runtime, plain), {});
  const Value joined_words = join_strings(runtime, make_computed(runtime, " "), items_of(runtime, words));
  return make_computed(runtime, unescape_html(bytes_of(runtime, joined_words)), text.path());
}

std::span<const Filter> web_filters() { return kWebFilters; }

}  // namespace rondo::jinja
