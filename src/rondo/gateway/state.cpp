#include "gateway/state.h"

#include <algorithm>
#include <utility>

#include "apis/items.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {

namespace {

// No id and no tenant has a line feed.
std::string name_of(const std::string& tenant, const std::string& id) { return tenant + "\n" + id; }

// Requests that are larger keep a worker busy for long.
constexpr std::size_t kLargeBytes = std::size_t{256} << 10U;

}  // namespace

json::Value SessionRows::find(const Name& name, std::size_t turns, std::int64_t last_ms) const {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(name);
  const bool is_same = found != rows_.end() && found->second.turns == turns && found->second.last_ms == last_ms;
  return is_same ? found->second.row : json::Value();
}

void SessionRows::keep(const Name& name, std::size_t turns, std::int64_t last_ms, json::Value row) {
  const std::lock_guard lock(mutex_);
  if (rows_.size() >= kMost) rows_.clear();
  rows_[name] = {.turns = turns, .last_ms = last_ms, .row = std::move(row)};
}

void ResponseLog::keep(const std::string& tenant, const std::string& id, StoredResponse response) {
  auto kept = std::make_shared<const StoredResponse>(std::move(response));
  const std::lock_guard lock(mutex_);
  std::string name = name_of(tenant, id);
  erase_named(name);
  entries_.push_front({.name = name, .response = std::move(kept)});
  by_name_[std::move(name)] = entries_.begin();
  if (entries_.size() > kMost) erase_named(std::string(entries_.back().name));
}

std::shared_ptr<const StoredResponse> ResponseLog::find(const std::string& tenant, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name_of(tenant, id));
  return found == by_name_.end() ? nullptr : found->second->response;
}

bool ResponseLog::erase(const std::string& tenant, const std::string& id) {
  const std::lock_guard lock(mutex_);
  return erase_named(name_of(tenant, id));
}

bool ResponseLog::erase_named(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  const auto entry = found->second;
  by_name_.erase(found);
  entries_.erase(entry);
  return true;
}

Service::State::State(net::Loop& on, ServiceParts of)
    : loop(on),
      parts(std::move(of)),
      shared(parts.shared ? parts.shared : std::make_shared<Shared>()),
      responses(shared->responses),
      metrics(shared->metrics) {}

apis::Outcome<Streams::Ticket> Service::State::begin_stream(const std::string& tenant) {
  if (shared->is_draining)
    return apis::Fault{
        .kind = apis::FaultKind::kUnavailable, .message = "the server is about to end", .retry_after_s = 1};
  Streams::Ticket ticket = shared->streams->begin(tenant, parts.options.streams, parts.options.streams_of_tenant);
  if (ticket) return ticket;
  return apis::Fault{.kind = apis::FaultKind::kBusy, .message = "too many requests at once", .retry_after_s = 1};
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
  // The work goes before `done` does: what they hold together must not end here.
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
  const bool any = name.empty() || (models.size() == 1 && !parts.options.strict_model);
  return any ? &models.front() : nullptr;
}

std::string_view query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) return part.substr(name.size() + 1);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

PathParts parts_behind(std::string_view path, std::string_view base) {
  const std::string_view rest = path.substr(base.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  return {.id = std::string(rest.substr(0, slash)),
          .below = std::string(rest.substr(std::min(slash + 1, rest.size())))};
}

std::string warning_field(std::string_view sentence) {
  std::string text = "299 rondo \"";
  for (const char c : sentence) text += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
  return text + "\"";
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

void answer_off_loop(Service::State& state, net::Exchange exchange, MakeReply make) {
  struct Making {
    net::Exchange exchange;
    net::Reply reply;
  };
  const std::size_t bytes = exchange.request().body.size();
  auto making = std::make_shared<Making>(Making{.exchange = std::move(exchange), .reply = {}});
  state.off_loop(
      bytes,
      [making, &state, make = std::move(make)] {
        making->reply = make(state, std::as_const(making->exchange).request());
      },
      [making] { making->exchange.reply(std::move(making->reply)); });
}

namespace {

// Puts the items of earlier responses in front of those of the request; what `input` then is comes back.
apis::Outcome<json::Array> resolve_input(const Service::State& state, const std::string& tenant, json::Value& body) {
  json::Array items;
  const json::Value* previous = body.find("previous_response_id");
  if (previous != nullptr && previous->is_string()) {
    const auto stored = state.responses.find(tenant, std::string(previous->as_string()));
    if (stored == nullptr) return apis::previous_response_not_found(previous->as_string());
    items = stored->input;
    items.insert(items.end(), stored->output.begin(), stored->output.end());
  }
  json::Array input = apis::input_items(body);
  items.insert(items.end(), input.begin(), input.end());
  const auto lookup = [&](const json::Value&) -> std::optional<json::Array> { return std::nullopt; };
  if (auto fault = apis::resolve_items(items, lookup)) return *fault;
  body.as_object().set("input", items);
  return items;
}

}  // namespace

apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api, const net::ServerRequest& http) {
  auto body = apis::parse_body(http.body);
  if (!body.ok()) return body.fault();
  ReadRequest out;
  out.visit = visit_of(http);
  out.bytes = http.body.size();
  if (api == chat::Api::kResponses && body.value().is_object() && body.value().find("input") != nullptr) {
    auto input = resolve_input(state, out.visit->tenant, body.value());
    if (!input.ok()) return input.fault();
    out.input = std::move(input).value();
  }
  const auto header = [&](std::string_view name) { return std::string(http.headers.find(name).value_or("")); };
  auto request = apis::read(api, std::move(body).value(), header,
                            {.refuse_unknown_tools = state.parts.options.refuse_unknown_tools});
  if (!request.ok()) return request.fault();
  out.request = std::move(request).value();
  out.model = state.find_model(out.request.model);
  if (out.model == nullptr) return apis::model_not_found(out.request.model);
  if (!out.request.media.empty()) {
    const Upstream& upstream = out.model->upstream;
    if (upstream.client == nullptr)
      return apis::invalid(out.request.media, "`" + out.request.media + "` is no text: token ids carry text alone");
    auto again = json::parse(http.body);
    if (!again.ok()) return apis::fault_of(again.error());
    if (!upstream.model.empty()) again.value().as_object().set("model", upstream.model);
    out.passed_body = json::to_compact(again.value());
  }
  return out;
}

AskedCall call_of(const ServedModel& model, const apis::GenerateRequest& request) {
  AskedCall out;
  core::Call& call = out.call;
  call.has_messages = true;
  call.conversation.messages = request.messages;
  call.conversation.tools = request.tools;
  call.conversation.documents = request.documents;
  call.conversation.kwargs = model.kwargs;
  for (const json::Member& member : request.kwargs) call.conversation.kwargs.set(member.key, member.value);
  call.conversation.add_generation_prompt = !request.continue_final;
  if (request.continue_final) call.conversation.continue_final_message = "content";
  out.reasoning = apply_reasoning(*model.model, request, call);
  return out;
}

}  // namespace rondo::gateway
