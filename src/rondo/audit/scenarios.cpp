#include "audit/scenarios.h"

#include <algorithm>

#include "json/parse.h"

namespace rondo::audit {
namespace {

constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "The weather of a place.", "parameters": {
    "type": "object",
    "properties": {
      "location": {"type": "string", "description": "the place"},
      "days": {"type": "integer", "description": "how many days"},
      "detailed": {"type": "boolean", "description": "every hour"},
      "threshold": {"type": "number", "description": "a limit"},
      "tags": {"type": "array", "items": {"type": "string"}, "description": "words"},
      "options": {"type": "object", "properties": {"unit": {"type": "string", "description": "the unit"}},
                  "description": "more"}},
    "required": ["location"]}}},
  {"type": "function", "function": {"name": "search", "description": "Searches for text.", "parameters": {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "the words"}},
    "required": ["query"]}}}])";

constexpr const char* kThought = "The user asks about the weather.";
constexpr const char* kMoreThought = "Now I know it.";
constexpr const char* kAnswer = "It is sunny in Paris.";
constexpr const char* kPreface = "Let me look.";

ScenarioCall weather() { return {"get_weather", R"({"location": "Paris"})", ""}; }
ScenarioCall weather(const char* arguments, const char* spelled = "") { return {"get_weather", arguments, spelled}; }
ScenarioCall search() { return {"search", R"({"query": "Paris weather"})", ""}; }

using Following = std::vector<std::string>;
const Following kUser = {"user"};
const Following kResults = {"results"};

ScenarioTurn says(const char* reasoning, const char* content, Following following) {
  return {reasoning, content, {}, Spelling::kCanonical, std::move(following)};
}
ScenarioTurn spelled(ScenarioTurn turn, Spelling spelling) {
  turn.spelling = spelling;
  return turn;
}
ScenarioTurn asks(const char* reasoning, const char* content, std::vector<ScenarioCall> calls,
                  Following following = kResults) {
  return {reasoning, content, std::move(calls), Spelling::kCanonical, std::move(following)};
}

void add(std::vector<Scenario>& out, const char* name, const char* title, std::vector<ScenarioTurn> turns) {
  Scenario scenario;
  scenario.name = name;
  scenario.title = title;
  scenario.turns = std::move(turns);
  out.push_back(std::move(scenario));
}

// What a turn may contain, and what may follow it.
void add_turns(std::vector<Scenario>& out) {
  add(out, "content", "an answer, a question", {says("", kAnswer, kUser)});
  add(out, "reasoning-content", "reasoning and an answer, a question", {says(kThought, kAnswer, kUser)});
  add(out, "reasoning", "reasoning without an answer, a question", {says(kThought, "", kUser)});
  add(out, "content-system", "an answer to a conversation with a system message, a question",
      {says("", kAnswer, kUser)});
  out.back().has_system = true;
  add(out, "content-tools", "an answer to a conversation with tools, a question", {says("", kAnswer, kUser)});
  out.back().has_tools = true;
  add(out, "content-twice", "two answers, each with a question behind it",
      {says("", kAnswer, kUser), says("", "Rain.", kUser)});
  add(out, "reasoning-content-twice", "two answers with reasoning, each with a question behind it",
      {says(kThought, kAnswer, kUser), says(kMoreThought, "Rain.", kUser)});
  add(out, "call", "a call, its result", {asks("", "", {weather()})});
  add(out, "reasoning-call", "reasoning and a call, its result", {asks(kThought, "", {weather()})});
  add(out, "content-call", "content and a call, its result", {asks("", kPreface, {weather()})});
  add(out, "reasoning-content-call", "reasoning, content and a call, its result",
      {asks(kThought, kPreface, {weather()})});
  add(out, "call-no-arguments", "a call without arguments, its result", {asks(kThought, "", {weather("{}")})});
  out.back().is_flexible = true;
  add(out, "call-many-arguments", "a call with arguments of many types, its result",
      {asks(kThought, "", {weather(R"({"location": "Paris", "days": 3, "detailed": true, "threshold": 1.5})")})});
  out.back().is_flexible = true;
  add(out, "call-nested-arguments", "a call with lists and objects in its arguments, its result",
      {asks(kThought, "", {weather(R"({"location": "Paris", "tags": ["a", "b"], "options": {"unit": "C"}})")})});
  out.back().is_flexible = true;
  add(out, "call-null-argument", "a call with a null among its arguments, its result",
      {asks(kThought, "", {weather(R"({"location": "Paris", "threshold": null})")})});
  out.back().is_flexible = true;
  add(out, "calls", "two calls, their results", {asks("", "", {weather(), search()})});
  add(out, "reasoning-calls", "reasoning and two calls, their results", {asks(kThought, "", {weather(), search()})});
  add(out, "call-user", "a call, its result and a question", {asks("", "", {weather()}, {"results", "user"})});
}

