// Finds the constants that a template compares its variables with: values that the variables may be meant to have.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rondo::jinja {

// Returns for each name the sorted string constants that the template compares it with, directly or under a name that
// it was assigned to: {"effort": ["high", "low"]}.  Returns nothing for source that does not parse.  `source` is a
// template's normalised source (Template::source).
[[nodiscard]] std::map<std::string, std::vector<std::string>> compared_constants(const std::string& source);

}  // namespace rondo::jinja
