#include "gateway/service.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apis/completions.h"
#include "apis/listings.h"
#include "gateway/completion_run.h"
#include "gateway/conversations.h"
#include "gateway/passing.h"
#include "gateway/prompt.h"
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

// Addresses that no single API has, or that are not there, are answered in the form of the API that the client speaks.
chat::Api api_of(const net::ServerRequest& request) {
  const chat::Api api = api_of(std::string_view(request.path));
  const bool is_of_chat = request.path.starts_with("/v1/chat/") || request.path == "/v1/completions";
  const bool is_open = api == chat::Api::kChat && !is_of_chat;
  return is_open && request.headers.find("anthropic-version") ? chat::Api::kMessages : api;
}

// A request that a worker has read, with its prompt unless an engine makes that.
struct Generation {
  ReadRequest read;               // of one that is passed on
  std::shared_ptr<TurnRun> turn;  // of all others
};

void generate(State& state, chat::Api api, Exchange exchange) {
  const auto read = [&state, api](const net::ServerRequest& http) -> apis::Outcome<Generation> {
    const RequestParts parts = parts_of(http);
    auto read = read_parts(state, api, parts);
    if (!read.ok()) return read.fault();
    if (api == chat::Api::kMessages && !read.value().request.max_tokens)
      return apis::invalid("max_tokens", "`max_tokens` is missing", "missing_required_parameter");
    keep_request(state, parts);
    if (is_passed(read.value())) return Generation{.read = std::move(read.value()), .turn = nullptr};
    if (!read.value().request.opens_reply && !read.value().request.continue_final) {
      return apis::invalid("add_generation_prompt",
                           "`add_generation_prompt`: without the opening of a reply nothing can be generated");
    }
    auto turn = std::make_shared<TurnRun>(state.shared_from_this(), std::move(read.value()), nullptr);
    turn->plan();
    return Generation{.read = {}, .turn = std::move(turn)};
  };
  const auto run = [&state](Generation made, Streams::Ticket ticket, Exchange exchange) {
    const ReadRequest& asked = made.turn ? made.turn->asked() : made.read;
    const bool is_response = asked.request.api == kResponsesApi;
    if (!made.turn && !is_response) {
      made.read.ticket = std::move(ticket);
      return pass_on(state.shared_from_this(), std::move(made.read), std::move(exchange));
    }
    auto sink = http_sink(std::move(exchange), asked.request.stream);
    if (is_response) sink = response_sink(state, asked, std::move(sink));
    if (asked.thread.is_kept) sink = thread_sink(state, asked, std::move(sink));
    if (made.turn) return made.turn->begin_planned(std::move(ticket), std::move(sink));
    made.read.ticket = std::move(ticket);
    pass_response(state.shared_from_this(), std::move(made.read), std::move(sink));
  };
  read_then_run<Generation>(state, api, std::move(exchange), read, run);
}

void complete(State& state, Exchange exchange) {
  constexpr chat::Api kApi = chat::Api::kChat;
  const std::size_t bytes = exchange.request().body.size();
  const auto read = [](const net::ServerRequest& http) -> apis::Outcome<apis::CompletionRequest> {
    auto body = apis::parse_body(http.body);
    if (!body.ok()) return body.fault();
    return apis::read_completion(body.value());
  };
  const auto run = [&state, bytes](apis::CompletionRequest request, Streams::Ticket ticket, Exchange exchange) {
    const net::ServerRequest& http = exchange.request();
    const ServedModel* model = state.find_model(request.model);
    if (model == nullptr) return answer_fault(exchange, kApi, apis::model_not_found(request.model));
    CompletionRun::Asked asked{.served = *model,
                               .request = std::move(request),
                               .session = std::string(http.headers.find("x-rondo-session").value_or("")),
                               .visit = visit_of(http),
                               .ticket = std::move(ticket),
                               .bytes = bytes};
    auto sink = http_sink(std::move(exchange), asked.request.stream);
    std::make_shared<CompletionRun>(state.shared_from_this(), std::move(asked), std::move(sink))->begin();
  };
  read_then_run<apis::CompletionRequest>(state, kApi, std::move(exchange), read, run);
}

