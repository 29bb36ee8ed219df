#include "gateway/service.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apis/completions.h"
#include "apis/listings.h"
#include "gateway/conversations.h"
#include "gateway/response_socket.h"
#include "gateway/responses.h"
#include "gateway/sessions.h"
#include "gateway/state.h"
#include "gateway/turn_run.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

using Exchange = net::Exchange;
using State = Service::State;

chat::Api api_of(std::string_view path) {
  if (path.starts_with("/v1/messages")) return chat::Api::kMessages;
  const bool is_responses = path.starts_with("/v1/responses") || path.starts_with("/v1/conversations");
  return is_responses ? chat::Api::kResponses : chat::Api::kChat;
}

void generate(State& state, chat::Api api, Exchange exchange) {
  auto read = read_request(state, api, exchange.request());
  if (!read.ok()) return answer_fault(exchange, api, read.fault());
  std::make_shared<TurnRun>(state.shared_from_this(), std::move(read).value(), http_outlet(std::move(exchange)))
      ->begin();
}

// The prompt's ids, nothing is generated.
apis::Outcome<std::vector<spans::TokenId>> prompt_ids(State& state, const ReadRequest& read) {
  const spans::Scope scope = state.parts.spans->scope("", read.model->name);
  auto plan = state.parts.spans->plan(*read.model->model, scope,
                                      {.call = call_of(*read.model, read.request),
                                       .session = std::nullopt,
                                       .retention = state.parts.options.retention});
  if (!plan.ok()) return apis::fault_of(plan.error());
  return std::move(plan.value().ids);
}

void count(State& state, chat::Api api, Exchange exchange) {
  auto read = read_request(state, api, exchange.request());
  if (!read.ok()) return answer_fault(exchange, api, read.fault());
  auto ids = prompt_ids(state, read.value());
  if (!ids.ok()) return answer_fault(exchange, api, ids.fault());
  answer_json(exchange, 200, apis::count_body(api, static_cast<std::int64_t>(ids.value().size())));
}

void render(State& state, chat::Api api, Exchange exchange) {
  auto read = read_request(state, api, exchange.request());
  if (!read.ok()) return answer_fault(exchange, api, read.fault());
  auto ids = prompt_ids(state, read.value());
  if (!ids.ok()) return answer_fault(exchange, api, ids.fault());
  core::Call call = call_of(*read.value().model, read.value().request);
  const auto profile = read.value().model->model->profile(call);
  if (!profile.ok()) return answer_fault(exchange, api, apis::fault_of(profile.error()));
  spans::TurnKey key;
  key.bytes = state.parts.random();
  answer_json(exchange, 200,
              apis::render_body(read.value().request, spans::mint_id("render", key, 0), read.value().model->name,
                                ids.value(), profile.value()->stop_ids));
}

void tokenize(State& state, Exchange exchange) {
  const chat::Api api = chat::Api::kChat;
  auto body = apis::parse_body(exchange.request().body);
  if (!body.ok()) return answer_fault(exchange, api, body.fault());
  auto request = apis::read_tokenize(body.value());
  if (!request.ok()) return answer_fault(exchange, api, request.fault());
  const ServedModel& model = *state.find_model("");
  const auto context = static_cast<std::int64_t>(model.serving->capabilities().context_tokens);
  std::vector<spans::TokenId> ids;
  if (request.value().prompt) {
    auto made = model.model->tokenize(*request.value().prompt, false);
    if (!made.ok()) return answer_fault(exchange, api, apis::fault_of(made.error()));
    ids = std::move(made).value();
  } else {
    auto read = read_request(state, api, exchange.request());
    if (!read.ok()) return answer_fault(exchange, api, read.fault());
    auto made = prompt_ids(state, read.value());
    if (!made.ok()) return answer_fault(exchange, api, made.fault());
    ids = std::move(made).value();
  }
  std::vector<std::string> texts;
  if (request.value().return_token_strs) {
    for (const spans::TokenId id : ids) texts.push_back(model.model->detokenize(std::span(&id, 1), false).value());
  }
  answer_json(exchange, 200, apis::tokenize_body(ids, context, texts));
}

