#include "analysis/cuts.h"

#include <array>

#include "probe/words.h"

namespace rondo::analysis {

using probe::kContentText;
using probe::kReasoningText;

namespace {

constexpr std::size_t kMostMarks = 6;  // each pair costs a few renders

void add_marks(const Turn& turn, std::vector<std::string>& marks) {
  constexpr std::array<std::string_view, 11> kSearches = {"in",         "split",      "rsplit",      "partition",
                                                          "rpartition", "find",       "rfind",       "index",
                                                          "rindex",     "startswith", "removeprefix"};
  for (const jinja::Probe& probe : turn.probes) {
    const bool searches = std::ranges::find(kSearches, probe.operation) != kSearches.end();
    if (searches && format::trimmed(probe.constant).size() > 2 &&
        std::ranges::find(marks, probe.constant) == marks.end())
      marks.push_back(probe.constant);
  }
}

// Returns the turn of an answer that a question follows, because some templates cut only earlier turns.
std::optional<Turn> turn_of(const Evidence& evidence, const std::string& content) {
  return evidence.prober.turn_of(content, {.tools = false, .with_user = true});
}

}  // namespace

std::vector<std::string> searched_marks(const Evidence& evidence, const Ending& ending, const format::Calls& calls) {
  std::vector<std::string> out;
  for (const auto& [parts, variant] : evidence.variants) add_marks(variant.turn, out);
  if (ending.followed) add_marks(*ending.followed, out);
  std::erase_if(out, [&calls](const std::string& mark) {
    const std::string_view core = format::trimmed(mark);
    return contains(calls.section_open, core) || contains(calls.section_close, core) ||
           contains(calls.call_open, core) || contains(calls.call_close, core);
  });
  return out;
}

ContentCut cut_between(const Evidence& evidence, const std::string& open, const std::string& close) {
  const std::string front = open + std::string(kReasoningText);
  const auto turn = turn_of(evidence, front + close + std::string(kContentText));
  ContentCut out;
  if (!turn) return out;
  bool has_reasoning = false;
  bool has_content = false;
  bool has_more = false;  // a token has a mark, or both texts in one
  for (const Token& token : turn->tokens) {
    if (token.kind != SlotKind::kContent) continue;
    const bool is_reasoning = contains(token.text, kReasoningText);
    const bool is_content = contains(token.text, kContentText);
    has_more = has_more || (is_reasoning && is_content) || contains(token.text, open) || contains(token.text, close);
    has_reasoning = has_reasoning || is_reasoning;
    has_content = has_content || is_content;
  }
  out.is_left_out = has_content && !has_reasoning && !has_more;
  out.is_set_apart = has_content && has_reasoning && !has_more;
  out.is_kept = has_reasoning && !has_content;
  out.is_nested = std::ranges::any_of(turn->probes, [&](const jinja::Probe& probe) {
    const bool is_in_front = probe.constant == open && probe.end > 0 && probe.end <= front.size();
    return is_in_front || (probe.constant == close && !open.empty() && probe.begin >= open.size());
  });
  return out;
}

std::optional<Tags> cut_out_of_content(const Evidence& evidence, std::vector<std::string> marks) {
  for (const std::string& mark : std::vector(marks)) {
    const auto turn = turn_of(evidence, mark + std::string(kReasoningText) + std::string(kContentText));
    if (turn) add_marks(*turn, marks);
  }
  if (marks.size() > kMostMarks) return std::nullopt;
  for (const std::string& close : marks) {
    const bool is_cut_alone = cut_between(evidence, "", close).is_cut();
    for (const std::string& open : marks) {
      if (contains(open, close) || contains(close, open)) continue;
      const ContentCut cut = cut_between(evidence, open, close);
      // If all text before `close` is cut, only nesting shows the opener.
      if (!cut.is_cut() || (is_cut_alone && !cut.is_nested)) continue;
      // If the order does not matter, the marks are something else, such as places of pictures.
      if (!cut_between(evidence, close, open).is_cut()) return Tags{open, close};
    }
  }
  return std::nullopt;
}

}  // namespace rondo::analysis
