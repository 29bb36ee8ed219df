// Wording that all writers of reports share.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace rondo::report {

// A model that could not be checked, and the reason.
struct Unchecked {
  std::string model;
  std::string reason;
};

// A question that a case answers.
struct Check {
  std::string_view name;      // "token prefix"
  std::string_view question;  // what is true if the check holds
  Verdict Case::* verdict;
};
inline constexpr std::array<Check, 5> kChecks = {{
    {"string prefix", "the next prompt begins with the text of prompt and completion", &Case::string_prefix},
    {"token prefix", "the next prompt begins with the ids of prompt and completion", &Case::token_prefix},
    {"bridge", "the bridged prompt begins with these ids and ends as the template ends", &Case::bridge},
    {"parse of render", "the parser reads the message out of what the template wrote", &Case::parse_of_render},
    {"render of parse", "what was parsed is written again as it was sampled", &Case::render_of_parse},
}};

// Returns kBreaks if any check breaks, otherwise kHolds if any holds.
[[nodiscard]] Verdict verdict_of(const Case& played);

// Returns "call-result / default", as in Finding::scenarios.
[[nodiscard]] std::string name_of(const Case& played);

// Returns the highest level of the findings that name the case, otherwise that of the rule for its cause; kNote if
// nothing breaks.
[[nodiscard]] Level level_of(const Report& report, const Case& played);

// Returns the rule of that name; nullptr if there is none.
[[nodiscard]] const Rule* find_rule(std::string_view name);

// How many cases hold, break or are skipped.  `inherent` counts breaks that occur under any template; `breaks` does not
// include them.
struct Counts {
  std::size_t holds = 0;
  std::size_t breaks = 0;
  std::size_t skipped = 0;
  std::size_t inherent = 0;
};
[[nodiscard]] Counts count(const Report& report);                      // by verdict_of()
[[nodiscard]] Counts count(const Report& report, const Check& check);  // for one check

// Returns one line for each: "verified: set `keep` to true", "not tried: ...".
[[nodiscard]] std::vector<std::string> lines_of(const std::vector<Remedy>& remedies);

// Returns the column of a place in code points; 1 if it is unknown.
[[nodiscard]] std::size_t column_in_code_points(const Report& report, const causes::TemplatePlace& place);

}  // namespace rondo::report
