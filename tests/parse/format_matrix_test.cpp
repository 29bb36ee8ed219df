// The measuring stick of analysis and parser: parse(render(message)) == message, for messages of 0 to 3 calls with and
// without reasoning and content, and arguments of all kinds (golden/format/kinds.jsonl), over the templates of the corpus.
//
// A case counts as
//   read      the message comes back, but for white space that the Format says is trimmed;
//   lossy     another message comes back which the template renders to the same text: nobody can tell the two apart;
//   failed    neither;
//   untold    lossy or failed, and no loss that the Format tells of itself concerns the message.
// RONDO_VERBOSE=<template> prints that template's format and failures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/messages.h"
#include "tests/support/parsed.h"
#include "tests/support/read_back.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using format::Format;
using test::difference;
using test::is_told;
using test::message_of;
using test::type_name;

// What an assistant message of the matrix holds.
struct Case : test::MessageParts {
  std::string kind;
};

// ---- Messages ------------------------------------------------------------------------------------------------------

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const std::vector<json::Object> calls = {
      {{"city", "Paris"}, {"days", 3}}, {{"q", "x"}}, {{"city", "Rome"}, {"hot", true}, {"days", 2}}};
  for (const char* reasoning : {"", "I think\n\nso"}) {
    for (const char* content : {"", "Let me look.\n\nAt *this* <b>x</b>."}) {
      for (std::size_t count = 0; count <= 3; ++count) {
        if (count == 0 && *content == 0) continue;
        cases.push_back({{reasoning, content, {calls.begin(), calls.begin() + static_cast<long>(count)}}, "shape"});
      }
    }
  }
  cases.push_back({{"", "", {json::Object{}}}, "no arguments"});
  cases.push_back({{"", "", {json::Object{}, {{"q", "x"}}}}, "no arguments"});
  cases.push_back({{"", "", {json::Object{{"q", "x"}}, {}, {}}}, "no arguments"});
  for (test::ArgumentCase& item : test::argument_cases())
    cases.push_back({std::move(item.parts), std::move(item.kind)});
  return cases;
}

// Tools whose schemas have the types of the message's own arguments.
json::Value tools_of(const Case& wanted) {
  json::Array tools;
  for (const std::string name : {"get_weather", "search"}) {
    json::Object properties;
    for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
      if (name != wanted.names[i]) continue;
      for (const json::Member& member : wanted.calls[i])
        properties.set(member.key, test::schema_of(member.value, false));
    }
    tools.push_back(test::tool_of(name, std::move(properties), false));
  }
  return json::Value(std::move(tools));
}

// ---- Rendering -----------------------------------------------------------------------------------------------------

using Subject = test::AnalysedTemplate;

bool takes_reasoning(const Format& format) {
  return !format.input.reasoning_field.empty() || !format.input.reasoning_part.empty();
}

struct Written : test::WrittenTurn {
  bool has_result = false;
};

std::optional<Written> write(const Subject& subject, const json::Value& message, const json::Value& tools,
                             const std::string& thinking, bool with_result) {
  test::TurnQuestion question{.messages = {message}, .tools = std::nullopt, .thinking = thinking};
  const json::Value* calls = message.find("tool_calls");
  if (calls != nullptr) question.tools = tools;
  if (with_result) {
    // Some templates show calls only where their results follow; what stands behind the stop is nobody's.
    for (const json::Value& call : calls->as_array()) {
      question.messages.push_back(json::Object{{"role", "tool"},
                                               {"content", "fine"},
                                               {"tool_call_id", *call.find_string("id")},
                                               {"name", *call.find("function")->find_string("name")}});
    }
  }
  auto written = test::write_turn(subject, question);
  if (!written) return std::nullopt;
  return Written{*std::move(written), with_result};
}

enum class Outcome { kRead, kLossy, kFailed, kNoCase };

bool shows(const Case& wanted, const Written& written) {
  const auto has = [&written](const std::string& text) { return written.text.find(text) != std::string::npos; };
  return has(wanted.reasoning) && has(wanted.content) && (wanted.calls.empty() || has(wanted.names[0]));
}

