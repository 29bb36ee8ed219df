#include "gateway/state.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/utf8.h"
#include "core/roles.h"
#include "gateway/passing.h"
#include "json/print.h"
#include "net/http.h"

namespace rondo::gateway {

namespace {

// A request larger than this keeps a worker busy for long.
constexpr std::size_t kLargeBytes = std::size_t{256} << 10U;

// The names of the APIs in metrics and logs.
std::string_view api_label(std::string_view path) {
  for (const auto& [begin, label] :
       {std::pair("/v1/chat/", "chat"), std::pair("/v1/messages", "messages"), std::pair("/v1/responses", "responses"),
        std::pair("/v1/conversations", "conversations"), std::pair("/v1/completions", "completions"),
        std::pair("/rondo/", "rondo")}) {
    if (path.starts_with(begin)) return label;
  }
  return "other";
}

}  // namespace

std::optional<json::Value> SessionRows::find(const spans::Digest& scope, const spans::SessionInfo& info) const {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find({scope, info.session});
  if (found == rows_.end() || found->second.turns != info.turns || found->second.last_ms != info.last_ms)
    return std::nullopt;
  return found->second.row;
}

void SessionRows::keep(const spans::Digest& scope, const spans::SessionInfo& info, json::Value row) {
  constexpr std::size_t kMost = 4096;
  const std::lock_guard lock(mutex_);
  if (rows_.size() >= kMost) rows_.clear();
  rows_[{scope, info.session}] = {.turns = info.turns, .last_ms = info.last_ms, .row = std::move(row)};
}

Service::State::State(net::Loop& on, ServiceParts of)
    : loop(on),
      parts(std::move(of)),
      shared(parts.shared ? parts.shared : std::make_shared<Shared>()),
      metrics(shared->metrics) {}

apis::Outcome<Streams::Ticket> Service::State::begin_stream(const std::string& tenant) {
  if (shared->is_draining)
    return apis::Fault{
        .kind = apis::FaultKind::kUnavailable, .message = "the server is about to end", .retry_after_s = 1};
  Streams::Ticket ticket = shared->streams->begin(tenant, parts.options.streams, parts.options.streams_of_tenant);
  if (ticket) return ticket;
  return apis::Fault{.kind = apis::FaultKind::kBusy, .message = "too many requests at once", .retry_after_s = 1};
}

net::Timer Service::State::at_limit(const Visit& visit, std::function<void()> task) const {
  if (parts.options.request_time.count() == 0) return {};
  const auto spent = std::chrono::floor<net::Milliseconds>(loop.now() - visit.asked);
  return loop.after(std::max(parts.options.request_time - spent, net::Milliseconds::zero()), std::move(task));
}

std::string Service::State::unready() const {
  if (shared->is_draining) return "the server is about to end";
  const auto is_up = [](const ServedModel& model) { return !model.is_up || model.is_up(); };
  if (std::none_of(parts.models.begin(), parts.models.end(), is_up)) return "no engine answers";
  return "";
}

void Service::State::off_loop(std::size_t bytes, std::function<void()> work, std::function<void()> done) {
  if (parts.workers == nullptr) {
    work();
    return done();
  }
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    ++jobs_;
  }
  // The work is destroyed before `done` is: what they hold together must not end here.
  auto job = [self = shared_from_this(), work = std::move(work), done = std::move(done)]() mutable {
    work();
    work = nullptr;
    State& state = *self;
    state.loop.post([self = std::move(self), done = std::move(done)] {
      if (!self->is_closed_) done();
    });
    const std::lock_guard lock(state.mutex_);
    --state.jobs_;
    state.idle_.notify_all();
  };
  parts.workers->run(bytes > kLargeBytes ? Workers::Size::kLarge : Workers::Size::kSmall, std::move(job));
}

void Service::State::note_answered(const net::ServerRequest& request, const Visit& visit, int status) const {
  const auto total = loop.now() - visit.began;
  const std::string_view api = api_label(request.path);
  metrics.answered(api, status, std::chrono::duration<double>(total).count());
  if (parts.options.log == ServiceOptions::Log::kNone || !parts.log) return;
  parts.log(
      log_line(parts.options.log, {.time_ms = parts.now_ms(),
                                   .request = request,
                                   .visit = visit,
                                   .api = api,
                                   .status = status,
                                   .total_ms = std::chrono::duration_cast<std::chrono::milliseconds>(total).count()}));
}

void Service::State::close() {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  idle_.wait(lock, [this] { return jobs_ == 0; });
}