// Longer paths through a conversation.
void add_ways(std::vector<Scenario>& out) {
  add(out, "call-answer", "a call, its result, an answer, a question",
      {asks("", "", {weather()}), says("", kAnswer, kUser)});
  add(out, "reasoning-call-answer", "a call, its result, an answer, all with reasoning, a question",
      {asks(kThought, "", {weather()}), says(kMoreThought, kAnswer, kUser)});
  add(out, "call-call-answer", "a call, its result, another call, its result, an answer, a question",
      {asks("", "", {weather()}), asks("", "", {search()}), says("", kAnswer, kUser)});
  add(out, "reasoning-call-call-answer", "two calls with reasoning, one after the other, an answer, a question",
      {asks(kThought, "", {weather()}), asks(kMoreThought, "", {search()}), says(kMoreThought, kAnswer, kUser)});
  add(out, "late-system", "an answer, a system message and a question", {says("", kAnswer, {"system", "user"})});
  add(out, "late-developer", "an answer, a developer message and a question",
      {says("", kAnswer, {"developer", "user"})});
}

// Spellings that models use and the template does not.
void add_spellings(std::vector<Scenario>& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  add(out, "space-before-content", "a newline before the answer",
      {spelled(says("", kAnswer, kUser), Spelling::kSpaceBeforeContent)});
  add(out, "space-before-content-call", "a newline before content that stands beside a call",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kSpaceBeforeContent)});
  add(out, "space-behind-content", "a newline behind the answer",
      {spelled(says("", kAnswer, kUser), Spelling::kSpaceBehindContent)});
  add(out, "blank-line-behind-reasoning", "one more newline behind the reasoning, content and a call",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kBlankLineBehindReasoning)});
  add(out, "newline-ends-reasoning", "one more newline at the end of the reasoning, content and a call",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kNewlineEndsReasoning)});
  add(out, "space-before-call", "one more newline before a call",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kSpaceBeforeCall)});
  add(out, "tight-behind-reasoning", "no white space behind the reasoning",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kTightBehindReasoning)});
  add(out, "tight-before-call", "no white space before a call",
      {spelled(asks(kThought, kPreface, {weather()}), Spelling::kTightBeforeCall)});
  const char* const several = R"({"location": "Paris", "days": 3})";
  add(out, "json-compact", "a call in JSON without spaces",
      {spelled(asks(kThought, "", {weather(several)}), Spelling::kCompactJson)});
  add(out, "json-spaced", "a call in JSON with spaces",
      {spelled(asks(kThought, "", {weather(several)}), Spelling::kSpacedJson)});
  const char* const unsorted = R"({"threshold": 1, "location": "Paris", "days": 3})";
  add(out, "key-order", "arguments in another order than the schema's and the alphabet's",
      {spelled(asks(kThought, "", {weather(unsorted, unsorted)}), Spelling::kOwnJson)});
  const char* const floats = R"({"location": "Paris", "threshold": 1e5})";
  add(out, "number-exponent", "a number with an exponent",
      {spelled(asks(kThought, "", {weather(floats, floats)}), Spelling::kOwnJson)});
  const char* const whole = R"({"location": "Paris", "threshold": 1.0})";
  add(out, "number-fraction", "a whole number with a fraction",
      {spelled(asks(kThought, "", {weather(whole, whole)}), Spelling::kOwnJson)});
  const char* const big = R"({"location": "Paris", "days": 123456789012345678901234567890})";
  add(out, "number-big", "a number of thirty digits",
      {spelled(asks(kThought, "", {weather(big, big)}), Spelling::kOwnJson)});
  const char* const literals = R"({"location": "Paris", "detailed": false, "threshold": null})";
  add(out, "json-literals", "false and null as JSON spells them",
      {spelled(asks(kThought, "", {weather(literals, literals)}), Spelling::kOwnJson)});
  add(out, "escape-unicode", "a character written as an escape",
      {spelled(asks(kThought, "", {weather(R"({"location": "Zürich"})", R"({"location": "Z\u00fcrich"})")}),
               Spelling::kOwnJson)});
  add(out, "escape-slash", "a slash written as an escape",
      {spelled(asks(kThought, "", {weather(R"({"location": "a/b"})", R"({"location": "a\/b"})")}),
               Spelling::kOwnJson)});
  add(out, "non-ascii", "characters beyond ASCII, as themselves",
      {spelled(asks(kThought, "", {weather(R"({"location": "Zürich 東京"})", R"({"location": "Zürich 東京"})")}),
               Spelling::kOwnJson)});
  add(out, "line-breaks", "quotes, line breaks and markup in an argument",
      {asks(kThought, "", {weather(R"({"location": "a \"b\"\n  <c>&'d'\n"})")})});
  for (auto scenario = out.begin() + begin; scenario != out.end(); ++scenario) {
    scenario->is_core = false;
    scenario->is_flexible = true;
  }
}

// Forms in which clients send a turn back.
void add_forms(std::vector<Scenario>& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  add(out, "arguments-text", "arguments sent back as a string", {asks(kThought, "", {weather()})});
  out.back().arguments = ArgumentsForm::kText;
  add(out, "arguments-object", "arguments sent back as an object", {asks(kThought, "", {weather()})});
  out.back().arguments = ArgumentsForm::kObject;
  add(out, "content-null", "a call with content null", {asks(kThought, "", {weather()})});
  out.back().content = ContentForm::kNull;
  add(out, "content-empty", "a call with empty content", {asks(kThought, "", {weather()})});
  out.back().content = ContentForm::kEmpty;
  add(out, "content-absent", "a call without content", {asks(kThought, "", {weather()})});
  out.back().content = ContentForm::kAbsent;
  add(out, "content-parts", "content as parts beside a call", {asks(kThought, kPreface, {weather()})});
  out.back().content = ContentForm::kParts;
  for (auto scenario = out.begin() + begin; scenario != out.end(); ++scenario) {
    scenario->is_core = false;
    scenario->is_flexible = true;
  }
}

// What clients do to reasoning.
void add_reasoning_forms(std::vector<Scenario>& out) {
  add(out, "reasoning-other-name", "reasoning sent back under another name, beside a call",
      {asks(kThought, "", {weather()})});
  out.back().reasoning = ReasoningForm::kOtherName;
  out.back().is_core = false;
  add(out, "reasoning-not-sent", "reasoning that the client does not send back, beside a call",
      {asks(kThought, "", {weather()})});
  out.back().reasoning = ReasoningForm::kNotSent;
  out.back().is_core = false;
  out.back().is_inherent = true;
}

// Turns that were cut off or malformed.
void add_accidents(std::vector<Scenario>& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  add(out, "cut-in-reasoning", "reasoning that was cut off, a question",
      {spelled(says(kThought, kAnswer, kUser), Spelling::kCutInReasoning)});
  add(out, "cut-in-content", "an answer that was cut off, a question",
      {spelled(says(kThought, kAnswer, kUser), Spelling::kCutInContent)});
  add(out, "cut-in-call", "a call that was cut off, a question",
      {spelled(asks(kThought, "", {weather()}, kUser), Spelling::kCutInCall)});
  add(out, "broken-call", "a call that is not well-formed, a question",
      {spelled(asks(kThought, "", {weather()}, kUser), Spelling::kBrokenCall)});
  add(out, "unknown-tool", "a call of a tool that there is not, its result",
      {asks(kThought, "", {{"get_wether", R"({"location": "Paris"})", ""}})});
  for (auto scenario = out.begin() + begin; scenario != out.end(); ++scenario) {
    scenario->is_core = false;
    scenario->is_inherent = true;
    scenario->is_flexible = scenario->turns.front().spelling != Spelling::kCutInReasoning;
  }
}

std::vector<Scenario> make_scenarios() {
  std::vector<Scenario> out;
  add_turns(out);
  add_ways(out);
  add_spellings(out);
  add_forms(out);
  add_reasoning_forms(out);
  add_accidents(out);
  return out;
}

}  // namespace

bool Scenario::has_reasoning() const {
  return std::ranges::any_of(turns, [](const ScenarioTurn& turn) { return !turn.reasoning.empty(); });
}

bool Scenario::has_calls() const {
  return std::ranges::any_of(turns, [](const ScenarioTurn& turn) { return !turn.calls.empty(); });
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kScenarios = make_scenarios();
  return kScenarios;
}

const json::Value& scenario_tools() {
  static const json::Value kParsed = json::parse(kTools).value();
  return kParsed;
}

}  // namespace rondo::audit
