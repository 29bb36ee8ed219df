#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/utf8.h"
#include "grammar/gbnf.h"
#include "grammar/gbnf_reader.h"
#include "grammar/lower.h"
#include "grammar/matcher.h"
#include "grammar/numbers.h"
#include "grammar/pattern.h"
#include "grammar/rest.h"
#include "grammar/schema.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

// Returns a grammar of one node.
template <typename Build>
Grammar grammar_of(const Build& build) {
  Grammar g;
  const RuleId root = g.declare("root");
  g.define(root, build(g));
  g.set_root(root);
  return g;
}

// Returns whether the text fits.  The graph and its printed form must agree.
bool fits(const Grammar& grammar, const std::string& text) {
  const bool is_accepted = accepts(grammar, text);
  const auto printed = read_gbnf(to_gbnf(grammar));
  REQUIRE_MESSAGE(printed.ok(), to_gbnf(grammar));
  CHECK_MESSAGE(accepts(printed.value(), text) == is_accepted, text);
  return is_accepted;
}

// Returns whether the text fits a grammar behind a beginning.
bool fits_behind(const Grammar& grammar, const std::string& begun, const std::string& text) {
  const auto rest = rest_behind(grammar, begun);
  REQUIRE(rest);
  return fits(*rest, text);
}

struct Compiled {
  Grammar grammar;
  std::vector<std::string> warnings;
  std::size_t work = 0;
  std::string limit;
};

Compiled compiled(const std::string& schema, const Spelling& spelling = Spelling::json()) {
  Compiled out;
  const auto document = json::parse(schema);
  REQUIRE_MESSAGE(document.ok(), schema);
  SchemaContext context;
  SchemaCompiler compiler(out.grammar, document.value(), "test", context);
  const RuleId root = out.grammar.declare("root");
  out.grammar.define(root, compiler.value(compiler.root(), Speller(out.grammar, spelling), "value"));
  out.grammar.set_root(root);
  out.warnings = context.warnings.sentences();
  out.work = context.work;
  out.limit = context.limit;
  return out;
}

TEST_CASE("text up to a marker ends at the first one, also where a marker overlaps itself") {
  const Grammar g = grammar_of([](Grammar& grammar) { return grammar.text({"</b>"}, "aab"); });
  CHECK(fits(g, "aab"));
  CHECK(fits(g, "aaab"));
  CHECK(fits(g, "x\n\xC3\xA9 aa b aaab"));
  CHECK(!fits(g, "aabaab"));
  CHECK(!fits(g, "aa"));
  CHECK(!fits(g, "</b>aab"));
  CHECK(fits(g, "</baab"));
  const Grammar rest = grammar_of([](Grammar& grammar) { return grammar.text({"<x>", "<xy>"}, ""); });
  CHECK(fits(rest, ""));
  CHECK(fits(rest, "<x<xy"));
  CHECK(!fits(rest, "a<xy>"));
}

