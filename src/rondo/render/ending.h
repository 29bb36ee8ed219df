// How a sampled completion ends, and what closes its turn before anything can follow.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/completion.h"

namespace rondo::render {

// The end of a completion, in terms of stop tokens.
struct SampledEnd {
  std::optional<tokenizer::TokenId> stop;          // the last stop token in it; nullopt: it has none
  std::span<const tokenizer::TokenId> trailing;    // what was sampled behind that
  std::span<const tokenizer::TokenId> from_first;  // from the first stop token on
};
[[nodiscard]] SampledEnd find_end(const TurnProfile& profile, std::span<const tokenizer::TokenId> completion_ids);

// What was sampled, and behind what.
struct SampledTurn {
  std::span<const tokenizer::TokenId> prompt_ids;
  std::span<const tokenizer::TokenId> completion_ids;
  const ParsedCompletion& said;
  SampledEnd end;
};

// Whether the completion has no text, no calls and no stop token.
[[nodiscard]] bool says_nothing(const SampledTurn& turn);

// What must be written behind the completion before the suffix, which begins behind `close`.
struct Lead {
  std::string text;
  bool goes_on = false;            // it goes on with the closing tokens that were sampled
  std::vector<std::string> notes;  // what was synthesised, and why
};
// The rest of the close where the completion stops inside it; of a completion that was cut off, what it left open and the
// close as the template writes it in history; else nothing.
[[nodiscard]] Lead lead_of(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const SampledTurn& turn);

// A sentence if history has another end than the sampled one: a stop that is written otherwise once messages follow, a
// next-role marker that does not fit them (unless `fits`), text behind the stop.  "" if it does not.
[[nodiscard]] std::string changed_end(const tokenizer::Tokenizer& tokenizer, const TurnClose& close,
                                      const SampledEnd& end, bool fits);

}  // namespace rondo::render
