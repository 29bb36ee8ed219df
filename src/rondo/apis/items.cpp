#include "apis/items.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "apis/request_parts.h"
#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

constexpr std::size_t kLargestPage = 100;

bool is_reference(const json::Value& item) {
  const std::string type = chat::first_text(item, {"type"});
  return type == "item_reference" || (type.empty() && item.find("role") == nullptr && item.find_string("id"));
}

std::string id_place(std::string_view list, std::int32_t index) {
  return std::string(list) + "[" + std::to_string(index) + "].id";
}

Fault unknown_item(const std::string& id, std::string place) {
  return {FaultKind::kNotFound,
          "item with id `" + id + "` not found: items of replies with `store: false` are not kept", std::move(place),
          "item_not_found"};
}

// The fault for a reference to no item.
Fault without_item(const std::string& id, const std::string& place) {
  return id.empty() ? invalid(place, "`" + place + "` is missing", "missing_required_parameter")
                    : unknown_item(id, place);
}

Fault duplicate_item(const std::string& id, const std::string& place) {
  return invalid(place, "`" + place + "`: duplicate item found with id " + id + ": the conversation has one with it");
}

}  // namespace

json::Array input_items(const json::Value& body) {
  const json::Value* input = body.find("input");
  if (input == nullptr || input->is_null()) return {};
  if (input->is_array()) return input->as_array();
  const json::Object text{{"type", "input_text"}, {"text", *input}};
  return {json::Object{{"type", "message"}, {"role", "user"}, {"content", json::Array{text}}}};
}

Outcome<PlacedItems> resolve_items(json::Array items, const ItemLookup& lookup, std::string_view list) {
  PlacedItems out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_compaction = items[i].find_string("type") == "compaction";
    const bool stands_for = is_reference(items[i]) || is_compaction;
    std::optional<json::Array> found = stands_for ? lookup(items[i]) : std::nullopt;
    // A compaction that this server did not make cannot be looked up, and stays as it is.
    if (stands_for && !found && !is_compaction)
      return without_item(chat::first_text(items[i], {"id"}), id_place(list, static_cast<std::int32_t>(i)));
    if (found) {
      std::ranges::move(*found, std::back_inserter(out.items));
    } else {
      out.items.push_back(std::move(items[i]));
    }
    out.places.resize(out.items.size(), static_cast<std::int32_t>(i));
  }
  return out;
}

std::optional<Fault> check_ids(const json::Array& earlier, const PlacedItems& added, std::string_view list) {
  std::unordered_set<std::string> known;
  for (const json::Value& item : earlier) known.insert(chat::first_text(item, {"id"}));
  known.erase("");
  for (std::size_t i = 0; i < added.items.size(); ++i) {
    std::string id = chat::first_text(added.items[i], {"id"});
    if (id.empty() || known.insert(id).second) continue;
    return duplicate_item(id, id_place(list, added.places[i]));
  }
  return std::nullopt;
}

std::optional<Fault> check_results(const json::Array& items, std::size_t first) {
  std::unordered_set<std::string> calls;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string type = chat::first_text(items[i], {"type"});
    const std::string id = chat::first_text(items[i], {"call_id"});
    if (type == "function_call" || type == "custom_tool_call") calls.insert(id);
    // Only new items are checked: the API accepted the earlier ones when they came.
    const bool is_result = type == "function_call_output" || type == "custom_tool_call_output";
    if (i < first || !is_result || id.empty() || calls.contains(id)) continue;
    const char* what = type == "function_call_output" ? "function call output" : "custom tool call output";
    return invalid("input", std::string("No tool call found for ") + what + " with call_id " + id + ".");
  }
  return std::nullopt;
}