TEST_CASE("long repetitions count exactly") {
  for (const std::uint32_t count : {63U, 64U, 65U, 100U, 4095U, 4096U, 4097U, 5000U}) {
    const Grammar most = grammar_of([&](Grammar& g) { return g.repeat(g.literal("a"), 0, count); });
    CHECK(fits(most, std::string(count, 'a')));
    CHECK(fits(most, std::string(count - 1, 'a')));
    CHECK(!fits(most, std::string(count + 1, 'a')));
    const Grammar exact = grammar_of([&](Grammar& g) { return g.repeat(g.literal("a"), count, count); });
    CHECK(fits(exact, std::string(count, 'a')));
    CHECK(!fits(exact, std::string(count - 1, 'a')));
    CHECK(!fits(exact, std::string(count + 1, 'a')));
  }
  const Grammar huge = grammar_of([](Grammar& g) { return g.repeat(g.literal("a"), 3, 1'000'000'000); });
  CHECK(fits(huge, "aaaa"));
  CHECK(!fits(huge, "aa"));
  CHECK(to_gbnf(huge).size() < 20'000);
}

TEST_CASE("integers within bounds") {
  const auto check = [](int least, int most) {
    const Grammar g = grammar_of([&](Grammar& grammar) {
      return integers_within(grammar, {Bound{std::to_string(least), false}, Bound{std::to_string(most), false}});
    });
    Matcher matcher(g);
    for (int i = -1100; i <= 1100; ++i) {
      matcher.restart();
      const bool is_in = matcher.feed(std::to_string(i)) && matcher.is_complete();
      CHECK_MESSAGE(is_in == (i >= least && i <= most), least << ".." << most << ": " << i);
    }
  };
  for (const auto& [least, most] : std::vector<std::pair<int, int>>{
           {0, 0}, {0, 9}, {1, 10}, {5, 17}, {-3, 3}, {-999, 1000}, {-50, -7}, {99, 101}, {123, 987}, {7, 3}})
    check(least, most);
}

TEST_CASE("bug: a bound whose exponent is no int was any bound") {
  for (const char* bound : {"1e-4294967296", "1e99999999999", "-1e-99999999999", "1E+4294967296"}) {
    const Compiled any = compiled(std::string(R"({"type": "integer", "maximum": )") + bound + "}");
    CHECK(fits(any.grammar, "5"));
    CHECK(any.warnings.size() == 1);
  }
}

TEST_CASE("decimal numbers within bounds") {
  struct Row {
    const char* least;
    bool above;
    const char* most;
    bool below;
  };
  const std::vector<Row> rows = {
      {"0", false, "1", false},      {"0", true, "1", true},       {"0.25", false, "0.75", true},
      {"-1.5", false, "2", true},    {"1.5", true, "1.75", false}, {"9.99", false, "10.01", false},
      {"-0.5", true, "-0.05", true}, {"3", true, "3", false},      {"0.05", true, "0.051", true}};
  for (const Row& row : rows) {
    const Grammar g = grammar_of([&](Grammar& grammar) {
      return numbers_within(grammar, {Bound{row.least, row.above}, Bound{row.most, row.below}});
    });
    Matcher matcher(g);
    const double least = std::stod(row.least);
    const double most = std::stod(row.most);
    for (int i = -2200; i <= 12'000; ++i) {
      char text[32];
      std::snprintf(text, sizeof text, "%.3f", i / 1000.0);
      if (std::string(text) == "-0.000") continue;
      const double value = std::stod(text);
      const bool expected = (row.above ? value > least : value >= least) && (row.below ? value < most : value <= most);
      std::string shown = text;
      for (int cut = 0; cut < 4; ++cut) {
        matcher.restart();
        const bool is_in = matcher.feed(shown) && matcher.is_complete();
        CHECK_MESSAGE(is_in == expected, row.least << ".." << row.most << ": " << shown);
        if (shown.back() != '0' || shown.find('.') == std::string::npos) break;
        shown.pop_back();
        if (shown.back() == '.') shown.pop_back();
      }
    }
  }
}

TEST_CASE("patterns") {
  struct Row {
    const char* pattern;
    std::vector<const char*> yes;
    std::vector<const char*> no;
  };
  const std::vector<Row> rows = {
      {"^a+b?$", {"a", "aab"}, {"", "b", "abb"}},
      {"b", {"b", "abc", "xbx"}, {"", "ac"}},
      {"^(foo|bar)$", {"foo", "bar"}, {"foobar", "fo"}},
      {"^foo|bar$", {"foox", "xbar"}, {"xfoo", "barx"}},
      {"(^a$)|(^b$)", {"a", "b"}, {"ab", ""}},
      {"^[a-c\\d_-]{2,3}$", {"a1", "_-9"}, {"a", "abcd", "zz"}},
      {"^\\w+@\\w+\\.com$", {"me@x.com"}, {"me@xcom", "@x.com"}},
      {"^[^a]$", {"b", "\xC3\xA9"}, {"a", ""}},
      {"^\\u0041\\x42\\n$", {"AB\n"}, {"AB"}},
      {"^(?:ab){2}(?<n>c)*?$", {"abab", "ababcc"}, {"ab"}},
      {"^x{2}y{0,}z{1}$", {"xxz", "xxyyz"}, {"xz"}},
      {"^a{b}$", {"a{b}"}, {"ab"}},
      {"", {"", "anything"}, {}},
  };
  for (const Row& row : rows) {
    for (const char* text : row.yes) CHECK_MESSAGE(pattern_matches(row.pattern, text), row.pattern << " " << text);
    for (const char* text : row.no) CHECK_MESSAGE(!pattern_matches(row.pattern, text), row.pattern << " " << text);
  }
  Grammar g;
  const Speller speller(g, Spelling::json());
  for (const char* pattern : {"(?=a)", "(a)\\1", "\\bx", "a^b", "\\p{L}", "(", "[a", "a)", "*a", "[b-a]", "\\"})
    CHECK_MESSAGE(!pattern_content(speller, pattern).ok(), pattern);
}

TEST_CASE("a set of characters and what it lacks are all characters but surrogates") {
  const std::vector<char32_t> points = {0,      1,      'a',    'b',      'c',      0xD7FE,
                                        0xD7FF, 0xE000, 0xE001, 0x10FFFD, 0x10FFFE, 0x10FFFF};
  for (const char32_t first : points) {
    for (const char32_t last : points) {
      const CharSet set = CharSet::range(first, last);
      const CharSet rest = set.complement();
      CAPTURE(static_cast<std::uint32_t>(first));
      CAPTURE(static_cast<std::uint32_t>(last));
      for (const char32_t point : points) {
        CHECK(set.contains(point) == (first <= point && point <= last));
        CHECK(rest.contains(point) != set.contains(point));
      }
      CHECK(rest.complement() == set);
      CHECK(set.united(rest) == CharSet::all());
      CHECK(set.common(rest).empty());
      for (const char32_t other : points) {
        const CharSet both = set.common(CharSet::range('b', other));
        for (const char32_t point : points)
          CHECK(both.contains(point) == (set.contains(point) && 'b' <= point && point <= other));
      }
    }
  }
  CHECK_FALSE(CharSet::all().contains(0xD800));
  CHECK_FALSE(CharSet::all().contains(0xDFFF));
  CHECK(CharSet::range('a', 'b').united(CharSet::range('c', 'd')).ranges().size() == 1);
  CHECK(CharSet::range('a', 'b').united(CharSet::range('d', 'e')).ranges().size() == 2);
}

TEST_CASE("what a schema lists has a limit: required members, names, values") {
  const auto names = [](std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += (i > 0 ? ",\"m" : "\"m") + std::to_string(i) + "\"";
    return out;
  };
  const auto is_taken = [](const std::string& schema) { return compiled(schema).warnings.empty(); };
  CHECK(is_taken(R"({"enum":[)" + names(2000) + "]}"));
  CHECK(is_taken(R"({"type":"object","required":[)" + names(200) + "]}"));
  CHECK_FALSE(is_taken(R"({"type":"object","required":[)" + names(20'000) + "]}"));
  CHECK_FALSE(is_taken(R"({"type":"object","required":["a"],"properties":{"a":{"enum":[)" + names(600'000) + "]}}}"));
  std::string properties;
  for (std::size_t i = 0; i < 130'000; ++i) properties += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  CHECK_FALSE(is_taken(R"({"type":"object","properties":{)" + properties + "}}"));
}

TEST_CASE("values of several lists are those that all of them have") {
  const Compiled both = compiled(R"({"allOf":[{"enum":[1,"a",[1],2.0,null,-0.0]},{"enum":["a","b",1.0,2,[1],0]}]})");
  for (const char* value : {"1", "\"a\"", "[1]", "2.0", "-0.0"}) CHECK_MESSAGE(accepts(both.grammar, value), value);
  for (const char* value : {"null", "\"b\"", "[2]", "3"}) CHECK_MESSAGE(!accepts(both.grammar, value), value);
}

TEST_CASE("bug: a schema that nested deeper than 160 levels was refused") {
  const auto nested = [](int depth, const std::string& inner) {
    std::string out = inner;
    for (int i = 0; i < depth; ++i) out = R"({"type":"array","minItems":1,"items":)" + out + "}";
    return out;
  };
  const auto list = [](std::size_t depth, const std::string& inner) {
    return std::string(depth, '[') + inner + std::string(depth, ']');
  };
  for (const std::size_t depth : {100U, 150U, 200U}) {
    const Compiled deep = compiled(nested(static_cast<int>(depth), R"({"type":"integer"})"));
    CHECK(deep.warnings.empty());
    CHECK(accepts(deep.grammar, list(depth, "1")));
    CHECK(!accepts(deep.grammar, list(depth, "null")));
  }
}

TEST_CASE("bug: keywords with values of the wrong kind were passed over without a word") {
  for (const char* schema : {R"({"type":"object","properties":5})", R"({"type":"object","required":true})",
                             R"({"enum":"a"})", R"({"type":"string","pattern":5})", R"({"anyOf":{}})"}) {
    const Compiled made = compiled(schema);
    REQUIRE_MESSAGE(made.warnings.size() == 1, schema);
    CHECK_MESSAGE(made.warnings[0].find("must be a") != std::string::npos, made.warnings[0]);
  }
  CHECK(compiled(R"({"type":"object","properties":null})").warnings.empty());
}

TEST_CASE("schemas") {
  struct Row {
    const char* schema;
    std::vector<const char*> yes;
    std::vector<const char*> no;
    std::size_t warnings = 0;
  };
  const std::vector<Row> rows = {
      {R"({"type":"string"})", {R"("")", R"("a\"\\\n\u00e9é")"}, {R"("a)", "a", "1", "\"\n\""}},
      {R"({"type":["integer","null"]})", {"0", "-12", "null"}, {"01", "1.5", "true"}},
      {R"({"type":"number"})", {"0", "-1.5e+10"}, {".5", "1.", "NaN"}},
      {R"({"enum":["a",1,null,{"k":[true]}]})", {R"("a")", "1", "null", R"({"k": [ true ] })"}, {"2", R"("b")"}},
      {R"({"enum":["a","abc",5],"minLength":2,"maximum":4})", {R"("abc")"}, {R"("a")", "5"}},
      {R"({"const":"é😀"})", {R"("é😀")", R"("\u00e9\ud83d\ude00")"}, {R"("e")"}},
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"boolean"}},"required":["a"],
           "additionalProperties":false})",
       {R"({"a":1})", R"({ "a" : 1 , "b" : true })", R"({"b":false,"a":2})"},
       {R"({})", R"({"b":true})", R"({"a":1,"c":2})", R"({"a":1,})", R"({"a":"1"})"}},
      {R"({"properties":{"a":{"type":"integer"}}})",
       {R"({})", R"({"a":1})", R"({"x":[1,{}],"a":1})"},
       {R"({"a":"s"})", "3"}},
      {R"({"type":"object","additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":2})",
       {R"({"x":1})", R"({"x":1,"y":2})"},
       {R"({})", R"({"x":1,"y":2,"z":3})", R"({"x":"1"})"}},
      {R"({"type":"object","patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":false})",
       {R"({})", R"({"n_a":1})"},
       {R"({"m":1})", R"({"n_a":"x"})"}},
      {R"({"type":"object","patternProperties":{"^n_":{"type":"integer"}}})", {R"({"n_a":1,"m":true})"}, {"1"}, 1},
      {R"({"type":"object","propertyNames":{"pattern":"^[a-z]+$"}})", {R"({"ab":1})"}, {R"({"A":1})"}},
      {R"({"type":"object","properties":{"ab":{},"x1":{}},"propertyNames":{"pattern":"^[a-z]+$"}})",
       {R"({"ab":1,"c":2})"},
       {R"({"x1":1})"}},
      {R"({"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3})",
       {"[1]", "[1, 2,3]"},
       {"[]", "[1,2,3,4]", "[\"a\"]"}},
      {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":1})",
       {"[1]", R"([1,"a"])"},
       {"[]", R"([1,"a",2])", R"(["a"])"}},
      {R"({"type":"array","items":[{"type":"integer"}],"additionalItems":{"type":"boolean"}})",
       {"[]", "[1]", "[1,true,false]"},
       {"[true]", "[1,2]"}},
      {R"({"anyOf":[{"type":"integer"},{"type":"string","maxLength":2}]})", {"5", R"("ab")", R"("é\n")"}, {R"("abc")"}},
      {R"({"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},
           {"properties":{"b":{"type":"string"}},"required":["b"]}]})",
       {R"({"a":1,"b":"x"})"},
       {R"({"a":1})", R"({"a":1,"b":2})"}},
      {R"({"allOf":[{"properties":{"a":{"minimum":2}}},{"properties":{"a":{"type":"integer","maximum":4}}}]})",
       {R"({"a":3})"},
       {R"({"a":1})", R"({"a":5})"}},
      {R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"v":{"type":"integer"},
           "kids":{"type":"array","items":{"$ref":"#/$defs/t"}}},"required":["v"],"additionalProperties":false}}})",
       {R"({"v":1,"kids":[{"v":2},{"kids":[],"v":3}]})"},
       {R"({"v":1,"kids":[{}]})"}},
      {R"({"anyOf":[{"$ref":"#"},{"type":"integer"}]})", {"3"}, {R"("x")"}},
      {R"({"$defs":{"a":{"$anchor":"num","type":"integer"}},"$ref":"#num"})", {"3"}, {"true"}},
      {R"({"type":"string","format":"date"})", {R"("2026-03-14")"}, {R"("2026-13-01")"}},
      {R"({"type":"string","format":"uuid"})", {R"("123e4567-e89b-12d3-a456-426614174000")"}, {R"("123")"}},
      {R"({"type":"string","format":"ipv6"})", {R"("::1")", R"("2001:db8::8:800:200c:417a")"}, {R"("1")"}},
      {R"({"type":"string","pattern":"^[\"\\\\]+$"})", {R"("\"\\")"}, {R"("a")", R"(""")"}},
      {R"({"type":"string","pattern":"^.{2}$"})", {R"("é\u00e9")", R"("\ud83d\ude00a")"}, {R"("\u00e9")", R"("a\n")"}},
      {R"({"type":"integer","exclusiveMinimum":0,"maximum":12})", {"1", "12"}, {"0", "13", "-1"}},
      {R"({"type":"number","minimum":0,"exclusiveMinimum":true})", {"0.1", "1"}, {"0", "-1"}},
      {R"({"type":"number","multipleOf":0.01})", {"1.25", "3", "1.500"}, {"1.255"}},
      {R"({"type":"integer","multipleOf":100})", {"0", "-300"}, {"50"}},
      {R"({"type":"integer","nullable":true})", {"null", "1"}, {"true"}},
      {R"({"type":"integer","not":{"const":3},"uniqueItems":true,"frobnicate":1})", {"3"}, {"x"}, 3},
      {"true", {"1", "{}", R"([{"a":null}])"}, {"x"}},
      {"false", {}, {"1", "", "null"}},
      {R"({"allOf":[{"type":"array","prefixItems":[{},{}]},{"items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}]})",
       {"[]", "[1]", "[null,2,3]"},
       {R"(["x"])", R"([1,"x"])", R"([1,2,"x"])"}},
      {R"({"oneOf":[{"properties":{"k":{"const":"a"},"v":{"type":"integer"}},"required":["k"]},
           {"properties":{"k":{"enum":["b"]},"w":{"type":"integer"}},"required":["k"]}]})",
       {R"({"k":"a","v":1})", R"({"k":"b","w":1})"},
       {R"({"k":"c"})", R"({"k":"a","v":"x"})"}},
      {R"({"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"a"},"w":{}}}]})",
       {R"({"k":"a"})"},
       {R"({"k":"b"})"},
       1},
      {R"({"oneOf":[{"const":1},{"const":2}]})", {"1", "2"}, {"3"}},
      {R"({"oneOf":[{"properties":{"k":{}}},{"required":["k"],"type":"object"}]})", {R"({"k":1})"}, {"1"}, 1},
      {R"({"type":"number","minimum":12e-3,"maximum":1.25E1})",
       {"0.012", "0.5", "12.5", "12.50"},
       {"0.011", "0.0119", "12.51", "13", "1002"}},
      {R"({"type":"integer","exclusiveMinimum":1e1,"exclusiveMaximum":0.13e2})", {"11", "12"}, {"10", "13", "1", "0"}},
      {R"({"type":"number","minimum":-2.5e-1,"maximum":-1e-2})", {"-0.25", "-0.01", "-0.1"}, {"-0.26", "-0.001", "0"}},
      {R"({"type":"array","items":{"type":"null"},"maxItems":1e12})", {"[]", "[null,null]"}, {"[1]"}},
      {R"({"type":"array","items":{"type":"null"},"minItems":1e12})", {}, {"[null]"}, 1},
      {R"({"type":"array","minItems":-1,"maxItems":"x"})", {"[]"}, {"1"}, 2},
      {R"({"type":"array","items":{"type":"null"},"maxItems":0})", {"[]"}, {"[null]"}},
      {R"x({"type":"string","x-grammar":{"syntax":"lark","definition":"start: \"'\" start | \"\\n\""}})x",
       {R"("''\n")"},
       {"\"''\n\"", "\"''\""}},
      {R"({"x-grammar":{"syntax":"regex","definition":"a|b"},"pattern":"c"})", {"\"a\""}, {"\"ab\"", "1"}, 1},
      {R"({"x-grammar":{"syntax":"ebnf","definition":"a"}})", {"\"z\""}, {"1"}, 1},
      {R"({"type":"string","minLength":2,"maxLength":3})", {R"("ab")", R"("\u00e9é")"}, {R"("a")", R"("abcd")"}},
      {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", {"1"}, {"x"}, 1},
      {R"({"type":"object","properties":{"a":{"$ref":"urn:elsewhere:x"}}})", {R"({"a":1})"}, {"1"}, 1},
      {R"({"type":"object","properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}},
           "required":["a"]})",
       {},
       {"{}"}},
  };
  for (const Row& row : rows) {
    const Compiled made = compiled(row.schema);
    for (const char* text : row.yes)
      CHECK_MESSAGE(fits(made.grammar, text), row.schema << "\n" << text << "\n" << to_gbnf(made.grammar));
    for (const char* text : row.no) CHECK_MESSAGE(!fits(made.grammar, text), row.schema << "\n" << text);
    CHECK_MESSAGE(made.warnings.size() == row.warnings, row.schema << "\n"
                                                                   << (made.warnings.empty() ? "" : made.warnings[0]));
  }
}

TEST_CASE("the rest behind a beginning is what makes a text of the grammar with it") {
  const Grammar object =
      compiled(R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "\u00e4y"]},
      "c": {"type": "array", "items": {"type": "string", "maxLength": 30}}}, "required": ["a", "b"],
      "additionalProperties": {"type": "boolean"}})")
          .grammar;
  for (const std::string& whole : {std::string(R"({"a": 12, "b": "\u00e4y"})"),
                                   std::string(R"({"a": 1, "b": "x", "c": ["\\n", "q"], "other": true})"),
                                   R"({"a": 1, "b": "x", "c": [")" + std::string(20, 'y') + "\"]}"}) {
    REQUIRE(fits(object, whole));
    for (std::size_t at = 0; at <= whole.size(); ++at) {
      if (at < whole.size() && utf8::is_continuation(whole[at])) continue;
      const std::string begun = whole.substr(0, at);
      CHECK_MESSAGE(fits_behind(object, begun, whole.substr(at)), begun);
      CHECK_MESSAGE(fits_behind(object, begun, whole) == (at == 0), begun);
      CHECK_MESSAGE(!fits_behind(object, begun + "\x01", whole.substr(at)), begun);
      CHECK_MESSAGE(!fits_behind(object, begun, whole.substr(at) + "}"), begun);
    }
  }
  CHECK(!fits_behind(object, "\xc3", "\xa4"));
  const Grammar any = compiled("true").grammar;
  CHECK(fits_behind(any, "[\"" + std::string(100'000, 'x'), "\"]"));
  CHECK(!rest_behind(any, std::string(100'000, '[')));
  const Grammar text = grammar_of([](Grammar& g) { return g.token(g.text({"stop"}, "end")); });
  CHECK(fits_behind(text, "an e", "en end"));
  CHECK(!fits_behind(text, "an en", "d end"));
  CHECK(!fits_behind(text, "a st", "op end"));
  const Grammar other =
      grammar_of([](Grammar& g) { return g.except(g.chars(CharSet::range('a', 'z')), {"abc", "abd"}); });
  CHECK(fits_behind(other, "ab", "e"));
  CHECK(!fits_behind(other, "ab", "c"));
  CHECK(fits_behind(other, "ab", "cc"));
}

}  // namespace
}  // namespace rondo::grammar
