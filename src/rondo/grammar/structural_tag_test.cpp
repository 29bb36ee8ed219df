#include "grammar/structural_tag.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::grammar {
namespace {

TEST_CASE("bug: two words triggered one tag where a tool's name begins with another's, which xgrammar refuses") {
  TurnGrammar turn;
  const RuleId root = turn.grammar.declare("root");
  turn.grammar.define(root, turn.grammar.literal("x"));
  turn.grammar.set_root(root);
  for (const char* word : {"[calculate", "[calc", "[now", "[calc"}) turn.parts.push_back({word, root});
  const json::Value tag = to_structural_tag(turn);
  const json::Value* format = tag.find("format");
  REQUIRE(format != nullptr);
  CHECK(json::to_compact(*format->find("triggers")) == R"(["[calc","[now"])");
  CHECK(format->find("tags")->as_array().size() == 4);
}

}  // namespace
}  // namespace rondo::grammar
