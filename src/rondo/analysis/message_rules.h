// Finds what a template needs of its messages, from some twenty small renders.
#pragma once

#include "analysis/analyse.h"
#include "template/shape.h"

namespace rondo::analysis {

// `format` belongs to the same template and options.  Never fails: if the template refuses every form of something, or
// none, there is no rule for it.
[[nodiscard]] tmpl::MessageRules find_message_rules(const jinja::Template& chat_template, const Options& options,
                                                    const format::Format& format);

}  // namespace rondo::analysis
