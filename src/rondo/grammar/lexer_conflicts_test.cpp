#include "grammar/lexer_conflicts.h"

#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include "grammar/lark.h"
#include "grammar/lower.h"
#include "grammar/matcher.h"

namespace rondo::grammar {
namespace {

template <typename Build>
Grammar grammar_with(const Build& build) {
  Grammar g;
  const RuleId root = g.declare("root");
  g.define(root, build(g));
  g.set_root(root);
  return g.pruned();
}

NodeId space(Grammar& g) { return g.repeat(g.chars(CharSet::any_of(" \n")), 0, 64); }

// Text up to `</v>`, white space and a line end, then an indented key.
NodeId indented_line(Grammar& g) {
  return g.sequence({g.literal("a:"), g.token(g.sequence({space(g), g.literal("\n")})), g.literal("    b:")});
}

// A value that ends with `}\`, but not where `}\arg{` begins, and `arg{` or `end` behind it.
NodeId raw_value(Grammar& g) {
  const NodeId value = g.token(g.sequence({g.text({"}\\arg{", "}\\end"}, ""), g.literal("}\\")}));
  return g.sequence({value, g.choice({g.literal("arg{"), g.literal("end")})});
}

TEST_CASE("lexemes that may take what belongs to the next one are found") {
  CHECK(!lexer_conflicts(grammar_with(indented_line)).empty());
  CHECK(!lexer_conflicts(grammar_with(raw_value)).empty());
  // White space in JSON inside of a string takes the backslash of a quote.
  CHECK(!lexer_conflicts(grammar_with([](Grammar& g) {
           const NodeId blank = g.choice({g.literal(" "), g.literal("\\n")});
           return g.sequence({g.literal(":"), g.token(g.repeat(blank, 0, 64)), g.literal("\\\"x")});
         })).empty());
  // A name takes the first byte of the arrow behind it.
  const CharSet letters = CharSet::range('a', 'z').united(CharSet::range(0x2000, 0x2191));
  CHECK(!lexer_conflicts(grammar_with([&](Grammar& g) {
           return g.sequence({g.token(g.repeat(g.chars(letters), 1, kUnbounded)), g.literal("\xE2\x86\x92")});
         })).empty());
  // Text up to the end of reasoning takes the call that comes instead of this end.
  CHECK(!lexer_conflicts(grammar_with([](Grammar& g) {
           return g.choice({g.sequence({g.token(g.text({}, "Answer:")), g.literal("x")}),
                            g.sequence({g.token(g.text({}, "Action:")), g.literal(" f")})});
         })).empty());
}

TEST_CASE("lexemes that end by themselves are left as they are") {
  const auto has_none = [](const auto& build) { return lexer_conflicts(grammar_with(build)).empty(); };
  CHECK(has_none([](Grammar& g) {
    const NodeId number = g.token(g.repeat(g.chars(CharSet::range('0', '9')), 1, kUnbounded));
    return g.sequence({g.literal("{"), g.token(space(g)), number, g.token(space(g)), g.literal("}")});
  }));
  CHECK(has_none(
      [](Grammar& g) { return g.sequence({g.token(g.text({}, "</v>")), g.token(space(g)), g.literal("<v>")}); }));
  // Text up to a marker may take a word that something else would read: both end at that marker.
  CHECK(has_none([](Grammar& g) {
    const NodeId word = g.sequence({g.literal("true"), g.token(g.sequence({space(g), g.literal("</v>")}))});
    return g.choice({g.token(g.text({}, "</v>")), word});
  }));
  CHECK(has_none([](Grammar& g) { return g.sequence({g.text({"<call>"}, ""), g.literal("<call>")}); }));
}

TEST_CASE("a grammar with split lexemes has the same texts, and no conflict") {
  for (const auto& [grammar, text, other] :
       {std::tuple(grammar_with(indented_line), std::string("a: \n    b:"), std::string("a:    b:")),
        std::tuple(grammar_with(raw_value), std::string("x}\\y}\\arg{"), std::string("x}\\arg{arg{end"))}) {
    Grammar split = grammar;
    for (int round = 0; round < 8; ++round) split = with_split_lexemes(split, lexer_conflicts(split));
    CHECK(lexer_conflicts(split).empty());
    CHECK(accepts(grammar, text));
    CHECK(accepts(split, text));
    CHECK(accepts(split, other) == accepts(grammar, other));
  }
  const std::string lark = to_lark(grammar_with(raw_value));
  CHECK_MESSAGE(lark.find("start: text T0 T1 (") != std::string::npos, lark);
}

}  // namespace
}  // namespace rondo::grammar
