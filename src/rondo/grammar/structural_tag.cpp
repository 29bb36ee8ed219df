#include "grammar/structural_tag.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "grammar/gbnf.h"

namespace rondo::grammar {
namespace {

// Returns whether the part's word is a trigger: no other one begins it, because a tag may have one trigger only.
bool is_trigger(const TriggeredPart& part, const std::vector<TriggeredPart>& parts) {
  return std::ranges::none_of(parts, [&part](const TriggeredPart& other) {
    const bool comes_first = other.word.size() < part.word.size() || &other < &part;
    return &other != &part && comes_first && part.word.starts_with(other.word);
  });
}

json::Value grammar_format(const Grammar& grammar) {
  return json::Object{{"type", "grammar"}, {"grammar", to_gbnf(grammar)}};
}

}  // namespace

json::Value to_structural_tag(const TurnGrammar& turn) {
  json::Object format;
  if (turn.parts.empty()) { return json::Object{{"type", "structural_tag"}, {"format", grammar_format(turn.grammar)}}; }
  json::Array triggers;
  json::Array tags;
  for (const TriggeredPart& part : turn.parts) {
    Grammar rest = turn.grammar;
    rest.set_root(part.rest);
    if (is_trigger(part, turn.parts)) triggers.emplace_back(part.word);
    tags.emplace_back(
        json::Object{{"type", "tag"}, {"begin", part.word}, {"content", grammar_format(rest)}, {"end", ""}});
  }
  format.set("type", "triggered_tags");
  format.set("triggers", std::move(triggers));
  format.set("tags", std::move(tags));
  format.set("at_least_one", false);
  format.set("stop_after_first", true);
  return json::Object{{"type", "structural_tag"}, {"format", std::move(format)}};
}

}  // namespace rondo::grammar