void detokenize(State& state, Exchange exchange) {
  auto body = apis::parse_body(exchange.request().body);
  if (!body.ok()) return answer_fault(exchange, chat::Api::kChat, body.fault());
  auto ids = apis::read_detokenize(body.value());
  if (!ids.ok()) return answer_fault(exchange, chat::Api::kChat, ids.fault());
  const auto text = state.find_model("")->model->detokenize(ids.value(), false);
  if (!text.ok()) return answer_fault(exchange, chat::Api::kChat, apis::fault_of(text.error()));
  answer_json(exchange, 200, apis::detokenize_body(text.value()));
}

apis::ModelEntry entry_of(const ServedModel& model) {
  return {.name = model.name,
          .created_s = model.created_s,
          .context_tokens = static_cast<std::int64_t>(model.serving->capabilities().context_tokens)};
}

void models(State& state, Exchange exchange) {
  const std::string& path = exchange.request().path;
  constexpr std::string_view kOne = "/v1/models/";
  if (path.starts_with(kOne)) {
    const std::string name = path.substr(kOne.size());
    const ServedModel* model = state.find_model(name);
    if (model == nullptr || model->name != name)
      return answer_fault(exchange, chat::Api::kChat, apis::model_not_found(name));
    return answer_json(exchange, 200, apis::model_body(entry_of(*model)));
  }
  std::vector<apis::ModelEntry> entries;
  for (const ServedModel& model : state.parts.models) entries.push_back(entry_of(model));
  answer_json(exchange, 200, apis::models_body(entries));
}

void metrics(State& state, Exchange exchange) {
  const Counters& counters = state.counters;
  std::string text;
  const auto counter = [&](const std::string& name, const std::string& labels, std::uint64_t value, const char* help) {
    if (help != nullptr) text += "# HELP " + name + " " + help + "\n# TYPE " + name + " counter\n";
    text += name + labels + " " + std::to_string(value) + "\n";
  };
  counter("rondo_requests_total", "", counters.requests, "Requests that came in.");
  counter("rondo_failed_total", "", counters.failed, "Requests that an engine failed.");
  counter("rondo_prompt_tokens_total", "", counters.prompt_tokens, "Ids of prompts.");
  counter("rondo_cached_tokens_total", "", counters.cached_tokens, "Of these, what engines say was cached.");
  counter("rondo_completion_tokens_total", "", counters.completion_tokens, "Ids that were sampled.");
  const char* help = "Prompts by the way that they were made.";
  for (const auto& [how, times] : counters.by_way) {
    counter("rondo_prompts_total", "{how=\"" + how + "\"}", times, help);
    help = nullptr;
  }
  text += "# HELP rondo_running Requests that are being answered.\n# TYPE rondo_running gauge\nrondo_running " +
          std::to_string(state.running.size()) + "\n";
  exchange.reply(200, {{"content-type", "text/plain; version=0.0.4"}}, std::move(text));
}

struct Route {
  std::string_view method;
  std::string_view path;
  void (*answer)(State& state, Exchange exchange);
};

template <void (*Answer)(State&, chat::Api, Exchange), chat::Api kApi>
void with_api(State& state, Exchange exchange) {
  Answer(state, kApi, std::move(exchange));
}

constexpr std::array kRoutes = {
    Route{"POST", "/v1/chat/completions", with_api<generate, chat::Api::kChat>},
    Route{"POST", "/v1/messages", with_api<generate, chat::Api::kMessages>},
    Route{"POST", "/v1/responses", create_response},
    Route{"GET", "/v1/responses", open_response_socket},
    Route{"POST", "/v1/responses/compact", compact_responses},
    Route{"POST", "/v1/conversations", create_conversation},
    Route{"POST", "/v1/messages/count_tokens", with_api<count, chat::Api::kMessages>},
    Route{"POST", "/v1/responses/input_tokens", with_api<count, chat::Api::kResponses>},
    Route{"POST", "/v1/chat/completions/render", with_api<render, chat::Api::kChat>},
    Route{"POST", "/v1/messages/render", with_api<render, chat::Api::kMessages>},
    Route{"POST", "/v1/responses/render", with_api<render, chat::Api::kResponses>},
    Route{"POST", "/tokenize", tokenize},
    Route{"POST", "/detokenize", detokenize},
    Route{"GET", "/v1/models", models},
    Route{"GET", "/metrics", metrics},
    Route{"GET", "/health",
          [](State&, Exchange exchange) { answer_json(exchange, 200, json::Object{{"status", "ok"}}); }},
    Route{"GET", "/ready",
          [](State&, Exchange exchange) { answer_json(exchange, 200, json::Object{{"status", "ok"}}); }},
};

