#include "report/report.h"

#include <algorithm>
#include <utility>

#include "json/members.h"

namespace rondo::report {
namespace {

constexpr json::Names<Remedy::Kind, 5> kRemedies{{{Remedy::Kind::kVariable, "variable"},
                                                  {Remedy::Kind::kArguments, "arguments"},
                                                  {Remedy::Kind::kField, "field"},
                                                  {Remedy::Kind::kPatch, "patch"},
                                                  {Remedy::Kind::kBridge, "bridge"}}};
constexpr json::Names<Verdict, 3> kVerdicts{
    {{Verdict::kHolds, "holds"}, {Verdict::kBreaks, "breaks"}, {Verdict::kSkipped, "skipped"}}};
constexpr json::Names<Level, 3> kLevels{
    {{Level::kNote, "note"}, {Level::kWarning, "warning"}, {Level::kError, "error"}}};

// The tag for the functions below.
struct ReportJson {
  static constexpr bool kRefusesUnknown = false;  // keys of another version
};

const auto& names_of(ReportJson /*tag*/, causes::CauseKind /*type*/) { return causes::kCauseNames; }
const auto& names_of(ReportJson /*tag*/, Remedy::Kind /*type*/) { return kRemedies; }
const auto& names_of(ReportJson /*tag*/, Verdict /*type*/) { return kVerdicts; }
const auto& names_of(ReportJson /*tag*/, Level /*type*/) { return kLevels; }

template <typename V>
void visit(V& v, causes::TemplatePlace& place) {
  v.always("line", place.line);
  v.field("column", place.column);
  v.field("source", place.source);
}

template <typename V>
void visit(V& v, Remedy& remedy) {
  v.always("kind", remedy.kind);
  v.always("sentence", remedy.sentence);
  v.always("verified", remedy.is_verified);
  if (v.wants(remedy.kind == Remedy::Kind::kVariable)) v.always("kwargs", remedy.kwargs);
}

template <typename V>
void visit(V& v, causes::Cause& cause) {
  v.always("kind", cause.kind);
  v.always("sentence", cause.sentence);
  if (v.wants(cause.place.line > 0)) v.always("place", cause.place);
  v.field("path", cause.path);
  if (v.wants(cause.message >= 0)) v.always("message", cause.message);
}

template <typename V>
void visit(V& v, TokenView& token) {
  v.always("id", token.id);
  v.always("text", token.text);
}

template <typename V>
void visit(V& v, TokensAround& tokens) {
  v.always("before", tokens.before);
  v.always("kept", tokens.kept);
  v.always("rerendered", tokens.rerendered);
}

template <typename V>
void visit(V& v, Break& broken) {
  v.always("kept_tokens", broken.kept_tokens);
  v.always("lost_tokens", broken.lost_tokens);
  v.always("in_prompt", broken.in_prompt);
  v.always("before", broken.before);
  v.always("kept", broken.kept);
  v.always("rerendered", broken.rerendered);
  if (v.wants(!broken.tokens.empty())) v.always("tokens", broken.tokens);
  v.always("field", broken.field);
  v.always("cause", broken.cause);
  v.always("remedies", broken.remedies);
}

template <typename V>
void visit(V& v, Case& played) {
  v.always("scenario", played.scenario);
  v.always("title", played.title);
  v.always("setting", played.setting);
  v.always("kwargs", played.kwargs);
  v.always("inherent", played.is_inherent);
  v.always("string_prefix", played.string_prefix);
  v.always("token_prefix", played.token_prefix);
  v.always("bridge", played.bridge);
  v.always("parse_of_render", played.parse_of_render);
  v.always("render_of_parse", played.render_of_parse);
  v.always("prompt_tokens", played.prompt_tokens);
  v.always("completion_tokens", played.completion_tokens);
  v.field("break", played.broken);
  v.field("note", played.note);
}

template <typename V>
void visit(V& v, Finding& finding) {
  v.always("rule", finding.rule);
  v.always("level", finding.level);
  v.always("sentence", finding.sentence);
  v.always("proof", finding.proof);
  if (v.wants(finding.place.line > 0)) v.always("place", finding.place);
  v.field("path", finding.path);
  v.always("scenarios", finding.scenarios);
  v.always("lost_tokens", finding.lost_tokens);
  v.always("remedies", finding.remedies);
}

template <typename V>
void visit(V& v, Knob& knob) {
  v.always("name", knob.name);
  v.always("values", knob.values);
}

template <typename V>
void visit(V& v, Report& report) {
  v.always("model", report.model);
  v.always("template_file", report.template_file);
  v.always("is_own_file", report.is_own_file);
  v.always("has_tokenizer", report.has_tokenizer);
  std::string worst =
      report.findings.empty() ? "none" : std::string(to_string(report.worst()));  // derived from the rest
  v.always("worst", worst);
  v.always("findings", report.findings);
  v.always("notes", report.notes);
  v.always("knobs", report.knobs);
  v.always("cases", report.cases);
  v.always("template_lines", report.template_lines);
}

}  // namespace

std::string_view to_string(Remedy::Kind kind) { return json::name_in(kRemedies, kind); }
std::string_view to_string(Verdict verdict) { return json::name_in(kVerdicts, verdict); }
std::string_view to_string(Level level) { return json::name_in(kLevels, level); }

Level Report::worst() const {
  Level worst = Level::kNote;
  for (const Finding& finding : findings) worst = std::max(worst, finding.level);
  return worst;
}

json::Value to_json(const Report& report) {
  Report copy = report;
  return json::MemberWriter<ReportJson>::write(copy);
}

Result<Report> report_from_json(const json::Value& value) {
  Report report;
  std::string wrong;
  json::MemberReader<ReportJson>::read(value, "report", report, wrong);
  if (wrong.empty()) return report;
  return Error(ErrorCode::kInvalidArgument, std::move(wrong));
}

}  // namespace rondo::report