namespace {

void set_missing(json::Object& object, std::string_view key, json::Value value) {
  const json::Value* known = object.find(key);
  if (known == nullptr || known->is_null()) object.set(key, std::move(value));
}

// Gives a part of a message or result the type and the members that the API's types have for it.
void show_part(json::Value& part, bool is_reply) {
  if (!part.is_object()) return;
  json::Object& members = part.as_object();
  const std::string type = chat::first_text(part, {"type"});
  if (type == "text" || type == "input_text" || type == "output_text") {
    members.set("type", is_reply ? "output_text" : "input_text");
    if (is_reply) set_missing(members, "annotations", json::Array());
  } else if (type == "input_image") {
    set_missing(members, "detail", "auto");
  }
}

void show_content(json::Object& item, std::string_view key, bool is_reply) {
  json::Value* content = item.find(key);
  if (content == nullptr || !content->is_array()) return;
  for (json::Value& part : content->as_array()) show_part(part, is_reply);
}

void show_message(json::Value& item) {
  json::Object& message = item.as_object();
  set_missing(message, "content", json::Array());
  json::Value& content = *message.find("content");
  if (content.is_string()) content = json::Array{json::Object{{"type", "text"}, {"text", content}}};
  show_content(message, "content", item.find_string("role") == "assistant");
}

// Completes an item as its type requires.
void show_item(json::Value& item, std::string_view type) {
  json::Object& members = item.as_object();
  if (type == "reasoning") return set_missing(members, "summary", json::Array());
  if (type == "message") {
    show_message(item);
  } else if (type == "function_call" || type == "custom_tool_call") {
    set_missing(members, type == "function_call" ? "arguments" : "input", "");
  } else if (type == "function_call_output" || type == "custom_tool_call_output") {
    set_missing(members, "output", "");
    show_content(members, "output", false);
  } else {
    return;
  }
  set_missing(members, "status", "completed");
}

}  // namespace

void name_items(json::Array& items, const std::function<std::string(std::string_view)>& mint) {
  for (json::Value& item : items) {
    if (!item.is_object()) continue;
    if (chat::first_text(item, {"type"}).empty() && item.find("role") != nullptr)
      item.as_object().set("type", "message");
    const std::string type = chat::first_text(item, {"type"});
    if (chat::first_text(item, {"id"}).empty()) item.as_object().set("id", mint(type));
    show_item(item, type);
  }
}

Outcome<PageQuery> page_query(const std::function<std::string(std::string_view)>& parameter) {
  PageQuery out;
  out.after = parameter("after");
  out.before = parameter("before");
  const std::string order = parameter("order");
  if (!order.empty() && order != "asc" && order != "desc")
    return invalid("order", "`order` must be `asc` or `desc`, found `" + order + "`");
  out.is_ascending = order == "asc";
  const std::string limit = parameter("limit");
  if (limit.empty()) return out;
  const char* end = limit.data() + limit.size();
  const auto [stopped, error] = std::from_chars(limit.data(), end, out.limit);
  if (error != std::errc() || stopped != end || out.limit == 0 || out.limit > kLargestPage)
    return invalid("limit",
                   "`limit` must be between 1 and " + std::to_string(kLargestPage) + ", found `" + limit + "`");
  return out;
}

Outcome<json::Value> page_of(const json::Array& items, const PageQuery& query) {
  json::Array ordered = items;
  if (!query.is_ascending) std::ranges::reverse(ordered);
  auto first = ordered.begin();
  if (!query.after.empty()) {
    first =
        std::ranges::find_if(ordered, [&](const json::Value& item) { return item.find_string("id") == query.after; });
    if (first == ordered.end()) return invalid("after", "item with id `" + query.after + "` not found");
    ++first;
  }
  auto end = ordered.end();
  if (!query.before.empty())
    end = std::find_if(first, end, [&](const json::Value& item) { return item.find_string("id") == query.before; });
  const auto left = static_cast<std::size_t>(end - first);
  const std::size_t size = std::min(left, query.limit);
  json::Array data(first, first + static_cast<std::ptrdiff_t>(size));
  const std::string first_id = data.empty() ? "" : chat::first_text(data.front(), {"id"});
  const std::string last_id = data.empty() ? "" : chat::first_text(data.back(), {"id"});
  return json::Value(json::Object{{"object", "list"},
                                  {"data", std::move(data)},
                                  {"first_id", first_id},
                                  {"last_id", last_id},
                                  {"has_more", left > size}});
}

Outcome<ConversationRequest> read_conversation_request(const json::Value& body) {
  std::optional<Fault> fault;
  Fields fields(&body, "", fault);
  ConversationRequest out;
  check_items(fields, "items");
  if (const json::Array* items = fields.array("items", kMostMessages)) out.items = *items;
  if (const json::Value* metadata = read_metadata(fields)) out.metadata = metadata->as_object();
  if (fault) return *std::move(fault);
  return out;
}

json::Value conversation_body(std::string_view id, std::int64_t created_s, const json::Object& metadata) {
  return json::Object{{"id", id}, {"object", "conversation"}, {"created_at", created_s}, {"metadata", metadata}};
}

json::Value deleted_body(std::string_view id, std::string_view object) {
  return json::Object{{"id", id}, {"object", object}, {"deleted", true}};
}

}  // namespace rondo::apis
