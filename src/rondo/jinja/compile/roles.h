// Finds the roles that a template compares with.
#pragma once

#include <string>
#include <vector>

#include "jinja/syntax/ast.h"

namespace rondo::jinja {

// Returns the string constants that the template compares with a `role` (Template::compared_roles), sorted.
[[nodiscard]] std::vector<std::string> compared_roles(const Tree& tree);

}  // namespace rondo::jinja
