// Tests of a chat template in the form that their author writes (docs/tester.md).
//
//   Result<json::Value> value = yaml::read_document(text, "weather.rondo.yaml");
//   Result<Suite> suite = read_suite(value.value(), {text, "weather.rondo.yaml"});
//
// Plain data; this code renders nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "core/grammar.h"
#include "core/model.h"
#include "json/value.h"
#include "render/training.h"
#include "rondo/result.h"

namespace rondo::tester {

// The text that a suite was read from; it gives the places of faults.
struct SuiteText {
  std::string_view text;
  std::string name;
};

// An expectation, and its line; 0: unknown.
template <typename T>
struct Expected {
  T value;
  int line = 0;
};

struct RenderedExpectation {
  std::optional<std::string> text;  // the whole text
  std::vector<std::string> contains;
  std::vector<std::string> excludes;
};

// An absent field may have any value.
struct ExpectedCall {
  std::optional<std::string> name;
  std::optional<json::Value> arguments;  // a value; a text that is JSON counts as its value
  std::optional<std::string> id;
  std::string status = "ok";
};

// A message.  An absent field may have any value.
struct ParsedExpectation {
  std::optional<std::string> content;
  std::optional<json::Value> reasoning;  // a text, or null: no reasoning
  std::optional<std::vector<ExpectedCall>> calls;
  std::optional<bool> complete;
  // The place that the next byte would belong to: "reasoning", "content", "call", "ended".
  std::optional<std::string> place;
};

struct BridgeExpectation {
  json::Array new_messages;
  std::optional<std::string> appended;  // what follows the old text; if absent, what a re-render has there
  bool may_differ = false;              // the template may write earlier turns differently
};

struct GrammarExpectation {
  bool accepts_sampled = false;
  std::vector<std::string> accepts;
  std::vector<std::string> refuses;
};

// The texts of the id ranges that are learned, in order.
struct MaskExpectation {
  render::MaskOptions options;
  std::vector<std::string> texts;
};

// Expects that the template fails.
struct ErrorExpectation {
  std::string message;  // a part of the message
  std::optional<std::string> code;
  std::optional<int> line;  // in the template
};

[[nodiscard]] inline bool is_assistant(const json::Value& message) {
  return message.find_string("role") == std::string_view("assistant");
}

struct Case {
  std::string name;
  int line = 0;  // in the suite
  core::Call call;
  core::Asked asked;

  std::optional<Expected<RenderedExpectation>> rendered;
  std::optional<Expected<std::vector<core::TokenId>>> ids;
  std::optional<Expected<std::string>> sampled;  // what a model wrote after the prompt
  std::optional<Expected<ParsedExpectation>> parsed;
  std::optional<Expected<bool>> pieces;
  std::optional<Expected<BridgeExpectation>> bridge;
  std::optional<Expected<GrammarExpectation>> grammar;
  std::optional<Expected<MaskExpectation>> mask;
  std::optional<Expected<ErrorExpectation>> error;
  std::optional<Expected<bool>> roundtrip;

  // A case without an expectation checks the laws that hold for any conversation.
  [[nodiscard]] bool states_nothing() const {
    return !rendered && !ids && !sampled && !parsed && !pieces && !bridge && !grammar && !mask && !error && !roundtrip;
  }
};

struct Suite {
  // The path of the model in the file, relative to the file.
  std::optional<std::string> model;
  std::optional<std::string> chat_template;
  std::optional<std::string> tokenizer;
  std::optional<bool> strict;
  std::vector<Case> cases;
};

// Reads a suite.  Fails with kInvalidArgument and the place of the first fault: an unknown key, a wrong type, two cases
// with the same name.
[[nodiscard]] Result<Suite> read_suite(const json::Value& value, const SuiteText& text);

// Returns the model that a suite names, relative to the folder of the file `name`; `given` overrides it.  Fails with
// kInvalidArgument if neither names one.
[[nodiscard]] Result<core::Source> model_source(const Suite& suite, const std::string& name, core::Source given);

// Reads one case without a suite.
[[nodiscard]] Result<Case> read_case(const json::Value& value, const SuiteText& text);

}  // namespace rondo::tester
