#include "audit/report.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rondo::audit {
namespace {

constexpr std::array kCauses = {
    std::pair{CauseKind::kReasoningDropped, "reasoning-dropped"},
    std::pair{CauseKind::kReasoningAdded, "reasoning-added"},
    std::pair{CauseKind::kWhitespaceStripped, "whitespace-stripped"},
    std::pair{CauseKind::kWhitespaceAdded, "whitespace-added"},
    std::pair{CauseKind::kJsonRespelled, "json-respelled"},
    std::pair{CauseKind::kLiteralEnvelope, "literal-envelope"},
    std::pair{CauseKind::kPythonValue, "python-value"},
    std::pair{CauseKind::kDoubleEncoded, "double-encoded"},
    std::pair{CauseKind::kGenerationPrompt, "generation-prompt"},
    std::pair{CauseKind::kMovedMessage, "moved-message"},
    std::pair{CauseKind::kMovedTools, "moved-tools"},
    std::pair{CauseKind::kRewrittenId, "rewritten-id"},
    std::pair{CauseKind::kForcedClose, "forced-close"},
    std::pair{CauseKind::kLostMarkup, "lost-markup"},
    std::pair{CauseKind::kDroppedField, "dropped-field"},
    std::pair{CauseKind::kReordered, "reordered"},
    std::pair{CauseKind::kReplacedClose, "replaced-close"},
    std::pair{CauseKind::kRetokenized, "retokenized"},
    std::pair{CauseKind::kClock, "clock"},
    std::pair{CauseKind::kRefused, "refused"},
    std::pair{CauseKind::kCondition, "condition"},
};

json::Object place_to_json(const TemplatePlace& place) {
  json::Object out{{"line", place.line}};
  if (place.column > 0) out.set("column", place.column);
  if (!place.source.empty()) out.set("source", place.source);
  return out;
}

json::Array remedies_to_json(const std::vector<Remedy>& remedies) {
  json::Array out;
  for (const Remedy& remedy : remedies) {
    json::Object entry{
        {"kind", std::string(to_string(remedy.kind))}, {"sentence", remedy.sentence}, {"verified", remedy.is_verified}};
    if (remedy.kind == Remedy::Kind::kVariable) entry.set("kwargs", remedy.kwargs);
    out.emplace_back(std::move(entry));
  }
  return out;
}

json::Object cause_to_json(const Cause& cause) {
  json::Object out{{"kind", std::string(to_string(cause.kind))}, {"sentence", cause.sentence}};
  if (cause.place.line > 0) out.set("place", place_to_json(cause.place));
  if (!cause.path.empty()) out.set("path", cause.path);
  if (cause.message >= 0) out.set("message", cause.message);
  return out;
}

json::Array tokens_to_json(const std::vector<TokenView>& tokens) {
  json::Array out;
  for (const TokenView& token : tokens) out.emplace_back(json::Object{{"id", token.id}, {"text", token.text}});
  return out;
}

json::Object break_to_json(const Break& broken) {
  json::Object out{{"kept_tokens", broken.kept_tokens},
                   {"lost_tokens", broken.lost_tokens},
                   {"in_prompt", broken.in_prompt},
                   {"before", broken.before},
                   {"kept", broken.kept},
                   {"rerendered", broken.rerendered}};
  if (!broken.tokens.empty()) {
    out.set("tokens", json::Object{{"before", tokens_to_json(broken.tokens.before)},
                                   {"kept", tokens_to_json(broken.tokens.kept)},
                                   {"rerendered", tokens_to_json(broken.tokens.rerendered)}});
  }
  out.set("field", broken.field);
  out.set("cause", cause_to_json(broken.cause));
  out.set("remedies", remedies_to_json(broken.remedies));
  return out;
}

json::Object case_to_json(const Case& played) {
  json::Object out{{"scenario", played.scenario},
                   {"title", played.title},
                   {"setting", played.setting},
                   {"kwargs", played.kwargs},
                   {"inherent", played.is_inherent},
                   {"string_prefix", std::string(to_string(played.string_prefix))},
                   {"token_prefix", std::string(to_string(played.token_prefix))},
                   {"bridge", std::string(to_string(played.bridge))},
                   {"parse_of_render", std::string(to_string(played.parse_of_render))},
                   {"render_of_parse", std::string(to_string(played.render_of_parse))},
                   {"prompt_tokens", played.prompt_tokens},
                   {"completion_tokens", played.completion_tokens}};
  if (played.broken) out.set("break", break_to_json(*played.broken));
  if (!played.note.empty()) out.set("note", played.note);
  return out;
}

json::Object finding_to_json(const Finding& finding) {
  json::Object out{{"rule", finding.rule},
                   {"level", std::string(to_string(finding.level))},
                   {"sentence", finding.sentence},
                   {"proof", finding.proof}};
  if (finding.place.line > 0) out.set("place", place_to_json(finding.place));
  if (!finding.path.empty()) out.set("path", finding.path);
  json::Array scenarios;
  for (const std::string& scenario : finding.scenarios) scenarios.emplace_back(scenario);
  out.set("scenarios", std::move(scenarios));
  out.set("lost_tokens", finding.lost_tokens);
  out.set("remedies", remedies_to_json(finding.remedies));
  return out;
}

json::Array findings_to_json(const std::vector<Finding>& findings) {
  json::Array out;
  for (const Finding& finding : findings) out.emplace_back(finding_to_json(finding));
  return out;
}

}  // namespace

std::string_view to_string(CauseKind kind) {
  const auto* const found = std::ranges::find(kCauses, kind, [](const auto& entry) { return entry.first; });
  return found->second;
}

std::string_view to_string(Remedy::Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"variable", "arguments", "field", "patch", "bridge"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames = {"holds", "breaks", "skipped"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view to_string(Level level) {
  constexpr std::array<std::string_view, 3> kNames = {"note", "warning", "error"};
  return kNames.at(static_cast<std::size_t>(level));
}

Level Report::worst() const {
  Level worst = Level::kNote;
  for (const Finding& finding : findings) worst = std::max(worst, finding.level);
  return worst;
}

json::Value to_json(const Report& report) {
  json::Array lines;
  for (const std::string& line : report.template_lines) lines.emplace_back(line);
  json::Array knobs;
  for (const Knob& knob : report.knobs)
    knobs.emplace_back(json::Object{{"name", knob.name}, {"values", json::Array(knob.values)}});
  json::Array cases;
  for (const Case& played : report.cases) cases.emplace_back(case_to_json(played));
  return json::Object{{"model", report.model},
                      {"template_file", report.template_file},
                      {"is_own_file", report.is_own_file},
                      {"has_tokenizer", report.has_tokenizer},
                      {"worst", report.findings.empty() ? "none" : std::string(to_string(report.worst()))},
                      {"findings", findings_to_json(report.findings)},
                      {"notes", findings_to_json(report.notes)},
                      {"knobs", std::move(knobs)},
                      {"cases", std::move(cases)},
                      {"template_lines", std::move(lines)}};
}

}  // namespace rondo::audit
