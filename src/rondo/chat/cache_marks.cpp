#include "chat/cache_marks.h"

namespace rondo::chat {

std::optional<std::int64_t> cache_lifetime(const json::Value& block) {
  constexpr std::int64_t kShort = 300;
  constexpr std::int64_t kLong = 3600;
  const json::Value* control = block.is_object() ? block.find("cache_control") : nullptr;
  if (control == nullptr || !control->is_object()) return std::nullopt;
  return control->find_string("ttl") == "1h" ? kLong : kShort;
}

}  // namespace rondo::chat
