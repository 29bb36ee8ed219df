// Invented formats for tests of the parser, one for each kind of call, and tools to call.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "format/format.h"
#include "json/parse.h"

namespace rondo::parse::testing {

using format::ArgumentStyle;
using format::CallPiece;
using format::Envelope;
using format::Format;
using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

inline std::shared_ptr<const Format> share(Format format) {
  const auto wrong = format.verify();
  REQUIRE_MESSAGE(!wrong, wrong.value_or(""));
  return std::make_shared<const Format>(std::move(format));
}

inline Format base() {
  Format format;
  format.header = "[bot]";
  format.reasoning = {true, "<muse>\n", "\n</muse>\n\n", false};
  format.stops.content = {"<eot>"};
  return format;
}

// <do>\n{"name": N, "args": A}\n</do>
inline std::shared_ptr<const Format> json_object() {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "\n<do>\n";
  format.calls.call_close = "\n</do>";
  format.calls.separator = "\n";
  format.calls.envelope = Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  return share(format);
}

// [CALLS][{"name": N, "args": A, "id": I}, ...]
inline std::shared_ptr<const Format> json_array() {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "[CALLS]";
  format.calls.envelope = Envelope::kJsonArray;
  format.calls.roles.name = {"function", "name"};
  format.calls.roles.arguments = {"function", "args"};
  format.calls.roles.id = {"id"};
  return share(format);
}

// {"name": N, "parameters": A} without any marker
inline std::shared_ptr<const Format> bare_json() {
  Format format = base();
  format.calls.present = true;
  format.calls.envelope = Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"parameters"};
  return share(format);
}

// <|calls|><|call|>N<|args|>{...}<|end|><|calls_end|>
inline std::shared_ptr<const Format> tags_json() {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "<|calls|>";
  format.calls.section_close = "<|calls_end|>";
  format.calls.call_open = "<|call|>";
  format.calls.call_close = "<|end|>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "<|args|>"}, {CallPiece::Kind::kArguments, ""}};
  return share(format);
}

// <call>\n<f=N>\n<p=K>\nV\n</p>\n</f>\n</call>
inline std::shared_ptr<const Format> tags_parameters() {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<call>\n<f=";
  format.calls.call_close = "\n</f>\n</call>";
  format.calls.separator = "\n";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = ArgumentStyle::kParameters;
  auto& parameters = format.calls.parameters;
  parameters.open = "\n<p=";
  parameters.key_close = ">\n";
  parameters.close = "\n</p>";
  parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "", "", ""},
                      {ValueType::kInteger, ValueStyle::kJson, "", "", ""},
                      {ValueType::kTrue, ValueStyle::kPython, "", "", ""}};
  return share(format);
}

// <|py|>[f(a='x', b=1), g()]<|/py|>
inline std::shared_ptr<const Format> python_calls() {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "<|py|>[";
  format.calls.section_close = "]<|/py|>";
  format.calls.call_close = ")";
  format.calls.separator = ", ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "("}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = ArgumentStyle::kParameters;
  auto& parameters = format.calls.parameters;
  parameters.key_close = "=";
  parameters.separator = ", ";
  parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "'", "'", ""},
                      {ValueType::kInteger, ValueStyle::kJson, "", "", ""},
                      {ValueType::kTrue, ValueStyle::kPython, "", "", ""},
                      {ValueType::kArray, ValueStyle::kPython, "", "", ""}};
  return share(format);
}

inline json::Value tools() {
  return json::parse(R"([{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{
    "q":{"type":"string"},"n":{"type":"integer"},"deep":{"type":"boolean"},"any":{}}}}},
    {"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}])")
      .value();
}

// Options with these tools.
inline Options offering_tools() {
  Options options;
  options.tools = tools();
  return options;
}

}  // namespace rondo::parse::testing
