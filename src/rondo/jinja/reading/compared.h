// What a template compares its variables with: values that these may be meant to have.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rondo::jinja {

// The string constants, sorted, that the template compares each name with, itself or under a name that it was assigned
// to: {"effort": ["high", "low"]}.  `source` is a template's normalised source (Template::source); nothing for one that
// does not parse.
[[nodiscard]] std::map<std::string, std::vector<std::string>> compared_constants(const std::string& source);

}  // namespace rondo::jinja
