// Turns in other spellings than a template writes.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "audit/sample.h"

namespace rondo::audit {
namespace {

// A sampled turn in which brackets mark reasoning `(...)`, content `<...>` and calls `[...]`; its stop begins at `$`.
// None of these is part of the text.
Sampled turn(const std::string& marked) {
  Sampled out;
  std::size_t begin = 0;
  out.stop_begin = std::string::npos;
  for (const char c : marked) {
    const std::size_t at = out.text.size();
    switch (c) {
      case '(':
      case '<':
      case '[': begin = at; break;
      case ')': out.regions.reasoning = render::Extent{begin, at}; break;
      case '>': out.regions.content = render::Extent{begin, at}; break;
      case ']': out.regions.calls.push_back({begin, at}); break;
      case '$': out.stop_begin = at; break;
      default: out.text += c;
    }
  }
  if (out.stop_begin == std::string::npos) out.stop_begin = out.text.size();
  return out;
}

// The result, with `$` where its stop begins then; or why there is none.
std::string spelled(const std::string& marked, Spelling spelling, ScenarioTurn of = {}) {
  format::Format format;
  format.reasoning.close = "~mull~\n";
  format.calls.call_open = "{do ";
  Sampled sampled = turn(marked);
  of.spelling = spelling;
  if (const auto why_not = respell(format, of, sampled)) return "not: " + *why_not;
  return sampled.text.insert(sampled.stop_begin, sampled.is_cut ? "(cut)" : "$");
}

TEST_CASE("respell: white space around parts of the turn") {
  const std::string whole = "(Hm)~mull~\n<Well> {do [f]}$#";
  CHECK(spelled(whole, Spelling::kCanonical) == "Hm~mull~\nWell {do f}$#");
  CHECK(spelled(whole, Spelling::kSpaceBeforeContent) == "Hm~mull~\n\nWell {do f}$#");
  CHECK(spelled(whole, Spelling::kSpaceBehindContent) == "Hm~mull~\nWell\n {do f}$#");
  CHECK(spelled(whole, Spelling::kBlankLineBehindReasoning) == "Hm~mull~\n\nWell {do f}$#");
  CHECK(spelled(whole, Spelling::kTightBehindReasoning) == "Hm~mull~Well {do f}$#");
  CHECK(spelled(whole, Spelling::kNewlineEndsReasoning) == "Hm\n~mull~\nWell {do f}$#");
  CHECK(spelled(whole, Spelling::kSpaceBeforeCall) == "Hm~mull~\nWell \n{do f}$#");
  CHECK(spelled(whole, Spelling::kTightBeforeCall) == "Hm~mull~\nWell{do f}$#");
}

TEST_CASE("respell: what a turn does not have cannot be spelled otherwise") {
  CHECK(spelled("{do [f]}$#", Spelling::kSpaceBeforeContent) == "not: the turn shows no content");
  CHECK(spelled("<Well>$#", Spelling::kNewlineEndsReasoning) == "not: the turn has no reasoning");
  CHECK(spelled("<Well>$#", Spelling::kTightBehindReasoning) == "not: the turn has no reasoning");
  CHECK(spelled("(Hm)<Well>$#", Spelling::kTightBehindReasoning) == "not: nothing closes the reasoning");
  CHECK(spelled("(Hm)~mull~<Well>$#", Spelling::kTightBehindReasoning) == "not: there is no white space");
  CHECK(spelled("<Well>$#", Spelling::kSpaceBeforeCall) == "not: nothing marks where the call begins");
  CHECK(spelled("<Well>{do [f]}$#", Spelling::kTightBeforeCall) == "not: there is no white space");
  CHECK(spelled("<Well>$#", Spelling::kCutInCall) == "not: the turn has no call");
  CHECK(spelled("<Well>$#", Spelling::kBrokenCall) == "not: the turn has no call");
  CHECK(spelled("{do [f] end$#", Spelling::kBrokenCall) == "not: nothing closes the call");
  CHECK(spelled("{do [f]}$#", Spelling::kCompactJson).starts_with("not: "));
}

TEST_CASE("respell: a cut lies inside the part, behind more than half of it, and in no character") {
  CHECK(spelled("(0123456789)~mull~\n<Well>$#", Spelling::kCutInReasoning) == "012345(cut)");
  CHECK(spelled("<0123456789>$#", Spelling::kCutInContent) == "012345(cut)");
  CHECK(spelled("<x>{do [0123456789]}$#", Spelling::kCutInCall) == "x{do 012345(cut)");
  CHECK(spelled("<012>$#", Spelling::kCutInContent) == "0(cut)");
  CHECK(spelled("<01>$#", Spelling::kCutInContent) == "not: the turn has no content");
  CHECK(spelled("<0123\u00e9\u00e96>$#", Spelling::kCutInContent) == "0123(cut)");
  CHECK(spelled("<0\U0001F600>$#", Spelling::kCutInContent) == "0(cut)");
}

TEST_CASE("respell: a call that nothing closes any more") {
  CHECK(spelled("{do [f]}$#", Spelling::kBrokenCall) == "{do f$#");
  CHECK(spelled("{do [f}]}$#", Spelling::kBrokenCall) == "{do f}$#");
  CHECK(spelled("{do [f}]$#", Spelling::kBrokenCall) == "{do f$#");
  CHECK(spelled("}<Well>{do [f] end$#", Spelling::kBrokenCall) == "not: nothing closes the call");
  CHECK(spelled("{do [f]}", Spelling::kBrokenCall) == "{do f$");
}

TEST_CASE("respell: JSON of calls in another spelling") {
  CHECK(spelled(R"(<x>{"n": "[f", "a": {"k": 1]}} end$#)", Spelling::kCompactJson) ==
        R"(x{"n":"f","a":{"k":1}} end$#)");
  CHECK(spelled(R"({"n":"[f","a":{"k":1]}}{"n":"[g"]}$#)", Spelling::kSpacedJson) ==
        R"({"n": "f", "a": {"k": 1}}{"n": "g"}$#)");
  ScenarioTurn of;
  of.calls = {{.name = "f", .arguments = R"({"k": 10})", .spelled = R"({"k": 1e1})"}};
  CHECK(spelled(R"({"n": "[f", "a": {"k": 10.0}]}$#)", Spelling::kOwnJson, of) == R"({"n": "f", "a": {"k": 1e1}}$#)");
  CHECK(spelled(R"({"n": "[f", "a": {"k": 11.0}]}$#)", Spelling::kOwnJson, of) ==
        "not: the template writes no such value as JSON");
  of.calls.front().spelled = R"({"k": 1E1, "word": "x"})";
  CHECK(spelled("{do [f k=10.0 ]}$#", Spelling::kOwnJson, of) == "{do f k=1E1 }$#");
  CHECK(spelled("[f k=10.0 ]$#", Spelling::kOwnJson, of) == "f k=1E1 $#");
  // Only in the call itself, and only in calls that the text has.
  CHECK(spelled("{do [f k=10.0]} 10.0$#", Spelling::kOwnJson, of) == "{do f k=1E1} 10.0$#");
  of.calls.push_back({.name = "g", .arguments = R"({"k": 10})", .spelled = R"({"k": 1e1})"});
  CHECK(spelled("{do [f k=10.0]}{do [g k=10.0]}$#", Spelling::kOwnJson, of) == "{do f k=1E1}{do g k=1e1}$#");
  CHECK(spelled("{do [f k=10.0]}$#", Spelling::kOwnJson, of) == "{do f k=1E1}$#");
  of.calls.pop_back();
  // A word of JSON is written as it is anyway, and a text has quotes in no tag.
  of.calls.front().spelled = R"({"yes": true})";
  CHECK(spelled("{do [f yes=true ]}$#", Spelling::kOwnJson, of) == "{do f yes=true }$#");
  of.calls.front().spelled = R"({"word": "x"})";
  CHECK(spelled("{do [f word=x ]}$#", Spelling::kOwnJson, of) == "not: the template writes no such value as JSON");
  // What begins in the content is no JSON of a call.
  CHECK(spelled(R"(<{"a": >"[f"]}$#)", Spelling::kCompactJson).starts_with("not: "));
  CHECK(spelled(R"x(({"a": )"[f"]}$#)x", Spelling::kSpacedJson).starts_with("not: "));
}

}  // namespace
}  // namespace rondo::audit
