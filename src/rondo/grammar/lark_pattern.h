// Lark grammars that say no more than a regular expression does, as one.
//
// Clients give custom tools a grammar in Lark.  Most of them do not refer to themselves, and are then a pattern, which all dialects
// can say within a string of JSON.
#pragma once

#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::grammar {

// A pattern (ECMA-262, anchored) of the texts that `definition` has, from its rule `start`.  Taken: rules and terminals,
// alternatives, groups, optional parts, `?` `*` `+` `~ n` `~ n..m`, texts, regular expressions without flags, ranges, aliases,
// `%import common.NAME`.  Fails with kUnsupported for the rest (rules that refer to themselves, `%ignore`, templates), and with
// kInvalidArgument where the text is no such grammar.
[[nodiscard]] Result<std::string> lark_pattern(std::string_view definition);

}  // namespace rondo::grammar
