// The conversations that an audit plays: what the model says in each turn, how its spelling differs from the template's,
// what follows, and in which form the client sends the turn back.
//
// A list of data; play.h reads it.  Names are stable: reports, labels and `rondo check --scenario` use them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "json/value.h"

namespace rondo::audit {

// How a sampled turn differs from what the template itself would write for it.
enum class Spelling : std::uint8_t {
  kCanonical,
  kSpaceBeforeContent,        // a newline before the content's first character
  kSpaceBehindContent,        // a newline behind its last
  kBlankLineBehindReasoning,  // one more newline behind the reasoning's close
  kNewlineEndsReasoning,      // one more newline before the reasoning's close
  kSpaceBeforeCall,           // one more newline before the first call
  kTightBehindReasoning,      // none of the white space behind the reasoning's close
  kTightBeforeCall,           // none of the white space before the first call
  kCompactJson,               // {"a":1}
  kSpacedJson,                // {"a": 1, "b": 2}
  kOwnJson,                   // the characters of ScenarioCall::spelled
  kCutInReasoning,            // the turn ends in the middle, without a stop
  kCutInContent,
  kCutInCall,
  kBrokenCall,  // the call's last bracket, or the first character of its last closing tag, is missing
};

// In which form a client sends a call's arguments.
enum class ArgumentsForm : std::uint8_t { kWanted, kText, kObject };

// What stands for content that is not there, and how content that is there is sent.
enum class ContentForm : std::uint8_t { kWanted, kNull, kEmpty, kAbsent, kParts };

// Under which name a client sends reasoning.
enum class ReasoningForm : std::uint8_t { kWanted, kNotSent, kOtherName };

struct ScenarioCall {
  std::string name;
  std::string arguments;  // JSON
  std::string spelled;    // the same value in the model's own characters, for Spelling::kOwnJson
};

// What the assistant says in one turn.
struct ScenarioTurn {
  std::string reasoning;
  std::string content;
  std::vector<ScenarioCall> calls;
  Spelling spelling = Spelling::kCanonical;
  // What comes behind it: "results" answers its calls; the others are roles of one message.
  std::vector<std::string> following;
};

struct Scenario {
  std::string name;
  std::string title;
  std::vector<ScenarioTurn> turns;
  bool has_system = false;  // a system message stands first
  bool has_tools = false;   // tools are given although nothing calls them
  // The turn was cut off, its call is malformed, or the client leaves a part of it out: no fault of any template.
  bool is_inherent = false;
  ArgumentsForm arguments = ArgumentsForm::kWanted;
  ContentForm content = ContentForm::kWanted;
  ReasoningForm reasoning = ReasoningForm::kWanted;
  // The parts that a template does not know are left out: reasoning, or calls together with their results.
  bool is_flexible = false;
  bool is_core = true;  // false: how a model spells does not depend on settings; played under the default alone

  [[nodiscard]] bool has_reasoning() const;
  [[nodiscard]] bool has_calls() const;
};

// In the order of reports.
[[nodiscard]] const std::vector<Scenario>& scenarios();

// The tools of all scenarios.
[[nodiscard]] const json::Value& scenario_tools();

}  // namespace rondo::audit
