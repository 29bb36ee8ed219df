#include "pages/html.h"

#include "base/utf8.h"

namespace rondo::pages {

namespace {

std::string escaped(std::string_view text, std::string_view line_end) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\n': out += line_end; break;
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

}  // namespace

std::string html_text(std::string_view text) { return escaped(text, "<span class=\"w\">\u21B5</span>\n"); }

std::string html_attribute(std::string_view text) { return escaped(text, "\u21B5"); }

std::string html_head(std::string_view title, std::string_view style, Scripts scripts) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'";
  if (scripts == Scripts::kInline) out += "; script-src 'unsafe-inline'";
  out += "\">\n<title>";
  out += html_attribute(title);
  out += "</title>\n<style>\n";
  out += style;
  return out + "</style>\n</head>\n<body>\n";
}

}  // namespace rondo::pages
