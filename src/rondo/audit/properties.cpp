#include "audit/properties.h"

#include "audit/property_groups.h"

namespace rondo::audit {
namespace {

constexpr void (*kGroups[])(const Trials&, report::Report&) = {
    find_refusals,
    find_part_differences,
    find_argument_losses,
    find_close_faults,
    find_tool_losses,
    find_result_losses,
    find_bare_quotes,
    find_clock,
    find_generation_differences,
    find_grammar_gaps,
    find_control_text,
    find_strict_differences,
    find_engine_differences,
};

// The template cannot render even one user message, or exceeds the limits on a small conversation.
void report_failure(const AuditContext& context, const Error& error, report::Report& report) {
  report::Finding finding = finding_of("refused", report::Level::kError);
  finding.sentence = error.code == ErrorCode::kLimit
                         ? "the template exceeds the limits of a render on a small conversation"
                         : "the template refuses a conversation of one user message";
  finding.proof = "the error is " + text::quoted(error.message);
  finding.place = causes::place_of(context.chat_template, error);
  finding.path = "messages";
  add_finding(report, std::move(finding));
}

}  // namespace

void find_properties(const AuditContext& context, report::Report& report) {
  const Trials trials(context);
  if (trials.exhausted() || trials.refusal()) {
    report_failure(context, trials.exhausted() ? *trials.exhausted() : *trials.refusal(), report);
    return;
  }
  const std::vector<report::Finding> findings = report.findings;
  const std::vector<report::Finding> notes = report.notes;
  for (const auto& find_group : kGroups) {
    find_group(trials, report);
    if (!trials.exhausted()) continue;
    // From here on every trial looks refused, and earlier findings may have the same reason.
    report.findings = findings;
    report.notes = notes;
    report_failure(context, *trials.exhausted(), report);
    return;
  }
}

}  // namespace rondo::audit
