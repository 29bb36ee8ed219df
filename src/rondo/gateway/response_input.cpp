#include "gateway/response_input.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apis/items.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "spans/keys.h"

namespace rondo::gateway {
namespace {

constexpr std::size_t kFirstOfInput = 0x8000;
constexpr std::size_t kMostNamed = 0x7FFF;

void append(json::Array& to, json::Array from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::optional<json::Array> with_id(const json::Array& items, const std::string& id) {
  const auto found = std::ranges::find_if(items, [&](const json::Value& item) { return item.find_string("id") == id; });
  return found == items.end() ? std::nullopt : std::optional(json::Array{*found});
}

// What comes before a request.
struct Before {
  json::Array items;
  std::vector<std::string> ids;  // empty if no store has it
  bool is_stored = true;
  bool is_conversation = false;
};

apis::Outcome<Before> before_response(const Archive& archive, const std::string& id, const ResponseRecord* nearby) {
  std::optional<ResponseRecord> record;
  if (nearby != nullptr && nearby->id() == id) {
    record = *nearby;
  } else {
    auto found = archive.response(id);
    if (!found.ok()) return found.fault();
    record = std::move(found).value();
  }
  if (!record) return apis::previous_response_not_found(id);
  if (!record->has_ended()) return apis::invalid("previous_response_id", "the response `" + id + "` has not ended yet");
  Before out;
  if (!record->before.empty()) {
    auto items = archive.items_before(*record);
    if (!items.ok()) return items.fault();
    out.items = std::move(items).value();
  }
  append(out.items, record->input);
  append(out.items, record->output());
  out.is_stored = record->is_stored;
  if (!out.is_stored) return out;
  if (record->conversation.empty()) {
    out.ids = record->before;
    out.ids.push_back(id);
  } else {
    out.is_stored = false;  // the conversation continues on its own, so its items are copied
  }
  return out;
}

apis::Outcome<Before> before_in_conversation(const Archive& archive, const std::string& id) {
  const auto known = archive.conversation(id);
  if (!known.ok()) return known.fault();
  if (!known.value()) {
    apis::Fault fault = apis::not_found("conversation", id);
    fault.param = "conversation";
    return fault;
  }
  auto items = archive.conversation_items(id);
  if (!items.ok()) return items.fault();
  Before out;
  out.is_conversation = true;
  for (const json::Value& item : items.value()) out.ids.push_back(chat::first_text(item, {"id"}));
  out.items = std::move(items).value();
  return out;
}

apis::Outcome<Before> read_before(const Archive& archive, const json::Value& body, const ResponseRecord* nearby) {
  const std::string previous = chat::first_text(body, {"previous_response_id"});
  if (!previous.empty()) return before_response(archive, previous, nearby);
  const json::Value* conversation = body.find("conversation");
  if (conversation == nullptr) return Before();
  const std::string id =
      conversation->is_string() ? std::string(conversation->as_string()) : chat::first_text(*conversation, {"id"});
  return id.empty() ? apis::Outcome<Before>(Before()) : before_in_conversation(archive, id);
}

// The named item, either one before it or one of the response whose key is in its id.  Notes in `unread` why the store
// does not say whether it has it.
std::optional<json::Array> look_up(const Archive& archive, const json::Array& before, const std::string& id,
                                   std::optional<apis::Fault>& unread) {
  if (auto known = with_id(before, id)) return known;
  const auto key = spans::key_in(id);
  if (!key) return std::nullopt;
  const auto record = archive.response(spans::mint_id("resp", *key, 0));
  if (!record.ok()) unread = record.fault();
  if (!record.ok() || !record.value()) return std::nullopt;
  if (auto known = with_id(record.value()->output(), id)) return known;
  return with_id(record.value()->input, id);
}

apis::Outcome<apis::PlacedItems> resolve_items(const Archive& archive, const json::Array& before, std::string_view list,
                                               json::Array items) {
  std::optional<apis::Fault> unread;
  const auto lookup = [&](const json::Value& item) {
    if (item.find_string("type") == "compaction") return apis::compacted(item);
    return look_up(archive, before, chat::first_text(item, {"id"}), unread);
  };
  auto resolved = apis::resolve_items(std::move(items), lookup, list);
  return !resolved.ok() && unread ? apis::Outcome<apis::PlacedItems>(*unread) : std::move(resolved);
}

}  // namespace

apis::Outcome<ResponseInput> resolve_input(const Archive& archive, json::Value& body, const ResponseRecord* nearby) {
  ResponseInput out;
  auto before = read_before(archive, body, nearby);
  if (!before.ok()) return before.fault();
  json::Array& items = before.value().items;
  const json::Value* input = body.find("input");
  if (input != nullptr && !input->is_array() && !input->is_string()) return out;  // read() refuses it
  auto resolved = resolve_items(archive, items, "input", apis::input_items(body));
  if (!resolved.ok()) return resolved.fault();
  if (before.value().is_conversation) {
    if (auto fault = apis::check_ids(items, resolved.value(), "input")) return *fault;
  }
  out.own = std::move(resolved.value().items);
  out.before = std::move(before.value().ids);
  out.places.assign(items.size(), -1);
  out.places.insert(out.places.end(), resolved.value().places.begin(), resolved.value().places.end());
  // A conversation takes any items, and may lose a call.
  const std::size_t first_own = before.value().is_conversation ? 0 : items.size();
  json::Array all = items;
  append(all, out.own);
  if (auto fault = apis::check_results(all, first_own)) return *fault;
  if (!before.value().is_stored) {
    append(items, std::move(out.own));
    out.own = std::move(items);
  }
  unname_input(all);
  unname_input(out.own);
  if (!all.empty()) body.as_object().set("input", std::move(all));
  return out;
}

std::optional<apis::Fault> resolve_list(const Archive& archive, const json::Array& earlier, std::string_view list,
                                        json::Array& items) {
  auto resolved = resolve_items(archive, earlier, list, std::move(items));
  if (!resolved.ok()) return resolved.fault();
  if (auto fault = apis::check_ids(earlier, resolved.value(), list)) return fault;
  items = std::move(resolved.value().items);
  unname_input(items);
  return std::nullopt;
}

void name_input(json::Array& items, const std::string& response_id) {
  const spans::TurnKey key = spans::key_in(response_id).value_or(spans::TurnKey());
  std::size_t next = 0;
  apis::name_items(items, [&](std::string_view type) {
    const std::string_view prefix = type == "message"         ? "msg"
                                    : type == "reasoning"     ? "rs"
                                    : type == "function_call" ? "fc"
                                                              : "item";
    return spans::mint_id(prefix, key, kFirstOfInput + std::min(next++, kMostNamed));
  });
}

void unname_input(json::Array& items) {
  for (json::Value& item : items) {
    if (!item.is_object()) continue;
    const auto index = spans::index_in(chat::first_text(item, {"id"}));
    if (index && *index >= kFirstOfInput) item.as_object().erase("id");
  }
}

}  // namespace rondo::gateway
