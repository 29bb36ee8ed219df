// Finds what the template would write differently in earlier turns once new messages follow.
#pragma once

#include <string>
#include <vector>

#include "render/bridge.h"

namespace rondo::render {

// The turn as it was sampled.
struct SampledText {
  std::string text;                     // with its stop
  std::size_t stop_size = 0;            // size of its stop in bytes; 0 if it was cut off
  std::vector<LossyFinding> ends = {};  // findings about its end
};
// Returns the text of a completion.  It is empty if an id is out of range.
[[nodiscard]] SampledText sampled_text(const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                       std::span<const tokenizer::TokenId> prompt_ids,
                                       std::span<const tokenizer::TokenId> completion_ids);

// Compares the renders before and after `new_messages` follow `assistant`, which was sampled as `sampled`.  Returns
// nothing but `sampled.ends` if the earlier text stays the same, or if the template refuses one of the renders.  These
// come last and get their place in the template.
[[nodiscard]] std::vector<LossyFinding> find_lossy(const TurnContext& context, const format::Format& format,
                                                   std::span<const json::Value> history, const json::Value& assistant,
                                                   std::span<const json::Value> new_messages,
                                                   const SampledText& sampled);

}  // namespace rondo::render
