// Compiles a template's tree to instructions.
#pragma once

#include <string>

#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "rondo/result.h"

namespace rondo::jinja {

// `source` (normalised) is kept in the program.  Fails with kTemplateSyntax for what only shows behind the grammar: a
// break outside a loop, an unknown filter, an assignment to `loop`.
[[nodiscard]] Result<Program> compile(Tree tree, std::string source, const std::string& name);

}  // namespace rondo::jinja
