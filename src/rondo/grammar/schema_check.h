// Tells whether a JSON schema is one at all.
//
// What a grammar cannot express is not a fault of the schema, nor is an unknown keyword.
#pragma once

#include <optional>
#include <string>

#include "json/value.h"

namespace rondo::grammar {

struct SchemaFault {
  std::string where;     // JSON pointer; "" for the schema itself
  std::string sentence;  // "the type \"strnig\" is not known"
};

// Returns the first fault, in the order of the document; nullopt if the schema is valid.  Null says nothing, because some
// libraries write what is not set.
[[nodiscard]] std::optional<SchemaFault> schema_fault(const json::Value& schema);

}  // namespace rondo::grammar