// The prompt's ids, as a request for a reply would send them.
apis::Outcome<std::vector<spans::TokenId>> prompt_ids(State& state, ReadRequest& read) {
  if (!read.request.media.empty()) return not_text(read.request.media);
  if (!read.request.opens_reply && !read.request.continue_final) {
    core::Call call = call_of(state, *read.model, read.request).call;
    auto encoded = read.model->model->encode(call);
    if (!encoded.ok()) return apis::fault_of(encoded.error());
    return std::move(encoded).value().ids;
  }
  const spans::Scope scope = state.parts.spans->scope(read.visit->tenant, read.model->name);
  auto prompt = make_prompt(state, read, scope);
  if (!prompt.ok()) return prompt.fault();
  return prompt.value().plan.ids.get();
}

net::Reply count(State& state, chat::Api api, const net::ServerRequest& http) {
  auto read = read_request(state, api, http);
  if (!read.ok()) return fault_reply(api, read.fault());
  auto ids = prompt_ids(state, read.value());
  if (!ids.ok()) return fault_reply(api, ids.fault());
  return json_reply(200, apis::count_body(api, static_cast<std::int64_t>(ids.value().size())));
}

net::Reply render(State& state, chat::Api api, const net::ServerRequest& http) {
  auto read = read_request(state, api, http);
  if (!read.ok()) return fault_reply(api, read.fault());
  auto ids = prompt_ids(state, read.value());
  if (!ids.ok()) return fault_reply(api, ids.fault());
  core::Call call = call_of(state, *read.value().model, read.value().request).call;
  const auto profile = read.value().model->model->profile(call);
  if (!profile.ok()) return fault_reply(api, apis::fault_of(profile.error()));
  spans::TurnKey key;
  key.bytes = state.parts.random();
  return json_reply(200, apis::render_body(read.value().request, spans::mint_id("render", key, 0),
                                           read.value().model->name, ids.value(), profile.value()->stop_ids));
}

net::Reply tokenize(State& state, const net::ServerRequest& http) {
  const chat::Api api = chat::Api::kChat;
  auto body = apis::parse_body(http.body);
  if (!body.ok()) return fault_reply(api, body.fault());
  auto request = apis::read_tokenize(body.value());
  if (!request.ok()) return fault_reply(api, request.fault());
  const std::string_view name = body.value().find_string("model").value_or("");
  const ServedModel* found = state.find_model(name);
  if (found == nullptr) return fault_reply(api, apis::model_not_found(name));
  const ServedModel& model = *found;
  const auto context = static_cast<std::int64_t>(model.serving->capabilities().context_tokens);
  std::vector<spans::TokenId> ids;
  if (request.value().prompt) {
    const tokenizer::Tokenizer* tokenizer = model.model->tokenizer();
    if (tokenizer == nullptr) return fault_reply(api, apis::invalid("model", "the model brings no tokenizer"));
    // As `/v1/completions` reads a prompt: the text is the client's own, so control tokens in it are meant.
    ids = tokenizer->encode_ids(*request.value().prompt, {.add_special = request.value().add_special_tokens});
  } else {
    auto read = read_request(state, api, http);
    if (!read.ok()) return fault_reply(api, read.fault());
    auto made = prompt_ids(state, read.value());
    if (!made.ok()) return fault_reply(api, made.fault());
    ids = std::move(made.value());
  }
  std::vector<std::string> texts;
  if (request.value().return_token_strs) {
    TokenTexts made(model.model->tokenizer());
    for (const spans::TokenId id : ids) {
      texts.push_back(made.at(id));
      made.take(id);
    }
  }
  return json_reply(200, apis::tokenize_body(ids, context, texts));
}

