#include "grammar/structural_tag.h"

#include <utility>

#include "grammar/gbnf.h"

namespace rondo::grammar {
namespace {

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
    triggers.emplace_back(part.word);
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
