#include "pages/page.h"

#include <string_view>

#include "json/print.h"
#include "pages/page_parts.h"

namespace rondo::pages {
namespace {

// JSON for a script element.  It has no `<`, which could end the element or open a comment, and neither of the two line
// separators.  All three occur only in strings, so escapes replace them.
std::string json_for_script(const json::Value& value) {
  std::string out;
  const std::string text = json::to_compact(value);
  out.reserve(text.size() + text.size() / 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i, 3);
    if (text[i] == '<') {
      out += "\\u003c";
    } else if (rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9") {
      out += rest == "\xE2\x80\xA8" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string trace_page(const json::Value& reply) {
  json::Object data;
  for (const char* field : {"text", "trace"}) {
    if (const json::Value* value = reply.find(field)) data.set(field, *value);
  }
  // The page has one mark for each.  Inserted text is not searched again.
  std::string out;
  std::string_view rest = page_html();
  const auto put = [&](std::string_view mark, std::string_view content) {
    const std::size_t at = rest.find(mark);
    out += rest.substr(0, at);
    out += content;
    rest.remove_prefix(at + mark.size());
  };
  put("<!--STYLE-->", page_css());
  put("<!--DATA-->", json_for_script(data));
  put("<!--SCRIPT-->", page_js());
  out += rest;
  return out;
}

}  // namespace rondo::pages
