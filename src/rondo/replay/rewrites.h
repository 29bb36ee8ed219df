// What a client could do to make a prompt begin like the last one: each remedy as a rewrite of the request.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replay/conversation_store.h"
#include "replay/request_changes.h"

namespace rondo::replay {

// In the order of the sets in ConversationState.
enum class RewriteSet : std::uint8_t {
  kNone,               // "as-sent"
  kStableHeader,       // "stable-header": the system text as in the first request, except dates
  kStableDate,         // "stable-date": dates of the system text and the template's clock as in the first request
  kKeepReasoning,      // "keep-reasoning": reasoning that was left out is sent back
  kVerbatimArguments,  // "verbatim-arguments": arguments as the model wrote them
  kSortTools,          // "sort-tools": the same tools always in the same order
  kAll,                // "all-remedies"
};
[[nodiscard]] std::string_view to_string(RewriteSet set);
[[nodiscard]] std::string_view sentence_of(RewriteSet set);

// A rewritten request.
struct Rewritten {
  json::Array messages;
  std::optional<json::Value> tools;
  std::optional<jinja::LocalTime> now;
};

// Remembers what was seen first.  Uses limited memory.
class Rewriter {
 public:
  // Notes in `state` the messages of its last request as they were before the changes that led to `after`.
  static void note_first_forms(ConversationState& state, const Incoming& after, const Comparison& comparison);

  // Returns nullopt if the rewrite changes nothing.  `state` is that of the conversation; nullptr if this is its first
  // request.
  [[nodiscard]] std::optional<Rewritten> rewrite(RewriteSet set, const Incoming& request,
                                                 const ConversationState* state);

 private:
  static constexpr std::size_t kMostValues = 256;
  static constexpr std::size_t kMostTextBytes = std::size_t{128} << 10U;
  static constexpr std::size_t kMostToolBytes = std::size_t{1} << 20U;

  // The first text of each shape, and the first order of each set of tools.
  struct Known {
    std::uint64_t key = 0;
    json::Value value;
    std::uint64_t order = 0;  // for tools
  };
  const Known& first_of(std::uint64_t key, const json::Value& value, std::uint64_t order);

  // Returns the text of message `index` with these changes undone; nullopt if that is its own text.
  std::optional<std::string> stable_text(const Incoming& request, std::size_t index, const ConversationState* state,
                                         std::uint8_t undone);
  // Returns the tools in the order in which they were first seen; nullopt if they are in that order.
  std::optional<json::Value> ordered_tools(const Incoming& request);

  std::list<Known> known_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Known>::iterator> by_key_;
};

}  // namespace rondo::replay
