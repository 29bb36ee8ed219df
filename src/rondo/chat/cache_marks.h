// Places up to which a client asks its provider to keep the prompt: `cache_control` of the Messages API.  Some clients
// also send it in requests of the Chat API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "json/value.h"

namespace rondo::chat {

struct CacheMark {
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  std::optional<std::size_t> message;  // index in the translated messages; nullopt: the tools
  // How many bytes of the content's text come before the place; kAll: the whole message does.
  std::size_t text_end = kAll;
  std::int64_t seconds = 300;  // how long the prompt is kept after its last use
};

// Returns the lifetime in seconds that the `cache_control` of `block` asks for; nullopt if it has none.
[[nodiscard]] std::optional<std::int64_t> cache_lifetime(const json::Value& block);

}  // namespace rondo::chat
