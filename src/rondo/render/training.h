// Training data from an encoded conversation: spans, loss masks, samples, and the steps of a trajectory.
//
//   Result<Encoded> encoded = encode(chat_template, tokenizer, conversation, options, ContentSpecials::kText);
//   Result<TrainingSample> sample = training_sample(encoded.value(), messages, {.final_stop = stop_id});
//   sample.value().ids, sample.value().loss_mask     // one entry per id
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "render/encode.h"

namespace rondo::render {

// Per message the ids from its first to the last one that follow each other without another's between them; the longest
// such span where there are several, [0, 0) for a message without ids.
[[nodiscard]] std::vector<IdSpan> message_spans(const Encoded& encoded, std::size_t message_count);

// The same by role: one span per run of ids that belong to messages of the role, in order.
[[nodiscard]] std::map<std::string, std::vector<IdSpan>> role_spans(const Encoded& encoded,
                                                                    const json::Array& messages);

// What of the chosen messages is learned.
enum class MaskPart : std::uint8_t {
  kSampled,     // what the model would have written: text, calls, stop token
  kContent,     // the messages' own data, without the template's text around it
  kTurn,        // every id that belongs to the message, header and close among them
  kGeneration,  // what the template's {% generation %} blocks cover
};

struct MaskOptions {
  MaskPart part = MaskPart::kSampled;
  std::vector<std::string> roles = {"assistant"};  // whose messages; empty: everybody's
  std::vector<std::uint8_t> messages = {};         // not empty: one entry per message, 1 for those that count besides
};

// One entry per id, 1 where it is learned.  Ids of no message are not.  Fails with kInvalidArgument if
// `options.messages` has another length than `messages`, and if kGeneration is asked of a template without such blocks.
[[nodiscard]] Result<std::vector<std::uint8_t>> loss_mask(const Encoded& encoded, const json::Array& messages,
                                                          const MaskOptions& options);

struct SampleOptions {
  MaskOptions mask;
  // The id that ends the last turn if the template wrote none behind it, and its mask; nullopt: nothing is added.
  std::optional<tokenizer::TokenId> final_stop;
};

struct TrainingSample {
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint8_t> loss_mask;        // per id
  std::vector<std::int32_t> message_indices;  // per id, -1: nobody
  bool is_stop_added = false;
};

// Fails as loss_mask does.  `final_stop` is appended when the last message is an assistant's and its last sampled id is
// not a special token; what the template wrote behind the turn (a newline) is dropped then.
[[nodiscard]] Result<TrainingSample> training_sample(const Encoded& encoded, const json::Array& messages,
                                                     const tokenizer::Tokenizer& tokenizer,
                                                     const SampleOptions& options);

// One completion of a rollout: the prompt is ids [0, completion.begin) of the conversation.
struct TrajectoryStep {
  std::int32_t message = 0;  // of the first assistant message in it
  IdSpan completion;
};

// What the model sampled, turn by turn.  Assistant messages that follow each other without a prompt between them are
// one step.
[[nodiscard]] std::vector<TrajectoryStep> trajectory_steps(const Encoded& encoded);

// Ids on which the template's {% generation %} blocks and what is really sampled disagree.
struct GenerationFinding {
  IdSpan ids;
  std::int32_t message = text::kNoMessage;
  bool is_covered = false;  // true: covered, but part of a prompt; false: sampled, but not covered
};

// Empty for templates without such blocks.
[[nodiscard]] std::vector<GenerationFinding> generation_findings(const Encoded& encoded);

}  // namespace rondo::render
