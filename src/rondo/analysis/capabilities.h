// Capabilities: what of a conversation a template can carry, each with what a render showed and the template's line.
//
//   const Capabilities can = find_capabilities({template, options, format, rules}, {...});
//   can.find("tools")->is_supported;
//
// A feature is there if its value's own bytes reach the prompt, which the origins of a render say; no text is searched.
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
  std::string name;  // docs/capabilities.md has them all
  bool is_supported = false;
  std::string evidence;       // a sentence: what a render showed, or what the template said to it
  std::int32_t line = 0;      // of the template, which writes it; 0: none does, or no single one
  json::Object details = {};  // what a caller needs to use it: {"field": "reasoning_content"}, ...
};

struct Capabilities {
  std::vector<Capability> all;              // always the same names in the same order
  std::vector<std::string> free_variables;  // that the template reads and no request has by itself, sorted

  // nullptr: there is no such name.
  [[nodiscard]] const Capability* find(std::string_view name) const;
};

// A template with what is known of it; all of it outlives the call.
struct Studied {
  const jinja::Template& chat_template;
  const Options& options;
  const format::Format& format;
  const tmpl::MessageRules& rules;
};

// `with_tools`: of conversations with tools, for which some models have a template of their own; else the same as `plain`.
// Never fails: what a template refuses, it can't carry.
[[nodiscard]] Capabilities find_capabilities(const Studied& plain, const Studied& with_tools);

// {"tools": {"supported", "evidence", "line"?, details...}, ..., "free_variables": [...]}
[[nodiscard]] json::Value to_json(const Capabilities& capabilities);

}  // namespace rondo::analysis
