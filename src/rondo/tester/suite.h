// Tests of a chat template, as their author writes them (docs/tester.md).
//
//   Result<json::Value> value = yaml::read_document(text, "weather.rondo.yaml");
//   Result<Suite> suite = read_suite(value.value(), {text, "weather.rondo.yaml"});
//
// Plain data; nothing is rendered here.
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

// The text that a suite was read from, for the places of what is wrong in it.
struct SuiteText {
  std::string_view text;
  std::string name;
};

// What is expected, and the line that says so; 0: unknown.
template <typename T>
struct Expected {
  T value;
  int line = 0;
};

struct RenderedExpectation {
  std::optional<std::string> text;  // all of it
  std::vector<std::string> contains;
  std::vector<std::string> excludes;
};

// What is absent may be anything.
struct ExpectedCall {
  std::optional<std::string> name;
  std::optional<json::Value> arguments;  // a value; a text of JSON counts as its value
  std::optional<std::string> id;
  std::string status = "ok";
};

// A message; what is absent may be anything.
struct ParsedExpectation {
  std::optional<std::string> content;
  std::optional<json::Value> reasoning;  // a text, or null: there is no reasoning
  std::optional<std::vector<ExpectedCall>> calls;
  std::optional<bool> complete;
  std::optional<std::string> place;  // where the next byte would belong: "reasoning", "content", "call", "ended"
};

struct BridgeExpectation {
  json::Array new_messages;
  std::optional<std::string> appended;  // what stands behind the old text; else that of a re-render
  bool may_differ = false;              // the template may write earlier turns differently
};

struct GrammarExpectation {
  bool accepts_sampled = false;
  std::vector<std::string> accepts;
  std::vector<std::string> refuses;
};

// The texts, one for each stretch of ids that is learned.
struct MaskExpectation {
  render::MaskOptions options;
  std::vector<std::string> texts;
};

// That the template fails.
struct ErrorExpectation {
  std::string message;  // part of it
  std::optional<std::string> code;
  std::optional<int> line;  // of the template
};

[[nodiscard]] inline bool is_assistant(const json::Value& message) {
  return message.find_string("role") == std::string_view("assistant");
}

struct Case {
  std::string name;
  int line = 0;  // of the suite
  core::Call call;
  core::Asked asked;

  std::optional<Expected<RenderedExpectation>> rendered;
  std::optional<Expected<std::vector<core::TokenId>>> ids;
  std::optional<Expected<std::string>> sampled;  // what a model wrote behind the prompt
  std::optional<Expected<ParsedExpectation>> parsed;
  std::optional<Expected<bool>> pieces;
  std::optional<Expected<BridgeExpectation>> bridge;
  std::optional<Expected<GrammarExpectation>> grammar;
  std::optional<Expected<MaskExpectation>> mask;
  std::optional<Expected<ErrorExpectation>> error;
  std::optional<Expected<bool>> roundtrip;

  // Without an expectation a case checks the laws that hold for any conversation.
  [[nodiscard]] bool states_nothing() const {
    return !rendered && !ids && !sampled && !parsed && !pieces && !bridge && !grammar && !mask && !error && !roundtrip;
  }
};

struct Suite {
  // Where the model is, as the file says: relative to the file.
  std::optional<std::string> model;
  std::optional<std::string> chat_template;
  std::optional<std::string> tokenizer;
  std::optional<bool> strict;
  std::vector<Case> cases;
};

// Fails with kInvalidArgument at the first thing that does not fit, with its place: an unknown key, a wrong type, two cases of
// one name.
[[nodiscard]] Result<Suite> read_suite(const json::Value& value, const SuiteText& text);

// The model that a suite names, relative to the folder of the file `name`, but for what `given` says already.  Fails with
// kInvalidArgument where neither names one.
[[nodiscard]] Result<core::Source> model_source(const Suite& suite, const std::string& name, core::Source given);

// One case, without a suite around it.
[[nodiscard]] Result<Case> read_case(const json::Value& value, const SuiteText& text);

}  // namespace rondo::tester
