#include "tests/support/read_law.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "chat/conversation.h"
#include "format/units.h"
#include "grammar/matcher.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/grammar_samples.h"
#include "tests/support/parsed.h"
#include "tests/support/schema.h"

namespace rondo::test {
namespace {

using grammar::ToolChoice;

std::string in_quotes(std::string_view text) { return json::to_compact(json::Value(text)); }

json::Value schema_with(json::Object properties, json::Array required) {
  return json::Object{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)},
                      {"additionalProperties", false}};
}

json::Value tool(const char* name, json::Value parameters) {
  return json::Object{
      {"type", "function"},
      {"function", json::Object{{"name", name}, {"description", "d"}, {"parameters", std::move(parameters)}}}};
}

parse::Options reader_options(const GrammarQuestion& question) {
  parse::Options out;
  out.tools = question.options.tools;
  out.parallel_calls = question.options.parallel_calls;
  out.must_call = question.options.choice == ToolChoice::kRequired;
  out.only_tool = question.options.tool_name;
  out.prompt_tail = question.options.prompt_tail;
  return out;
}

std::string wrong_call(const GrammarQuestion& question, const chat::ToolCall& call) {
  if (question.is_warned && call.status == chat::CallStatus::kMalformed) return "";
  if (call.status != chat::CallStatus::kOk) return "a call is " + std::string(chat::to_string(call.status));
  const auto arguments = json::parse(call.arguments);
  if (!arguments.ok()) return "arguments are no JSON";
  for (const chat::ToolDefinition& tool : chat::tool_definitions(*question.options.tools)) {
    if (tool.name == call.name) return question.is_warned ? "" : objection(arguments.value(), tool.parameters);
  }
  return "no such tool";
}

struct Reading {
  chat::AssistantMessage message;
  std::string shown;
  bool has_gap = false;
  bool ends_in_content = false;  // which may end with the beginning of a marker
};

Reading read(const GrammarQuestion& question, const std::vector<std::string>& pieces) {
  parse::Parser parser(question.format, reader_options(question));
  Reading out;
  std::size_t size = 0;
  std::size_t covered = 0;
  const auto take = [&](std::span<const parse::Event> events) {
    for (const parse::Event& event : events) {
      out.has_gap = out.has_gap || event.begin != covered;
      covered = event.end;
      out.ends_in_content = event.kind == parse::EventKind::kContent;
    }
  };
  for (const std::string& piece : pieces) {
    size += piece.size();
    take(parser.feed(piece));
  }
  take(parser.close());
  out.has_gap = out.has_gap || covered != size;
  out.message = parser.finish().value();
  out.shown = in_quotes(parse::testing::show(out.message));
  return out;
}

// Whether `place` is inside a marker that closes something or opens a call: if that is cut, values run on into other calls.
bool is_in_marker(const format::Calls& calls, std::string_view text, std::size_t place) {
  const std::string closes[] = {calls.parameters.close, calls.call_close, calls.section_close, calls.call_open};
  return std::ranges::any_of(closes, [&](std::string_view marker) {
    marker = format::trimmed(marker);
    const std::size_t from = place < marker.size() ? 0 : place - marker.size() + 1;
    const std::size_t found = marker.empty() ? std::string_view::npos : text.find(marker, from);
    return found < place;
  });
}

}  // namespace

json::Value tools_of_every_type() {
  const json::Value text = json::Object{{"type", "string"}};
  const json::Value number = json::Object{{"type", "integer"}};
  const json::Value flag = json::Object{{"type", "boolean"}};
  const json::Value list = json::Object{{"type", "array"}, {"items", text}};
  const json::Value map = schema_with({{"wet", flag}, {"gone", json::Object{{"type", "null"}}}}, {"wet"});
  const json::Value either = json::Object{{"anyOf", json::Array{text, number}}};
  const json::Value unit = json::Object{{"enum", json::Array{"C", "F"}}};
  return json::Array{
      tool("book", schema_with({{"seat", number}, {"row", text}, {"tags", list}, {"more", map}}, {"seat", "row"})),
      tool("rm", schema_with({{"path", text}}, {"path"})),
      tool("get_weather", schema_with({{"city", text}, {"days", either}, {"unit", unit}, {"hot", flag}}, {"city"})),
      tool("now", schema_with({}, {})),
  };
}

