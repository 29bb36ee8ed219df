#include "jinja/types/markup.h"

#include <string>
#include <string_view>
#include <vector>

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

// The string without any `open` ... `close`.  The text around a cut may form a new pair.
Value without(Runtime& runtime, const Value& value, std::string_view open, std::string_view close) {
  const std::string_view text = bytes_of(runtime, value);
  runtime.spend_on_characters(text.size());
  std::string out;
  std::vector<std::size_t> kept;  // where each byte of `out` stands in `text`
  std::size_t at = 0;
  while (at < text.size()) {
    out += text[at];
    kept.push_back(at++);
    if (!out.ends_with(open)) continue;
    const std::size_t end = behind_close(text, at, open, close);
    if (end == std::string_view::npos) break;
    out.resize(out.size() - open.size());
    kept.resize(out.size());
    at = end;
  }
  for (; at < text.size(); ++at) kept.push_back(at);
  Rewriter cut(runtime, value, "striptags");
  for (const std::size_t place : kept) {
    if (place != cut.at()) cut.drop(place - cut.at());
    cut.keep(1);
  }
  cut.drop(text.size() - cut.at());
  return cut.finish();
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

Value unescape_text(Runtime& runtime, const Value& text) {
  Rewriter out(runtime, text, "unescape");
  const std::string_view bytes = bytes_of(runtime, text);
  while (out.at() < bytes.size()) {
    const Reference reference = html_reference(bytes, out.at());
    if (reference.size == 0) {
      out.keep(1);
    } else if (reference.text.empty()) {
      out.drop(reference.size);
    } else {
      out.replace(reference.size, reference.text);
    }
  }
  return out.finish().with_markup(false);
}

Value strip_tags(Runtime& runtime, const Value& text) {
  const Value plain = without(runtime, without(runtime, text, "<!--", "-->"), "<", ">");
  const Value words = str_split(runtime, plain.with_markup(false), {});
  return unescape_text(runtime, join_strings(runtime, make_computed(runtime, " "), items_of(runtime, words)));
}

}  // namespace rondo::jinja
