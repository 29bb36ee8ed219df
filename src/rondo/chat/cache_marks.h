// Places up to which a client asks its provider to keep the prompt: `cache_control` of the Messages API, which some clients put
// into requests of the Chat API too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "json/value.h"

namespace rondo::chat {

struct CacheMark {
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  std::optional<std::size_t> message;  // of the translated messages; nullopt: the tools
  std::size_t text_end = kAll;  // bytes of its content's text in front of the place; kAll: behind the whole message
  std::int64_t seconds = 300;   // how long it is kept after its last use
};

// The lifetime that `cache_control` of `block` asks for, in seconds; nullopt where it has none.
[[nodiscard]] std::optional<std::int64_t> cache_lifetime(const json::Value& block);

}  // namespace rondo::chat
