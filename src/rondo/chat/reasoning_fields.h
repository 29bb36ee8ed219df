// The field names that templates and APIs use for a message's reasoning.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace rondo::chat {

// In the order in which they are tried.
inline constexpr std::array<std::string_view, 3> kReasoningFields = {"reasoning_content", "thinking", "reasoning"};

[[nodiscard]] constexpr bool is_reasoning_field(std::string_view field) {
  return std::ranges::find(kReasoningFields, field) != kReasoningFields.end();
}

}  // namespace rondo::chat