net::Reply detokenize(State& state, const net::ServerRequest& http) {
  auto body = apis::parse_body(http.body);
  if (!body.ok()) return fault_reply(chat::Api::kChat, body.fault());
  auto ids = apis::read_detokenize(body.value());
  if (!ids.ok()) return fault_reply(chat::Api::kChat, ids.fault());
  const std::string_view name = body.value().find_string("model").value_or("");
  const ServedModel* model = state.find_model(name);
  if (model == nullptr) return fault_reply(chat::Api::kChat, apis::model_not_found(name));
  const auto text = model->model->detokenize(ids.value(), false);
  if (!text.ok()) {
    apis::Fault fault = apis::fault_of(text.error());
    fault.param = "tokens";
    return fault_reply(chat::Api::kChat, fault);
  }
  return json_reply(200, apis::detokenize_body(text.value()));
}

apis::ModelEntry entry_of(const ServedModel& model, const std::string& name) {
  return {.name = name,
          .created_s = model.created_s,
          .context_tokens = static_cast<std::int64_t>(model.serving->capabilities().context_tokens)};
}

void models(State& state, Exchange exchange) {
  const std::string& path = exchange.request().path;
  constexpr std::string_view kOne = "/v1/models/";
  if (path.starts_with(kOne)) {
    const std::string name = word_of_path(std::string_view(path).substr(kOne.size()));
    const ServedModel* model = state.find_model(name);
    if (model == nullptr || !model->is_called(name))
      return answer_fault(exchange, api_of(exchange.request()), apis::model_not_found(name));
    return answer_json(exchange, 200, apis::model_body(entry_of(*model, name)));
  }
  std::vector<apis::ModelEntry> entries;
  for (const ServedModel& model : state.parts.models) {
    entries.push_back(entry_of(model, model.name));
    for (const std::string& alias : model.aliases) entries.push_back(entry_of(model, alias));
  }
  answer_json(exchange, 200, apis::models_body(entries));
}

void metrics(State& state, Exchange exchange) {
  std::vector<Gauge> gauges = {
      {.name = "rondo_running",
       .help = "Requests that are being answered.",
       .value = static_cast<double>(state.shared->streams->running())},
      {.name = "rondo_ready", .help = "Whether requests are taken.", .value = state.unready().empty() ? 1.0 : 0.0}};
  if (state.parts.workers != nullptr) {
    gauges.push_back({.name = "rondo_waiting_tasks",
                      .help = "Requests that wait for a thread that reads them.",
                      .value = static_cast<double>(state.parts.workers->waiting())});
  }
  if (state.parts.gauges) {
    for (Gauge& gauge : state.parts.gauges()) gauges.push_back(std::move(gauge));
  }
  exchange.reply(200, {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}}, state.metrics.text(gauges));
}

void ready(State& state, Exchange exchange) {
  const std::string reason = state.unready();
  if (reason.empty()) return answer_json(exchange, 200, json::Object{{"status", "ok"}});
  answer_json(exchange, 503, json::Object{{"status", "unavailable"}, {"reason", reason}}, {{"retry-after", "1"}});
}

net::Reply request_log(State& state, const net::ServerRequest& http) {
  if (state.parts.options.kept_request_bytes == 0)
    return fault_reply(chat::Api::kChat, {.kind = apis::FaultKind::kNotFound, .message = "requests are not kept"});
  const auto since = query_number(http, "since");
  if (!since.ok()) return fault_reply(chat::Api::kChat, since.fault());
  return {.status = 200,
          .headers = {{"content-type", "application/jsonl"}},
          .body = state.shared->requests.lines(visit_of(http)->tenant, since.value().value_or(-1))};
}

