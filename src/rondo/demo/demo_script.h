// A scripted turn of a model: the text that the template would write for a message, token by token, with free places.
//
// It replaces a grammar.  The syntax is forced to be what the template itself writes; the parts between are given or
// free (a limited number of plain words).  The code knows no syntax: it cuts it out of a render.
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
  // Makes the script of a turn in which the model writes `step.message` after `history`.  Fails as the template does,
  // or with kCannotBridge if the template shows nothing of the message.
  [[nodiscard]] static Result<Script> make(const render::TurnContext& context, const json::Array& history,
                                           const DemoStep& step);

  [[nodiscard]] engine::Allowed next(std::span<const engine::TokenId> sampled) override;

  // Returns how many tokens the turn has, without its end if the style cuts it off.
  [[nodiscard]] std::size_t size() const { return limit_; }
  // Returns all tokens of a script without free places.
  [[nodiscard]] std::vector<engine::TokenId> ids() const;

 private:
  static constexpr std::int32_t kTemplate = -1;

  // One token of the plan.
  struct Place {
    engine::TokenId id = 0;  // unless it is free
    bool free = false;
    bool first = false;             // in a free run: begins a word without a space before it
    std::int32_t leaf = kTemplate;  // the text that contains its first byte, or the template
  };
  struct Builder;

  Script() = default;

  json::Value message_;  // with the names of leaves instead of texts
  std::vector<Place> plan_;
  std::size_t limit_ = 0;
  std::vector<std::uint64_t> words_;  // ids that are plain words, with or without a space before them
  std::vector<std::uint64_t> first_words_;
};

}  // namespace rondo::demo
