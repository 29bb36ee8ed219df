// The variables that a template reads: which are its own, and values for those without which it does not render.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"

namespace rondo::probe {

[[nodiscard]] bool reads_variable(const jinja::Template& chat_template, std::string_view name);

// Returns the variables that the template reads and never sets, sorted.  Leaves out `known` and those of every request:
// messages, tools, documents, add_generation_prompt, bos_token and eos_token.
[[nodiscard]] std::vector<std::string> own_variables(const jinja::Template& chat_template,
                                                     std::span<const std::string_view> known = {});

// Returns `text` as the value of each name.  A text is true, has a length and can be printed, which is what templates
// mostly need.
[[nodiscard]] json::Object stand_ins(const std::vector<std::string>& names, std::string_view text);

// Sets the variables that `variables` does not have.
void add_missing(json::Object& variables, const json::Object& stand_ins);

}  // namespace rondo::probe
