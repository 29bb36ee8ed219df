// Finds what a client changed in the conversation between one request and the next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "replay/message_marks.h"

namespace rondo::replay {

enum class ChangeKind : std::uint8_t {
  kVolatileHeader,      // "volatile-header": a part of the system text changes with each request
  kDate,                // "date": a date or time in the system text advances
  kToolsReordered,      // "tools-reordered": the same tools in another order
  kToolsChanged,        // "tools-changed": a tool was added, removed or described differently
  kVariablesChanged,    // "variables-changed": template variables, such as a thinking switch
  kReasoningLeftOut,    // "reasoning-left-out": reasoning that the model wrote was not sent back
  kArgumentsRespelled,  // "arguments-respelled": a call's arguments were serialised again
  kCallIdsChanged,      // "call-ids-changed"
  kContentRespelled,    // "content-respelled": white space, or text as parts
  kMessageEdited,       // "message-edited"
  kHistoryTruncated,    // "history-truncated": messages are missing
  kHistoryCompacted,    // "history-compacted": messages were replaced by fewer
  kAnswerLeftOut,       // "answer-left-out": what the model answered was not sent back
  kBranched,            // "branched": the conversation continued from an earlier point
};
[[nodiscard]] std::string_view to_string(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::kMessageEdited;
  std::int32_t message = -1;  // index in the later request; -1: tools or variables
  std::string path;           // "messages[0].content"
  std::string sentence;
  std::string before;  // what was there, shortened
  std::string after;
  std::optional<std::size_t> byte = {};  // where the texts differ, if `path` is that of a text
};

// One side of the comparison.  Borrowed.
struct RequestView {
  std::span<const json::Value> messages;
  std::span<const MessageMark> marks;  // one for each message
  const std::optional<json::Value>* tools = nullptr;
  std::span<const std::uint64_t> tool_hashes;
  const json::Object* kwargs = nullptr;
};

struct Comparison {
  std::vector<Change> changes;
  std::size_t appended_from = 0;  // messages of the later request from here on are new
  bool is_continuation = false;   // all earlier messages are there, changed or not
};

// Compares two requests.  `answers` is how many of the last messages of `before` are the model's answers.
[[nodiscard]] Comparison compare_requests(const RequestView& before, std::size_t answers, const RequestView& after);

}  // namespace rondo::replay
