// The conversations that an audit plays: what the model says in each turn, how its spelling differs from the
// template's, what follows, and in which form the client sends the turn back.
//
// This is a list of data, which play.h reads.  Names are stable: reports, labels and `rondo check --scenario` use them.
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
  kSpaceBehindContent,        // a newline after its last character
  kBlankLineBehindReasoning,  // one more newline after the reasoning's close
  kNewlineEndsReasoning,      // one more newline before the reasoning's close
  kSpaceBeforeCall,           // one more newline before the first call
  kTightBehindReasoning,      // no white space after the reasoning's close
  kTightBeforeCall,           // no white space before the first call
  kCompactJson,               // {"a":1}
  kSpacedJson,                // {"a": 1, "b": 2}
  kOwnJson,                   // the characters of ScenarioCall::spelled
  kCutInReasoning,            // the turn ends in the middle, without a stop
  kCutInContent,
  kCutInCall,
  kBrokenCall,  // the call's last bracket is missing, or the first character of its last closing tag
};

// The form in which a client sends a call's arguments.
enum class ArgumentsForm : std::uint8_t { kWanted, kText, kObject };

// What a client sends for missing content, and how it sends existing content.
enum class ContentForm : std::uint8_t { kWanted, kNull, kEmpty, kAbsent, kParts };

// The name under which a client sends reasoning.
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
  // What follows it: "results" answers its calls; any other value is the role of one message.
  std::vector<std::string> following;
};

struct Scenario {
  std::string name;
  std::string title;
  std::vector<ScenarioTurn> turns;
  bool has_system = false;  // a system message comes first
  bool has_tools = false;   // tools are given although nothing calls them
  // The turn was cut off, its call is malformed, or the client leaves out a part of it: no template is at fault.
  bool is_inherent = false;
  ArgumentsForm arguments = ArgumentsForm::kWanted;
  ContentForm content = ContentForm::kWanted;
  ReasoningForm reasoning = ReasoningForm::kWanted;
  // Parts that a template does not know are left out: reasoning, or calls together with their results.
  bool is_flexible = false;
  // False: it tests a model's spelling, which does not depend on settings; played only under the default.
  bool is_core = true;

  [[nodiscard]] bool has_reasoning() const;
  [[nodiscard]] bool has_calls() const;
};

// In the order of reports.
[[nodiscard]] const std::vector<Scenario>& scenarios();

// The tools of all scenarios.
[[nodiscard]] const json::Value& scenario_tools();

}  // namespace rondo::audit
