// Templates for models that bring Python code in place of one.  How such code puts a prompt together is a small template of
// our own (share/templates); its words, the texts and tokens, are constants of the model's own file, which is read and never run.
#pragma once

#include <string>
#include <string_view>

#include "rondo/result.h"

namespace rondo::core {

// The whole template: its first line begins with the constants.  `path` is for messages.  Fails with kTemplateSyntax where the
// code lacks constants of every encoder that is known.
[[nodiscard]] Result<std::string> encoder_template(std::string_view python, const std::string& path);

}  // namespace rondo::core
