#include "python/rollout.h"

#include <iterator>
#include <utility>

namespace rondo::python {
namespace {

Error refused(std::string message) {
  Error error;
  error.code = ErrorCode::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

}  // namespace

Rollout::Rollout(std::shared_ptr<const Model> model, Call call) : model_(std::move(model)), call_(std::move(call)) {}

Result<std::unique_ptr<Rollout>> Rollout::start(std::shared_ptr<const Model> model, Call call) {
  call.conversation.add_generation_prompt = !call.conversation.continue_final_message.has_value();
  auto encoded = model->encode(call);
  if (!encoded.ok()) return encoded.error();
  std::unique_ptr<Rollout> out(new Rollout(std::move(model), std::move(call)));
  out->messages_ = std::exchange(out->call_.conversation.messages, {});
  out->ids_ = std::move(encoded.value().ids);
  out->owners_ = std::move(encoded.value().message_indices);
  out->sampled_ = std::move(encoded.value().sampled_mask);
  out->prompt_size_ = out->ids_.size();
  return out;
}

Result<ParsedIds> Rollout::complete(std::span<const TokenId> completion) {
  if (spoken_) return refused("the model has spoken: add messages before its next turn");
  ParseCall options;
  options.prompt_ids = ids_;
  auto parsed = model_->parse_ids(call_, std::move(options), completion);
  if (!parsed.ok()) return parsed.error();
  auto format = model_->format(call_);
  if (!format.ok()) return format.error();
  last_.message = parsed.value().message;
  last_.closing_text = parsed.value().closing_text;
  last_.input = format.value()->input;
  ids_.insert(ids_.end(), completion.begin(), completion.end());
  sampled_.insert(sampled_.end(), completion.size(), 1);
  owners_.insert(owners_.end(), completion.size(), static_cast<std::int32_t>(messages_.size()));
  spoken_ = true;
  return parsed;
}

Result<Added> Rollout::add(json::Array new_messages) {
  if (!spoken_) return refused("the model has not spoken yet: nothing can be added behind its turn");
  const std::span<const TokenId> ids = ids_;
  BridgeCall bridge{ids.first(prompt_size_), ids.subspan(prompt_size_), new_messages};
  bridge.said = &last_;
  bridge.messages = messages_;
  auto appended = model_->append(call_, std::move(bridge));
  if (!appended.ok()) return appended.error();
  const render::Appended& turn = appended.value();
  Added out{ids_.size(), turn.notes, turn.lossy};
  messages_.push_back(render::history_message(last_, new_messages));
  const auto first = static_cast<std::int32_t>(messages_.size());
  for (const std::int32_t owner : turn.message_indices) owners_.push_back(owner < 0 ? -1 : first + owner);
  ids_.insert(ids_.end(), turn.ids.begin(), turn.ids.end());
  sampled_.resize(ids_.size(), 0);
  messages_.insert(messages_.end(), std::make_move_iterator(new_messages.begin()),
                   std::make_move_iterator(new_messages.end()));
  prompt_size_ = ids_.size();
  spoken_ = false;
  return out;
}

}  // namespace rondo::python
