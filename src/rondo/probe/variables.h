// The variables that a template reads: which are its own, and what stands for them where it does not render without.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"

namespace rondo::probe {

[[nodiscard]] bool reads_variable(const jinja::Template& chat_template, std::string_view name);

// Those that the template reads and nobody sets, but for `known` and what every request may have: messages, tools, documents,
// add_generation_prompt, bos_token and eos_token.  Sorted.
[[nodiscard]] std::vector<std::string> own_variables(const jinja::Template& chat_template,
                                                     std::span<const std::string_view> known = {});

// `text` for each name.  A text is true, has a length and can be printed, which is what templates mostly want of a variable.
[[nodiscard]] json::Object stand_ins(const std::vector<std::string>& names, std::string_view text);

// Sets what `variables` do not have.
void add_missing(json::Object& variables, const json::Object& stand_ins);

}  // namespace rondo::probe
