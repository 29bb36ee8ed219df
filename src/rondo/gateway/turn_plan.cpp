// Turns a request into a prompt and a request to the engine.
#include <algorithm>
#include <utility>

#include "format/units.h"
#include "gateway/constraint.h"
#include "gateway/diagnostics.h"
#include "gateway/engine_terms.h"
#include "gateway/prompt.h"
#include "gateway/reasoning_limit.h"
#include "gateway/turn_run.h"

namespace rondo::gateway {
namespace {

std::string_view id_prefix(chat::Api api) {
  switch (api) {
    case chat::Api::kChat: return "chatcmpl-";
    case chat::Api::kMessages: return "msg";
    case chat::Api::kResponses: return "resp";
  }
  return "id";
}

}  // namespace

apis::Outcome<engine::Request> TurnRun::prepare() {
  scope_.emplace(state_->parts.spans->scope(read_.visit->tenant, read_.model->name));
  auto prompt = make_prompt(*state_, read_, *scope_);
  if (!prompt.ok()) return prompt.fault();
  call_ = std::move(prompt.value().asked.call);
  reasoning_budget_ = prompt.value().asked.reasoning.budget;
  for (std::string& note : prompt.value().asked.reasoning.notes) read_.request.warnings.push_back(std::move(note));
  plan_ = std::move(prompt.value().plan);
  is_cut_ = prompt.value().is_cut;
  if (plan_.cause) plan_.cause->path = apis::client_path(read_.request, plan_.cause->path, plan_.cause->byte);
  for (const apis::MessageWarning& hidden : read_.request.hidden_reasoning) {
    if (std::ranges::find(plan_.reasoned, hidden.message) == plan_.reasoned.end())
      read_.request.warnings.push_back(hidden.sentence);
  }
  call_.now = plan_.now;
  auto profile = read_.model->model->profile(call_);
  if (!profile.ok()) return apis::fault_of(profile.error());
  profile_ = std::move(profile).value();
  call_id_shape_ = spans::call_id_shape(*read_.model->model, call_);
  if (auto fault = prepare_choices()) return *fault;
  return engine_request();
}

std::optional<apis::Fault> TurnRun::prepare_choices() {
  const apis::GenerateRequest& request = read_.request;
  core::Asked asked;
  asked.parallel_tool_calls = request.tool_choice.parallel;
  using Mode = apis::ToolChoice::Mode;
  using Empty = apis::TurnBuilder::Empty;
  using Inputs = apis::TurnBuilder::Inputs;
  using Calls = apis::TurnBuilder::Calls;
  // Without tools the model can call none, as in the APIs: what reads like a call is text.
  const bool has_tools = request.tools || call_.conversation.kwargs.find("tools") != nullptr;
  if (request.tool_choice.mode == Mode::kNone || !has_tools) asked.tool_choice = core::ToolChoice::kNone;
  if (request.tool_choice.mode == Mode::kRequired) {
    const bool is_one = request.tool_choice.only.size() == 1;
    asked.tool_choice = is_one ? core::ToolChoice::kNamed : core::ToolChoice::kRequired;
    if (is_one) asked.tool_name = request.tool_choice.only.front();
  }
  if (request.format.kind == apis::AnswerFormat::Kind::kSchema) asked.response_schema = request.format.schema;
  asked.is_text_answer = request.format.is_text;
  core::ParseCall parsing;
  parsing.options = core::parse_options(asked, request.tools.has_value());
  parsing.prompt_ids = plan_.ids;
  choices_.resize(request.choices);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    choices_[i].key.bytes = state_->parts.random();
    auto parser = read_.model->model->parser(call_, parsing);
    if (!parser.ok()) return apis::fault_of(parser.error());
    choices_[i].parser.emplace(read_.model->model, std::move(parser).value());
    choices_[i].builder.emplace(i, naming(i), request.api == kResponsesApi ? Empty::kMessage : Empty::kNothing,
                                request.api == chat::Api::kMessages ? Inputs::kObjects : Inputs::kAny,
                                request.older_calls ? Calls::kOne : Calls::kAny);
    if (request.sampling.min_tokens == 0) watch_stops(choices_[i]);
    follow_prompt(choices_[i]);
  }
  answer_.collector.emplace(choices_.size());
  answer_.meta.id = spans::mint_id(id_prefix(request.api), choices_.front().key, 0);
  answer_.meta.model = request.model.empty() ? read_.model->name : request.model;
  answer_.meta.created_s = state_->parts.now_ms() / 1000;
  answer_.meta.reasoning_events = state_->parts.options.reasoning_events;
  if (request.return_token_ids) answer_.meta.prompt_ids = plan_.ids;
  if (request.return_prompt_text) {
    auto text = read_.model->model->detokenize(plan_.ids, false);
    if (text.ok()) answer_.meta.prompt_text = std::move(text).value();
  }
  answer_.meta.diagnostics =
      diagnose(*state_->parts.spans, state_->parts.models, read_.visit->tenant, *scope_, plan_, request);
  answer_.meta.prompt_tokens = static_cast<std::int64_t>(plan_.ids.size());
  return std::nullopt;
}

