#include "mend/fix_goals.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "format/units.h"
#include "mend/splices.h"

namespace rondo::mend {
namespace {

// Whether `mended` shows what the model said more often than `original` does, and more often than the model said it.
bool repeats(const Attempt& original, const Attempt& mended) {
  for (std::size_t turn = 0; turn < mended.samples.size() && 2 * turn + 1 < mended.texts.size(); ++turn) {
    const std::string& seen = mended.texts[2 * turn];
    const std::string& again = mended.texts[2 * turn + 1];
    std::string_view before;
    if (2 * turn + 1 < original.texts.size()) before = original.texts[2 * turn + 1];
    const Sampled& sample = mended.samples[turn];
    for (const auto& extent : {sample.regions.reasoning, sample.regions.content}) {
      if (!extent || extent->begin >= extent->end || extent->end > sample.text.size()) continue;
      const std::string_view said =
          format::trimmed(std::string_view(sample.text).substr(extent->begin, extent->end - extent->begin));
      if (said.empty()) continue;
      if (occurrences(again, said) > std::max(occurrences(seen, said), occurrences(before, said))) return true;
    }
  }
  return false;
}

// Where `tail` begins in `before`, which ends with it except for one piece that `tail` lacks and `seen` has.  Text at
// the beginning of the tail need not be at its end.
std::optional<std::size_t> tail_begin(std::string_view before, std::string_view tail, std::string_view seen) {
  if (before.ends_with(tail)) return before.size() - tail.size();
  std::size_t same = 0;
  while (same < tail.size() && same < before.size() && tail[tail.size() - 1 - same] == before[before.size() - 1 - same])
    ++same;
  const std::string_view head = tail.substr(0, tail.size() - same);
  const std::string_view rest = before.substr(0, before.size() - same);
  const std::size_t found = rest.rfind(head);
  if (found == std::string_view::npos) return std::nullopt;
  const bool is_said = seen.find(rest.substr(found + head.size())) != std::string_view::npos;
  return is_said ? std::optional(found) : std::nullopt;
}

// Whether the text after a turn may begin at `begin` of `before`.  That is after the turn's fields, and no later than
// the end of what closed the turn, apart from what is there now.
bool is_behind(const render::Extent& tail, std::string_view before, std::size_t begin, std::string_view seen) {
  if (tail.end == 0) return true;
  if (begin < tail.begin) return false;
  return begin <= tail.end || seen.find(before.substr(tail.end, begin - tail.end)) != std::string_view::npos;
}

// Whether what follows closes a turn that already has its stop.
bool closes(const Sampled& sample, std::string_view tail) {
  const std::string_view stop = format::trimmed(std::string_view(sample.text).substr(sample.stop_begin));
  return !stop.empty() && format::trimmed(tail).starts_with(stop);
}

// Whether the text after each continued turn is the end of what the original writes there.
bool follows_alike(const Attempt& original, const Attempt& mended) {
  for (std::size_t i = 0; i + 1 < std::min(original.texts.size(), mended.texts.size()); i += 2) {
    const std::string_view seen = mended.texts[i];
    const std::string_view again = mended.texts[i + 1];
    const std::string_view before = original.texts[i + 1];
    if (before.empty() || !again.starts_with(seen) || original.texts[i] != mended.texts[i]) continue;
    const std::string_view tail = again.substr(seen.size());
    const auto begin = tail_begin(before, tail, seen);
    if (!begin || closes(mended.samples[i / 2], tail)) return false;
    if (!is_behind(original.tails[i / 2], before, *begin, seen)) return false;
  }
  return true;
}

// Whether a conversation that ends with a turn is written as before, if that was the turn as sampled.
bool ends_alike(const Attempt& original, const Attempt& mended) {
  for (std::size_t i = 0; i < std::min(original.alones.size(), mended.alones.size()); ++i) {
    if (original.texts[2 * i] != mended.texts[2 * i] || !original.alones[i].starts_with(original.texts[2 * i]))
      continue;
    if (original.alones[i] != mended.alones[i]) return false;
  }
  return true;
}

}  // namespace

bool is_about_form(const Scenario& scenario) {
  if (scenario.arguments != audit::ArgumentsForm::kWanted || scenario.content != audit::ContentForm::kWanted ||
      scenario.reasoning != audit::ReasoningForm::kWanted)
    return true;
  if (has_late_rules(scenario)) return true;
  return std::ranges::any_of(scenario.turns, [](const audit::ScenarioTurn& turn) {
    switch (turn.spelling) {
      case audit::Spelling::kCanonical:
      case audit::Spelling::kSpaceBeforeContent:
      case audit::Spelling::kSpaceBehindContent:
      case audit::Spelling::kBlankLineBehindReasoning:
      case audit::Spelling::kNewlineEndsReasoning: return false;
      default: return true;
    }
  });
}

bool has_late_rules(const Scenario& scenario) {
  return std::ranges::any_of(scenario.turns, [](const audit::ScenarioTurn& turn) {
    return std::ranges::any_of(turn.following,
                               [](const std::string& what) { return what != "user" && what != "results"; });
  });
}

Attempt attempt_of(const Played& played) {
  Attempt out;
  out.samples = played.samples;
  out.texts = played.texts;
  out.alones = played.alones;
  out.tails = played.tails;
  out.data_bytes = played.data_bytes;
  out.is_played = !out.texts.empty();
  out.holds = out.is_played && !played.broken && !played.is_refused;
  if (played.broken) {
    const chat::AssistantMessage& said = played.broken->said.message;
    const std::string reasoning = said.reasoning.value_or("");
    out.loses_space = format::trimmed(reasoning) == reasoning && format::trimmed(said.content) == said.content;
  }
  for (std::size_t i = 0; i + 1 < out.texts.size(); i += 2) out.kept += common_bytes(out.texts[i], out.texts[i + 1]);
  return out;
}

bool is_kept(const Goal& goal, const Attempt& original, const Attempt& current, const Attempt& mended) {
  if (!original.is_played) return true;
  if (has_late_rules(*goal.scenario)) return true;
  if (original.holds) return mended.holds && mended.texts == original.texts;
  if (goal.is_form) return true;
  if (!mended.is_played || mended.texts.front() != original.texts.front()) return false;
  if (mended.kept < current.kept || mended.data_bytes < current.data_bytes) return false;
  return ends_alike(original, mended) && follows_alike(original, mended) && !repeats(original, mended);
}

}  // namespace rondo::mend
