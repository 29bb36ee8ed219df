#include "jinja/types/markup.h"

#include <string>
#include <string_view>

#include "jinja/types/repr.h"
#include "jinja/types/string_search.h"
#include "jinja/types/unescape.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

std::string_view html_escape(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&#34;";
    case '\'': return "&#39;";
    default: return "";
  }
}

// Where the `close` that follows an `open` ends; the `open` ends at `at`, and the two may share characters.
std::size_t behind_close(std::string_view text, std::size_t at, std::string_view open, std::string_view close) {
  for (std::size_t shared = close.size() - 1; shared != 0; --shared) {
    if (open.ends_with(close.substr(0, shared)) && text.substr(at).starts_with(close.substr(shared))) {
      return at + close.size() - shared;
    }
  }
  const std::size_t found = text.find(close, at);
  return found == std::string_view::npos ? found : found + close.size();
}

// The text without any `open` ... `close`.  The text around a cut may form a new pair.
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

}  // namespace

Value escape_html(Runtime& runtime, const Value& value) {
  const Value text = to_text(runtime, value);
  if (text.is_markup()) return text;
  const std::string_view bytes = bytes_of(runtime, text);
  Rewriter out(runtime, text, "html");
  for (const char c : bytes) {
    const std::string_view escape = html_escape(c);
    if (escape.empty()) {
      out.keep(1);
    } else {
      out.replace(1, escape);
    }
  }
  return out.finish().with_markup(true);
}

Value strip_tags(Runtime& runtime, const Value& text) {
  const std::string plain = without(without(bytes_of(runtime, text), "<!--", "-->"), "<", ">");
  const Value words = str_split(runtime, make_computed(runtime, plain), {});
  const Value joined_words = join_strings(runtime, make_computed(runtime, " "), items_of(runtime, words));
  return make_computed(runtime, unescape_html(bytes_of(runtime, joined_words)), text.path());
}

}  // namespace rondo::jinja
