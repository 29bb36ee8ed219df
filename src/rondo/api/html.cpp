#include "api/html.h"

#include "base/utf8.h"

namespace rondo::api {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\n': out += "<span class=\"w\">\u21B5</span>\n"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') {
          // The picture of the control character.
          utf8::append(out, 0x2400 + static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace rondo::api
