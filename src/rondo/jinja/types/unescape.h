// Character references of HTML, as Python's html.unescape() reads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rondo::jinja {

struct Reference {
  std::size_t size = 0;  // in bytes, from the `&` on; 0 if no reference begins there
  std::string text;      // what it stands for; may be ""
};
// Returns the character reference at text[at].
[[nodiscard]] Reference html_reference(std::string_view text, std::size_t at);

}  // namespace rondo::jinja
