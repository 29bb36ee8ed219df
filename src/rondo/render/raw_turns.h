// Raw turns: assistant messages that stand in a prompt as they were sampled.
//
// A template writes a turn from its parts, and what it writes is seldom what was sampled: other white space, other JSON,
// no reasoning.  An assistant message may carry its completion beside its parts; the prompt is then the one that the engine
// has seen, token for token: the messages before the first such turn as the template writes them, the completion, and
// behind it what a bridge appends.
//
//   auto turns = take_raw_turns(conversation.messages);
//   auto prompt = encode_raw({chat_template, tokenizer, conversation, options}, {profile, reader}, turns.value(), specials);
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

// An assistant message as the template writes it in a render of its own.
struct WrittenTurn {
  std::shared_ptr<const jinja::Rendered> rendered;
  SampledExtent extent;  // what of it the model would have sampled
};

// An assistant message as it was sampled.
struct RawTurn {
  std::size_t message = 0;
  // Ids, with or without their stop token, or text in which control tokens count as such; or none, and what the template
  // writes stands for them.
  std::variant<std::vector<tokenizer::TokenId>, std::string, WrittenTurn> completion;
};

// Takes the fields `raw_ids` (an array of ids) and `raw` (a text) out of the assistant messages; where a message has both,
// the ids count.  In order of messages.  Fails with kInvalidArgument if such a field holds something else.
[[nodiscard]] Result<std::vector<RawTurn>> take_raw_turns(json::Array& messages);

// What reads the completions.  The references must outlive it.
struct RawReading {
  const TurnProfile& profile;
  const CompletionReader& reader;
};

// The prompt of the conversation of `context`, with `turns` as they were sampled.  Their ids are `sampled`, come from the field
// `messages[i].raw_ids` or `messages[i].raw`, and are content where they say something; the generation prompt in front of them
// belongs to their message, and so does what a bridge wrote to close them, which is not sampled.  Nothing follows a raw turn
// that is last, unless a generation prompt was asked for.  The result's `notes` say what was written to close a turn, and where
// a message's parts are not what its completion says.
// `behind`: the ids that the first of the turns was sampled behind, where they are known: they stand there instead of what the
// template writes of the messages before it, and of them nothing is told but their bytes.
// Fails as the template does, with kInvalidArgument where the conversation is to be continued, with kTokenizer on ids out of
// range.  REQUIRES: `turns` as from take_raw_turns() or kept_turns(), in order, at least one.
[[nodiscard]] Result<Encoded> encode_raw(const TurnContext& context, const RawReading& reading,
                                         const std::vector<RawTurn>& turns, ContentSpecials specials,
                                         std::span<const tokenizer::TokenId> behind = {});

}  // namespace rondo::render
