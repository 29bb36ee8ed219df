// A document for people in either language.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::yaml {

// The value in `text`, with source ranges as json::parse() or read() gives them.  The end of `name` says which it is (".json",
// ".yaml", ".yml"); of another name a text is JSON if it begins with `{` or `[`.  Fails with kInvalidArgument or
// kLimit, with `name` as the source, and the place.
[[nodiscard]] Result<json::Value> read_document(std::string_view text, const std::string& name);

}  // namespace rondo::yaml
