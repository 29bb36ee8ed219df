// Calls and parameters without a name: what closes those that are cut off before their names.  Internal to parse/.
#pragma once

#include <string>
#include <string_view>

#include "format/format.h"

namespace rondo::parse {

// Returns the rest of a call from `piece` on, with empty arguments.  A format may write the name and the id of a call
// again after its arguments.
[[nodiscard]] std::string rest_of_call(const format::Calls& calls, std::size_t piece, std::string_view name = {},
                                       std::string_view id = {});
// Returns what follows the opener of a call without a name.
[[nodiscard]] std::string empty_call(const format::Calls& calls);
// Returns a value with its markers, in the form whose opener begins with `begun`: an empty string, or null.  `key_open`
// is the opener of the parameter, if its type has one of its own.
[[nodiscard]] std::string empty_value(const format::Parameters& parameters, std::string_view begun,
                                      std::string_view key_open = {});
// Returns what follows the opener of a parameter without a name, with an empty value.
[[nodiscard]] std::string empty_parameter(const format::Parameters& parameters, std::string_view key_open = {});

}  // namespace rondo::parse
