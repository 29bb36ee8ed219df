// Hashes of messages, by which requests of one conversation find each other.
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
  std::uint64_t exact = 0;  // everything
  // What is visible of it, however it is spelled: role, text without the white space around it, names and values of calls.
  // Reasoning and ids do not count, nor the order of arguments.
  std::uint64_t loose = 0;
  bool operator==(const MessageMark&) const = default;
};
[[nodiscard]] MessageMark mark_of(const json::Value& message);
[[nodiscard]] std::vector<MessageMark> marks_of(const json::Array& messages);

// The text of a message's content; of a list of parts their texts, one after the other.

// "system", "developer" and the like come before the conversation: how many messages do.
[[nodiscard]] std::size_t leading_instructions(std::span<const json::Value> messages);

// The same for texts that differ only in numbers, hexadecimal words, dates and the like.
[[nodiscard]] std::uint64_t shape_of(std::string_view text);

// Where two texts differ, and what stands there.
struct TextChange {
  std::size_t begin = 0;  // byte of the first text
  std::string before;     // with the rest of the words at both ends
  std::string after;
  bool is_time = false;  // both read as a part of a date or a time of day
};
// Line by line where both have as many lines; else from the first difference to the last.  Empty if they are equal.
[[nodiscard]] std::vector<TextChange> text_changes(std::string_view before, std::string_view after);

// `after` with its changed lines as they were in `before`: those that tell a time, or the others.  `after` itself where the lines
// do not correspond.
[[nodiscard]] std::string undo_changes(std::string_view before, std::string_view after, bool times);

}  // namespace rondo::replay
