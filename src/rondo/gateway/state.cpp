#include "gateway/state.h"

#include <algorithm>
#include <utility>

#include "apis/items.h"
#include "json/print.h"

namespace rondo::gateway {

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

void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers) {
  headers.set("content-type", "application/json");
  exchange.reply(status, headers, json::to_compact(body));
}

void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault) {
  net::Headers headers;
  if (fault.retry_after_s) headers.add("retry-after", std::to_string(*fault.retry_after_s));
  answer_json(exchange, fault.status(), apis::error_body(api, fault), std::move(headers));
}

std::string tenant_of(const net::ServerRequest&) { return ""; }

apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api, const net::ServerRequest& http) {
  auto body = apis::parse_body(http.body);
  if (!body.ok()) return body.fault();
  const auto header = [&](std::string_view name) { return std::string(http.headers.find(name).value_or("")); };
  return read_parts(state, api, {.body = std::move(body).value(), .headers = header, .tenant = tenant_of(http)});
}

apis::Outcome<ReadRequest> read_parts(Service::State& state, chat::Api api, RequestParts parts) {
  ReadRequest out;
  out.tenant = std::move(parts.tenant);
  if (api == chat::Api::kResponses && parts.body.is_object()) {
    auto input = resolve_input(Archive(*state.parts.spans, out.tenant), parts.body, parts.nearby);
    if (!input.ok()) return input.fault();
    out.input = std::move(input).value();
  }
  auto request = apis::read(api, std::move(parts.body), parts.headers,
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

core::Call call_of(const ServedModel& model, const apis::GenerateRequest& request) {
  core::Call call;
  call.has_messages = true;
  call.conversation.messages = request.messages;
  call.conversation.tools = request.tools;
  call.conversation.documents = request.documents;
  call.conversation.kwargs = model.kwargs;
  for (const json::Member& member : request.kwargs) call.conversation.kwargs.set(member.key, member.value);
  call.conversation.add_generation_prompt = !request.continue_final;
  if (request.continue_final) call.conversation.continue_final_message = "content";
  return call;
}

}  // namespace rondo::gateway
