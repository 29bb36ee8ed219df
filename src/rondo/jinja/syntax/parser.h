// Parses template source into a tree, by the grammar of jinja2.parser (3.1) and the tags of transformers' chat
// templates: loop controls and generation blocks.  Refuses include, import, extends, block and do.
#pragma once

#include <string>

#include "jinja/common/options.h"
#include "jinja/syntax/ast.h"
#include "rondo/result.h"

namespace rondo::jinja {

// `source` is normalised (lexer.h).  Fails with kTemplateSyntax and the place of the error.  `name` appears only in
// messages.
[[nodiscard]] Result<Tree> parse(std::string_view source, const CompileOptions& options, const std::string& name);

}  // namespace rondo::jinja
