// Converts a Lark grammar into a regular expression, if it is no more than that.
//
// Clients give custom tools a grammar in Lark.  Most of these grammars have no recursion, so they are patterns, which
// every dialect can express inside a JSON string.
#pragma once

#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::grammar {

// Returns an anchored ECMA-262 pattern for the texts of `definition`, from its rule `start`.  Accepts rules and
// terminals, alternatives, groups, optional parts, `?`  `*` `+` `~ n` `~ n..m`, texts (with the flag `i` too), regular
// expressions without flags, ranges, aliases, and `%import common.NAME`.  Fails with kUnsupported for everything else
// (recursive rules, `%ignore`, templates) and for grammars that are too large.  Fails with kInvalidArgument if the text
// is not such a grammar.
[[nodiscard]] Result<std::string> lark_pattern(std::string_view definition);

}  // namespace rondo::grammar
