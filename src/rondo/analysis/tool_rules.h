// Finds what a template needs of tool definitions, from a dozen small renders.
#pragma once

#include "analysis/probe.h"
#include "template/tool_shape.h"

namespace rondo::analysis {

// Returns the rules.  `question` is a message of a user that the template takes.  Never fails: if the template refuses
// every form of something, or accepts every form, there is no rule for it.
[[nodiscard]] tmpl::ToolRules find_tool_rules(Prober& prober, const json::Value& question);

}  // namespace rondo::analysis