// The page for people.  It is not secret: it asks for all that it shows with the reader's key.
void page(State& state, Exchange exchange) {
  if (!state.parts.page) {
    return answer_fault(exchange, chat::Api::kChat,
                        {.kind = apis::FaultKind::kNotFound, .message = "this server has no page"});
  }
  spans::TurnKey key;
  key.bytes = state.parts.random();
  const std::string nonce = spans::mint_id("page", key, 0);
  const std::string quoted = "'nonce-" + nonce + "'";
  exchange.reply(200,
                 {{"content-type", "text/html; charset=utf-8"},
                  {"content-security-policy", "default-src 'none'; script-src " + quoted + "; style-src " + quoted +
                                                  "; connect-src 'self'; img-src data:; base-uri 'none'; "
                                                  "form-action 'none'; frame-ancestors 'none'"},
                  {"x-content-type-options", "nosniff"},
                  {"referrer-policy", "no-referrer"},
                  {"cache-control", "no-store"}},
                 state.parts.page(nonce));
}

struct Route {
  std::string_view method;
  std::string_view path;  // `{}`: any one part; `{*}` at the end: all that is left
  void (*answer)(State& state, Exchange exchange);
};

bool fits(std::string_view path, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::string_view part = pattern.substr(0, pattern.find('/', 1));
    if (part == "/{*}") return path.size() > 1;
    const std::string_view given = path.substr(0, path.find('/', std::min<std::size_t>(1, path.size())));
    if (part == "/{}" ? given.size() < 2 : given != part) return false;
    pattern.remove_prefix(part.size());
    path.remove_prefix(given.size());
  }
  return path.empty();
}

template <void (*Answer)(State&, chat::Api, Exchange), chat::Api kApi>
void with_api(State& state, Exchange exchange) {
  Answer(state, kApi, std::move(exchange));
}

template <net::Reply (*Make)(State&, chat::Api, const net::ServerRequest&), chat::Api kApi>
net::Reply with_api(State& state, const net::ServerRequest& http) {
  return Make(state, kApi, http);
}

template <auto Make>
void made(State& state, Exchange exchange) {
  answer_off_loop(state, std::move(exchange), Make);
}

// Routes without patterns come first, so they win if both fit.
constexpr std::array kRoutes = {
    Route{"POST", "/v1/chat/completions", with_api<generate, chat::Api::kChat>},
    Route{"POST", "/v1/completions", complete},
    Route{"POST", "/v1/messages", with_api<generate, chat::Api::kMessages>},
    Route{"POST", "/v1/responses", with_api<generate, chat::Api::kResponses>},
    Route{"GET", "/v1/responses", open_response_socket},
    Route{"POST", "/v1/responses/compact", compact_responses},
    Route{"POST", "/v1/conversations", made<create_conversation>},
    Route{"POST", "/v1/messages/count_tokens", made<with_api<count, chat::Api::kMessages>>},
    Route{"POST", "/v1/responses/input_tokens", made<with_api<count, chat::Api::kResponses>>},
    Route{"POST", "/v1/chat/completions/render", made<with_api<render, chat::Api::kChat>>},
    Route{"POST", "/v1/messages/render", made<with_api<render, chat::Api::kMessages>>},
    Route{"POST", "/v1/responses/render", made<with_api<render, chat::Api::kResponses>>},
    Route{"POST", "/tokenize", made<tokenize>},
    Route{"POST", "/detokenize", made<detokenize>},
    Route{"GET", "/v1/models", models},
    Route{"GET", "/metrics", metrics},
    Route{"GET", "/", page},
    Route{"GET", "/health",
          [](State&, Exchange exchange) { answer_json(exchange, 200, json::Object{{"status", "ok"}}); }},
    Route{"GET", "/ready", ready},
    Route{"GET", "/version",
          [](State& state, Exchange exchange) {
            answer_json(exchange, 200, json::Object{{"version", state.parts.options.version}});
          }},
    Route{"GET", "/rondo/v1/log", made<request_log>},
    Route{"GET", "/rondo/v1/sessions", made<sessions_reply>},
    Route{"GET", "/rondo/v1/sessions/{}", made<sessions_reply>},
    Route{"DELETE", "/rondo/v1/sessions/{}", made<sessions_reply>},
    Route{"GET", "/rondo/v1/sessions/{}/tokens", made<sessions_reply>},
    Route{"GET", "/rondo/v1/sessions/{}/training", made<sessions_reply>},
    Route{"GET", "/v1/models/{*}", models},
    Route{"GET", "/v1/responses/{}", made<answer_response>},
    Route{"DELETE", "/v1/responses/{}", made<answer_response>},
    Route{"GET", "/v1/responses/{}/input_items", made<answer_response>},
    Route{"POST", "/v1/responses/{}/cancel", made<answer_response>},
    Route{"GET", "/v1/conversations/{}", made<answer_conversation>},
    Route{"POST", "/v1/conversations/{}", made<answer_conversation>},
    Route{"DELETE", "/v1/conversations/{}", made<answer_conversation>},
    Route{"GET", "/v1/conversations/{}/items", made<answer_conversation>},
    Route{"POST", "/v1/conversations/{}/items", made<answer_conversation>},
    Route{"GET", "/v1/conversations/{}/items/{}", made<answer_conversation>},
    Route{"DELETE", "/v1/conversations/{}/items/{}", made<answer_conversation>},
};

