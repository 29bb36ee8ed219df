// The field names that templates and APIs use for a message's reasoning.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace rondo::chat {

// In the order in which they are tried.
inline constexpr std::array<std::string_view, 3> kReasoningFields = {"reasoning_content", "thinking", "reasoning"};

[[nodiscard]] constexpr bool is_reasoning_field(std::string_view field) {
  return std::ranges::find(kReasoningFields, field) != kReasoningFields.end();
}

// Clients that have no field for reasoning write it before the text of a reply, between these tags, whatever the model.
inline constexpr std::array<std::string_view, 2> kReasoningTags = {"think", "thinking"};

// The two parts of a text: the reasoning between tags at its beginning, and the rest.
struct TaggedText {
  std::string reasoning;
  std::string_view rest;  // the whole text, if there is no reasoning
};
[[nodiscard]] TaggedText split_tagged(std::string_view text);
// If the content is a text, moves such reasoning out of it into the first of the fields.
void untag_reasoning(json::Value& message);

// Returns the reasoning of a part or block; nullopt if it has none, or only in encrypted form.
[[nodiscard]] std::optional<std::string> reasoning_in(const json::Value& block);
// Removes the parts that are reasoning from a content, and returns their texts, joined.
[[nodiscard]] std::string take_reasoning_parts(json::Array& content);

}  // namespace rondo::chat
