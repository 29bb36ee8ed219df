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

// Parses the one value in `text`; white space around it is allowed.  Fails with kJson and line, column, offset and the
// line as a code frame, or with kLimit beyond `max_depth`.  Refuses invalid UTF-8.
[[nodiscard]] Result<Value> parse(std::string_view text, const ParseOptions& options = {});

// The value that starts at `text[0]` (after white space), and the offset after it.  The rest of the text is not read.
struct Prefix {
  Value value;
  std::size_t end = 0;
};
[[nodiscard]] Result<Prefix> parse_prefix(std::string_view text, const ParseOptions& options = {});

}  // namespace rondo::json
