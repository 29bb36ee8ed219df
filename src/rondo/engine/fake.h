// An engine that answers from a script.  It tests everything above the engine without a model.
#pragma once

#include <deque>

#include "engine/engine.h"
#include "engine/sampling.h"

namespace rondo::engine {

// Each generate() returns the next completion of the script, cut by stop ids, max_tokens and the context.  If a
// constraint does not allow a scripted id, the first allowed id replaces it.  Its memory is like plain attention: every
// common prefix is reused.
class Fake final : public Engine {
 public:
  Fake(Description description, std::vector<std::vector<TokenId>> completions);

  [[nodiscard]] const Description& describe() const override { return description_; }
  [[nodiscard]] Result<PromptReport> prompt(std::span<const TokenId> ids, const CancelFlag* cancel = nullptr) override;
  [[nodiscard]] Result<Generation> generate(const GenerateOptions& options) override;
  [[nodiscard]] std::span<const float> logits() const override { return logits_; }
  [[nodiscard]] std::span<const TokenId> tokens() const override { return tokens_; }
  void clear() override { tokens_.clear(); }

  // Appends a completion to the script.
  void add(std::vector<TokenId> completion) { completions_.push_back(std::move(completion)); }

 private:
  // Adds an id to `result`, by the script or the constraint.  Returns false, with result.stop set, if there is none to
  // add or it was the last one.
  [[nodiscard]] Result<bool> step(const std::vector<TokenId>& script, const GenerateOptions& options, Sampler& sampler,
                                  Generation& result);

  Description description_;
  std::deque<std::vector<TokenId>> completions_;
  std::vector<TokenId> tokens_;
  std::vector<float> logits_;
};

}  // namespace rondo::engine