bool is_address(std::string_view path) {
  return path.size() > 1 &&
         std::any_of(kRoutes.begin(), kRoutes.end(), [path](const Route& route) { return fits(path, route.path); });
}

constexpr std::size_t kLongestPath = 256;  // that is looked for under another prefix

// The same address with the version before it, if that is one: clients whose base address lacks `/v1` are served too.
std::optional<std::string> versioned(std::string_view path) {
  if (path.size() > kLongestPath || is_address(path)) return std::nullopt;
  std::string out = "/v1" + std::string(path);
  return is_address(out) ? std::optional(std::move(out)) : std::nullopt;
}

// The address that a client with a wrong base address meant: with too long a prefix, or a slash at the end.  "" if there
// is none.
std::string meant_address(std::string_view path) {
  if (path.size() > kLongestPath) return "";
  while (path.ends_with('/')) path.remove_suffix(1);
  while (!path.empty()) {
    if (is_address(path)) return std::string(path);
    if (auto out = versioned(path)) return *std::move(out);
    path.remove_prefix(std::min(path.find('/', 1), path.size()));
  }
  return "";
}

std::string unknown_address(std::string_view path) {
  std::string sentence = "there is no such address: " + std::string(path);
  const std::string meant = meant_address(path);
  if (!meant.empty()) sentence += ", but there is " + meant + " (what base address does the client have?)";
  return sentence;
}

// The name in `HOST` or `HOST:PORT`.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

bool is_named(const ServiceOptions& options, std::string_view origin) {
  return std::find(options.origins.begin(), options.origins.end(), origin) != options.origins.end();
}

// Why the request is refused whatever it asks for; "" if it is allowed.
std::string refusal(const ServiceOptions& options, const net::ServerRequest& request) {
  if (options.hosts.empty()) return "";
  const std::string_view host = request.headers.find("host").value_or("");
  const std::string_view name = without_port(host);
  const auto is_it = [name](std::string_view known) { return net::equal_ignoring_case(known, name); };
  if (std::none_of(options.hosts.begin(), options.hosts.end(), is_it))
    return "this server is not called " + std::string(name) + " (--server-name adds a name)";
  const std::string_view origin = request.headers.find("origin").value_or("");
  const std::size_t scheme = origin.find("//");
  const bool is_own = origin.empty() || (scheme != std::string_view::npos && origin.substr(scheme + 2) == host) ||
                      is_named(options, origin);
  return is_own ? "" : "pages of " + std::string(origin) + " may not use this server";
}

