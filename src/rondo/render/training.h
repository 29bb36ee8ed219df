// What of an encoded conversation is learned.
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

// Ids on which the template's {% generation %} blocks and what is really sampled disagree.
struct GenerationFinding {
  IdSpan ids;
  std::int32_t message = text::kNoMessage;
  bool is_covered = false;  // true: covered, but part of a prompt; false: sampled, but not covered
};

// Empty for templates without such blocks.
[[nodiscard]] std::vector<GenerationFinding> generation_findings(const Encoded& encoded);

}  // namespace rondo::render