// The reply begins a text of its own, unless it continues a message.
void TurnRun::follow_prompt(Choice& choice) const {
  const tokenizer::Tokenizer* tokenizer = read_.model->model->tokenizer();
  choice.texts = TokenTexts(tokenizer);
  if (!read_.request.continue_final || tokenizer == nullptr) return;
  choice.texts = TokenTexts(tokenizer, plan_.ids);
  if (const core::TokenId* last = last_text_in(*tokenizer, plan_.ids)) choice.parser->follow(*last);
}

apis::Naming TurnRun::naming(std::size_t choice) {
  const auto key = [this, choice] { return choices_[choice].key; };
  return {.item_id =
              [key](apis::PartKind kind, std::size_t, std::size_t part) {
                const char* prefix = kind == apis::PartKind::kReasoning ? "rs"
                                     : kind == apis::PartKind::kCall    ? "fc"
                                                                        : "msg";
                return spans::mint_id(prefix, key(), part + 1);
              },
          .call_id =
              [this, key](std::size_t, std::size_t call, const std::optional<std::string>&) {
                return spans::mint_call_id(*scope_, key(), call, call_id_shape_);
              },
          .secret = [key](std::size_t, std::size_t part) { return spans::mint_id("sig", key(), part + 1); }};
}

apis::Outcome<engine::Request> TurnRun::engine_request() {
  const apis::GenerateRequest& from = read_.request;
  const auto room = room_behind(from.api, *read_.model, plan_.ids.size(), from.max_tokens);
  if (!room.ok()) return room.fault();
  engine::Request request;
  if (auto fault = unknown_ids(read_.model->model->tokenizer(), from.sampling, from.stop_ids)) return *fault;
  if (from.prompt_logprobs && !read_.model->serving->capabilities().tells_prompt_logprobs)
    return no_prompt_logprobs("prompt_logprobs");
  request.prompt_logprobs = from.prompt_logprobs;
  request.prompt = plan_.ids;
  request.max_tokens = room.value();
  request.min_tokens = least_tokens(from.sampling, request.max_tokens);
  request.choices = from.choices;
  request.stop_ids = profile_->stop_ids;
  request.stop_ids.insert(request.stop_ids.end(), from.stop_ids.begin(), from.stop_ids.end());
  request.sampling = sampling_of(from.sampling, state_->parts);
  if (auto fault = set_limits(*read_.model->model, from.sampling, request)) return *fault;
  keeps_logprobs_ = from.logprobs || state_->parts.options.keep_logprobs;
  if (keeps_logprobs_) request.logprobs = from.logprobs ? from.top_logprobs : 0;
  request.tenant = tenant_of(read_.visit->tenant, from.cache_salt);
  request.affinity = from.session.session.empty() ? from.session.group : from.session.session;
  // Other conversations share everything before the first message that is not a system message.
  const json::Array& messages = plan_.asked.messages;
  for (std::size_t i = 0; i < plan_.owners.size(); ++i) {
    const std::int32_t owner = plan_.owners[i];
    if (owner < 0) continue;
    const bool is_whole = static_cast<std::size_t>(owner) < messages.size();  // the others are continued
    const auto role = is_whole ? messages[static_cast<std::size_t>(owner)].find_string("role") : std::nullopt;
    if (role == "system" || role == "developer") continue;
    if (i > 0) request.shared_heads.push_back(i);
    break;
  }
  if (auto fault = hold(request)) return *fault;
  return request;
}

// The engine enforces what the API promises about the form of the answer.
std::optional<apis::Fault> TurnRun::hold(engine::Request& request) {
  auto constraint = make_constraint(*read_.model, call_, read_.request, plan_.ids, plan_.prefill);
  if (!constraint.ok()) return constraint.fault();
  request.grammar = std::move(constraint.value().grammar);
  for (std::string& note : constraint.value().notes) read_.request.warnings.push_back(std::move(note));
  if (reasoning_budget_) limit_reasoning(request);
  return std::nullopt;
}

void TurnRun::limit_reasoning(engine::Request& request) {
  const core::Model& model = *read_.model->model;
  const auto format = model.format(call_);
  if (!format.ok() || !format.value()->reasoning.present) return;
  const auto ids_of = [&](std::string_view mark) {
    auto ids = model.tokenize(mark, true);
    return ids.ok() ? std::move(ids).value() : std::vector<core::TokenId>();
  };
  const format::Reasoning& reasoning = format.value()->reasoning;
  ReasoningLimit limit{.open = ids_of(format::trimmed(reasoning.open)),
                       .close = ids_of(format::trimmed(reasoning.close)),
                       .ending = ids_of(reasoning.close)};
  limit.most = static_cast<std::size_t>(*reasoning_budget_);
  limit.is_open = choices_.front().parser->parser().place() == parse::Place::kReasoning;
  const bool is_free = request.grammar.dialect == engine::Grammar::Dialect::kNone;
  if (!is_free || limit.close.empty() || limit.ending.empty()) {
    read_.request.warnings.push_back("the most tokens for reasoning (" + std::to_string(*reasoning_budget_) +
                                     ") are not enforced: the template does not take them, and " +
                                     (is_free ? "has no end of reasoning" : "the reply is held to a grammar"));
    return;
  }
  request.constraint = [limit](std::size_t) { return limit_of_reasoning(limit); };
}

}  // namespace rondo::gateway
