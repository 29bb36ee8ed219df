// The items of Responses and Conversations, as a store keeps them: what was put in, what stands for it, and pages of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apis/errors.h"
#include "json/value.h"

namespace rondo::apis {

// The items of a request's `input`: a text is one message of the user.  What is no object is left as it is, for read() to refuse.
[[nodiscard]] json::Array input_items(const json::Value& body);

// What a store knows of an item that stands for others: the items, or nothing.
using ItemLookup = std::function<std::optional<json::Array>(const json::Value& item)>;
// Puts in what each `item_reference` and `compaction` stands for.  A reference that the store does not know is a fault, a
// compaction that it does not know is left as it is.
[[nodiscard]] std::optional<Fault> resolve_items(json::Array& items, const ItemLookup& lookup);

// A result whose call is not among the items before it is a fault; those in front of `first` are not looked at.
[[nodiscard]] std::optional<Fault> check_results(const json::Array& items, std::size_t first);

// Items as they are shown and kept: each has a type and an id, a message its content in parts and a status.  `mint` makes an id
// for an item of that type that has none.
void name_items(json::Array& items, const std::function<std::string(std::string_view type)>& mint);

struct PageQuery {
  std::size_t limit = 20;
  std::string after;  // the id of the last item that was seen; "" for the first page
  bool is_ascending = false;
  std::string before{};  // the id of the item in front of which the page ends; "" for none
};
// From the parameters of an address; `parameter` gives "" for one that is absent.
[[nodiscard]] Outcome<PageQuery> page_query(const std::function<std::string(std::string_view)>& parameter);
// A page of items, which are in the order in which they came.  An unknown `after` is a fault.
[[nodiscard]] Outcome<json::Value> page_of(const json::Array& items, const PageQuery& query);

// A conversation as it is made, changed or shown.
struct ConversationRequest {
  json::Array items;
  std::optional<json::Object> metadata;
};
[[nodiscard]] Outcome<ConversationRequest> read_conversation_request(const json::Value& body);
[[nodiscard]] json::Value conversation_body(std::string_view id, std::int64_t created_s, const json::Object& metadata);
// What stands for something that was deleted: `object` is "conversation.deleted" or "response".
[[nodiscard]] json::Value deleted_body(std::string_view id, std::string_view object);

}  // namespace rondo::apis
