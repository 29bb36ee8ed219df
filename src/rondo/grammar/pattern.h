// Regular expressions of JSON schemas (ECMA-262) as grammar nodes.
//
// Taken: alternatives, groups (named or not), quantifiers (greedy or lazy is the same here), classes with ranges and
// \d \w \s and their opposites, `.`, escapes (\n \t \r \f \v \0 \xHH \uHHHH \u{H} \cX), anchors at the ends.  A pattern
// without anchors may match anywhere, so any text is allowed around it.  Not taken: look-around, back-references, \b,
// \p, anchors in the middle.
#pragma once

#include <string_view>

#include "grammar/spelling.h"
#include "rondo/result.h"

namespace rondo::grammar {

// What a string that matches `pattern` looks like, spelled by `speller`, without quotes.  Fails with kUnsupported, with
// the construct named, and with kInvalidArgument where the pattern is none.
[[nodiscard]] Result<NodeId> pattern_content(const Speller& speller, std::string_view pattern);

// Whether `text` matches; no if the pattern is not taken.
[[nodiscard]] bool pattern_matches(std::string_view pattern, std::string_view text);

// The pattern for a `format` of JSON Schema ("date-time", "uuid", ...); "" for one that is not known.
[[nodiscard]] std::string_view format_pattern(std::string_view format);

}  // namespace rondo::grammar
