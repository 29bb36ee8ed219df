#include "rondo/transcript.h"

#include <utility>

#include "facade/convert.h"
#include "json/print.h"
#include "render/transcript.h"

namespace rondo {

struct Transcript::State {
  render::Transcript transcript;
};

Transcript::Transcript(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transcript::~Transcript() = default;
Transcript::Transcript(Transcript&&) noexcept = default;
Transcript& Transcript::operator=(Transcript&&) noexcept = default;

Result<Transcript> Transcript::start(const Model& model, const Chat& chat) {
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  auto shared = Access::model(model)->transcripts(call.value());
  if (!shared.ok()) return shared.error();
  auto started = render::Transcript::start(shared.value(), std::move(call.value().conversation.messages));
  if (!started.ok()) return started.error();
  return Transcript(std::unique_ptr<State>(new State{std::move(started).value()}));
}

Result<Grown> Transcript::append(const std::string& new_messages) {
  auto messages = facade::messages_of(new_messages, "new_messages", chat::RoleCheck::kRequired);
  if (!messages.ok()) return messages.error();
  auto grown = state_->transcript.append(std::move(messages).value());
  if (!grown.ok()) return grown.error();
  render::Grown& done = grown.value();
  return Grown{std::string(render::to_string(done.way)), std::move(done.why), done.kept, std::move(done.shaped)};
}

const std::string& Transcript::text() const { return state_->transcript.text(); }

std::string Transcript::messages() const { return json::to_compact(json::Value(state_->transcript.messages())); }

}  // namespace rondo
