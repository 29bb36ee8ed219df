// What the Responses API keeps beyond turns: responses with their items, and conversations.  Private to gateway/.
//
// All of it lies in the store of turns, under digests of the tenant's own scope: nothing of one tenant is found by another, and
// any gateway on the store finds it.  Any thread may call any member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/errors.h"
#include "json/value.h"
#include "spans/spans.h"

namespace rondo::gateway {

struct ResponseRecord {
  json::Value body;
  json::Array input;                // its own items
  std::vector<std::string> before;  // what stands in front of them: ids of responses, and of a conversation's items
  std::string conversation;
  // Of a response in the background:
  std::size_t chunks = 0;    // how many pieces of its stream are there
  std::int64_t beat_ms = 0;  // when its gateway was last known to be alive
  bool is_stored = true;     // false: it lives on a connection

  [[nodiscard]] std::string id() const;
  [[nodiscard]] std::string status() const;
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] json::Array output() const;
};

struct Conversation {
  std::string id;
  std::int64_t created_s = 0;
  json::Object metadata;
};

class Archive {
 public:
  template <typename T>
  using Maybe = apis::Outcome<std::optional<T>>;  // a fault is the store's

  Archive(spans::Spans& spans, std::string_view tenant) : store_(spans.store()), scope_(spans.scope(tenant, "")) {}

  [[nodiscard]] Maybe<ResponseRecord> response(const std::string& id) const;
  // The items in front of a response's own input.  A fault where one of the responses that it went on from is gone.
  [[nodiscard]] apis::Outcome<json::Array> items_before(const ResponseRecord& record) const;
  [[nodiscard]] Maybe<std::string> chunk(const std::string& id, std::size_t number) const;
  // What a response in the background is asked to do: "cancel", "delete".
  [[nodiscard]] Maybe<std::string> wish(const std::string& id) const;

  [[nodiscard]] Maybe<Conversation> conversation(const std::string& id) const;
  [[nodiscard]] apis::Outcome<json::Array> conversation_items(const std::string& id) const;
  [[nodiscard]] Maybe<json::Value> conversation_item(const std::string& conversation, const std::string& id) const;

  // Objects for put().
  [[nodiscard]] spans::StoredObject response_object(const ResponseRecord& record, std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject chunk_object(const ResponseRecord& record, std::size_t number, std::string events,
                                                 std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject wish_object(const ResponseRecord& record, std::string_view wish,
                                                std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject conversation_object(const Conversation& conversation, std::int64_t now_ms) const;
  // REQUIRES: the item has an id.
  [[nodiscard]] spans::StoredObject item_object(const std::string& conversation, const json::Value& item,
                                                std::int64_t now_ms) const;
  void put(std::vector<spans::StoredObject> objects, spans::Store::Kept kept) const {
    store_.put_objects(std::move(objects), std::move(kept));
  }

  // False: it was not there.
  [[nodiscard]] apis::Outcome<bool> erase_response(const ResponseRecord& record) const;
  [[nodiscard]] apis::Outcome<bool> erase_conversation(const std::string& id) const;
  [[nodiscard]] apis::Outcome<bool> erase_item(const std::string& conversation, const std::string& id) const;

 private:
  [[nodiscard]] spans::Digest digest(const std::string& kind, const std::string& id) const;
  // Responses that go on from another are forgotten together.
  [[nodiscard]] spans::Digest group_of(const ResponseRecord& record) const;
  [[nodiscard]] spans::Digest chunk_digest(const std::string& id, std::size_t number) const;
  [[nodiscard]] Maybe<std::string> bytes_of(const spans::Digest& one) const;

  spans::Store& store_;
  spans::Scope scope_;
};

}  // namespace rondo::gateway
