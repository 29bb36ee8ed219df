// What is kept besides turns: responses with their items, conversations, and message threads.  Private to gateway/.
//
// Everything is in the store of turns, under digests of the tenant's own scope.  No tenant can find anything of
// another, and every gateway on the store can find it.  Any thread may call any member.
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
  json::Array input;                // the response's own input items
  std::vector<std::string> before;  // what comes before them: ids of responses, and of a conversation's items
  std::string conversation;
  // For a response in the background:
  std::size_t chunks = 0;    // how many pieces of its stream are stored
  std::int64_t beat_ms = 0;  // when its gateway was last known to be alive
  bool is_stored = true;     // false: it exists only on its connection

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

// A turn of a message thread: the messages that its request added, and the reply.
struct ThreadTurn {
  std::string id;                   // of the reply
  json::Array messages;             // the reply is the last one
  std::vector<std::string> before;  // the ids of the turns that it continues, the oldest first
  json::Object fields;              // of the first turn: what the whole thread keeps
};

class Archive {
 public:
  template <typename T>
  using Maybe = apis::Outcome<std::optional<T>>;  // a fault is a fault of the store

  Archive(spans::Spans& spans, std::string_view tenant) : store_(spans.store()), scope_(spans.scope(tenant, "")) {}

  [[nodiscard]] Maybe<ResponseRecord> response(const std::string& id) const;
  // Returns the items before a response's own input.  Returns a fault if one of the responses that it continues no
  // longer exists.
  [[nodiscard]] apis::Outcome<json::Array> items_before(const ResponseRecord& record) const;
  [[nodiscard]] Maybe<std::string> chunk(const std::string& id, std::size_t number) const;
  // Returns what a client asked a background response to do: "cancel" or "delete".
  [[nodiscard]] Maybe<std::string> wish(const std::string& id) const;

  // Returns the turns of a thread up to the one with this id; none if one of them no longer exists.
  [[nodiscard]] apis::Outcome<std::vector<ThreadTurn>> thread(const std::string& id) const;

  [[nodiscard]] Maybe<Conversation> conversation(const std::string& id) const;
  [[nodiscard]] apis::Outcome<json::Array> conversation_items(const std::string& id) const;
  [[nodiscard]] Maybe<json::Value> conversation_item(const std::string& conversation, const std::string& id) const;

  // Makes objects for put().
  [[nodiscard]] spans::StoredObject response_object(const ResponseRecord& record, std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject chunk_object(const ResponseRecord& record, std::size_t number, std::string events,
                                                 std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject wish_object(const ResponseRecord& record, std::string_view wish,
                                                std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject thread_object(const ThreadTurn& turn, std::int64_t now_ms) const;
  [[nodiscard]] spans::StoredObject conversation_object(const Conversation& conversation, std::int64_t now_ms) const;
  // REQUIRES: the item has an id.
  [[nodiscard]] spans::StoredObject item_object(const std::string& conversation, const json::Value& item,
                                                std::int64_t now_ms) const;
  void put(std::vector<spans::StoredObject> objects, spans::Store::Kept kept) const {
    store_.put_objects(std::move(objects), std::move(kept));
  }

  // Returns false if it did not exist.
  [[nodiscard]] apis::Outcome<bool> erase_response(const ResponseRecord& record) const;
  [[nodiscard]] apis::Outcome<bool> erase_conversation(const std::string& id) const;
  [[nodiscard]] apis::Outcome<bool> erase_item(const std::string& conversation, const std::string& id) const;

 private:
  [[nodiscard]] spans::Digest digest(const std::string& kind, const std::string& id) const;
  // Returns the group of a response.  Responses that continue one another are in one group, so that they are forgotten
  // together.
  [[nodiscard]] spans::Digest group_of(const ResponseRecord& record) const;
  [[nodiscard]] spans::Digest chunk_digest(const std::string& id, std::size_t number) const;
  [[nodiscard]] Maybe<std::string> bytes_of(const spans::Digest& one) const;

  spans::Store& store_;
  spans::Scope scope_;
};

}  // namespace rondo::gateway
