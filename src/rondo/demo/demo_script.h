// A model's turn by script: the text that the template would write for a message, token by token, with free places.
//
// It stands in for a grammar: the syntax is forced as the template itself writes it, and what lies between is free
// (bounded runs of plain words) or given.  Nothing here knows any syntax; it is cut out of a render.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/demo_data.h"
#include "engine/engine.h"
#include "render/turn.h"
#include "rondo/result.h"

namespace rondo::demo {

class Script final : public engine::TokenConstraint {
 public:
  // What the model writes as `step.message` behind `history`.  Fails as the template does, and with kCannotBridge where
  // it shows nothing of the message.
  [[nodiscard]] static Result<Script> make(const render::TurnContext& context, const json::Array& history,
                                           const DemoStep& step);

  [[nodiscard]] engine::Allowed next(std::span<const engine::TokenId> sampled) override;

  // How many tokens the turn has, its end cut off where the style asks for it.
  [[nodiscard]] std::size_t size() const { return limit_; }
  // All tokens, for a script without free places.
  [[nodiscard]] std::vector<engine::TokenId> ids() const;

 private:
  static constexpr std::int32_t kTemplate = -1;

  // One token of the plan.
  struct Place {
    engine::TokenId id = 0;  // unless free
    bool free = false;
    bool first = false;             // of a free run: begins a word without a space before it
    std::int32_t leaf = kTemplate;  // the text that its first byte is part of, or the template
  };
  struct Builder;

  Script() = default;

  json::Value message_;  // with the names of leaves in place of texts
  std::vector<Place> plan_;
  std::size_t limit_ = 0;
  std::vector<std::uint64_t> words_;  // ids that are plain words, with a space before them or without
  std::vector<std::uint64_t> first_words_;
};

}  // namespace rondo::demo
