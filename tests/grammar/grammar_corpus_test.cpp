// Every assistant turn that a template writes for calls which fit their tools' schemas is in the grammar made for that
// template and those tools: over the templates of the corpus.
//
// RONDO_VERBOSE=<template> prints that template's format, grammar and failures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>

#include "base/utf8.h"
#include "format/units.h"
#include "grammar/gbnf.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/messages.h"

namespace rondo {
namespace {

using format::Format;
using test::message_of;

// ---- Messages and tools

using Case = test::MessageParts;

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const std::vector<json::Object> calls = {
      {{"city", "Paris"}, {"days", 3}}, {{"q", "x"}}, {{"city", "Rome"}, {"hot", true}, {"days", 2}}};
  for (const char* reasoning : {"", "I think\n\nso"}) {
    for (const char* content : {"", "Let me look.\n\nAt *this* <b>x</b>."}) {
      for (std::size_t count = 1; count <= 3; ++count)
        cases.push_back({reasoning, content, {calls.begin(), calls.begin() + static_cast<long>(count)}});
    }
  }
  cases.push_back({"", "", {json::Object{}}});
  cases.push_back({"", "", {json::Object{}, {{"q", "x"}}}});
  for (test::ArgumentCase& item : test::argument_cases()) cases.push_back(std::move(item.parts));
  return cases;
}

json::Value tools_of(const Case& wanted) {
  json::Array tools;
  for (const std::string name : {"get_weather", "search"}) {
    std::map<std::string, json::Array> kinds;
    std::vector<std::string> order;
    for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
      if (name != wanted.names[i]) continue;
      for (const json::Member& member : wanted.calls[i]) {
        if (kinds.find(member.key) == kinds.end()) order.push_back(member.key);
        kinds[member.key].push_back(test::schema_of(member.value, true));
      }
    }
    json::Object properties;
    for (const std::string& key : order) {
      const json::Array& list = kinds[key];
      properties.set(key, list.size() == 1 ? list[0] : json::Value(json::Object{{"anyOf", list}}));
    }
    tools.push_back(test::tool_of(name, std::move(properties), true));
  }
  return json::Value(std::move(tools));
}

// ---- Rendering

using Subject = test::AnalysedTemplate;
using Written = test::WrittenTurn;

// The turn without what the template writes behind it, and without white space at its end.
std::optional<Written> write(const Subject& subject, const json::Value& message, const json::Value& tools,
                             const std::string& thinking) {
  auto written =
      test::write_turn(subject, {.messages = {message}, .tools = tools, .thinking = thinking, .needs_prompt = true});
  if (!written) return std::nullopt;
  std::string& turn = written->text;
  // Behind the stop the template goes on with the next turn.
  std::size_t from = 0;
  for (const char* name : {"get_weather", "search"})
    from = std::max(from, turn.rfind(name) == std::string::npos ? 0 : turn.rfind(name));
  std::size_t end = turn.size();
  for (const auto* stops : {&subject.format->stops.content, &subject.format->stops.tool}) {
    for (const std::string& stop : *stops) {
      const std::size_t at = format::is_blank(stop) ? std::string::npos : turn.find(format::trimmed(stop), from);
      if (at != std::string::npos) end = std::min(end, at + format::trimmed(stop).size());
    }
  }
  turn.resize(end);
  while (!turn.empty() && format::is_space(turn.back())) turn.pop_back();
  return written;
}

bool is_full() { return std::getenv("RONDO_TEST_FULL") != nullptr || std::getenv("RONDO_ROW") != nullptr; }

std::vector<Subject> subjects() {
  const auto corpus = test::Corpus::open();
  if (!corpus) return {};
  const char* only = std::getenv("RONDO_ROW");
  std::vector<Subject> out = test::analysed_templates(*corpus, is_full() || test::is_small_corpus() ? 1 : 3);
  std::erase_if(out, [&](const Subject& subject) {
    // Strings stand without quotes in these: what they write can't be told from the syntax around it.
    const bool is_ambiguous = subject.name == "vllm-tool_chat_template_llama3.2_pythonic" ||
                              subject.name == "vllm-tool_chat_template_toolace";
    return is_ambiguous || !subject.format->calls.present || (only != nullptr && subject.name != only);
  });
  return out;
}

bool is_verbose(const std::string& name) {
  const char* wanted = std::getenv("RONDO_VERBOSE");
  return wanted != nullptr && (name == wanted || std::string(wanted) == "all");
}

// ---- The law