const ServedModel* Service::State::find_model(std::string_view name) const {
  const std::vector<ServedModel>& models = parts.models;
  const auto is_meant = [&](const ServedModel& one) { return one.is_called(name); };
  const auto found = std::find_if(models.begin(), models.end(), is_meant);
  if (found != models.end()) return &*found;
  const bool any = models.size() == 1 && (name.empty() || !parts.options.strict_model);
  return any ? &models.front() : nullptr;
}

std::string word_of_path(std::string_view given) {
  Result<std::string> decoded = net::percent_decoded(given);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  const bool is_word = decoded.ok() && std::ranges::none_of(decoded.value(), is_control);
  return is_word ? std::move(decoded).value() : std::string(given);
}

PathParts parts_behind(std::string_view path, std::string_view base) {
  const std::string_view rest = path.substr(base.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  return {.id = word_of_path(rest.substr(0, slash)),
          .below = std::string(rest.substr(std::min(slash + 1, rest.size())))};
}

apis::Outcome<std::optional<std::int64_t>> query_number(const net::ServerRequest& http, std::string_view name) {
  const std::string text = net::query_value(http.query, name).value_or("");
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stopped == end) return std::optional(number);
  return apis::invalid(std::string(name), "`" + std::string(name) + "` must be a number");
}

namespace {

std::string shortened(const std::string& sentence) {
  constexpr std::size_t kMost = 320;
  constexpr std::size_t kHead = 200;
  constexpr std::size_t kTail = 100;
  if (sentence.size() <= kMost) return sentence;
  return std::string(utf8::head(sentence, kHead)) + "..." + std::string(utf8::tail(sentence, kTail));
}

std::string warning_value(std::string_view sentence) {
  std::string text = "299 rondo \"";
  for (const char c : sentence) text += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
  return text + "\"";
}

}  // namespace

void add_warnings(const std::vector<std::string>& sentences, net::Headers& headers) {
  constexpr std::size_t kMostBytes = 2048;
  std::string field;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    std::string value = warning_value(shortened(sentences[i]));
    const bool is_full = field.size() + value.size() > kMostBytes;
    if (is_full) value = warning_value("... and " + std::to_string(sentences.size() - i) + " more");
    field += (field.empty() ? "" : ", ") + value;
    if (is_full) break;
  }
  if (!field.empty()) headers.add("warning", std::move(field));
}

net::Reply json_reply(int status, const json::Value& body, net::Headers headers) {
  headers.set("content-type", "application/json");
  return {.status = status, .headers = std::move(headers), .body = json::to_compact(body)};
}

net::Reply fault_reply(chat::Api api, const apis::Fault& fault) {
  net::Headers headers;
  if (fault.retry_after_s) headers.add("retry-after", std::to_string(*fault.retry_after_s));
  return json_reply(fault.status(), apis::error_body(api, fault), std::move(headers));
}

void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers) {
  exchange.reply(json_reply(status, body, std::move(headers)));
}

void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault) {
  exchange.reply(fault_reply(api, fault));
}

void answer_off_loop(Service::State& state, net::Exchange exchange, MakeAnswer make) {
  struct Making {
    net::Exchange exchange;
    Answer answer;
  };
  const std::size_t bytes = exchange.request().body.size();
  auto making = std::make_shared<Making>(Making{.exchange = std::move(exchange), .answer = {}});
  state.off_loop(
      bytes,
      [making, &state, make = std::move(make)] {
        making->answer = make(state, std::as_const(making->exchange).request());
      },
      [making] {
        if (auto* reply = std::get_if<net::Reply>(&making->answer)) return making->exchange.reply(std::move(*reply));
        std::get<1>(making->answer)(std::move(making->exchange));
      });
}

RequestParts parts_of(const net::ServerRequest& http) {
  const auto header = [&http](std::string_view name) { return std::string(http.headers.find(name).value_or("")); };
  return {.text = http.body, .headers = header, .visit = visit_of(http)};
}

void keep_request(Service::State& state, const RequestParts& parts) {
  const ServiceOptions& options = state.parts.options;
  if (options.kept_request_bytes == 0) return;
  state.shared->requests.keep({.tenant = parts.visit->tenant,
                               .time_ms = state.parts.now_ms(),
                               .request_id = parts.visit->request_id,
                               .session = parts.headers("x-rondo-session"),
                               .body = std::string(parts.text)},
                              options.kept_request_bytes);
}

