// What all writers of reports say in the same words.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace rondo::report {

// A model that could not be checked, and why.
struct Unchecked {
  std::string model;
  std::string reason;
};

// One of the questions that a case answers.
struct Check {
  std::string_view name;      // "token prefix"
  std::string_view question;  // what holds where it holds
  Verdict Case::* verdict;
};
inline constexpr std::array<Check, 5> kChecks = {{
    {"string prefix", "the next prompt begins with the text of prompt and completion", &Case::string_prefix},
    {"token prefix", "the next prompt begins with the ids of prompt and completion", &Case::token_prefix},
    {"bridge", "the bridged prompt begins with these ids and ends as the template ends", &Case::bridge},
    {"parse of render", "the parser reads the message out of what the template wrote", &Case::parse_of_render},
    {"render of parse", "what was parsed is written again as it was sampled", &Case::render_of_parse},
}};

// Breaks if any check breaks, else holds if any holds.
[[nodiscard]] Verdict verdict_of(const Case& played);

// "call-result / default", as in Finding::scenarios.
[[nodiscard]] std::string name_of(const Case& played);

// The highest level of the findings that name the case, else that of the rule of its cause; kNote where nothing breaks.
[[nodiscard]] Level level_of(const Report& report, const Case& played);

// The rule of that name; nullptr if there is none.
[[nodiscard]] const Rule* find_rule(std::string_view name);

// How many cases hold, break, are skipped; `inherent` are those that break under any template, and not among `breaks`.
struct Counts {
  std::size_t holds = 0;
  std::size_t breaks = 0;
  std::size_t skipped = 0;
  std::size_t inherent = 0;
};
[[nodiscard]] Counts count(const Report& report);                      // by verdict_of()
[[nodiscard]] Counts count(const Report& report, const Check& check);  // of one check

// One line for each: "verified: set `keep` to true", "not tried: ...".
[[nodiscard]] std::vector<std::string> lines_of(const std::vector<Remedy>& remedies);

// The column of a place in code points; 1 where none is known.
[[nodiscard]] std::size_t column_in_code_points(const Report& report, const causes::TemplatePlace& place);

}  // namespace rondo::report
