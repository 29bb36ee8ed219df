// What a turn's request becomes: a prompt, and what the engine is asked for.
#include <algorithm>
#include <utility>

#include "gateway/constraint.h"
#include "gateway/turn_run.h"

namespace rondo::gateway {
namespace {

std::string_view id_prefix(chat::Api api) {
  switch (api) {
    case chat::Api::kChat: return "chatcmpl";
    case chat::Api::kMessages: return "msg";
    case chat::Api::kResponses: return "resp";
  }
  return "id";
}

}  // namespace

std::optional<apis::Fault> TurnRun::prepare() {
  const apis::GenerateRequest& request = read_.request;
  scope_.emplace(state_->parts.spans->scope("", read_.model->name));
  spans::PlanRequest asked{.call = call_, .session = std::nullopt, .retention = state_->parts.options.retention};
  const std::string& named = request.session.session.empty() ? request.session.group : request.session.session;
  if (!named.empty()) asked.session = spans::Spans::session(*scope_, named);
  auto plan = state_->parts.spans->plan(*read_.model->model, *scope_, std::move(asked));
  if (!plan.ok()) return apis::fault_of(plan.error());
  plan_ = std::move(plan).value();
  auto profile = read_.model->model->profile(call_);
  if (!profile.ok()) return apis::fault_of(profile.error());
  profile_ = std::move(profile).value();
  call_id_shape_ = spans::call_id_shape(*read_.model->model, call_);
  return prepare_choices();
}

std::optional<apis::Fault> TurnRun::prepare_choices() {
  const apis::GenerateRequest& request = read_.request;
  core::Asked asked;
  asked.parallel_tool_calls = request.tool_choice.parallel;
  if (request.tool_choice.mode == apis::ToolChoice::Mode::kNone) asked.tool_choice = core::ToolChoice::kNone;
  if (request.format.kind == apis::AnswerFormat::Kind::kSchema) asked.response_schema = request.format.schema;
  core::ParseCall parsing;
  parsing.options = core::parse_options(asked, request.tools.has_value());
  parsing.prompt_ids = plan_.ids;
  choices_.resize(request.choices);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    choices_[i].key.bytes = state_->parts.random();
    auto parser = read_.model->model->parser(call_, parsing);
    if (!parser.ok()) return apis::fault_of(parser.error());
    choices_[i].parser.emplace(read_.model->model, std::move(parser).value());
    choices_[i].builder.emplace(i, naming(i));
    choices_[i].stop = StopText(request.stops);
  }
  collector_.emplace(choices_.size());
  meta_.id = spans::mint_id(id_prefix(request.api), choices_.front().key, 0);
  meta_.model = request.model.empty() ? read_.model->name : request.model;
  meta_.created_s = state_->parts.now_ms() / 1000;
  if (request.return_token_ids) meta_.prompt_ids = plan_.ids;
  meta_.prompt_tokens = static_cast<std::int64_t>(plan_.ids.size());
  return std::nullopt;
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
  const std::size_t context = read_.model->serving->capabilities().context_tokens;
  if (context > 0 && plan_.ids.size() >= context) {
    return apis::context_too_long(from.api, static_cast<std::int64_t>(plan_.ids.size()),
                                  static_cast<std::int64_t>(context));
  }
  engine::Request request;
  request.prompt = plan_.ids;
  const std::size_t room = context > 0 ? context - plan_.ids.size() : 4096;
  request.max_tokens = from.max_tokens ? std::min(static_cast<std::size_t>(*from.max_tokens), room) : room;
  request.choices = from.choices;
  request.stop_ids = profile_->stop_ids;
  const apis::Sampling& sampling = from.sampling;
  request.sampling.temperature = static_cast<float>(sampling.temperature.value_or(1.0));
  request.sampling.top_p = static_cast<float>(sampling.top_p.value_or(1.0));
  request.sampling.top_k = static_cast<std::size_t>(std::max<std::int64_t>(0, sampling.top_k.value_or(0)));
  request.sampling.min_p = static_cast<float>(sampling.min_p.value_or(0.0));
  request.sampling.presence_penalty = static_cast<float>(sampling.presence_penalty.value_or(0.0));
  request.sampling.frequency_penalty = static_cast<float>(sampling.frequency_penalty.value_or(0.0));
  request.sampling.repetition_penalty = static_cast<float>(sampling.repetition_penalty.value_or(1.0));
  for (const auto& [id, value] : sampling.logit_bias) request.sampling.bias.push_back({id, static_cast<float>(value)});
  request.sampling.seed = 0;
  if (sampling.seed) {
    request.sampling.seed = static_cast<std::uint64_t>(*sampling.seed);
  } else {
    for (const std::uint8_t byte : state_->parts.random()) request.sampling.seed = request.sampling.seed << 5U ^ byte;
  }
  if (from.logprobs) request.logprobs = from.top_logprobs;
  request.affinity = from.session.session.empty() ? from.session.group : from.session.session;
  // What other conversations share: everything in front of the first message that is not the system's.
  for (std::size_t i = 0; i < plan_.owners.size(); ++i) {
    const std::int32_t owner = plan_.owners[i];
    if (owner < 0) continue;
    const auto role = call_.conversation.messages[static_cast<std::size_t>(owner)].find_string("role");
    if (role == "system" || role == "developer") continue;
    if (i > 0) request.shared_heads.push_back(i);
    break;
  }
  auto constraint = make_constraint(*read_.model, call_, from);
  if (!constraint.ok()) return constraint.fault();
  request.grammar = std::move(constraint.value().grammar);
  for (std::string& note : constraint.value().notes) plan_.notes.push_back(std::move(note));
  return request;
}

}  // namespace rondo::gateway
