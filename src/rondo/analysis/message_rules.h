// MessageRules: Template -> what it needs of its messages, from what some twenty small renders show.
#pragma once

#include "analysis/analyse.h"
#include "template/shape.h"

namespace rondo::analysis {

// `format`: of the same template and options.  Never fails: where the template refuses every form of something, or none,
// there is no rule for it.
[[nodiscard]] tmpl::MessageRules find_message_rules(const jinja::Template& chat_template, const Options& options,
                                                    const format::Format& format);

}  // namespace rondo::analysis
