#include "gateway/state.h"

#include <algorithm>
#include <utility>

#include "apis/items.h"
#include "json/print.h"

namespace rondo::gateway {

void ResponseLog::keep(const std::string& id, StoredResponse response) {
  erase(id);
  entries_.push_front({.id = id, .response = std::move(response)});
  by_id_[id] = entries_.begin();
  if (entries_.size() > kMost) erase(entries_.back().id);
}

const StoredResponse* ResponseLog::find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second->response;
}

bool ResponseLog::erase(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  const auto entry = found->second;
  by_id_.erase(found);
  entries_.erase(entry);
  return true;
}

const ServedModel* Service::State::find_model(std::string_view name) const {
  const std::vector<ServedModel>& models = parts.models;
  const auto found =
      std::find_if(models.begin(), models.end(), [&](const ServedModel& one) { return one.name == name; });
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

void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers) {
  headers.set("content-type", "application/json");
  exchange.reply(status, headers, json::to_compact(body));
}

void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault) {
  net::Headers headers;
  if (fault.retry_after_s) headers.add("retry-after", std::to_string(*fault.retry_after_s));
  answer_json(exchange, fault.status(), apis::error_body(api, fault), std::move(headers));
}

namespace {

// Puts the items of earlier responses in front of those of the request; what `input` then is comes back.
apis::Outcome<json::Array> resolve_input(const Service::State& state, json::Value& body) {
  json::Array items;
  const json::Value* previous = body.find("previous_response_id");
  if (previous != nullptr && previous->is_string()) {
    const StoredResponse* stored = state.responses.find(std::string(previous->as_string()));
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
  if (api == chat::Api::kResponses && body.value().is_object() && body.value().find("input") != nullptr) {
    auto input = resolve_input(state, body.value());
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
    return apis::invalid(out.request.media, "`" + out.request.media + "` is no text: token ids carry text alone");
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