Case case_of(const chat::AssistantMessage& message) {
  Case out;
  out.reasoning = message.reasoning.value_or("");
  out.content = message.content;
  out.names.clear();
  for (const chat::ToolCall& call : message.tool_calls) {
    auto arguments = json::parse(call.arguments);
    out.names.push_back(call.name);
    out.calls.push_back(arguments.ok() && arguments.value().is_object() ? arguments.value().as_object()
                                                                        : json::Object{});
  }
  return out;
}

// Whether the arguments have the types that the tools ask for.
bool has_asked_types(const Case& got, const Case& wanted) {
  for (std::size_t i = 0; i < std::min(got.calls.size(), wanted.calls.size()); ++i) {
    for (const json::Member& member : got.calls[i]) {
      const json::Value* asked = wanted.calls[i].find(member.key);
      if (asked != nullptr && std::string(type_name(*asked)) != type_name(member.value)) return false;
    }
  }
  return true;
}

std::string in_pieces(const std::shared_ptr<const Format>& format, const parse::Options& options,
                      const std::string& text, std::size_t size) {
  parse::Parser parser(format, options);
  for (std::size_t at = 0; at < text.size(); at += size) (void)parser.feed(std::string_view(text).substr(at, size));
  return parse::testing::show(parser.finish().value());
}

Outcome check(const Subject& subject, const Case& wanted, bool is_verbose) {
  const json::Value message = message_of(*subject.format, wanted);
  const json::Value tools = tools_of(wanted);
  std::optional<Written> written;
  std::string thinking;
  for (const bool with_result : {false, true}) {
    if (with_result && (wanted.calls.empty() || (written && shows(wanted, *written)))) break;
    for (const char* setting : {"default", "on", "off"}) {
      auto found = write(subject, message, tools, setting, with_result);
      if (!found || (written && !shows(wanted, *found))) continue;
      written = std::move(found);
      thinking = setting;
      if (shows(wanted, *written)) break;
    }
  }
  if (!written) return Outcome::kNoCase;
  parse::Options options;
  options.tools = tools;
  options.prompt_tail = written->prompt;
  const auto got = parse::parse(subject.format, options, written->text);
  REQUIRE(got.ok());
  for (const std::size_t size : {1U, 2U, 5U}) {
    CHECK_MESSAGE(in_pieces(subject.format, options, written->text, size) == parse::testing::show(got.value()),
                  subject.name << ": pieces of " << size << " of " << written->text);
  }
  const std::string wrong = difference(wanted, got.value(), subject.format->trims);
  if (wrong.empty()) return Outcome::kRead;
  const Case other = case_of(got.value());
  const auto again = has_asked_types(other, wanted)
                         ? write(subject, message_of(*subject.format, other), tools, thinking, written->has_result)
                         : std::nullopt;
  if (again && again->text == written->text) {
    if (is_verbose) MESSAGE("lossy: " << wrong << "\n  message " << json::to_compact(message));
    return Outcome::kLossy;
  }
  if (is_verbose) {
    MESSAGE(subject.name << " [" << wanted.kind << "] got " << wrong << "\n  message " << json::to_compact(message)
                         << "\n  text " << json::to_compact(json::Value(written->text)));
  }
  return Outcome::kFailed;
}

// ---- The matrix ----------------------------------------------------------------------------------------------------

struct Tally {
  int read = 0;
  int lossy = 0;
  int failed = 0;
  int untold = 0;  // of the lossy and the failed ones
  void count(Outcome outcome, bool is_explained) {
    untold += (outcome == Outcome::kLossy || outcome == Outcome::kFailed) && !is_explained ? 1 : 0;
    read += outcome == Outcome::kRead ? 1 : 0;
    lossy += outcome == Outcome::kLossy ? 1 : 0;
    failed += outcome == Outcome::kFailed ? 1 : 0;
  }
  [[nodiscard]] int all() const { return read + lossy + failed; }
  [[nodiscard]] std::string to_string() const {
    char text[128];
    std::snprintf(text, sizeof text, "%6d cases  %6.2f %% read  %5d lossy  %5d failed  %4d untold", all(),
                  all() > 0 ? 100.0 * read / all() : 0.0, lossy, failed, untold);
    return text;
  }
};

