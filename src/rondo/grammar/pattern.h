// The regular expressions of JSON schemas (ECMA-262), as grammar nodes.
//
// Supported: alternatives, groups (named or not), quantifiers (greedy and lazy ones mean the same here), classes with
// ranges and \d \w \s and their opposites, `.`, escapes (\n \t \r \f \v \0 \xHH \uHHHH \u{H} \cX), and anchors at the
// ends.  A pattern without an anchor may match anywhere, so any text is allowed around it.  Not supported: look-around,
// back-references, \b, \p, and anchors in the middle.
#pragma once

#include <string_view>

#include "grammar/spelling.h"
#include "rondo/result.h"

namespace rondo::grammar {

// Returns the content of a string that matches `pattern`, as `speller` spells it, without quotes.  Fails with
// kUnsupported, and a message that names the construct, or with kInvalidArgument if the pattern is not valid.
[[nodiscard]] Result<NodeId> pattern_content(const Speller& speller, std::string_view pattern);

// Fails with kInvalidArgument if `pattern` is not a regular expression.  One that is not supported still counts as one.
[[nodiscard]] Status check_pattern(std::string_view pattern);

// Returns whether `text` matches `pattern`; false if the pattern is not supported.
[[nodiscard]] bool pattern_matches(std::string_view pattern, std::string_view text);

// Returns the pattern for a `format` of JSON Schema ("date-time", "uuid", ...); "" if it is unknown.
[[nodiscard]] std::string_view format_pattern(std::string_view format);

}  // namespace rondo::grammar