// The name in `HOST` or `HOST:PORT`.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

// Why the request is refused whatever it asks for; "" if it is not.
std::string refusal(const ServiceOptions& options, const net::ServerRequest& request) {
  if (options.hosts.empty()) return "";
  const std::string_view host = request.headers.find("host").value_or("");
  const std::string_view name = without_port(host);
  if (std::find(options.hosts.begin(), options.hosts.end(), name) == options.hosts.end())
    return "this server is not called " + std::string(name);
  const std::string_view origin = request.headers.find("origin").value_or("");
  const std::size_t scheme = origin.find("//");
  const bool is_own = origin.empty() || (scheme != std::string_view::npos && origin.substr(scheme + 2) == host);
  return is_own ? "" : "pages of " + std::string(origin) + " may not use this server";
}

// `/s/NAME/...` files the request under that session.
void take_session(net::ServerRequest& request) {
  constexpr std::string_view kPrefix = "/s/";
  if (!request.path.starts_with(kPrefix)) return;
  const std::size_t end = request.path.find('/', kPrefix.size());
  if (end == std::string::npos || end == kPrefix.size()) return;
  request.headers.set("x-rondo-session", request.path.substr(kPrefix.size(), end - kPrefix.size()));
  request.path.erase(0, end);
}

}  // namespace

Service::Service(net::Loop& loop, ServiceParts parts) : state_(std::make_shared<State>(loop, std::move(parts))) {}

Service::~Service() {
  state_->running.clear();
  state_->watches.clear();
}

void Service::handle(net::Exchange exchange) {
  ++state_->counters.requests;
  net::ServerRequest& request = exchange.request();
  if (const std::string reason = refusal(state_->parts.options, request); !reason.empty()) {
    return answer_fault(exchange, api_of(request.path), {.kind = apis::FaultKind::kForbidden, .message = reason});
  }
  take_session(request);
  bool is_known = false;
  for (const Route& route : kRoutes) {
    if (request.path != route.path) continue;
    if (request.method == route.method) return route.answer(*state_, std::move(exchange));
    is_known = true;
  }
  if (request.method == "GET" && request.path.starts_with("/v1/models/")) return models(*state_, std::move(exchange));
  if (is_session_path(request.path)) return answer_sessions(*state_, std::move(exchange));
  if (request.path.starts_with("/v1/responses/")) return answer_response(*state_, std::move(exchange));
  if (request.path.starts_with("/v1/conversations/")) return answer_conversation(*state_, std::move(exchange));
  const std::string sentence =
      is_known ? request.method + " is not for " + request.path : "there is no such address: " + request.path;
  const json::Value body =
      apis::error_body(api_of(request.path), {.kind = apis::FaultKind::kNotFound, .message = sentence});
  answer_json(exchange, is_known ? 405 : 404, body);
}

net::Reply Service::explain(int status, std::string_view sentence) {
  const apis::FaultKind kind = status == 413   ? apis::FaultKind::kTooLarge
                               : status == 503 ? apis::FaultKind::kUnavailable
                               : status >= 500 ? apis::FaultKind::kInternal
                                               : apis::FaultKind::kInvalid;
  const json::Value body = apis::error_body(chat::Api::kChat, {.kind = kind, .message = std::string(sentence)});
  return {.status = status, .headers = {{"content-type", "application/json"}}, .body = json::to_compact(body)};
}

}  // namespace rondo::gateway
