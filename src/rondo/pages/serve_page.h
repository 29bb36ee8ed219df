// What `rondo serve` shows people at `/`: sessions, their turns and tokens, and a chat box.
#pragma once

#include <string>
#include <string_view>

namespace rondo::pages {

// A self-contained HTML document.  It holds no data: it asks the server that sent it.  Its scripts and styles have `nonce`, so
// that a Content-Security-Policy can allow them and nothing else.
[[nodiscard]] std::string serve_page(std::string_view nonce);

}  // namespace rondo::pages
