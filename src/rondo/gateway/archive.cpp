#include "gateway/archive.h"

#include <utility>

#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/engine_terms.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

std::int64_t number_in(const json::Value& value, std::string_view key) {
  const json::Value* number = value.find(key);
  return number == nullptr ? 0 : number->to_int64().value_or(0);
}

json::Array array_in(const json::Value& value, std::string_view key) {
  const json::Value* array = value.find(key);
  return array != nullptr && array->is_array() ? array->as_array() : json::Array();
}

std::vector<std::string> texts_in(const json::Value& value, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& text : array_in(value, key)) {
    if (text.is_string()) out.emplace_back(text.as_string());
  }
  return out;
}

json::Array as_array(const std::vector<std::string>& texts) {
  json::Array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

// nullopt if the bytes are not a record.
std::optional<ResponseRecord> record_in(const std::string& bytes) {
  auto parsed = json::parse(bytes);
  if (!parsed.ok() || parsed.value().find("body") == nullptr) return std::nullopt;
  const json::Value& value = parsed.value();
  ResponseRecord out;
  out.body = *value.find("body");
  out.input = array_in(value, "input");
  out.before = texts_in(value, "before");
  out.conversation = chat::first_text(value, {"conversation"});
  out.chunks = static_cast<std::size_t>(number_in(value, "chunks"));
  out.beat_ms = number_in(value, "beat");
  return out;
}

// nullopt if the bytes are not a turn.
std::optional<ThreadTurn> thread_turn_in(const std::string& id, const std::string& bytes) {
  const auto parsed = json::parse(bytes);
  if (!parsed.ok() || parsed.value().find("messages") == nullptr) return std::nullopt;
  const json::Value& value = parsed.value();
  ThreadTurn out{.id = id, .messages = array_in(value, "messages"), .before = texts_in(value, "before"), .fields = {}};
  const json::Value* fields = value.find("fields");
  if (fields != nullptr && fields->is_object()) out.fields = fields->as_object();
  return out;
}

constexpr std::string_view kResponse = "resp_";

}  // namespace

std::string ResponseRecord::id() const { return chat::first_text(body, {"id"}); }
std::string ResponseRecord::status() const { return chat::first_text(body, {"status"}); }
bool ResponseRecord::has_ended() const { return apis::has_ended(status()); }
json::Array ResponseRecord::output() const { return array_in(body, "output"); }

spans::Digest Archive::digest(const std::string& kind, const std::string& id) const {
  return scope_.hash('o', kind + ":" + id);
}

spans::Digest Archive::chunk_digest(const std::string& id, std::size_t number) const {
  return digest("events", id + "/" + std::to_string(number));
}

spans::Digest Archive::group_of(const ResponseRecord& record) const {
  const bool goes_on = !record.before.empty() && record.before.front().starts_with(kResponse);
  return digest("response", goes_on ? record.before.front() : record.id());
}

Archive::Maybe<std::string> Archive::bytes_of(const spans::Digest& one) const {
  auto found = store_.objects(scope_.id(), {&one, 1});
  if (!found.ok()) return fault_of_store(found.error());
  return std::move(found).value().front();
}

Archive::Maybe<ResponseRecord> Archive::response(const std::string& id) const {
  auto bytes = bytes_of(digest("response", id));
  if (!bytes.ok()) return bytes.fault();
  return bytes.value() ? record_in(*bytes.value()) : std::nullopt;
}

apis::Outcome<json::Array> Archive::items_before(const ResponseRecord& record) const {
  std::vector<spans::Digest> digests;
  for (const std::string& id : record.before) {
    const bool is_response = id.starts_with(kResponse);
    digests.push_back(is_response ? digest("response", id) : digest("item", record.conversation + "/" + id));
  }
  auto found = store_.objects(scope_.id(), digests);
  if (!found.ok()) return fault_of_store(found.error());
  json::Array out;
  const auto add = [&out](json::Array items) {
    for (json::Value& item : items) out.push_back(std::move(item));
  };
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const auto& bytes = found.value()[i];
    if (!record.before[i].starts_with(kResponse)) {
      // An item that was removed from the conversation no longer exists.
      if (auto item = bytes ? json::parse(*bytes) : Result<json::Value>(Error()); item.ok())
        out.push_back(std::move(item).value());
      continue;
    }
    auto earlier = bytes ? record_in(*bytes) : std::nullopt;
    if (!earlier) return apis::previous_response_not_found(record.before[i]);
    add(std::move(earlier->input));
    add(earlier->output());
  }
  return out;
}

Archive::Maybe<std::string> Archive::chunk(const std::string& id, std::size_t number) const {
  return bytes_of(chunk_digest(id, number));
}

Archive::Maybe<std::string> Archive::wish(const std::string& id) const { return bytes_of(digest("wish", id)); }

apis::Outcome<std::vector<ThreadTurn>> Archive::thread(const std::string& id) const {
  const auto bytes = bytes_of(digest("thread", id));
  if (!bytes.ok()) return bytes.fault();
  auto last = bytes.value() ? thread_turn_in(id, *bytes.value()) : std::nullopt;
  if (!last) return std::vector<ThreadTurn>();
  std::vector<spans::Digest> digests;
  for (const std::string& earlier : last->before) digests.push_back(digest("thread", earlier));
  const auto found = store_.objects(scope_.id(), digests);
  if (!found.ok()) return fault_of_store(found.error());
  std::vector<ThreadTurn> out;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const auto& one = found.value()[i];
    auto turn = one ? thread_turn_in(last->before[i], *one) : std::nullopt;
    if (!turn) return std::vector<ThreadTurn>();
    out.push_back(*std::move(turn));
  }
  out.push_back(*std::move(last));
  return out;
}