namespace {

// The body with its references replaced by what they name.
apis::Outcome<json::Value> resolved_body(Service::State& state, chat::Api api, const RequestParts& parts,
                                         ReadRequest& out) {
  auto body = apis::parse_body(parts.text);
  if (!body.ok() || !body.value().is_object()) return body;
  for (const std::string_view key : parts.left_out) body.value().as_object().erase(key);
  const Archive archive(*state.parts.spans, parts.visit->tenant);
  if (api == chat::Api::kMessages) {
    auto thread = resolve_thread(archive, body.value().as_object());
    if (!thread.ok()) return thread.fault();
    out.thread = std::move(thread.value());
  }
  if (api != kResponsesApi) return body;
  auto resolved = resolve_input(archive, body.value(), parts.nearby);
  if (!resolved.ok()) return resolved.fault();
  out.input = std::move(resolved.value());
  return body;
}

}  // namespace

apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api, const net::ServerRequest& http) {
  return read_parts(state, api, parts_of(http));
}

apis::Outcome<ReadRequest> read_parts(Service::State& state, chat::Api api, const RequestParts& parts) {
  ReadRequest out;
  auto body = resolved_body(state, api, parts, out);
  if (!body.ok()) return body.fault();
  out.visit = parts.visit;
  out.bytes = parts.text.size();
  auto request = apis::read(api, std::move(body).value(), parts.headers,
                            {.refuse_unknown_tools = state.parts.options.refuse_unknown_tools,
                             .input_places = parts.places.empty() ? out.input.places : parts.places,
                             .media = state.parts.options.media});
  if (!request.ok()) return request.fault();
  out.request = std::move(request).value();
  if (out.request.messages.empty()) {
    const std::string param = api == kResponsesApi ? "input" : "messages";
    std::string sentence = "`" + param + "` must not be empty";
    for (const std::string& why : out.request.warnings) sentence += ": " + why;
    return apis::invalid(param, std::move(sentence));
  }
  out.model = state.find_model(out.request.model);
  if (out.model == nullptr) return apis::model_not_found(out.request.model);
  const auto& roles = out.model->model->compared_roles(out.request.tools.has_value());
  if (api == chat::Api::kChat && std::ranges::find(roles, "function") == roles.end())
    chat::take_old_calls(out.request.messages);
  if (!out.request.media.empty()) {
    if (out.model->upstream.client == nullptr) return not_text(out.request.media);
    if (out.thread.is_kept) return unthreadable(out.request);
    auto again = resolved_body(state, api, parts, out);
    if (!again.ok()) return again.fault();
    out.passed_body = passed_body(out, parts.is_told, std::move(again.value()));
  }
  return out;
}

apis::Fault not_text(const std::string& media) {
  return apis::invalid(media, apis::quoted_place(media) + " is not text: token ids carry only text");
}

AskedCall call_of(const Service::State& state, const ServedModel& model, const apis::GenerateRequest& request) {
  AskedCall out;
  core::Call& call = out.call;
  if (state.parts.local_time) call.now = state.parts.local_time();
  call.has_messages = true;
  call.conversation.messages = request.messages;
  call.conversation.tools = request.tools;
  call.conversation.documents = request.documents;
  call.conversation.kwargs = model.kwargs;
  for (const json::Member& member : request.kwargs) call.conversation.kwargs.set(member.key, member.value);
  call.conversation.add_generation_prompt = request.opens_reply && !request.continue_final;
  if (request.continue_final) call.conversation.continue_final_message = "content";
  out.reasoning = apply_reasoning(*model.model, request, call);
  return out;
}

std::optional<apis::Fault> unwritten(const ServedModel& model, const apis::GenerateRequest& request,
                                     const spans::Plan& plan) {
  const json::Value* calls = request.continue_final ? request.messages.back().find("tool_calls") : nullptr;
  if (calls != nullptr && calls->is_array() && !calls->as_array().empty() && !plan.asked.continues_reply) {
    const std::string param = apis::place_of(request, request.messages.size() - 1);
    return apis::invalid(param, "`" + param + "` has calls and cannot be continued: what is continued is its content");
  }
  const auto& compared = model.model->compared_roles(request.tools.has_value());
  const auto unknown = core::unwritten_role(compared, request.messages, plan.owners);
  if (!unknown) return std::nullopt;
  const std::string param = apis::place_of(request, unknown->message, "role");
  return apis::invalid(param,
                       apis::quoted_place(param) + ": " + std::string(unknown->why) + " `" + unknown->role + "`");
}

}  // namespace rondo::gateway
