// Parses template source into a tree, by the grammar of jinja2.parser (3.1) with the tags of transformers' chat
// templates: loop controls and generation blocks.  include, import, extends, block and do are refused.
#pragma once

#include <string>

#include "jinja/common/options.h"
#include "jinja/syntax/ast.h"
#include "rondo/result.h"

namespace rondo::jinja {

// `source` is normalised (lexer.h).  Fails with kTemplateSyntax and its place; `name` is used in messages only.
[[nodiscard]] Result<Tree> parse(std::string_view source, const CompileOptions& options, const std::string& name);

}  // namespace rondo::jinja
