// The bridge: the next prompt as the old ids unchanged plus only the new turn.
//
//   old prompt | sampled completion | closers + stop (if it was cut off) | rest of the close, new messages, generation prompt
//   \_______ never touched ________/ \_______________________ appended ______________________________________________________/
//
// The appended text is what the template writes behind the assistant turn's stop token when the new messages follow,
// cut out of one render by ownership.  That render holds a placeholder in place of the completion's text, so sampled
// text is never rendered again.
//
//   auto said = reader.read(profile, prompt_ids, completion_ids);            // render/completion.h
//   BridgeRequest request{.prompt_ids = prompt_ids, .completion_ids = completion_ids, .completion = &said.value()};
//   request.messages = history;                                              // the messages behind prompt_ids
//   request.new_messages = {tool_result};
//   auto next = append_turn(context, profile, request);                      // only what follows the old ids
//   auto all = bridge(context, profile, request);                            // the whole prompt, and what was lossy
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "render/completion.h"
#include "render/encode.h"
#include "render/stop.h"
#include "rondo/result.h"

namespace rondo::render {

struct BridgeRequest {
  std::span<const tokenizer::TokenId> prompt_ids;
  std::span<const tokenizer::TokenId> completion_ids;  // with or without its stop token
  const ParsedCompletion* completion = nullptr;        // REQUIRES: not null
  // The messages behind prompt_ids; without them one plain user message stands for them.  Not copied: they must outlive
  // the call.
  std::optional<std::span<const json::Value>> messages = {};
  json::Array new_messages = {};      // none with role `assistant`, but where turns of others are allowed:
  bool allow_turns = false;           // assistant messages among the new ones are rendered, as history is
  bool add_generation_prompt = true;  // the appended text ends with the opening of the next turn
  ContentSpecials specials = ContentSpecials::kText;
  // Whether bridge() says what the template would have changed; that takes up to three renders of the whole history.
  bool find_lossy = true;
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

// A part of a new message that is no text, and the ids that the template wrote in its place (`<image>` and the like).
struct MediaSpan {
  std::int32_t message = 0;  // index in new_messages
  std::size_t part = 0;      // index in its content
  std::string type;          // the part's type: "image", "video", ...
  std::size_t begin = 0;     // ids [begin, end); empty if the template writes nothing
  std::size_t end = 0;
};

// What follows the old ids.
struct Appended {
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::int32_t> message_indices;  // per id: index in new_messages, -1 for everything else
  std::vector<std::uint8_t> content_mask;     // per id: 1 if its first byte is a new message's own data
  std::string text;
  // How many of the last ids stand behind all data of messages: the end of the last close and the generation prompt.  What
  // they open is open for the next completion; for CompletionReader::read().
  std::size_t prompt_tail = 0;
  std::vector<MediaSpan> media;     // spans count from the first appended id
  std::vector<std::string> notes;   // what was synthesised or replaced by a stand-in, and why
  std::vector<std::string> shaped;  // see Bridged; of Model::append()
  std::vector<LossyFinding> lossy;  // how the completion's end differs from what the template writes there
};

// Old ids that were cut out.
struct Cut {
  std::size_t begin = 0;  // ids [begin, end) as they were before
  std::size_t end = 0;
  std::size_t message = 0;  // index of the assistant message whose reasoning it was
};

struct Bridged {
  std::vector<tokenizer::TokenId> ids;        // prompt + completion + appended
  std::vector<std::int32_t> message_indices;  // per id: index in new_messages, -1 for everything else
  std::vector<std::uint8_t> content_mask;     // per id: 1 if its first byte is a new message's own data
  std::size_t appended = 0;
  std::size_t prompt_tail = 0;  // see Appended
  std::string appended_text;
  std::vector<MediaSpan> media;     // spans of `ids`
  std::vector<std::string> notes;   // what was synthesised or replaced by a stand-in, and why
  std::vector<std::string> shaped;  // what of the messages was given to the template otherwise than it was sent
  std::vector<LossyFinding> lossy;
  // With a retention that may cut (render/retention.h); `ids` begin with the old ones otherwise.
  std::vector<Cut> cuts;
  std::size_t kept = 0;  // how many leading ids are where they were: all old ones if nothing was cut
};

// The appended part alone: nothing is done for the old ids but to look at the last few of them.
// Fails with kInvalidArgument (an assistant message among the new ones) or as the template does with the new messages.
// `described`, if not null, gets all that is known of each appended id; message indices there are those of the whole
// conversation, with the completion's message behind request.messages.
[[nodiscard]] Result<Appended> append_turn(const TurnContext& context, const TurnProfile& profile,
                                           const BridgeRequest& request, Encoded* described = nullptr);

// The whole next prompt, with what the template would have changed in it.  Fails as append_turn().
[[nodiscard]] Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile,
                                     const BridgeRequest& request);

// The completion as a history message in the field names of the public chat APIs and the shape that the template wants.
// Calls without an id get the ids of the tool results that answer them.
[[nodiscard]] json::Value history_message(const ParsedCompletion& completion,
                                          std::span<const json::Value> new_messages);

}  // namespace rondo::render
