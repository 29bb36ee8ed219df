// What a request of the Responses API goes on from: earlier responses, a conversation, items that it only names.
// Private to gateway/.
#pragma once

#include <string>
#include <vector>

#include "apis/errors.h"
#include "gateway/archive.h"
#include "json/value.h"

namespace rondo::gateway {

struct ResponseInput {
  json::Array own;                  // the request's items, and those before it that no store has
  std::vector<std::string> before;  // as ResponseRecord's
};

// Puts everything that the request stands for into the `input` of its body, which is an object.  `nearby`: a response that no
// store has to have, or null.
[[nodiscard]] apis::Outcome<ResponseInput> resolve_input(const Archive& archive, json::Value& body,
                                                         const ResponseRecord* nearby);

// Items of the input get ids that hold the response's key, behind those of its output.
void name_input(json::Array& items, const std::string& response_id);
// Takes such ids off again: to a model they would look like those of its own items.
void unname_input(json::Array& items);

}  // namespace rondo::gateway
