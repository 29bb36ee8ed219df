// Finds what a template needs of its messages, from about 150 small renders.
#pragma once

#include "analysis/analyse.h"
#include "template/shape.h"

namespace rondo::analysis {

// Returns the rules.  `format` belongs to the same template and options.  Never fails: if the template refuses every
// form of something, or accepts every form, there is no rule for it.
[[nodiscard]] tmpl::MessageRules find_message_rules(const jinja::Template& chat_template, const Options& options,
                                                    const format::Format& format);

}  // namespace rondo::analysis
