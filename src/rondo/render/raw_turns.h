// Raw turns: assistant messages that are put into the prompt as they were sampled.
//
// A template writes a turn from its parts, and the result is rarely what was sampled: it has other white space, other
// JSON, no reasoning.  An assistant message may therefore carry its completion beside its parts.  The prompt is then
// the one that the engine has seen, token for token.  The template writes the messages before the first raw turn; then
// come the completion and what a bridge appends to it.
//
//   auto turns = take_raw_turns(conversation.messages);
//   auto prompt =
//       encode_raw({chat_template, tokenizer, conversation, options}, {profile, reader}, turns.value(), specials);
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "render/completion.h"
#include "render/encode.h"
#include "rondo/result.h"

namespace rondo::render {

// An assistant message, rendered by the template with the messages before it only.
struct WrittenTurn {
  std::shared_ptr<const jinja::Rendered> rendered;
  SampledExtent extent;  // the part that the model would have sampled
  // The generation prompt may end with bytes after which the turn cannot continue, such as reasoning that is already
  // closed.  This many bytes are replaced by what `rendered` has between `header_begin` and `extent`.
  std::size_t replaced = 0;
  std::size_t header_begin = 0;
};

// An assistant message as it was sampled.
struct RawTurn {
  std::size_t message = 0;
  // Ids with or without the stop token; or text in which control tokens count as such; or a render that replaces what
  // was sampled.
  std::variant<std::vector<tokenizer::TokenId>, std::string, WrittenTurn> completion;
};

// Removes the fields `raw_ids` (an array of ids) and `raw` (a text) from the assistant messages and returns them in
// order of messages.  If a message has both, the ids are used.  Fails with kInvalidArgument if such a field holds
// something else.
[[nodiscard]] Result<std::vector<RawTurn>> take_raw_turns(json::Array& messages);

// The reader of the completions.  The references must outlive it.
struct RawReading {
  const TurnProfile& profile;
  const CompletionReader& reader;
};

// Makes the prompt of the conversation of `context`, with `turns` as they were sampled.  The ids of a turn are marked
// `sampled`, come from the field `messages[i].raw_ids` or `messages[i].raw`, and count as content if they say
// something.  The generation prompt before them belongs to their message.  So does what a bridge wrote to close them,
// which does not count as sampled.  Nothing follows a raw turn that is last, unless a generation prompt was requested.
// The result's `notes` say what was written to close a turn, and where a message's parts differ from its completion.
//
// `behind` are the ids after which the first turn was sampled, if they are known.  They replace what the template
// writes of the messages before that turn.  Their origins are unknown, so only their bytes are described.
//
// Fails as the template does, with kInvalidArgument if the conversation is to be continued, or with kTokenizer if an id
// is out of range.
//
// REQUIRES: `turns` come from take_raw_turns() or kept_turns(), in order, at least one.
[[nodiscard]] Result<Encoded> encode_raw(const TurnContext& context, const RawReading& reading,
                                         const std::vector<RawTurn>& turns, ContentSpecials specials,
                                         std::span<const tokenizer::TokenId> behind = {});

}  // namespace rondo::render
