#include "pages/serve_page.h"

#include "pages/page_parts.h"

namespace rondo::pages {

std::string serve_page(std::string_view nonce) {
  std::string out;
  std::string_view rest = serve_html();
  const auto put = [&](std::string_view mark, std::initializer_list<std::string_view> parts) {
    const std::size_t at = rest.find(mark);
    out += rest.substr(0, at);
    for (const std::string_view part : parts) out += part;
    rest.remove_prefix(at + mark.size());
  };
  put("NONCE", {nonce});
  put("/*STYLE*/", {serve_css()});
  put("NONCE", {nonce});
  put("/*SCRIPT*/", {serve_js(), serve_turns_js(), serve_chat_js()});
  out += rest;
  return out;
}

}  // namespace rondo::pages
