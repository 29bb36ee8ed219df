// A model's turn by script: the text that the template would write for a message, token by token, with free places.
//
// It stands in for a grammar: the syntax is forced as the template itself writes it, and what lies between is free
// (bounded runs of plain words) or given.  Nothing here knows any syntax; it is cut out of a render.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/demo_data.h"
#include "engine/engine.h"
#include "render/bridge.h"
#include "render/stop.h"
#include "rondo/result.h"

namespace rondo::api {

class Script final : public engine::TokenConstraint {
 public:
  // What the model writes as `step.message` behind `history`.  Fails as the template does, and with kCannotBridge where
  // it shows nothing of the message.
  [[nodiscard]] static Result<Script> make(const render::TurnContext& context, const render::TurnProfile& profile,
                                           const json::Array& history, const DemoStep& step);

  [[nodiscard]] engine::Allowed next(std::span<const engine::TokenId> sampled) override;

  // How many tokens the turn has, its end cut off where the style asks for it.
  [[nodiscard]] std::size_t size() const { return limit_; }
  // All tokens, for a script without free places.
  [[nodiscard]] std::vector<engine::TokenId> ids() const;

  // What the script's turn says, once `sampled` has been written for it.
  [[nodiscard]] Result<render::ParsedCompletion> read(std::span<const engine::TokenId> sampled) const;

 private:
  static constexpr std::int32_t kTemplate = -1;

  // Bytes of one text (its index) or of the template (kTemplate).
  struct Part {
    std::int32_t leaf = kTemplate;
    std::string text;
  };
  // One token of the plan.
  struct Place {
    engine::TokenId id = 0;  // unless free
    bool free = false;
    bool first = false;       // of a free run: begins a word without a space before it
    std::vector<Part> parts;  // what it spells; of a free token only whose text it is part of
  };
  struct Builder;

  explicit Script(const tokenizer::Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  [[nodiscard]] std::string closing_text(std::size_t written) const;

  const tokenizer::Tokenizer* tokenizer_;
  json::Value message_;  // with the names of leaves in place of texts
  std::size_t leaves_ = 0;
  std::vector<Place> plan_;
  std::size_t limit_ = 0;
  std::vector<engine::TokenId> stops_;
  std::vector<std::uint64_t> words_;  // ids that are plain words, with a space before them or without
  std::vector<std::uint64_t> first_words_;
};

}  // namespace rondo::api
