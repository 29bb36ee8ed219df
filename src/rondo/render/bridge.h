// The bridge: the next prompt is the old ids, unchanged, plus the new turn.
//
//   old prompt | completion | closers + stop, if it was cut off | rest of the close, new messages, generation prompt
//   \__ never touched ____/ \______________________________ appended ____________________________________________/
//
// One render gives the appended text: what the template writes after the stop token of the assistant's turn when the
// new messages follow.  Origins tell where to cut it out.  That render holds a stand-in for the completion, so
// sampled text is never rendered again.
//
//   auto said = reader.read(profile, prompt_ids, completion_ids);            // render/completion.h
//   BridgeRequest request{.prompt_ids = prompt_ids, .completion_ids = completion_ids, .completion = &said.value()};
//   request.messages = history;                                              // the messages in prompt_ids
//   request.new_messages = {tool_result};
//   auto next = append_turn(context, profile, request);                      // only what follows the old ids
//   auto all = bridge(context, profile, request);                            // the whole prompt, and what was lossy
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "causes/cause.h"
#include "chat/conversation.h"
#include "format/format.h"
#include "render/completion.h"
#include "render/encode.h"
#include "render/stop.h"
#include "rondo/result.h"

namespace rondo::render {

struct BridgeRequest {
  std::span<const tokenizer::TokenId> prompt_ids;
  std::span<const tokenizer::TokenId> completion_ids;  // with or without the stop token
  const ParsedCompletion* completion = nullptr;        // REQUIRES: not null
  // The messages in prompt_ids.  If absent, one plain user message is used.  Borrowed: they must outlive the call.
  std::optional<std::span<const json::Value>> messages = {};
  json::Array new_messages = {};      // without assistant messages, unless allow_turns
  bool allow_turns = false;           // assistant messages among the new ones are rendered like history
  bool add_generation_prompt = true;  // end the appended text with the opening of the next turn
  ContentSpecials specials = ContentSpecials::kText;
  // Whether bridge() reports what the template would have changed.  That takes up to three renders of the whole
  // history.  If `format` is given, it names the causes.
  bool find_lossy = true;
  const format::Format* format = nullptr;
};

// A part of the earlier turns that the template would write differently once the new messages follow.  The bridge still
// keeps the old ids.
struct LossyFinding {
  causes::CauseKind cause = causes::CauseKind::kCondition;
  std::string what;                         // a sentence
  std::int32_t message = text::kNoMessage;  // index in the messages followed by the completion
  std::string place;                        // origin of the text that differs: "messages[1].reasoning_content"
  std::int32_t line = 0;                    // template line; 0: unknown
  std::int32_t column = 0;
};

// A part of a new message that is not text, and the ids that the template wrote for it (`<image>` and the like).
struct MediaSpan {
  std::int32_t message = 0;  // index in new_messages
  std::size_t part = 0;      // index in the message's content
  std::string type;          // the part's type: "image", "video", ...
  std::size_t begin = 0;     // ids [begin, end); empty if the template writes nothing for it
  std::size_t end = 0;
};

// The ids that follow the old ones.
struct Appended {
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::int32_t> message_indices;  // per id: index in new_messages; -1: template text
  std::vector<std::uint8_t> content_mask;     // per id: 1 if its first byte is a new message's own data
  std::string text;
  // How many ids at the end come after all message data: the end of the last close, and the generation prompt.  What
  // they open is open for the next completion; pass the number to CompletionReader::read().
  std::size_t prompt_tail = 0;
  std::vector<MediaSpan> media;     // positions count from the first appended id
  std::vector<std::string> notes;   // sentences: what was synthesised or replaced by a stand-in, and why
  std::vector<std::string> shaped;  // as in Bridged; set by Model::append()
  std::vector<LossyFinding> lossy;  // how the completion's end differs from what the template writes there
};

// Old ids that were cut out.
struct Cut {
  std::size_t begin = 0;  // ids [begin, end), counted before the cut
  std::size_t end = 0;
  std::size_t message = 0;  // index of the assistant message whose reasoning was cut
};

struct Bridged {
  std::vector<tokenizer::TokenId> ids;        // prompt + completion + appended
  std::vector<std::int32_t> message_indices;  // per id: index in new_messages; -1: other ids
  std::vector<std::uint8_t> content_mask;     // per id: 1 if its first byte is a new message's own data
  std::size_t appended = 0;
  std::size_t prompt_tail = 0;  // as in Appended
  std::string appended_text;
  std::vector<MediaSpan> media;     // positions in `ids`
  std::vector<std::string> notes;   // sentences: what was synthesised or replaced by a stand-in, and why
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than it was sent
  std::vector<LossyFinding> lossy;
  // With a retention that may cut (render/retention.h).  Without cuts, `ids` begin with all old ids.
  std::vector<Cut> cuts;
  std::size_t kept = 0;  // how many leading ids stayed in place: all old ones if nothing was cut
};

// Makes only the appended part; of the old ids it reads just the last few.  Fails with kInvalidArgument (an assistant
// message among the new ones), or as the template does with the new messages.  If `described` is not null, it gets
// everything known about each appended id.  Its message indices count the whole conversation: request.messages, the
// completion's message, the new messages.
[[nodiscard]] Result<Appended> append_turn(const TurnContext& context, const TurnProfile& profile,
                                           const BridgeRequest& request, Encoded* described = nullptr);

// Makes the whole next prompt, and reports what the template would have changed in it.  Fails as append_turn() does.
[[nodiscard]] Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile,
                                     const BridgeRequest& request);

// Returns the completion as a history message, with the field names of the public chat APIs and in the shape that the
// template needs.  A call without an id gets the id of the tool result that answers it.
[[nodiscard]] json::Value history_message(const ParsedCompletion& completion,
                                          std::span<const json::Value> new_messages);

}  // namespace rondo::render
