// The page that `rondo serve` shows at `/`: sessions, their turns and tokens, and a chat box.
#pragma once

#include <string>
#include <string_view>

namespace rondo::pages {

// Returns a self-contained HTML document.  It contains no data and asks the server that sent it.  Its scripts and
// styles carry `nonce`, so that a Content-Security-Policy can allow only them.
[[nodiscard]] std::string serve_page(std::string_view nonce);

}  // namespace rondo::pages