// The name of a session before a path, as in `/s/NAME/v1/models`; "" if there is none.
struct SessionPath {
  std::string_view session;
  std::string_view path;
};
SessionPath split_session(std::string_view path) {
  constexpr std::string_view kPrefix = "/s/";
  if (!path.starts_with(kPrefix)) return {"", path};
  const std::size_t end = path.find('/', kPrefix.size());
  if (end == std::string::npos || end == kPrefix.size()) return {"", path};
  return {path.substr(kPrefix.size(), end - kPrefix.size()), path.substr(end)};
}

// `/s/NAME/...` files the request under that session.
void take_session(net::ServerRequest& request) {
  const auto [session, path] = split_session(request.path);
  if (session.empty()) return;
  request.headers.set("x-rondo-session", word_of_path(session));
  request.path = std::string(path);
}

// Lets a page of that origin read the answer.
void share_with(std::string_view origin, net::Headers& headers) {
  headers.add("access-control-allow-origin", std::string(origin));
  headers.add("access-control-expose-headers", "x-request-id, request-id, x-rondo-prefix, retry-after, warning");
  headers.add("vary", "origin");
}

// Answers a page that asks whether it may send a request.  It may send any headers.
net::Reply preflight_reply(const net::ServerRequest& request) {
  net::Headers headers{{"access-control-allow-methods", "GET, POST, DELETE"}, {"access-control-max-age", "600"}};
  if (const auto asked = request.headers.find("access-control-request-headers"))
    headers.add("access-control-allow-headers", std::string(*asked));
  if (request.headers.find("access-control-request-private-network"))
    headers.add("access-control-allow-private-network", "true");
  return {.status = 204, .headers = std::move(headers)};
}

// The client's own id if it fits into a header and a log, otherwise a new one.
std::string request_id_of(State& state, const net::ServerRequest& request) {
  constexpr std::size_t kMostBytes = 128;
  const std::string_view given = request.headers.find("x-request-id").value_or("");
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.' || c == ':';
  };
  if (!given.empty() && given.size() <= kMostBytes && std::all_of(given.begin(), given.end(), fits))
    return std::string(given);
  spans::TurnKey key;
  key.bytes = state.parts.random();
  return spans::mint_id("req", key, 0);
}

// Addresses that need no key.  Monitors do not have one, and the page asks for the key itself.
bool is_open(std::string_view path) { return path == "/health" || path == "/ready" || path == "/"; }

// The tenant whose secret is in one of the request's headers.
std::optional<std::string> tenant_in(const ServiceParts& parts, const net::ServerRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  std::optional<std::string> tenant;
  for (const std::string_view header : {"x-api-key", "api-key"}) {
    const auto key = request.headers.find(header);
    if (key && !tenant) tenant = parts.tenant_of(*key);
  }
  const std::string_view value = request.headers.find("authorization").value_or("");
  if (!tenant && net::equal_ignoring_case(value.substr(0, kBearer.size()), kBearer))
    tenant = parts.tenant_of(value.substr(kBearer.size()));
  return tenant;
}

}  // namespace

Service::Service(net::Loop& loop, ServiceParts parts) : state_(std::make_shared<State>(loop, std::move(parts))) {}

Service::~Service() {
  state_->close();
  state_->running.clear();
  state_->running_completions.clear();
  state_->held.clear();
}

std::shared_ptr<Shared> Service::share() { return std::make_shared<Shared>(); }

