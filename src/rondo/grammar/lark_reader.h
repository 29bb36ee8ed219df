// Reads grammars in the language of Lark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"
#include "rondo/result.h"

namespace rondo::grammar {

// Returns the grammar of `definition`, from its rule `start`.  Accepts rules and terminals, alternatives, groups,
// optional parts, `?`  `*` `+` `~ n` `~ n..m` `{n,m}`, texts (with the flag `i` too), regular expressions without flags,
// ranges, aliases, `%import common.NAME` and `%ignore`; and of llguidance's extensions `%json`, `substring_chunks` of
// `%regex`, and `capture`, `temperature`, `max_tokens`, `stop`, `suffix` and `lazy` in brackets.  Adds a sentence to
// `notes` for each part that the result does not enforce.  Fails with kUnsupported for everything else (templates,
// flags), or with kInvalidArgument if the text is not such a grammar.
[[nodiscard]] Result<Grammar> read_lark(std::string_view definition, std::vector<std::string>& notes);

}  // namespace rondo::grammar
