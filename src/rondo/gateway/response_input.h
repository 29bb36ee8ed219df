// Finds what a request of the Responses API continues: earlier responses, a conversation, and items that it names only
// by id.  Private to gateway/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/errors.h"
#include "gateway/archive.h"
#include "json/value.h"

namespace rondo::gateway {

struct ResponseInput {
  json::Array own;                   // the request's own items, and those before it that no store has
  std::vector<std::string> before;   // as in ResponseRecord
  std::vector<std::int32_t> places;  // as in apis::PlacedItems, for all items of the body's `input`
};

// Puts all items that the request refers to into the `input` of `body`, which is an object.  `nearby` is a response
// that need not be in a store, or null.
[[nodiscard]] apis::Outcome<ResponseInput> resolve_input(const Archive& archive, json::Value& body,
                                                         const ResponseRecord* nearby);

// Replaces references in a list of items by the items that they stand for.  The list will be kept in a conversation,
// which has the `earlier` items.  `list` is the request's name for it.
[[nodiscard]] std::optional<apis::Fault> resolve_list(const Archive& archive, const json::Array& earlier,
                                                      std::string_view list, json::Array& items);

// Gives ids to the items of the input.  They contain the response's key and are numbered after the items of its output.
void name_input(json::Array& items, const std::string& response_id);
// Removes these ids: a model would take them for ids of its own items.
void unname_input(json::Array& items);

}  // namespace rondo::gateway