// Where the grammar begins: at a word, or at the first group of a pattern; npos if nothing triggers it.
std::size_t first_trigger(const grammar::TurnGrammar& turn, const std::string& text) {
  std::size_t first = std::string::npos;
  for (const grammar::Trigger& trigger : turn.triggers) {
    std::size_t at = trigger.is_pattern ? std::string::npos : text.find(trigger.value);
    std::smatch found;
    if (trigger.is_pattern && std::regex_search(text, found, std::regex(trigger.value)))
      at = static_cast<std::size_t>(found.position(found.size() > 1 && found[1].matched ? 1 : 0));
    first = std::min(first, at);
  }
  return first;
}

// "" or why the turn is not in the grammars.
std::string objection(const Subject& subject, const json::Value& tools, const Written& turn) {
  grammar::TurnOptions options;
  options.tools = tools;
  options.prompt_tail = turn.prompt.substr(turn.prompt.size() - std::min<std::size_t>(turn.prompt.size(), 200));
  struct Mode {
    const char* name;
    grammar::ToolChoice choice;
    grammar::Laziness laziness;
  };
  for (const Mode& mode : {Mode{"required", grammar::ToolChoice::kRequired, grammar::Laziness::kNever},
                           Mode{"whole", grammar::ToolChoice::kAuto, grammar::Laziness::kNever},
                           Mode{"lazy", grammar::ToolChoice::kAuto, grammar::Laziness::kAnyTrigger}}) {
    options.choice = mode.choice;
    options.laziness = mode.laziness;
    const auto made = grammar::turn_grammar(*subject.format, options);
    if (!made.ok()) return std::string(mode.name) + ": " + made.error().to_string();
    if (is_verbose(subject.name)) MESSAGE(mode.name << "\n" << grammar::to_gbnf(made.value().grammar));
    std::string text = turn.text;
    if (made.value().is_lazy) {
      const std::size_t at = first_trigger(made.value(), text);
      if (at == std::string::npos) return "lazy: no trigger in the text";
      text = text.substr(at);
    }
    if (!grammar::accepts(made.value().grammar, text)) {
      grammar::Matcher matcher(made.value().grammar);
      std::size_t at = 0;
      while (at < text.size() && matcher.feed(text.substr(at, utf8::decode(text, at).size)))
        at += utf8::decode(text, at).size;
      return std::string(mode.name) + " near " + std::to_string(at);
    }
  }
  return "";
}

// The template does not escape quotes inside quoted strings: no grammar tells where such a string ends.
bool loses_quotes(const Format& format) {
  return std::any_of(format.losses.begin(), format.losses.end(),
                     [](const format::Loss& loss) { return loss.what == "quotes in strings"; });
}

TEST_CASE("every written turn is in its grammar") {
  const auto all = subjects();
  if (all.empty()) return;
  const auto cases = all_cases();
  const std::size_t step = is_full() ? 1 : 97;
  int good = 0;
  int turns = 0;
  std::string report;
  std::size_t at = 0;
  for (const Subject& subject : all) {
    if (is_verbose(subject.name)) MESSAGE(subject.name << "\n" << subject.format->to_string());
    int bad_here = 0;
    int here = 0;
    std::string example;
    for (const Case& wanted : cases) {
      if (at++ % step != 0) continue;
      if (wanted.calls.size() > 1 && subject.format->input.single_call) continue;
      const json::Value message = message_of(*subject.format, wanted);
      const json::Value tools = tools_of(wanted);
      for (const char* thinking : {"default", "on"}) {
        const auto turn = write(subject, message, tools, thinking);
        if (!turn) continue;
        bool shows_all = true;
        for (std::size_t i = 0; i < wanted.calls.size(); ++i)
          shows_all = shows_all && turn->text.find(wanted.names[i]) != std::string::npos;
        if (!shows_all) continue;
        parse::Options asked;
        asked.tools = tools;
        asked.prompt_tail = turn->prompt;
        const auto read = parse::parse(subject.format, asked, turn->text);
        if (!read.ok() || read.value().tool_calls.size() != wanted.calls.size()) continue;  // nobody can tell them
        if (loses_quotes(*subject.format) && json::to_compact(message).find('\'') != std::string::npos) continue;
        ++here;
        const std::string why = objection(subject, tools, *turn);
        if (why.empty()) continue;
        ++bad_here;
        if (example.empty() || is_verbose(subject.name))
          example += "    " + why + " " + json::to_compact(json::Value(turn->text)).substr(0, 700) + "\n";
      }
    }
    turns += here;
    good += here - bad_here;
    if (bad_here > 0)
      report += "  " + subject.name + ": " + std::to_string(bad_here) + " of " + std::to_string(here) + "\n" + example;
  }
  MESSAGE(all.size() << " templates, " << good << " of " << turns << " turns accepted\n" << report);
  CHECK(good == turns);
}

}  // namespace
}  // namespace rondo
