// Parsing JSON (RFC 8259, with Python's additions NaN, Infinity, -Infinity and lone surrogates in \u escapes).
#pragma once

#include <string_view>

#include "base/limits.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::json {

struct ParseOptions {
  int max_depth = limits::kJsonDepth;
};

// The one value in `text` (white space around it is allowed).  Fails with kJson and line, column, offset and the line
// as code frame; with kLimit beyond `max_depth`.  Invalid UTF-8 is refused.
[[nodiscard]] Result<Value> parse(std::string_view text, const ParseOptions& options = {});

// The value that starts at `text[0]` (after white space) and the offset behind it; what follows is not looked at.
struct Prefix {
  Value value;
  std::size_t end = 0;
};
[[nodiscard]] Result<Prefix> parse_prefix(std::string_view text, const ParseOptions& options = {});

}  // namespace rondo::json