std::optional<net::Reply> Service::admit(net::ServerRequest& request) {
  const auto visit = std::make_shared<Visit>();
  visit->began = state_->loop.now();
  visit->request_id = request_id_of(*state_, request);
  request.note = visit;
  take_session(request);
  if (auto path = versioned(request.path)) request.path = *std::move(path);
  const chat::Api api = api_of(request);
  request.answer_headers.add("x-request-id", visit->request_id);
  if (api == chat::Api::kMessages) request.answer_headers.add("request-id", visit->request_id);
  if (const std::string reason = refusal(state_->parts.options, request); !reason.empty())
    return fault_reply(api, {.kind = apis::FaultKind::kForbidden, .message = reason});
  if (const std::string_view origin = request.headers.find("origin").value_or("");
      is_named(state_->parts.options, origin)) {
    share_with(origin, request.answer_headers);
    if (request.method == "OPTIONS" && request.headers.find("access-control-request-method"))
      return preflight_reply(request);
  }
  if (const std::string_view packed = request.headers.find("content-encoding").value_or("identity");
      packed != "identity") {
    const std::string sentence = "a body in `" + std::string(packed) + "` is not read: it has to come as it is";
    return json_reply(415, apis::error_body(api, apis::invalid("", sentence)), {{"accept-encoding", "identity"}});
  }
  if (!state_->parts.tenant_of || is_open(request.path)) return std::nullopt;
  const auto tenant = tenant_in(state_->parts, request);
  if (!tenant) {
    net::Reply reply = fault_reply(api, apis::wrong_key());
    reply.headers.add("www-authenticate", "Bearer");
    return reply;
  }
  visit->tenant = *tenant;
  return std::nullopt;
}

void Service::handle(net::Exchange exchange) {
  net::ServerRequest& request = exchange.request();
  if (!request.note) {
    if (std::optional<net::Reply> reply = admit(request)) return exchange.reply(std::move(*reply));
  }
  std::string allowed;  // other methods that the address accepts
  const std::string_view method = method_of(request);
  std::string_view found;
  for (const Route& route : kRoutes) {
    if (!found.empty() ? route.path != found : !fits(request.path, route.path)) continue;
    if (method == route.method) return route.answer(*state_, std::move(exchange));
    found = route.path;
    allowed.append(allowed.empty() ? "" : ", ").append(route.method);
    if (route.method == "GET") allowed += ", HEAD";
  }
  const bool is_known = !allowed.empty();
  const std::string sentence =
      is_known ? request.method + " is not for " + request.path : unknown_address(request.path);
  const json::Value body = apis::error_body(api_of(request), {.kind = apis::FaultKind::kNotFound, .message = sentence});
  net::Headers headers;
  if (is_known) headers.add("allow", allowed);
  answer_json(exchange, is_known ? 405 : 404, body, std::move(headers));
}

void Service::answered(const net::ServerRequest& request, const net::Answered& answered) {
  if (!request.note) return;  // no request head was read
  const auto visit = visit_of(request);
  const bool has_gone = answered.status == 0 || !answered.is_whole;
  state_->note_answered(request, *visit, has_gone ? kClientWent : visit->fault_status.value_or(answered.status));
}

void Service::drain() { state_->shared->is_draining = true; }

void Service::cut() {
  const apis::Fault fault{.kind = apis::FaultKind::kUnavailable,
                          .message = "the server ends, and the reply took longer than it waits",
                          .retry_after_s = 1};
  // A run leaves the list when its engine has stopped, not here.
  for (const auto& [run, held] : state_->running) run->end_early(fault);
  for (const auto& [run, held] : state_->running_completions) run->end_early(fault);
}

std::size_t Service::running() const { return state_->shared->streams->running(); }

net::Reply Service::explain(std::string_view path, int status, std::string_view sentence) {
  const apis::FaultKind kind = status == 413   ? apis::FaultKind::kTooLarge
                               : status == 503 ? apis::FaultKind::kUnavailable
                               : status >= 500 ? apis::FaultKind::kInternal
                                               : apis::FaultKind::kInvalid;
  const json::Value body =
      apis::error_body(api_of(split_session(path).path), {.kind = kind, .message = std::string(sentence)});
  return {.status = status, .headers = {{"content-type", "application/json"}}, .body = json::to_compact(body)};
}

}  // namespace rondo::gateway
