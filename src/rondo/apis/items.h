// The items of Responses and Conversations, as a store keeps them: references, what they stand for, and pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/errors.h"
#include "json/value.h"

namespace rondo::apis {

// Returns the items of a request's `input`; a text becomes one user message.  Elements that are not objects stay, so
// that read() refuses them.
[[nodiscard]] json::Array input_items(const json::Value& body);

// Items, and for each the index of the request's own item that it is or stands for; -1 if it came before the request.
struct PlacedItems {
  json::Array items;
  std::vector<std::int32_t> places;
};

// Returns the items that an item stands for, if the store knows it.
using ItemLookup = std::function<std::optional<json::Array>(const json::Value& item)>;
// Replaces each `item_reference` and `compaction` by the items that it stands for.  A reference that the store does not
// know is a fault; a compaction that it does not know is left unchanged.  `list` is the request's name for the items.
[[nodiscard]] Outcome<PlacedItems> resolve_items(json::Array items, const ItemLookup& lookup, std::string_view list);

// Returns a fault for the first of the new items with the id of another one: a conversation keeps its items by id.
[[nodiscard]] std::optional<Fault> check_ids(const json::Array& earlier, const PlacedItems& added,
                                             std::string_view list);

// Returns a fault for a result whose call is not among the items before it.  Does not check items before `first`.
[[nodiscard]] std::optional<Fault> check_results(const json::Array& items, std::size_t first);

// Completes items for showing and storing, with what the API's types require: each gets a type and an id, messages and
// calls get a status, the content of a message its parts.  `mint` makes an id for an item of that type without one.
void name_items(json::Array& items, const std::function<std::string(std::string_view type)>& mint);

struct PageQuery {
  std::size_t limit = 20;
  std::string after;  // id of the last item that the client has seen; "" for the first page
  bool is_ascending = false;
  std::string before{};  // id of the item before which the page ends; "" for none
};
// Reads a query from the parameters of an address.  `parameter` returns "" for an absent one.
[[nodiscard]] Outcome<PageQuery> page_query(const std::function<std::string(std::string_view)>& parameter);
// Returns a page of items, which are in the order in which they came.  An unknown `after` is a fault.
[[nodiscard]] Outcome<json::Value> page_of(const json::Array& items, const PageQuery& query);

// A conversation that is created, changed or shown.
struct ConversationRequest {
  json::Array items;
  std::optional<json::Object> metadata;
};
[[nodiscard]] Outcome<ConversationRequest> read_conversation_request(const json::Value& body);
[[nodiscard]] json::Value conversation_body(std::string_view id, std::int64_t created_s, const json::Object& metadata);
// Returns the body for a deleted object.  `object` is "conversation.deleted" or "response".
[[nodiscard]] json::Value deleted_body(std::string_view id, std::string_view object);

}  // namespace rondo::apis
