#include "audit/findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "format/units.h"
#include "text/text.h"

namespace rondo::audit {
namespace {

// "messages[3].tool_calls[0]" without the indices, and without any path below a call's arguments.
std::string pattern_of(const std::string& path) {
  const std::size_t below = path.find(".arguments.");
  std::string out = path.substr(0, below);
  if (below != std::string::npos) out += ".arguments";
  std::erase_if(out, format::is_digit);
  return out;
}

report::Level level_of(std::string_view rule) {
  for (const report::Rule& known : report::rules()) {
    if (known.name == rule) return known.level;
  }
  return report::Level::kWarning;
}

std::string case_name(const report::Case& played) { return played.scenario + " / " + played.setting; }

std::string proof_of(const report::Break& broken) {
  return "behind " + text::quoted(broken.before) + " the model has seen " + text::quoted(broken.kept) +
         ", and the template now writes " + text::quoted(broken.rerendered);
}

// Adds the remedies of another case that are not in the list yet.
void merge_remedies(const std::vector<report::Remedy>& more, std::vector<report::Remedy>& out) {
  for (const report::Remedy& remedy : more) {
    const auto same = std::ranges::find(out, remedy.sentence, &report::Remedy::sentence);
    if (same == out.end()) {
      out.push_back(remedy);
    } else {
      same->is_verified = same->is_verified || remedy.is_verified;
    }
  }
  std::ranges::stable_sort(out, {}, [](const report::Remedy& remedy) { return static_cast<int>(remedy.kind); });
}

report::Finding finding_of_case(const report::Case& played) {
  const report::Break& broken = *played.broken;
  report::Finding finding;
  finding.rule = std::string(to_string(broken.cause.kind));
  finding.level = level_of(finding.rule);
  finding.sentence = broken.cause.sentence;
  finding.proof = broken.cause.kind == causes::CauseKind::kRefused ? "" : proof_of(broken);
  finding.place = broken.cause.place;
  finding.path = broken.cause.path;
  return finding;
}

}  // namespace

void sort_findings(report::Report& report) {
  const auto rank = [](const report::Finding& finding) {
    return std::tuple(-static_cast<int>(finding.level), -static_cast<std::int64_t>(finding.lost_tokens));
  };
  std::ranges::stable_sort(report.findings, {}, rank);
  std::ranges::stable_sort(report.notes, {}, rank);
}

void add_findings(report::Report& report) {
  using Key = std::tuple<causes::CauseKind, std::int32_t, std::int32_t, std::string>;
  std::map<Key, std::pair<bool, std::size_t>> known;  // whether it is in the notes; index
  for (const report::Case& played : report.cases) {
    if (!played.broken || played.is_inherent) continue;
    const causes::Cause& cause = played.broken->cause;
    const Key key{cause.kind, cause.place.line, cause.place.column, pattern_of(cause.path)};
    report::Finding made = finding_of_case(played);
    const bool is_note = made.level == report::Level::kNote;
    std::vector<report::Finding>& list = is_note ? report.notes : report.findings;
    const auto [entry, is_new] = known.try_emplace(key, is_note, list.size());
    if (is_new) list.push_back(std::move(made));
    report::Finding& finding = list[entry->second.second];
    finding.scenarios.push_back(case_name(played));
    finding.lost_tokens = std::max(finding.lost_tokens, played.broken->lost_tokens);
    merge_remedies(played.broken->remedies, finding.remedies);
  }
}

namespace {

// The template's own words: the quoted part of a refusal's proof.
std::string_view reason_of(const report::Finding& finding) {
  const std::string_view proof = finding.proof;
  return proof.substr(std::min(proof.find('"'), proof.size()));
}

// Merges the finding into one for the same refusal, if another conversation found it.  The merged finding has the
// remedies of both and the worse level.
bool is_merged(report::Finding& finding, report::Report& report) {
  for (std::vector<report::Finding>* const list : {&report.findings, &report.notes}) {
    const auto known = std::ranges::find_if(*list, [&](const report::Finding& other) {
      return other.rule == finding.rule && other.place == finding.place && reason_of(other) == reason_of(finding);
    });
    if (known == list->end()) continue;
    if (known->level >= finding.level) {
      known->remedies.insert(known->remedies.end(), finding.remedies.begin(), finding.remedies.end());
      return true;
    }
    finding.remedies.insert(finding.remedies.begin(), known->remedies.begin(), known->remedies.end());
    list->erase(known);
    return false;
  }
  return false;
}

}  // namespace

report::Finding finding_of(std::string_view rule, report::Level level) {
  report::Finding out;
  out.rule = rule;
  out.level = level;
  return out;
}

void add_finding(report::Report& report, report::Finding finding) {
  const auto is_break = [&finding](const report::Finding& other) {
    return !other.scenarios.empty() && other.rule == finding.rule && other.place.line == finding.place.line;
  };
  if (std::any_of(report.findings.begin(), report.findings.end(), is_break)) return;
  if (finding.rule == "refused" && is_merged(finding, report)) return;
  const auto is_same = [&finding](const report::Finding& other) {
    return other.rule == finding.rule && other.place.line == finding.place.line && other.path == finding.path &&
           other.sentence == finding.sentence;
  };
  std::vector<report::Finding>& list = finding.level == report::Level::kNote ? report.notes : report.findings;
  if (std::none_of(list.begin(), list.end(), is_same)) list.push_back(std::move(finding));
}

}  // namespace rondo::audit
