#include "gateway/conversations.h"

#include <utility>

#include "apis/items.h"
#include "apis/stored_responses.h"
#include "gateway/keeping.h"
#include "gateway/responses.h"
#include "spans/keys.h"

namespace rondo::gateway {
namespace {

using State = Service::State;

Archive archive_of(const State& state, const net::ServerRequest& http) {
  return {*state.parts.spans, visit_of(http)->tenant};
}

std::string new_id(State& state, std::string_view prefix) {
  spans::TurnKey key;
  key.bytes = state.parts.random();
  return spans::mint_id(prefix, key, 0);
}

json::Value body_of(const Conversation& conversation) {
  return apis::conversation_body(conversation.id, conversation.created_s, conversation.metadata);
}

apis::Outcome<apis::ConversationRequest> read_body(const net::ServerRequest& http) {
  const std::string& text = http.body;
  auto body = apis::parse_body(text.empty() ? "{}" : text);
  if (!body.ok()) return body.fault();
  if (!body.value().is_object()) return apis::invalid("", "the body must be an object", "invalid_type");
  return apis::read_conversation_request(body.value());
}

// Turns items into the form in which they are kept: they get ids, and references are replaced by what they name.
std::optional<apis::Fault> make_items(State& state, const Archive& archive, const json::Array& earlier,
                                      json::Array& items) {
  if (auto fault = resolve_list(archive, earlier, "items", items)) return fault;
  name_input(items, new_id(state, "batch"));
  return std::nullopt;
}

Answer show_items(State& state, const Archive& archive, const std::string& id, const net::ServerRequest& http) {
  auto earlier = archive.conversation_items(id);
  if (!earlier.ok()) return fault_reply(kResponsesApi, earlier.fault());
  if (method_of(http) == "GET") return page_reply(std::move(earlier.value()), http);
  auto request = read_body(http);
  if (!request.ok()) return fault_reply(kResponsesApi, request.fault());
  json::Array& items = request.value().items;
  if (items.empty())
    return fault_reply(kResponsesApi, apis::invalid("items", "`items` is missing", "missing_required_parameter"));
  if (auto fault = make_items(state, archive, earlier.value(), items)) return fault_reply(kResponsesApi, *fault);
  std::vector<spans::StoredObject> objects;
  for (const json::Value& item : items) objects.push_back(archive.item_object(id, item, state.parts.now_ms()));
  apis::PageQuery page;
  page.limit = items.size();
  page.is_ascending = true;
  const auto shown = apis::page_of(items, page);
  return put_and_answer(state, archive, std::move(objects), shown.value());
}

net::Reply show_item(const Archive& archive, const Conversation& conversation, const std::string& item,
                     const net::ServerRequest& http) {
  const bool removes = method_of(http) == "DELETE";
  const auto found = archive.conversation_item(conversation.id, item);
  if (!found.ok()) return fault_reply(kResponsesApi, found.fault());
  if (!found.value()) return fault_reply(kResponsesApi, apis::not_found("item", item));
  if (!removes) return json_reply(200, *found.value());
  if (const auto erased = archive.erase_item(conversation.id, item); !erased.ok())
    return fault_reply(kResponsesApi, erased.fault());
  return json_reply(200, body_of(conversation));
}

Answer change(State& state, const Archive& archive, Conversation conversation, const net::ServerRequest& http) {
  auto request = read_body(http);
  if (!request.ok()) return fault_reply(kResponsesApi, request.fault());
  if (request.value().metadata) conversation.metadata = *request.value().metadata;
  std::vector<spans::StoredObject> objects;
  objects.push_back(archive.conversation_object(conversation, state.parts.now_ms()));
  return put_and_answer(state, archive, std::move(objects), body_of(conversation));
}

}  // namespace

Answer create_conversation(State& state, const net::ServerRequest& http) {
  const Archive archive = archive_of(state, http);
  auto request = read_body(http);
  if (!request.ok()) return fault_reply(kResponsesApi, request.fault());
  const std::int64_t now_ms = state.parts.now_ms();
  Conversation conversation{new_id(state, "conv"), now_ms / 1000, {}};
  if (request.value().metadata) conversation.metadata = *request.value().metadata;
  json::Array& items = request.value().items;
  if (auto fault = make_items(state, archive, {}, items)) return fault_reply(kResponsesApi, *fault);
  std::vector<spans::StoredObject> objects;
  objects.push_back(archive.conversation_object(conversation, now_ms));
  for (const json::Value& item : items) objects.push_back(archive.item_object(conversation.id, item, now_ms));
  return put_and_answer(state, archive, std::move(objects), body_of(conversation));
}

Answer answer_conversation(State& state, const net::ServerRequest& http) {
  const auto [id, below] = parts_behind(http.path, "/v1/conversations/");
  const Archive archive = archive_of(state, http);
  auto found = archive.conversation(id);
  if (!found.ok()) return fault_reply(kResponsesApi, found.fault());
  if (!found.value()) return fault_reply(kResponsesApi, apis::not_found("conversation", id));
  Conversation& conversation = *found.value();
  constexpr std::string_view kItem = "items/";
  if (below == "items") return show_items(state, archive, id, http);
  if (below.starts_with(kItem)) return show_item(archive, conversation, below.substr(kItem.size()), http);
  if (method_of(http) == "GET") return json_reply(200, body_of(conversation));
  if (method_of(http) == "POST") return change(state, archive, std::move(conversation), http);
  const auto erased = archive.erase_conversation(id);
  if (!erased.ok()) return fault_reply(kResponsesApi, erased.fault());
  return json_reply(200, apis::deleted_body(id, "conversation.deleted"));
}

}  // namespace rondo::gateway
