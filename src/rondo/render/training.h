// Which ids of an encoded conversation a model is trained on.
//
//   Result<Encoded> encoded = encode(chat_template, tokenizer, conversation, options, ContentSpecials::kText);
//   loss_mask(encoded.value(), messages, {.roles = {"assistant"}})     // one entry per id
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "render/encode.h"

namespace rondo::render {

// Which ids of the chosen messages are learned.
enum class MaskPart : std::uint8_t {
  kSampled,     // what the model would have written: text, calls, stop token
  kContent,     // the messages' own data, without the template's text around it
  kTurn,        // every id that belongs to the message, including its header and close
  kGeneration,  // what the template's {% generation %} blocks cover
};

struct MaskOptions {
  MaskPart part = MaskPart::kSampled;
  std::vector<std::string> roles = {"assistant"};  // whose messages are learned; empty: all roles
  std::vector<std::uint8_t> messages = {};         // if not empty: one entry per message, 1 to learn it too
};

// Returns for each id 1 if it is learned, otherwise 0.  Ids that belong to no message are not learned.  Nor are ids of
// a message with `weight` 0, or with `training` or `train` false.  With kContent, data counts for the message that it
// comes from, even in another message's turn.  Fails with kInvalidArgument if `options.messages` and `messages` differ
// in length, or if kGeneration is requested from a template without {% generation %} blocks.
[[nodiscard]] Result<std::vector<std::uint8_t>> loss_mask(const Encoded& encoded, const json::Array& messages,
                                                          const MaskOptions& options);

// Ids on which the template's {% generation %} blocks and the really sampled text disagree.
struct GenerationFinding {
  IdSpan ids;
  std::int32_t message = text::kNoMessage;
  bool is_covered = false;  // true: covered, but a part of a prompt; false: sampled, but not covered
};

// Returns the disagreements; none for templates without such blocks.
[[nodiscard]] std::vector<GenerationFinding> generation_findings(const Encoded& encoded);

}  // namespace rondo::render
