// Capabilities: the parts of a conversation that a template can carry, each with the evidence of a render and a
// template line.
//
//   const Capabilities can = find_capabilities({template, options, format, rules}, {...});
//   can.find("tools")->is_supported;
//
// A template can carry a value if the value's own bytes reach the prompt.  The origins of a render show this, so no
// text is searched.  A few capabilities compare two renders instead, or follow from the format and the message rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyse.h"
#include "format/format.h"
#include "json/value.h"
#include "template/shape.h"

namespace rondo::analysis {

struct Capability {
  std::string name;  // docs/capabilities.md lists them all
  bool is_supported = false;
  std::string evidence;       // a sentence: what a render showed, or the template's error
  std::int32_t line = 0;      // the template line that writes it; 0: none, or no single one
  json::Object details = {};  // what a caller needs to use it: {"field": "reasoning_content"}, ...
};

struct Capabilities {
  std::vector<Capability> all;  // the same names in the same order for every template
  // Variables that the template reads and that no request sets by itself, sorted.
  std::vector<std::string> free_variables;

  // Returns the capability with that name; nullptr if there is none.
  [[nodiscard]] const Capability* find(std::string_view name) const;
};

// A template and what is known about it.  All of it must outlive the call.
struct Studied {
  const jinja::Template& chat_template;
  const Options& options;
  const format::Format& format;
  const tmpl::MessageRules& rules;
};

// Finds the capabilities.  `with_tools` is the template for conversations with tools, if the model has a separate one;
// otherwise it equals `plain`.  Never fails: a template does not carry what it refuses.
[[nodiscard]] Capabilities find_capabilities(const Studied& plain, const Studied& with_tools);

// Returns {"tools": {"supported", "evidence", "line"?, details...}, ..., "free_variables": [...]}.
[[nodiscard]] json::Value to_json(const Capabilities& capabilities);

}  // namespace rondo::analysis
