// Templates for models that bring Python code instead of a template.  Each known way in which such code makes a prompt
// is a small template of our own (share/templates).  Its words, texts and tokens come from constants in the model's
// Python file, which rondo reads and never runs.
#pragma once

#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::core {

// Returns the whole template; its first line begins with the constants.  `path` appears only in error messages.  Fails
// with kTemplateSyntax if the code lacks the constants of every known encoder.
[[nodiscard]] Result<std::string> encoder_template(std::string_view python, const std::string& path);

}  // namespace rondo::core
