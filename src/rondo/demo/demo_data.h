// The data of the demonstration: conversations, tools, and a list of templates with their tokenizers (demo_data.json).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::demo {

// Returns the text of demo_data.json, which is compiled in.
[[nodiscard]] std::string_view demo_data_json();
// Returns the text of bare.jinja: a template that only has questions and answers.
[[nodiscard]] std::string_view bare_jinja();

// One turn of a scripted conversation: what the client adds, then what the model writes.
struct DemoStep {
  json::Array results;  // texts of the tool results, in the order of the calls
  std::string user;     // "": none; comes after the results
  json::Value
      message;        // the model's turn: role, content, reasoning_content, tool_calls; a text "*N" means N free tokens
  std::string style;  // "", "compact", "newlines", "truncated", "resplit"
};

struct DemoFamily {
  std::string name;
  std::vector<std::string> templates;  // the first one that exists is used; they begin with "corpus/" or "fixtures/"
  std::string tokenizer;               // path in the fixtures
  std::vector<std::string> special_tokens;
  json::Object kwargs;
};

struct DemoModel {
  std::string chat_template;
  std::string vocabulary;
  std::vector<std::string> special_tokens;
  std::vector<std::string> added_tokens;
};

// A conversation with a tool, for a template that has no tools.
struct DemoBare {
  std::string chat_template;  // path in the fixtures; bare.jinja replaces it if it is missing
  std::string system;
  std::string user;
  json::Value tools;
  std::string result;
  json::Value answer;             // schema of the answer
  std::vector<DemoStep> called;   // the model chooses its first turn among these: calls and texts, good and bad
  std::vector<DemoStep> answers;  // the model chooses its second turn among these
};

struct DemoData {
  DemoModel model;
  DemoBare bare;
  std::vector<DemoFamily> families;
  std::string system;
  json::Value tools;
  std::vector<DemoStep> agent;    // for the conversation on the engine
  std::vector<DemoStep> rollout;  // for the families
};

// Fails only if the compiled-in text is damaged.
[[nodiscard]] Result<DemoData> demo_data();

}  // namespace rondo::demo
