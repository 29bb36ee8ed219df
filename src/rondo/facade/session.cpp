// rondo::Session: a model file, an engine and a growing rollout in one.
#include "rondo/session.h"

#include <utility>

#include "engine/llama_cpp.h"
#include "facade/convert.h"
#include "model/gguf.h"
#include "session/session.h"

namespace rondo {
namespace {

Turn turn_of(const session::Turn& turn, std::span<const std::int32_t> ids) {
  Turn out;
  out.message = facade::parsed_of(turn.said);
  const auto sampled = ids.subspan(turn.sampled_begin, turn.sampled_end - turn.sampled_begin);
  out.ids.assign(sampled.begin(), sampled.end());
  out.stop = engine::to_string(turn.stop);
  out.prompt_tokens = turn.prompt_tokens;
  out.reused_tokens = turn.prompt.reused;
  out.prefilled_tokens = turn.prompt.prefilled;
  return out;
}

}  // namespace

struct Session::State {
  std::unique_ptr<engine::LlamaCpp> engine;
  session::Session session;
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result<Session> Session::start(const std::string& model, const Chat& chat, const SessionOptions& options) {
  // llama.cpp aborts on some damaged files, so nothing reaches it unchecked.
  if (auto checked = model::read_gguf(model); !checked.ok()) return checked.error();
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  const auto polyfill = core::polyfill_named(options.polyfill.empty() ? "off" : options.polyfill);
  if (!polyfill)
    return Error(ErrorCode::kInvalidArgument,
                 "`polyfill` is \"off\", \"auto\" or \"on\", found `" + options.polyfill + "`");
  // The template may come from elsewhere.  The tokenizer must be that of the weights, or ids would mean other tokens.
  const auto own = Model::load(options.template_path.empty() ? model : options.template_path, model);
  if (!own.ok()) return own.error();
  const auto loaded = Access::model(own.value())->polyfilled(*polyfill);
  if (!loaded.ok()) return loaded.error();
  engine::LlamaCppOptions engine_options;
  engine_options.context_tokens = options.context_tokens;
  engine_options.threads = options.threads;
  auto engine = engine::LlamaCpp::load(model, engine_options);
  if (!engine.ok()) return engine.error();
  auto shared = loaded.value()->rollouts(call.value());
  if (!shared.ok()) return shared.error();
  auto started =
      session::Session::start(shared.value(), *engine.value(), std::move(call.value().conversation.messages), {});
  if (!started.ok()) return started.error();
  return Session(std::unique_ptr<State>(new State{std::move(engine).value(), std::move(started).value()}));
}

Result<Turn> Session::step(const StepOptions& options) {
  engine::GenerateOptions generate;
  generate.max_tokens = options.max_tokens;
  generate.sampling.temperature = options.temperature;
  generate.sampling.top_k = options.top_k;
  generate.sampling.top_p = options.top_p;
  generate.sampling.seed = options.seed;
  auto turn = state_->session.step(generate);
  if (!turn.ok()) return turn.error();
  return turn_of(turn.value(), state_->session.ids());
}

Status Session::add(const std::string& new_messages) {
  auto messages = facade::messages_of(new_messages, "new_messages", chat::RoleCheck::kRequired);
  if (!messages.ok()) return messages.error();
  return state_->session.add(std::move(messages).value());
}

std::vector<std::int32_t> Session::ids() const {
  const auto ids = state_->session.ids();
  return {ids.begin(), ids.end()};
}

}  // namespace rondo