// Whether history shows the calls that the template writes.
bool keeps_calls(const Format& format) {
  return format.calls.present &&
         std::ranges::none_of(format.losses, [](const format::Loss& loss) { return loss.what == "calls in history"; });
}

// Templates with markers that nobody has seen, each in a style of its own: nothing in the code may know them.
TEST_CASE("invented templates are understood") {
  const std::string folder = RONDO_SOURCE_DIR "/tests/golden/format/invented";
  const std::size_t step = std::getenv("RONDO_TEST_FULL") != nullptr ? 1 : 6;
  const std::vector<Case> cases = all_cases();
  std::size_t turn = 0;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    ++count;
    const auto found = test::analysed_template(entry.path().string(), {});
    REQUIRE_MESSAGE(found.ok(), entry.path().string() << ": " << found.error().to_string());
    const Subject& subject = found.value();
    INFO(subject.name << "\n" << subject.format->to_string());
    CHECK(subject.format->calls.present);
    CHECK(subject.format->reasoning.present);
    CHECK(!subject.format->stops.content.empty());
    Tally tally;
    for (const Case& wanted : cases) {
      if (turn++ % step == 0) tally.count(check(subject, wanted, true), is_told(*subject.format, wanted));
    }
    MESSAGE(subject.name << ": " << tally.to_string());
    CHECK(tally.all() > static_cast<int>(300 / step));
    CHECK(tally.untold == 0);
    CHECK(tally.failed == 0);
  }
  CHECK(count == 42);
}

TEST_CASE("000:32: messages of every shape, with arguments of every kind, are read back") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const char* only = std::getenv("RONDO_VERBOSE");
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || only != nullptr;
  const std::vector<Subject> all = test::analysed_templates(*corpus, is_full || test::is_small_corpus() ? 1 : 3);
  const std::vector<Case> cases = all_cases();
  Tally total;
  std::map<std::string, Tally> by_kind;
  std::string report;
  std::size_t turn = 0;
  for (const Subject& subject : all) {
    if (only != nullptr && subject.name != only && std::string(only) != "all") continue;
    if (only != nullptr) MESSAGE(subject.name << "\n" << subject.format->to_string());
    Tally tally;
    std::map<std::string, Tally> kinds;
    for (const Case& wanted : cases) {
      if (!wanted.calls.empty() && !keeps_calls(*subject.format)) continue;
      if (wanted.calls.size() > 1 && subject.format->input.single_call) continue;
      if (!wanted.reasoning.empty() && !takes_reasoning(*subject.format)) continue;
      if (!is_full && wanted.kind != "shape" && ++turn % 12 != 0) continue;
      const Outcome outcome = check(subject, wanted, only != nullptr);
      // Formats of plain chats tell of no losses: some of these templates mark nothing that could be told.
      for (Tally* sum : {&tally, &kinds[wanted.kind], &by_kind[wanted.kind], &total})
        sum->count(outcome, is_told(*subject.format, wanted) || !subject.format->calls.present);
    }
    if (tally.failed == 0 && tally.lossy == 0) continue;
    report += "  " + tally.to_string() + "  " + subject.name + ":";
    for (const auto& [kind, sum] : kinds) {
      if (sum.failed > 0)
        report += " " + kind + " " + std::to_string(sum.failed) + "/" + std::to_string(sum.all()) + ",";
      if (sum.lossy > 0)
        report += " (" + kind + " " + std::to_string(sum.lossy) + "/" + std::to_string(sum.all()) + "),";
    }
    report += "\n";
  }
  std::string kinds;
  for (const auto& [kind, sum] : by_kind) kinds += "  " + sum.to_string() + "  " + kind + "\n";
  MESSAGE(all.size() << " templates: " << total.to_string() << "\nby kind:\n"
                     << kinds << "not all of (lossy in parentheses):\n"
                     << report);
  // The sample takes every shape, and shapes are what templates lose most of.
  CHECK(total.failed <= (is_full ? 0.005 : 0.01) * total.all());
  CHECK(total.untold == 0);
}

}  // namespace
}  // namespace rondo
