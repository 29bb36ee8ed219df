// Compiles a template's tree to instructions.
#pragma once

#include <string>

#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "rondo/result.h"

namespace rondo::jinja {

// The program keeps `source` (normalised).  Fails with kTemplateSyntax for errors that the grammar does not show: a
// break outside a loop, an unknown filter, an assignment to `loop`.
[[nodiscard]] Result<Program> compile(Tree tree, std::string source, const std::string& name);

}  // namespace rondo::jinja