std::vector<GrammarQuestion> grammar_questions(const std::shared_ptr<const format::Format>& format,
                                               const json::Value& tools, const std::string& prompt) {
  std::vector<GrammarQuestion> out;
  for (const bool is_parallel : {true, false}) {
    for (const char* tool : {"", "required", "get_weather"}) {
      grammar::TurnOptions options;
      options.tools = tools;
      options.prompt_tail = prompt;
      options.parallel_calls = is_parallel;
      options.laziness = grammar::Laziness::kNever;
      options.choice = *tool == '\0' ? ToolChoice::kAuto : ToolChoice::kRequired;
      if (std::string_view(tool) == "get_weather") options.tool_name = tool;
      out.push_back({format, std::move(options)});
    }
  }
  return out;
}

std::string reading_objection(const GrammarQuestion& question, const std::string& text, std::uint64_t seed) {
  const Reading whole = read(question, {text});
  const std::vector<chat::ToolCall>& calls = whole.message.tool_calls;
  if (whole.has_gap) return "events do not cover the text";
  if (calls.empty() && question.options.choice == ToolChoice::kRequired) return "no call in " + whole.shown;
  if (calls.size() > 1 && !question.options.parallel_calls) return "more than one call in " + whole.shown;
  for (const chat::ToolCall& call : calls) {
    if (const std::string why = wrong_call(question, call); !why.empty()) return why + " in " + whole.shown;
  }
  // Behind a call that only the stop closes more may come.
  const format::Calls& syntax = question.format->calls;
  const bool is_closed = !format::is_blank(syntax.call_close) || !format::is_blank(syntax.section_close);
  if (!calls.empty() && !whole.message.complete && !whole.ends_in_content && is_closed)
    return "not complete: " + whole.shown;
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  if (const Reading one = read(question, bytes); one.shown != whole.shown)
    return "byte by byte " + one.shown + ", whole " + whole.shown;
  const std::size_t cut = Random(seed).below(text.size() + 1);
  if (const Reading two = read(question, {text.substr(0, cut), text.substr(cut)}); two.shown != whole.shown)
    return "in two " + two.shown + ", whole " + whole.shown;
  return "";
}

std::vector<std::string> tags_of(const format::Format& format, const json::Value& tools) {
  const format::Parameters& syntax = format.calls.parameters;
  std::vector<std::string> out;
  if (format.calls.arguments != format::ArgumentStyle::kParameters || format::is_blank(syntax.open)) return out;
  for (const chat::ToolDefinition& tool : chat::tool_definitions(tools)) {
    for (const json::Member& property : tool.parameters.find("properties")->as_object())
      out.push_back(syntax.open + property.key + syntax.key_close);
  }
  return out;
}

void count_readings(GrammarQuestion question, std::size_t count, std::uint64_t seed, ReadTally& tally,
                    const std::vector<std::string>& tags) {
  const auto made = grammar::turn_grammar(*question.format, question.options);
  REQUIRE_MESSAGE(made.ok(), made.error().to_string());
  if (!made.value().is_needed) return;
  question.is_warned = !made.value().warnings.empty();
  const GrammarSamples samples(made.value().grammar);
  REQUIRE(samples.has_any());
  const auto check = [&](const std::string& text, std::uint64_t number) {
    ++tally.texts;
    if (const std::string why = reading_objection(question, text, number); !why.empty())
      tally.objections.push_back(why + " of " + in_quotes(text));
  };
  Random random(seed);
  std::optional<grammar::Matcher> matcher;
  if (!tags.empty()) matcher.emplace(made.value().grammar);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string text = samples.draw(random);
    check(text, seed + i);
    constexpr std::size_t kTries = 40;
    for (std::size_t tries = 0; matcher && tries < kTries; ++tries) {
      const std::size_t place = random.below(text.size() + 1);
      const std::string& tag = tags[random.below(tags.size())];
      if (is_in_marker(question.format->calls, text, place)) continue;
      const std::string tagged = text.substr(0, place) + tag + text.substr(place);
      matcher->restart();
      if (matcher->feed(tagged) && matcher->is_complete()) check(tagged, seed + i);
    }
  }
}

}  // namespace rondo::test
