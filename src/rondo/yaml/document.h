// Reads a document that people write in JSON or YAML.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::yaml {

// Returns the value in `text`, with source ranges as json::parse() or read() gives them.  The end of `name` tells the
// language (".json", ".yaml", ".yml").  With any other name, a text is JSON if it begins with `{` or `[`.  Fails with
// kInvalidArgument or kLimit, with `name` as the source and the place of the error.
[[nodiscard]] Result<json::Value> read_document(std::string_view text, const std::string& name);

}  // namespace rondo::yaml
