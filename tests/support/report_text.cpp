#include "tests/support/report_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "audit/check.h"
#include "base/files.h"
#include "json/print.h"
#include "tests/support/byte_tokenizer.h"
#include "text/text.h"

namespace rondo::test {
namespace {

// Returns the text in one line; of a long one its beginning, and its size.
std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 32;
  if (text.size() <= kMost) return text::quoted(text);
  return text::quoted(text.substr(0, kMost)) + "... of " + std::to_string(text.size());
}

std::string shown(const causes::TemplatePlace& place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string shown(const std::vector<report::Remedy>& remedies) {
  std::string out;
  for (const report::Remedy& remedy : remedies) {
    out += "\n    " + std::string(to_string(remedy.kind)) + (remedy.is_verified ? " holds: " : ": ") + remedy.sentence;
    if (!remedy.kwargs.empty()) out += " " + json::to_compact(remedy.kwargs);
  }
  return out;
}

// Returns how many tokens there are, and the first one.
std::string shown(const std::vector<report::TokenView>& tokens) {
  if (tokens.empty()) return " none";
  return " " + std::to_string(tokens.size()) + " from " + std::to_string(tokens.front().id) +
         text::quoted(tokens.front().text);
}

std::string place_of(const report::Break& broken) {
  const std::string before =
      broken.before.substr(broken.before.size() - std::min<std::size_t>(broken.before.size(), 24));
  return " at " + std::to_string(broken.kept_tokens) + ", " + std::to_string(broken.lost_tokens) + " lost" +
         (broken.in_prompt ? ", in the prompt" : "") + "\n    " + text::quoted(before) + " then " + shown(broken.kept) +
         ", now " + shown(broken.rerendered);
}

std::string cause_of(const report::Break& broken) {
  return "\n    tokens" + shown(broken.tokens.before) + " then" + shown(broken.tokens.kept) + ", now" +
         shown(broken.tokens.rerendered) + "\n    " + std::string(to_string(broken.cause.kind)) + " " +
         shown(broken.cause.place) + " " + broken.cause.path + ": " + broken.cause.sentence + " | " + broken.field +
         shown(broken.remedies);
}

// Returns the cases that do not hold, with a sign for each verdict: holds, breaks, skipped.  What several have in common stands with the first of them.
std::string shown(const std::vector<report::Case>& cases) {
  std::string out;
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
  std::map<std::string, std::string> known;  // what was told, and the case that it was told of
  for (const report::Case& played : cases) {
    prompt_tokens += played.prompt_tokens;
    completion_tokens += played.completion_tokens;
    std::string verdicts;
    for (const report::Verdict verdict :
         {played.string_prefix, played.token_prefix, played.bridge, played.parse_of_render, played.render_of_parse})
      verdicts += std::string_view("+!-").at(static_cast<std::size_t>(verdict));
    if (verdicts.find_first_of("!-") == std::string::npos && played.note.empty()) continue;
    const std::string name = played.scenario + " / " + played.setting;
    out.append("\n  ").append(name).append(played.is_inherent ? " (inherent) " : " ").append(verdicts);
    if (played.broken) out += place_of(*played.broken);
    const std::string why =
        (played.note.empty() ? "" : "\n    " + played.note) + (played.broken ? cause_of(*played.broken) : "");
    const auto [first, is_new] = known.emplace(why, name);
    out += is_new || why.empty() ? why : " (as " + first->second + ")";
  }
  return "\n  " + std::to_string(cases.size()) + " cases, " + std::to_string(prompt_tokens) + " + " +
         std::to_string(completion_tokens) + " tokens" + out;
}

std::string shown(const std::vector<report::Finding>& findings) {
  std::string out;
  for (const report::Finding& finding : findings) {
    out += "\n  " + std::string(to_string(finding.level)) + " " + finding.rule + " " + shown(finding.place) + " " +
           finding.path + ": " + finding.sentence + "\n    " + finding.proof;
    if (!finding.scenarios.empty())
      out += "\n    " + std::to_string(finding.scenarios.size()) + " cases, first " + finding.scenarios.front() + ", " +
             std::to_string(finding.lost_tokens) + " tokens lost";
    out += shown(finding.remedies);
  }
  return out;
}

}  // namespace

std::string report_text(const std::string& name, const std::string& source) {
  const auto compiled = jinja::Template::compile(source, {}, name);
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  audit::Input input;
  input.chat_template = compiled.value();
  if (name.find("_bare") == std::string::npos)
    input.tokenizer = byte_tokenizer({"<|fin|>", "<|user|>", "<|bot|>", "<|tool|>", "<|mull|>"}, "<|fin|>");
  const auto checked = audit::check(input, {});
  const std::string title = "### " + name;
  if (!checked.ok()) return title + "\n  " + checked.error().to_string() + "\n";
  std::string out = title;
  for (const report::Knob& knob : checked.value().knobs)
    out += "\n  " + knob.name + " " + json::to_compact(knob.values);
  return out + shown(checked.value().cases) + "\nfindings:" + shown(checked.value().findings) +
         "\nnotes:" + shown(checked.value().notes) + "\n";
}

std::map<std::string, std::string> templates_in(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(RONDO_SOURCE_DIR) + "/tests/golden/" + folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const auto source = files::read(entry.path().string());
    REQUIRE(source.ok());
    out[entry.path().filename().string()] = source.value();
  }
  return out;
}

}  // namespace rondo::test
