#include "tests/support/sample_report.h"

namespace rondo::test {
namespace {

using causes::CauseKind;
using report::Case;
using report::Finding;
using report::Level;
using report::Remedy;
using report::Report;
using report::Verdict;

causes::TemplatePlace place_of(const Report& report, std::int32_t line, std::int32_t column) {
  return {line, column, report.template_lines[static_cast<std::size_t>(line) - 1]};
}

std::vector<Remedy> sample_remedies(const std::string& text) {
  Remedy variable{Remedy::Kind::kVariable, "set `keep_thinking` to true " + text, {}, true};
  variable.kwargs.set("keep_thinking", true);
  variable.kwargs.set(text, text);
  return {variable, {Remedy::Kind::kBridge, "keep the ids and append what follows", {}, false}};
}

Case sample_break(const Report& report, const std::string& text) {
  Case played;
  played.scenario = "call-result";
  played.title = "one call, result, answer " + text;
  played.setting = "default";
  played.string_prefix = played.token_prefix = played.render_of_parse = Verdict::kBreaks;
  played.bridge = played.parse_of_render = Verdict::kHolds;
  played.prompt_tokens = 120;
  played.completion_tokens = 30;
  report::Break& broken = played.broken.emplace();
  broken.kept_tokens = 118;
  broken.lost_tokens = 32;
  broken.before = "assistant\n" + text;
  broken.kept = "\n\n  Let me look. " + text;
  broken.rerendered = "Let me look." + text;
  broken.tokens = {{{1, "assistant"}, {2, "\n"}}, {{3, "\n\n"}, {4, " Let"}, {5, "\xE2\x82"}}, {{6, "Let"}, {7, text}}};
  broken.field = "messages[1].content via strip " + text;
  broken.cause = {CauseKind::kWhitespaceStripped, "line 3 cuts white space off " + text, place_of(report, 3, 8),
                  "messages[1].content", 1};
  broken.remedies = sample_remedies(text);
  return played;
}

std::vector<Case> sample_cases(const Report& report, const std::string& text) {
  const Case broken = sample_break(report, text);
  Case holds = broken;
  holds.setting = "keep_thinking=true";
  holds.kwargs.set("keep_thinking", true);
  holds.string_prefix = holds.token_prefix = holds.render_of_parse = Verdict::kHolds;
  holds.broken.reset();
  Case inherent = broken;
  inherent.scenario = "cut-in-call";
  inherent.is_inherent = true;
  inherent.broken->in_prompt = true;
  Case skipped;
  skipped.scenario = "late-system";
  skipped.setting = "default";
  skipped.note = "the template raises: " + text;
  Case unread = holds;
  unread.scenario = "odd " + text;
  unread.title.clear();
  unread.parse_of_render = Verdict::kBreaks;
  return {broken, holds, inherent, skipped, unread};
}

std::vector<Finding> sample_findings(const Report& report, const std::string& text) {
  Finding stripped;
  stripped.rule = "whitespace-stripped";
  stripped.sentence = "the template cuts white space off content " + text;
  stripped.proof = "\"" + text + "\" became \"\"";
  stripped.place = place_of(report, 3, 8);
  stripped.path = "messages[*].content";
  stripped.scenarios = {"call-result / default", "nowhere / default"};
  stripped.lost_tokens = 32;
  stripped.remedies = sample_remedies(text);
  Finding unclosed;
  unclosed.rule = "unclosed-turn";
  unclosed.level = Level::kError;
  unclosed.sentence = "no stop token stands behind a turn";
  unclosed.place = {4, 0, report.template_lines[3]};
  return {unclosed, stripped};
}

}  // namespace

report::Report sample_report(const std::string& text) {
  Report report;
  report.model = "model " + text;
  report.template_file = "models/a b/chat_template.jinja";
  report.template_lines = {"{%- for m in messages %}", "{{- \"\xC3\xA9\" + '<" + text + ">' }}",
                           "  \xC3\xA9\xC3\xA9 {{- m.content.strip() }}", "{%- endfor %}"};
  report.knobs.push_back({"keep_thinking", {json::Value(true), json::Value(false), json::Value(text)}});
  report.cases = sample_cases(report, text);
  report.findings = sample_findings(report, text);
  Finding note;
  note.rule = "a rule of tomorrow " + text;
  note.level = Level::kNote;
  note.sentence = "good to know";
  report.notes.push_back(note);
  return report;
}

}  // namespace rondo::test