Archive::Maybe<Conversation> Archive::conversation(const std::string& id) const {
  const auto bytes = bytes_of(digest("conversation", id));
  if (!bytes.ok()) return bytes.fault();
  if (!bytes.value()) return std::optional<Conversation>();
  const auto parsed = json::parse(*bytes.value());
  if (!parsed.ok()) return std::optional<Conversation>();
  Conversation out{id, number_in(parsed.value(), "created_at"), {}};
  const json::Value* metadata = parsed.value().find("metadata");
  if (metadata != nullptr && metadata->is_object()) out.metadata = metadata->as_object();
  return std::optional(std::move(out));
}

apis::Outcome<json::Array> Archive::conversation_items(const std::string& id) const {
  auto found = store_.group(scope_.id(), digest("conversation", id));
  if (!found.ok()) return fault_of_store(found.error());
  json::Array out;
  for (const std::string& bytes : found.value()) {
    // The conversation itself has no type.
    auto item = json::parse(bytes);
    if (item.ok() && item.value().find("type") != nullptr) out.push_back(std::move(item).value());
  }
  return out;
}

Archive::Maybe<json::Value> Archive::conversation_item(const std::string& conversation, const std::string& id) const {
  const auto bytes = bytes_of(digest("item", conversation + "/" + id));
  if (!bytes.ok()) return bytes.fault();
  if (!bytes.value()) return std::optional<json::Value>();
  auto parsed = json::parse(*bytes.value());
  return parsed.ok() ? std::optional(std::move(parsed).value()) : std::nullopt;
}

spans::StoredObject Archive::response_object(const ResponseRecord& record, std::int64_t now_ms) const {
  json::Object value{{"body", record.body}, {"input", record.input}, {"before", as_array(record.before)}};
  if (!record.conversation.empty()) value.set("conversation", record.conversation);
  if (record.chunks > 0) value.set("chunks", record.chunks);
  if (record.beat_ms > 0) value.set("beat", record.beat_ms);
  return {scope_.id(), digest("response", record.id()), group_of(record),
          json::to_compact(json::Value(std::move(value))), now_ms};
}

spans::StoredObject Archive::chunk_object(const ResponseRecord& record, std::size_t number, std::string events,
                                          std::int64_t now_ms) const {
  return {scope_.id(), chunk_digest(record.id(), number), group_of(record), std::move(events), now_ms};
}

spans::StoredObject Archive::wish_object(const ResponseRecord& record, std::string_view wish,
                                         std::int64_t now_ms) const {
  return {scope_.id(), digest("wish", record.id()), group_of(record), std::string(wish), now_ms};
}

spans::StoredObject Archive::thread_object(const ThreadTurn& turn, std::int64_t now_ms) const {
  json::Object value{{"messages", turn.messages}, {"before", as_array(turn.before)}};
  if (!turn.fields.empty()) value.set("fields", turn.fields);
  // The turns of a thread are forgotten together.
  const std::string& first = turn.before.empty() ? turn.id : turn.before.front();
  return {scope_.id(), digest("thread", turn.id), digest("thread", first),
          json::to_compact(json::Value(std::move(value))), now_ms};
}

spans::StoredObject Archive::conversation_object(const Conversation& conversation, std::int64_t now_ms) const {
  const json::Object value{{"created_at", conversation.created_s}, {"metadata", conversation.metadata}};
  const spans::Digest own = digest("conversation", conversation.id);
  return {scope_.id(), own, own, json::to_compact(json::Value(value)), now_ms};
}

spans::StoredObject Archive::item_object(const std::string& conversation, const json::Value& item,
                                         std::int64_t now_ms) const {
  const std::string id = chat::first_text(item, {"id"});
  return {scope_.id(), digest("item", conversation + "/" + id), digest("conversation", conversation),
          json::to_compact(item), now_ms};
}

apis::Outcome<bool> Archive::erase_response(const ResponseRecord& record) const {
  std::vector<spans::Digest> all = {digest("response", record.id()), digest("wish", record.id())};
  for (std::size_t i = 0; i < record.chunks; ++i) all.push_back(chunk_digest(record.id(), i));
  const auto erased = store_.erase_objects(scope_.id(), all);
  if (!erased.ok()) return fault_of_store(erased.error());
  return erased.value() > 0;
}

apis::Outcome<bool> Archive::erase_conversation(const std::string& id) const {
  const auto erased = store_.erase(scope_.id(), digest("conversation", id));
  if (!erased.ok()) return fault_of_store(erased.error());
  return erased.value();
}

apis::Outcome<bool> Archive::erase_item(const std::string& conversation, const std::string& id) const {
  const spans::Digest one = digest("item", conversation + "/" + id);
  const auto erased = store_.erase_objects(scope_.id(), {&one, 1});
  if (!erased.ok()) return fault_of_store(erased.error());
  return erased.value() > 0;
}

}  // namespace rondo::gateway
