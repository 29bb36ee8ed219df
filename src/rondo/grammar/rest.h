// The rest of a text whose beginning is given: what may follow if a prompt has begun an answer.
#pragma once

#include <optional>
#include <string_view>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the grammar of all texts that make a text of `grammar` if `begun` comes before them.  If no text of `grammar`
// begins with `begun`, the root of the result can never match.  Returns nullopt if the grammar is too ambiguous.
[[nodiscard]] std::optional<Grammar> rest_behind(const Grammar& grammar, std::string_view begun);

}  // namespace rondo::grammar
