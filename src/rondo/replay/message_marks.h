// Hashes of messages, which tell that requests belong to one conversation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::replay {

[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);
[[nodiscard]] std::uint64_t hash_value(const json::Value& value);

struct MessageMark {
  std::uint64_t exact = 0;  // hash of everything
  // Hash of what is visible, however it is spelled: role, text without white space at its ends, names and values of
  // calls.  Ignores reasoning, ids and the order of arguments.
  std::uint64_t loose = 0;
  bool operator==(const MessageMark&) const = default;
};
[[nodiscard]] MessageMark mark_of(const json::Value& message);
[[nodiscard]] std::vector<MessageMark> marks_of(const json::Array& messages);

// The text of a message's content; for a list of parts, their texts in sequence.

// Returns how many messages at the beginning are instructions ("system", "developer" and similar roles).
[[nodiscard]] std::size_t leading_instructions(std::span<const json::Value> messages);

// Equal for texts that differ only in numbers, hexadecimal words, dates and the like.
[[nodiscard]] std::uint64_t shape_of(std::string_view text);

// A difference between two texts.
struct TextChange {
  std::size_t begin = 0;  // byte in the first text
  std::string before;     // includes the rest of the words at both ends
  std::string after;
  bool is_time = false;  // both are part of a date or a time of day
};
// Compares line by line if both texts have the same number of lines, otherwise from the first to the last difference.
// Empty if they are equal.
[[nodiscard]] std::vector<TextChange> text_changes(std::string_view before, std::string_view after);

// Returns `after` with changed lines as they were in `before`: those that contain a time, or the others.  Returns
// `after` itself if the lines do not correspond.
[[nodiscard]] std::string undo_changes(std::string_view before, std::string_view after, bool times);

}  // namespace rondo::replay
