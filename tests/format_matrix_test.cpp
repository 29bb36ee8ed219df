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

#include "analysis/analyse.h"
#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/messages.h"
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

struct Written {
  std::string prompt;
  std::string text;  // the turn behind the prompt
  bool has_result = false;
};

// A template with what its renders need.
struct Subject {
  std::string name;
  std::shared_ptr<const jinja::Template> chat_template;
  analysis::Options special;
  std::shared_ptr<const Format> format;

  [[nodiscard]] bool takes_reasoning() const {
    return !format->input.reasoning_field.empty() || !format->input.reasoning_part.empty();
  }

  [[nodiscard]] std::optional<Written> write(const json::Value& message, const json::Value& tools,
                                             const std::string& thinking, bool with_result) const {
    chat::Conversation conversation;
    conversation.messages = json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}};
    if (message.find("tool_calls") != nullptr) conversation.tools = tools;
    if (thinking != "default")
      conversation.kwargs = json::Object{{"enable_thinking", thinking == "on"}, {"thinking", thinking == "on"}};
    conversation.bos_token = special.bos_token;
    conversation.eos_token = special.eos_token;
    tmpl::ApplyOptions apply;
    apply.origins = false;
    apply.now = jinja::LocalTime{2026, 3, 14, 15, 9, 26};
    const auto render = [&] { return tmpl::apply(*chat_template, conversation, apply); };
    const auto plain = render();
    conversation.add_generation_prompt = true;
    const auto prompt = render();
    conversation.add_generation_prompt = false;
    conversation.messages.push_back(message);
    if (with_result) {
      // Some templates show calls only where their results follow; what stands behind the stop is nobody's.
      for (const json::Value& call : message.find("tool_calls")->as_array()) {
        conversation.messages.push_back(json::Object{{"role", "tool"},
                                                     {"content", "fine"},
                                                     {"tool_call_id", *call.find_string("id")},
                                                     {"name", *call.find("function")->find_string("name")}});
      }
    }
    const auto full = render();
    if (!plain.ok() || !prompt.ok() || !full.ok()) return std::nullopt;
    const std::string& text = full.value().text.bytes();
    for (const auto* before : {&prompt.value(), &plain.value()}) {
      const std::string& start = before->text.bytes();
      if (text.starts_with(start)) return Written{start, text.substr(start.size()), with_result};
    }
    return std::nullopt;
  }
};

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

Outcome check(const Subject& subject, const Case& wanted, bool is_verbose) {
  const json::Value message = message_of(*subject.format, wanted);
  const json::Value tools = tools_of(wanted);
  std::optional<Written> written;
  std::string thinking;
  for (const bool with_result : {false, true}) {
    if (with_result && (wanted.calls.empty() || (written && shows(wanted, *written)))) break;
    for (const char* setting : {"default", "on", "off"}) {
      auto found = subject.write(message, tools, setting, with_result);
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
  const std::string wrong = difference(wanted, got.value(), subject.format->trims);
  if (wrong.empty()) return Outcome::kRead;
  const Case other = case_of(got.value());
  const auto again = has_asked_types(other, wanted)
                         ? subject.write(message_of(*subject.format, other), tools, thinking, written->has_result)
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

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  const auto corpus = test::Corpus::open();
  if (!corpus) return out;
  std::map<std::string, analysis::Options> by_path;
  for (const test::CorpusRow& row : corpus->rows()) {
    analysis::Options options;
    options.bos_token = row.bos_token;
    options.eos_token = row.eos_token;
    options.now = corpus->clock();
    by_path.emplace(row.template_path, options);
  }
  for (const auto& [path, options] : by_path) {
    const auto source = files::read(path);
    if (!source.ok()) continue;
    Subject subject;
    subject.name = fs::path(path).stem().string();
    auto compiled = jinja::Template::compile(source.value(), {}, subject.name);
    if (!compiled.ok()) continue;
    subject.chat_template = compiled.value();
    subject.special = options;
    auto format = analysis::analyse(*subject.chat_template, options);
    if (!format.ok() || !format.value()->calls.present) continue;
    subject.format = format.value();
    const auto& losses = subject.format->losses;
    const auto is_history = [](const format::Loss& loss) { return loss.what == "calls in history"; };
    if (std::any_of(losses.begin(), losses.end(), is_history)) continue;
    out.push_back(std::move(subject));
  }
  return out;
}

// Templates with markers that nobody has seen, each in a style of its own: nothing in the code may know them.
TEST_CASE("invented templates are understood") {
  const std::string folder = RONDO_SOURCE_DIR "/tests/golden/format/invented";
  const std::vector<Case> cases = all_cases();
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    ++count;
    Subject subject;
    subject.name = entry.path().stem().string();
    auto compiled = jinja::Template::compile(files::read(entry.path().string()).value(), {}, subject.name);
    REQUIRE_MESSAGE(compiled.ok(), subject.name << ": " << compiled.error().to_string());
    subject.chat_template = compiled.value();
    auto format = analysis::analyse(*subject.chat_template, {});
    REQUIRE(format.ok());
    subject.format = format.value();
    INFO(subject.name << "\n" << subject.format->to_string());
    CHECK(subject.format->calls.present);
    CHECK(subject.format->reasoning.present);
    CHECK(!subject.format->stops.content.empty());
    Tally tally;
    for (const Case& wanted : cases) tally.count(check(subject, wanted, true), is_told(*subject.format, wanted));
    MESSAGE(subject.name << ": " << tally.to_string());
    CHECK(tally.all() > 300);
    CHECK(tally.untold == 0);
    CHECK(tally.failed == 0);
  }
  CHECK(count == 11);
}

TEST_CASE("messages of every shape, with arguments of every kind, are read back") {
  const std::vector<Subject> all = subjects();
  if (all.empty()) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  const char* only = std::getenv("RONDO_VERBOSE");
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || only != nullptr;
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
      if (wanted.calls.size() > 1 && subject.format->input.single_call) continue;
      if (!wanted.reasoning.empty() && !subject.takes_reasoning()) continue;
      if (!is_full && wanted.kind != "shape" && ++turn % 12 != 0) continue;
      const Outcome outcome = check(subject, wanted, only != nullptr);
      for (Tally* sum : {&tally, &kinds[wanted.kind], &by_kind[wanted.kind], &total})
        sum->count(outcome, is_told(*subject.format, wanted));
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
  MESSAGE(all.size() << " templates with calls: " << total.to_string() << "\nby kind:\n"
                     << kinds << "not all of (lossy in parentheses):\n"
                     << report);
  // The sample takes every shape, and shapes are what templates lose most of.
  CHECK(total.failed <= (is_full ? 0.005 : 0.01) * total.all());
  CHECK(total.untold == 0);
}

}  // namespace
}  // namespace rondo
