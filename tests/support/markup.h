// Reads XML, and the HTML that this project writes, strictly: for tests of what is written.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::test {

enum class Dialect : unsigned char { kXml, kHtml };

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // of it and all within
};

struct Markup {
  std::string objection;          // the first fault, "" if there is none
  std::vector<Element> elements;  // in the order of their opening tags

  [[nodiscard]] std::vector<Element> all(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const { return all(name).size(); }
  // In an element or an attribute.
  [[nodiscard]] bool has_text(std::string_view text) const;
};

// Each element must be closed (in HTML except those that have no content), each attribute quoted and there once, each
// character allowed, each reference known.
[[nodiscard]] Markup read_markup(std::string_view text, Dialect dialect);

}  // namespace rondo::test
