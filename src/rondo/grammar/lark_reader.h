// Reads grammars in the language of Lark.
#pragma once

#include <string_view>

#include "grammar/ir.h"
#include "rondo/result.h"

namespace rondo::grammar {

// Returns the grammar of `definition`, from its rule `start`.  Accepts rules and terminals, alternatives, groups,
// optional parts, `?`  `*` `+` `~ n` `~ n..m`, texts (with the flag `i` too), regular expressions without flags, ranges,
// aliases, `%import common.NAME`, and `%ignore`.  Fails with kUnsupported for everything else (templates, flags), or with
// kInvalidArgument if the text is not such a grammar.
[[nodiscard]] Result<Grammar> read_lark(std::string_view definition);

}  // namespace rondo::grammar
