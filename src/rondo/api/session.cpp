// rondo::Session: a model file, an engine and a growing rollout in one.
#include "rondo/session.h"

#include <optional>
#include <utility>

#include "api/cache.h"
#include "api/formats.h"
#include "api/profile.h"
#include "api/requests.h"
#include "engine/llama_cpp.h"
#include "json/parse.h"
#include "model/gguf.h"
#include "render/completion.h"
#include "session/session.h"

namespace rondo {
namespace {

// The fields of the line protocol that describe `chat`: one reader for both.
Result<json::Object> fields_of(const Chat& chat) {
  json::Object request;
  for (const auto& [field, text] : {std::pair{"messages", &chat.messages}, std::pair{"tools", &chat.tools},
                                    std::pair{"documents", &chat.documents}, std::pair{"kwargs", &chat.kwargs}}) {
    if (Status status = api::set_json(request, field, *text); !status.ok()) return status.error();
  }
  request.set("mode", "lenient");
  if (!chat.now.empty()) request.set("now", chat.now);
  return request;
}

Parsed parsed_of(const chat::AssistantMessage& message) {
  Parsed out;
  out.content = message.content;
  out.reasoning = message.reasoning;
  out.complete = message.complete;
  for (const chat::ToolCall& call : message.tool_calls) {
    out.tool_calls.push_back({call.id, call.name, call.arguments, std::string(chat::to_string(call.status))});
  }
  return out;
}

Turn turn_of(const session::Turn& turn, std::span<const std::int32_t> ids) {
  Turn out;
  out.message = parsed_of(turn.said);
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
  api::Cache cache;
  api::Prepared prepared;
  render::TurnProfile profile;
  std::shared_ptr<const format::Format> format;
  std::optional<json::Value> tools;
  std::unique_ptr<engine::LlamaCpp> engine;
  std::unique_ptr<session::Session> rollout;

  // Loads template, tokenizer and engine.
  [[nodiscard]] Status load(const std::string& model, const json::Object& request, const SessionOptions& options,
                            chat::Conversation& conversation) {
    if (auto checked = model::read_gguf(model); !checked.ok()) return checked.error();
    json::Object all = request;
    all.set("template_file", options.template_path.empty() ? model : options.template_path);
    all.set("tokenizer", model);
    api::Fields fields(all);
    const api::TemplateFields template_fields = api::read_template(fields, api::TokenizerUse::kRequired);
    conversation =
        api::read_conversation(fields, {.messages_required = true, .add_generation_prompt = true}).conversation;
    if (Status status = fields.finish(); !status.ok()) return status;
    auto made = api::prepare(cache, template_fields, conversation, {});
    if (!made.ok()) return made.error();
    prepared = std::move(made).value();
    tools = conversation.tools;
    engine::LlamaCppOptions engine_options;
    engine_options.context_tokens = options.context_tokens;
    engine_options.threads = options.threads;
    auto loaded = engine::LlamaCpp::load(model, engine_options);
    if (!loaded.ok()) return loaded.error();
    engine = std::move(loaded).value();
    return Done{};
  }

  [[nodiscard]] Status begin(const chat::Conversation& conversation) {
    const chat::Conversation base = api::without_messages(conversation);
    profile = render::probe_turns({*prepared.chat_template, *prepared.tokenizer, base, prepared.options});
    api::Memo<format::Format> formats(1);
    auto inferred = api::inferred_format(formats, prepared, conversation, std::nullopt);
    if (!inferred.ok()) return inferred.error();
    format = inferred.value();
    session::SessionOptions options;
    options.apply = prepared.options;
    options.interpret = [this](std::span<const std::int32_t> prompt, std::span<const std::int32_t> completion) {
      return render::interpret(format, *prepared.tokenizer, profile, tools, prompt, completion);
    };
    auto started =
        session::Session::start({*prepared.chat_template, *prepared.tokenizer, *engine}, conversation, options);
    if (!started.ok()) return started.error();
    rollout = std::move(started).value();
    return Done{};
  }
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result<Session> Session::start(const std::string& model, const Chat& chat, const SessionOptions& options) {
  auto request = fields_of(chat);
  if (!request.ok()) return request.error();
  auto state = std::make_unique<State>();
  chat::Conversation conversation;
  if (Status status = state->load(model, request.value(), options, conversation); !status.ok()) return status.error();
  if (Status status = state->begin(conversation); !status.ok()) return status.error();
  return Session(std::move(state));
}

Result<Turn> Session::step(const StepOptions& options) {
  engine::GenerateOptions generate;
  generate.max_tokens = options.max_tokens;
  generate.sampling = {options.temperature, options.top_k, options.top_p, options.seed};
  auto turn = state_->rollout->step(generate);
  if (!turn.ok()) return turn.error();
  return turn_of(turn.value(), state_->rollout->ids());
}

Status Session::add(const std::string& new_messages) {
  auto messages = json::parse(new_messages);
  if (!messages.ok()) return messages.error();
  if (Status shape = chat::check_messages(messages.value(), "new_messages"); !shape.ok()) return shape;
  return state_->rollout->add(messages.value().as_array());
}

std::vector<std::int32_t> Session::ids() const {
  const auto ids = state_->rollout->ids();
  return {ids.begin(), ids.end()};
}

}  // namespace rondo
