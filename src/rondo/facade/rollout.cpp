#include "rondo/rollout.h"

#include <utility>

#include "facade/convert.h"
#include "json/print.h"
#include "render/rollout.h"

namespace rondo {
namespace {

render::Retention retention_of(Retention retention) {
  switch (retention) {
    case Retention::kAll: return render::Retention::kAll;
    case Retention::kTemplate: return render::Retention::kTemplate;
    case Retention::kToolCycle: return render::Retention::kToolCycle;
    case Retention::kThinkingBetweenToolCalls: return render::Retention::kThinkingBetweenToolCalls;
    case Retention::kAllThinking: return render::Retention::kAllThinking;
  }
  return render::Retention::kAll;
}

}  // namespace

struct Rollout::State {
  render::Rollout rollout;
  std::vector<std::string> notes;
};

Rollout::Rollout(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rollout::~Rollout() = default;
Rollout::Rollout(Rollout&&) noexcept = default;
Rollout& Rollout::operator=(Rollout&&) noexcept = default;

Result<Rollout> Rollout::start(const Model& model, const Chat& chat) {
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  auto started = Access::model(model)->start_rollout(call.value());
  if (!started.ok()) return started.error();
  return Rollout(
      std::unique_ptr<State>(new State{std::move(started.value().rollout), std::move(started.value().notes)}));
}

Result<Parsed> Rollout::complete(const std::vector<std::int32_t>& completion) {
  const auto said = state_->rollout.complete(completion);
  if (!said.ok()) return said.error();
  return facade::parsed_of(said.value()->message);
}

Result<Extended> Rollout::extend(const std::string& new_messages, Retention retention) {
  auto messages = facade::messages_of(new_messages, "new_messages", chat::RoleCheck::kRequired);
  if (!messages.ok()) return messages.error();
  auto extended = state_->rollout.extend(std::move(messages).value(), retention_of(retention));
  if (!extended.ok()) return extended.error();
  render::Extension& done = extended.value();
  Extended out{done.begin, done.kept, std::move(done.notes), std::move(done.shaped)};
  // A rollout never refuses a lossy step: its ids are right in any case, and only a template would write them
  // differently.
  for (render::LossyFinding& finding : done.lossy) out.notes.push_back(std::move(finding.what));
  return out;
}

std::vector<std::int32_t> Rollout::ids() const {
  const auto ids = state_->rollout.ids();
  return {ids.begin(), ids.end()};
}

std::vector<std::int32_t> Rollout::message_indices() const { return state_->rollout.message_indices(); }

std::vector<std::uint8_t> Rollout::sampled_mask() const { return state_->rollout.sampled_mask(); }

std::vector<std::string> Rollout::shaped() const { return state_->rollout.shaped(); }

std::vector<std::string> Rollout::notes() const { return state_->notes; }

std::string Rollout::messages() const { return json::to_compact(json::Value(state_->rollout.messages())); }

}  // namespace rondo
