// A rollout that something else samples: prompt ids, the model's answer, what follows, the next prompt.
//
//   auto rollout = Rollout::start(model, call);          // ids() is the first prompt
//   rollout.value()->complete(sampled);                  // what the model said
//   rollout.value()->add(tool_results);                  // ids() is the next prompt: all ids so far + the new turn
//
// The ids are the truth: nothing that was prompted or sampled is tokenized again.  Not thread-safe; any number of rollouts
// share a model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "python/model.h"

namespace rondo::python {

// What add() did.
struct Added {
  std::size_t begin = 0;  // the new ids are ids()[begin .. ids().size())
  std::vector<std::string> notes;
  std::vector<render::LossyFinding> lossy;
};

class Rollout {
 public:
  // Renders and tokenizes the first prompt; the generation prompt is part of it.  Fails as Model::encode does.
  [[nodiscard]] static Result<std::unique_ptr<Rollout>> start(std::shared_ptr<const Model> model, Call call);

  // Takes what was sampled after ids(), stop token or not.  Fails with kInvalidArgument if the model has just spoken.
  [[nodiscard]] Result<ParsedIds> complete(std::span<const TokenId> completion);

  // What follows the model's turn: messages, none of role `assistant`.  Fails as render::bridge does, and with
  // kInvalidArgument if the model has not spoken; the rollout is unchanged then.
  [[nodiscard]] Result<Added> add(json::Array new_messages);

  [[nodiscard]] const std::vector<TokenId>& ids() const { return ids_; }
  [[nodiscard]] const std::vector<std::uint8_t>& sampled_mask() const { return sampled_; }  // 1: the model's own
  [[nodiscard]] const std::vector<std::int32_t>& message_indices() const {
    return owners_;
  }  // into messages(); -1: none
  // The visible conversation; the model's last turn joins it with the next add().
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  [[nodiscard]] bool has_spoken() const { return spoken_; }

 private:
  Rollout(std::shared_ptr<const Model> model, Call call);

  std::shared_ptr<const Model> model_;
  Call call_;  // without its messages
  std::vector<TokenId> ids_;
  std::vector<std::uint8_t> sampled_;
  std::vector<std::int32_t> owners_;
  json::Array messages_;
  std::size_t prompt_size_ = 0;  // ids_[0 .. prompt_size_) is the last prompt
  bool spoken_ = false;
  render::ParsedCompletion last_;
};

}  // namespace rondo::python
