// Shapes tool definitions into the form that a template needs.
//
// The chat APIs let a client leave out the description and the parameters of a tool, or send null, and many templates
// fail on that.  ToolRules say what a template needs (analysis/tool_rules.h finds them).  shape_tools() applies the rules
// and reports what it changed.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace rondo::tmpl {

// What a template needs.  The default is nothing: it understands every form, or is not known to.
struct ToolRules {
  bool wraps = false;                 // a definition without `function` around it is given with it
  bool takes_nulls = true;            // false: members of functions and parameters that are null are left out
  bool describes = false;             // a function without a description gets an empty one
  bool gives_properties = false;      // a function without parameters gets an object without properties
  bool describes_parameters = false;  // a parameter without a description gets an empty one
  bool takes_null_types = true;       // false: the type "null" in a list of types is given as `nullable`

  [[nodiscard]] bool operator==(const ToolRules&) const = default;
};

// Changes `tools`, a list of definitions, in place.  Other values stay unchanged, and so do definitions that are not
// objects.  Returns sentences: "tools[0].function.description: given as an empty text".  Shaping shaped tools changes
// nothing.
std::vector<std::string> shape_tools(json::Value& tools, const ToolRules& rules);

}  // namespace rondo::tmpl
