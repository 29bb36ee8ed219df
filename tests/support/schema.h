// JSON values against JSON schemas, as far as the schemas of this project go.
#pragma once

#include <string>

#include "json/value.h"

namespace rondo::test {

// The parsed file; `path` is relative to the sources.  Fails the test when it cannot be read.
[[nodiscard]] json::Value read_schema(const std::string& path);

// Nothing, or the first place that the schema does not allow and why.  A keyword that is not known here is an objection
// too, so that no schema says more than is checked.
[[nodiscard]] std::string objection(const json::Value& value, const json::Value& schema);

}  // namespace rondo::test
