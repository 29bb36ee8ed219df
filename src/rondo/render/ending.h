// How a sampled completion ends, and what must close its turn before anything can follow.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/completion.h"

namespace rondo::render {

// The end of a completion and its stop tokens.
struct SampledEnd {
  std::optional<tokenizer::TokenId> stop;          // the last stop token; nullopt: there is none
  std::span<const tokenizer::TokenId> trailing;    // what was sampled after that stop token
  std::span<const tokenizer::TokenId> from_first;  // from the first stop token to the end
};
[[nodiscard]] SampledEnd find_end(const TurnProfile& profile, std::span<const tokenizer::TokenId> completion_ids);

// A completion, and the prompt before it.
struct SampledTurn {
  std::span<const tokenizer::TokenId> prompt_ids;
  std::span<const tokenizer::TokenId> completion_ids;
  const ParsedCompletion& said;
  SampledEnd end;
};

// Returns whether the completion has no text, no calls and no stop token.
[[nodiscard]] bool says_nothing(const SampledTurn& turn);

// The text to write between the completion and the suffix.  The suffix begins after `close`.
struct Lead {
  std::string text;
  bool goes_on = false;            // whether the text continues a close that the model had begun to sample
  std::vector<std::string> notes;  // sentences: what was synthesised, and why
};
// Finds what must be written after the completion.  If the completion stops inside the close: the rest of the close.
// If it was cut off: the closers of what it left open, and the close as the template writes it in history.  Otherwise
// nothing.
[[nodiscard]] Lead lead_of(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const SampledTurn& turn);

// Returns a sentence if the end in history differs from the sampled one: the stop is written differently once messages
// follow, a next-role marker does not fit them (unless `fits`), or there is text after the stop.  Otherwise returns "".
[[nodiscard]] std::string changed_end(const tokenizer::Tokenizer& tokenizer, const TurnClose& close,
                                      const SampledEnd& end, bool fits);

}  // namespace rondo::render
