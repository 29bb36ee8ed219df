// The bridge: the next prompt as the old ids unchanged plus only the new turn.
//
//   old prompt | sampled completion | closers + stop (if it was cut off) | rest of the close, new messages, generation prompt
//   \_______ never touched ________/ \_______________________ appended ______________________________________________________/
//
// The appended text is what the template writes behind the assistant turn's stop token when the new messages follow,
// cut out of one render by ownership.  That render holds a placeholder in place of the completion's text, so sampled
// text is never rendered again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "render/encode.h"
#include "render/stop.h"
#include "rondo/result.h"

namespace rondo::render {

// What a completion says, and what would close the constructs that it left open (reasoning, a call), without the stop
// token.  Made by interpret() in render/completion.h, or by a caller's own parser.
struct ParsedCompletion {
  chat::AssistantMessage message;
  std::string closing_text;
  format::InputShape input;  // how the template wants the message to look in history
};

struct BridgeRequest {
  std::span<const tokenizer::TokenId> prompt_ids;
  std::span<const tokenizer::TokenId> completion_ids;  // with or without its stop token
  const ParsedCompletion* completion = nullptr;        // REQUIRES: not null
  // The messages behind prompt_ids; without them one plain user message stands for them.
  std::optional<json::Array> messages;
  json::Array new_messages;  // REQUIRES: none with role `assistant`
  ContentSpecials specials = ContentSpecials::kText;
};

// Something of the earlier turns that the template would write differently once the new messages follow.  The bridge
// keeps the old ids all the same.
struct LossyFinding {
  std::string what;                         // a sentence
  std::int32_t message = text::kNoMessage;  // index in messages + completion
  std::string place;                        // origin of the differing text: "messages[1].reasoning_content"
  std::int32_t line = 0;                    // template line, 0 if unknown
  std::int32_t column = 0;
};

struct Bridged {
  std::vector<tokenizer::TokenId> ids;        // prompt + completion + appended
  std::vector<std::int32_t> message_indices;  // per id: index in new_messages, -1 for everything else
  std::size_t appended = 0;
  std::string appended_text;
  std::vector<std::string> notes;  // what was synthesised or replaced by a stand-in, and why
  std::vector<LossyFinding> lossy;
};

// Fails with kInvalidArgument (an assistant message among the new ones), kCannotBridge (the template writes nothing
// that ends an assistant turn, or raises with the new messages) or as the template does.
[[nodiscard]] Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile,
                                     const BridgeRequest& request);

// The completion as a history message in the field names of the public chat APIs and the shape that the template wants.
// Calls without an id get the ids of the tool results that answer them.
[[nodiscard]] json::Value history_message(const ParsedCompletion& completion, const json::Array& new_messages);

}  // namespace rondo::render
