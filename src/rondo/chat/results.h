// Which call a tool result answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::chat {

// A call that waits for its result.
struct OpenCall {
  std::optional<std::string_view> id;  // nullopt: it has none of its own
  std::string_view name;
};

// The calls of an assistant message, in order; views of `message`.
[[nodiscard]] std::vector<OpenCall> open_calls(const json::Value& message);

// Whether all of them have.
[[nodiscard]] bool have_ids(std::span<const OpenCall> calls);

struct ResultMatch {
  enum class By : std::uint8_t {
    kId,        // the call's own id, or the one that to_history() hands out for it
    kOrder,     // the result says no id, or the calls have none: its name where that fits, else the first call left
    kAnswered,  // its id is that of a call that has a result already
    kNothing,   // no call has its id, or none is left
  };
  By by = By::kNothing;
  std::optional<std::size_t> call;  // index; also of kAnswered
};

// For each of `results`, messages of the role `tool` behind the calls, the call that it answers.  No call is answered twice.
// `calls_before`: how many calls the conversation had before these, for ids that were handed out by that number.
[[nodiscard]] std::vector<ResultMatch> match_results(std::span<const OpenCall> calls,
                                                     std::span<const json::Value* const> results,
                                                     std::size_t calls_before = 0);

}  // namespace rondo::chat
