// Finds the call that a tool result answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::chat {

// A call without a result yet.
struct OpenCall {
  std::optional<std::string_view> id;  // nullopt: it has no id
  std::string_view name;
};

// Returns the calls of an assistant message in order.  Views into `message`.
[[nodiscard]] std::vector<OpenCall> open_calls(const json::Value& message);

// Returns whether all of them have an id.
[[nodiscard]] bool have_ids(std::span<const OpenCall> calls);

struct ResultMatch {
  enum class By : std::uint8_t {
    kId,        // by the call's own id, or the one that to_history() makes for it
    kOrder,     // the result has no id, or the calls have none: by its name if that fits, otherwise the first call left
    kAnswered,  // its id is that of a call that already has a result
    kNothing,   // no call has its id, or no call is left
  };
  By by = By::kNothing;
  std::optional<std::size_t> call;  // index; also set for kAnswered
};

// Finds for each of `results`, which are messages of role `tool` after the calls, the call that it answers.  No call is
// answered twice.  `calls_before` is how many calls came earlier in the conversation, for ids that were made from such
// numbers.
[[nodiscard]] std::vector<ResultMatch> match_results(std::span<const OpenCall> calls,
                                                     std::span<const json::Value* const> results,
                                                     std::size_t calls_before = 0);

}  // namespace rondo::chat
