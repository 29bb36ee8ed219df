// Replays of invented logs with an invented template, whose tokens can be counted by hand: every byte is one, and so is each
// marker.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "json/parse.h"
#include "json/print.h"
#include "probe/messages.h"
#include "replay/diff.h"
#include "replay/replay.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/replays.h"

namespace rondo::replay {
namespace {

using cache::Policy;

const std::vector<std::string> kMarkers = {"<system>", "<user>", "<assistant>", "<tool>",
                                           "<end>",    "<why>",  "<so>",        "<call>"};

constexpr const char* kPlain =
    "{% if tools %}<system>{% for t in tools %}{{ t.function.name }};{% endfor %}<end>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}<why>{{ m.reasoning_content }}<so>{% endif %}"
    "{{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments }}{% endfor %}"
    "<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

// As above, but reasoning before the last user message is not shown.
constexpr const char* kForgetful =
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% "
    "endif %}"
    "{% endfor %}{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content and loop.index0 > ns.last %}<why>"
    "{{ m.reasoning_content }}<so>{% endif %}{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

PromptMaker::Parts parts_of(const std::string& source, std::optional<jinja::LocalTime> now = std::nullopt) {
  PromptMaker::Parts parts;
  auto compiled = jinja::Template::compile(source, {}, "invented.jinja");
  REQUIRE(compiled.ok());
  parts.chat_template = compiled.value();
  parts.tokenizer = test::byte_tokenizer(kMarkers, "<end>");
  analysis::Options options;
  options.tokenizer = parts.tokenizer.get();
  options.now = now;
  auto format = analysis::analyse(*parts.chat_template, options);
  REQUIRE(format.ok());
  parts.format = format.value();
  parts.apply.now = now;
  return parts;
}

// The prompt that a maker writes for these messages.
std::string prompt_of(const std::string& source, const json::Array& messages) {
  const PromptMaker maker(parts_of(source));
  const auto prompt = maker.prompt(maker.sheet(messages, std::nullopt, {}, std::nullopt), nullptr);
  return prompt.ok() ? maker.parts().tokenizer->decode(prompt.value().ids, {}).value() : prompt.error().message;
}

ReplayReport replay(const std::string& source, const std::vector<std::string>& lines,
                    const ReplayOptions& options = {}) {
  return test::replay_of(parts_of(source, jinja::LocalTime{2026, 1, 1, 0, 0, 0}), options, lines);
}

const ReplayLane& lane(const ReplayReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.lanes, name, &ReplayLane::name);
  REQUIRE_MESSAGE(found != report.lanes.end(), name);
  return *found;
}

std::uint64_t hits(const ReplayReport& report, const std::string& name, Policy policy = Policy::kRadix) {
  return lane(report, name).hits[static_cast<std::size_t>(policy)];
}

// "volatile-header 2, eviction 1"
std::string causes(const ReplayReport& report) {
  std::vector<std::string> out;
  for (const ReplayCause& cause : report.causes) out.push_back(cause.name + " " + std::to_string(cause.requests));
  std::ranges::sort(out);
  std::string joined;
  for (const std::string& cause : out) joined += (joined.empty() ? "" : ", ") + cause;
  return joined;
}

json::Value message(const std::string& role, const std::string& content) {
  return json::Object{{"role", role}, {"content", content}};
}

json::Value reasoned(const std::string& reasoning, const std::string& content) {
  return json::Object{{"role", "assistant"}, {"reasoning_content", reasoning}, {"content", content}};
}

json::Value called(const std::string& arguments) {
  json::Object function{{"name", "f"}, {"arguments", arguments}};
  json::Object call{{"id", "c1"}, {"type", "function"}, {"function", std::move(function)}};
  return json::Object{{"role", "assistant"}, {"content", ""}, {"tool_calls", json::Array{std::move(call)}}};
}

json::Array tools(const std::vector<std::string>& names) {
  json::Array out;
  for (const std::string& name : names)
    out.push_back(json::Object{{"type", "function"}, {"function", json::Object{{"name", name}}}});
  return out;
}

std::string line(json::Array messages, const json::Object& more = {}) {
  json::Object request{{"messages", std::move(messages)}};
  for (const json::Member& member : more) request.set(member.key, member.value);
  return json::to_compact(json::Value(std::move(request)));
}

// A request with the reply that it got.
std::string line_with_reply(json::Array messages, json::Value reply, const json::Object& more = {}) {
  json::Object request{{"messages", std::move(messages)}};
  for (const json::Member& member : more) request.set(member.key, member.value);
  json::Object response{{"id", "r"}, {"choices", json::Array{json::Object{{"message", std::move(reply)}}}}};
  return json::to_compact(json::Object{{"request", std::move(request)}, {"response", std::move(response)}});
}

TEST_CASE("messages are sent in the form that the template takes") {
  const json::Value question = message("user", "q");
  const auto prompt = [&](const std::string& content, json::Value answer) {
    return prompt_of("{% for m in messages %}<{{ m.role }}>" + content +
                         "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }} {{ c.function.arguments }}"
                         "{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
                     {question, std::move(answer), question});
  };
  const auto asked = [](const std::string& between) {
    return "<user>q<end><assistant>" + between + "<end><user>q<end><assistant>";
  };
  // Content that is not there: null, an empty text, no member at all.
  json::Value call = called("{}");
  call.as_object().set("content", nullptr);
  CHECK(prompt("{{ m.content or '' }}", call) == asked("<call>f {}"));
  CHECK(prompt("{{ m.content + '' }}", call) == asked("<call>f {}"));
  CHECK(prompt("{% if 'content' in m %}{% if not m.content %}{{ raise_exception('empty') }}{% endif %}"
               "{{ m.content }}{% endif %}",
               call) == asked("<call>f {}"));
  // Arguments as a text where the template copies that, else as an object, although they were sent as a text.
  call = called(R"({"a": 1})");
  CHECK(prompt("{{ m.content }}", call) == asked(R"(<call>f {"a": 1})"));
  CHECK(prompt("{% for c in m.tool_calls or [] %}{% for k in c.function.arguments.keys() %}{{ k }}={% endfor %}"
               "{% endfor %}{{ m.content }}",
               call) == asked("a=<call>f {'a': 1}"));
  // Parts of text, where the template knows none, are one text.
  json::Value parts = message("assistant", "");
  parts.as_object().set("content", json::Array{probe::text_part("a"), probe::text_part("b")});
  CHECK(prompt("{{ m.content }}", parts) == asked("a\nb"));
  CHECK(prompt("{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}"
               "{% endfor %}{% endif %}",
               parts) == asked("ab"));
}

TEST_CASE("000:4: hits of a conversation of two requests, counted by hand") {
  const json::Value system = message("system", "abcd");
  const json::Value user = message("user", "hello");
  // <system>abcd<end><user>hello<end><assistant> is 14 tokens; fine<end> 5; <user>more<end><assistant> 7.
  const ReplayReport report = replay(
      kPlain, {line({system, user}), line({system, user, message("assistant", "fine"), message("user", "more")})});
  CHECK(report.requests == 2);
  CHECK(report.conversations == 1);
  CHECK(report.answers_from_requests == 1);
  CHECK(lane(report, "as-sent").prompt_tokens == 14 + 26);
  CHECK(hits(report, "as-sent", Policy::kRadix) == 19);
  CHECK(hits(report, "as-sent", Policy::kBlocks) == 16);
  CHECK(hits(report, "as-sent", Policy::kSteps) == 0);
  for (const ReplayLane& other : report.lanes) {
    CHECK(other.changed == 0);
    CHECK(other.hits == report.lanes.front().hits);
  }
  CHECK(causes(report) == "");
}

TEST_CASE("a request that is sent again") {
  const std::string same = line({message("user", "hello")});
  const ReplayReport report = replay(kPlain, {same, same, same});
  CHECK(report.conversations == 1);
  CHECK(hits(report, "as-sent") == 2 * 7);  // of <user>hello<end><assistant> all but the last
  CHECK(causes(report) == "");
}

TEST_CASE("replies of the log are what was sampled") {
  const json::Value user = message("user", "hello");
  const ReplayReport report = replay(
      kPlain, {line_with_reply({user}, message("assistant", "fine")),
               line_with_reply({user, message("assistant", "fine"), message("user", "more")}, reasoned("r", "x"))});
  CHECK(report.answers_from_log == 2);
  CHECK(report.answers_from_requests == 0);
  CHECK(hits(report, "as-sent") == 8 + 5);
  CHECK(causes(report) == "");
}

TEST_CASE("a header that changes with every request") {
  std::vector<std::string> log;
  json::Array messages = {message("system", ""), message("user", "hello")};
  for (const char* header : {"id 1a2b\nBe brief", "id 77\nBe brief", "id 9fd\nBe brief"}) {
    messages[0] = message("system", header);
    log.push_back(line(messages));
    messages.push_back(message("assistant", "fine"));
    messages.push_back(message("user", "more"));
  }
  const ReplayReport report = replay(kPlain, log);
  CHECK(causes(report) == "volatile-header 2");
  // <system>id 1a2b.Be brief<end> is 18; <user>hello<end><assistant> 8; fine<end> 5; <user>more<end><assistant> 7.
  // Sent as it was, <system>id and a blank are all that stays.
  CHECK(hits(report, "as-sent") == 4 + 4);
  CHECK(hits(report, "stable-header") == (18 + 8 + 5) + (18 + 8 + 5 + 7 + 5));
  CHECK(hits(report, "bridge") == hits(report, "as-sent"));
  CHECK(hits(report, "all-remedies") == hits(report, "stable-header"));
  CHECK(hits(report, "stable-date") == hits(report, "as-sent"));
  CHECK(report.causes[0].lost_tokens == (31 - 4) + (29 + 12 - 4));
  REQUIRE(!report.causes[0].examples.empty());
  const ReplayExample& example = report.causes[0].examples[0];
  CHECK(example.line == 2);
  CHECK(example.path == "messages[0].content");
  CHECK(example.before == "1a2b");
  CHECK(example.after == "77");
}

TEST_CASE("a date that moves on, and a header of another conversation") {
  const auto day = [](const std::string& date) { return message("system", "Be brief\nToday is " + date + "."); };
  const json::Value user = message("user", "hello");
  ReplayReport report =
      replay(kPlain, {line({day("2026-11-21"), user}),
                      line({day("2026-11-22"), user, message("assistant", "a"), message("user", "b")})});
  CHECK(causes(report) == "date 1");
  CHECK(hits(report, "stable-date") > hits(report, "as-sent"));
  CHECK(hits(report, "stable-header") == hits(report, "as-sent"));
  CHECK(report.causes[0].examples[0].after == "22");

  report = replay(kPlain,
                  {line({day("Sat, 21 Nov 2026"), user}), line({day("Sun, 22 Nov 2026"), message("user", "other")})});
  CHECK(report.conversations == 2);
  CHECK(causes(report) == "date 1");
}

TEST_CASE("reasoning that the client leaves out") {
  const json::Value user = message("user", "hello");
  json::Array next = {user, message("assistant", "fine"), message("user", "more")};
  const ReplayReport report = replay(kPlain, {line_with_reply({user}, reasoned("because", "fine")), line(next)});
  CHECK(causes(report) == "reasoning-left-out 1");
  // <user>hello<end><assistant> 8 is all that stays; with <why>because<so>fine<end> 14 more do.
  CHECK(hits(report, "as-sent") == 8);
  CHECK(hits(report, "keep-reasoning") == 8 + 14);
  CHECK(hits(report, "bridge") == 8 + 14);
  CHECK(report.causes[0].examples[0].before == "because");
}

TEST_CASE("000:116: reasoning that the template leaves out") {
  const json::Value user = message("user", "hello");
  const ReplayReport report =
      replay(kForgetful, {line({user}), line({user, reasoned("because", "fine"), message("user", "more")})});
  CHECK(causes(report) == "template: reasoning-dropped 1");
  CHECK(report.causes[0].line == 1);
  CHECK(hits(report, "as-sent") == 8);
  CHECK(hits(report, "keep-reasoning") == 8);
  CHECK(hits(report, "bridge") == 8 + 14);
  CHECK(lane(report, "bridge").changed == 1);
  // The bridge's prompt is longer by what the template drops: <why>because<so>.
  CHECK(lane(report, "bridge").prompt_tokens == lane(report, "as-sent").prompt_tokens + 9);
}

TEST_CASE("arguments that are serialised again") {
  const json::Value user = message("user", "hello");
  const json::Value result = json::Object{{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "ok"}};
  const ReplayReport report =
      replay(kPlain, {line_with_reply({user}, called(R"({"a":1})")), line({user, called(R"({"a": 1})"), result})});
  CHECK(causes(report) == "arguments-respelled 1");
  // <call>f {"a":1}<end> are 11 tokens, of which <call>f {"a": 8 stay.
  CHECK(hits(report, "as-sent") == 8 + 8);
  CHECK(hits(report, "verbatim-arguments") == 8 + 11);
  CHECK(hits(report, "bridge") == 8 + 11);
  CHECK(report.causes[0].examples[0].path == "messages[1].tool_calls[0].function.arguments");
}

TEST_CASE("tools in another order, and other tools") {
  const json::Value user = message("user", "hello");
  const json::Array next = {user, message("assistant", "fine"), message("user", "more")};
  ReplayReport report =
      replay(kPlain, {line({user}, {{"tools", tools({"a", "b"})}}), line(next, {{"tools", tools({"b", "a"})}})});
  CHECK(causes(report) == "tools-reordered 1");
  CHECK(hits(report, "as-sent") == 1);
  CHECK(hits(report, "sort-tools") == 1 + 4 + 1 + 8 + 5);
  CHECK(hits(report, "bridge") == 1);
  CHECK(hits(report, "all-remedies-bridge") == hits(report, "sort-tools"));
  report = replay(kPlain, {line({user}, {{"tools", tools({"a", "b"})}}), line(next, {{"tools", tools({"a", "c"})}})});
  CHECK(causes(report) == "tools-changed 1");
  CHECK(hits(report, "all-remedies") == hits(report, "as-sent"));
}

TEST_CASE("history that is edited, cut, compacted, answered without the answer, or taken up again") {
  json::Array messages = {message("system", "Be brief"), message("user", "one"),       message("assistant", "two"),
                          message("user", "three"),      message("assistant", "four"), message("user", "five")};
  const std::string first = line(messages);
  const auto next = [&](const json::Array& of) {
    json::Array out = of;
    out.push_back(message("assistant", "six"));
    out.push_back(message("user", "seven"));
    return line(out);
  };
  json::Array edited = messages;
  edited[3] = message("user", "thirty");
  CHECK(causes(replay(kPlain, {first, next(edited)})) == "message-edited 1");
  json::Array cut = messages;
  cut.erase(cut.begin() + 1, cut.begin() + 3);
  CHECK(causes(replay(kPlain, {first, next(cut)})) == "history-truncated 1");
  json::Array compacted = {messages[0], message("user", "in short"), messages[4], messages[5]};
  CHECK(causes(replay(kPlain, {first, next(compacted)})) == "history-compacted 1");
  const ReplayReport branched =
      replay(kPlain, {first, line({messages[0], messages[1], messages[2], message("user", "other")})});
  CHECK(causes(branched) == "branched 1");
  CHECK(branched.branches == 1);
  CHECK(branched.causes[0].lost_tokens == 0);
  json::Array unanswered = {messages[1], message("user", "more")};
  CHECK(causes(replay(kPlain, {line_with_reply({messages[1]}, messages[2]), line(unanswered)})) == "answer-left-out 1");
  // Nothing but name and instructions are left.
  const json::Object name{{"session_id", "s"}};
  const ReplayReport renewed = replay(
      kPlain, {line(messages, name), line({messages[0], message("user", "in short"), message("user", "go on")}, name)});
  CHECK(causes(renewed) == "history-compacted 1");
  CHECK(renewed.conversations == 1);
}

TEST_CASE("conversations with the same short answers are kept apart") {
  std::vector<std::string> log;
  std::vector<json::Array> agents;
  for (int i = 0; i < 4; ++i)
    agents.push_back({message("system", "same"), message("user", "task " + std::to_string(i))});
  for (int turn = 0; turn < 6; ++turn) {
    for (int i = 0; i < 4; ++i) {
      json::Array& messages = agents[static_cast<std::size_t>(i)];
      log.push_back(line(messages));
      messages.push_back(message("assistant", "do " + std::to_string((turn + i) % 3)));
      messages.push_back(message("user", "done"));
    }
  }
  const ReplayReport report = replay(kPlain, log);
  CHECK(report.conversations == 4);
  CHECK(causes(report) == "");
}

TEST_CASE("template variables and the template's clock") {
  const std::string source =
      std::string("{% if loud %}!{% endif %}{% if now %}{{ strftime_now('%d') }}{% endif %}") + kPlain;
  const json::Value user = message("user", "hello");
  const json::Array next = {user, message("assistant", "fine"), message("user", "more")};
  const json::Object loud{{"chat_template_kwargs", json::Object{{"loud", true}}}};
  CHECK(causes(replay(source, {line({user}), line(next, loud)})) == "variables-changed 1");

  const json::Object clock{{"now", true}};
  const ReplayReport report =
      replay(source, {line({user}, {{"chat_template_kwargs", clock}, {"timestamp", "2026-11-21T23:59:00Z"}}),
                      line(next, {{"chat_template_kwargs", clock}, {"timestamp", "2026-11-22T00:01:00Z"}})});
  CHECK(causes(report) == "clock 1");
  CHECK(hits(report, "stable-date") == 2 + 8 + 5);
}

TEST_CASE("what the caches forget") {
  const json::Value a = message("user", std::string(100, 'a'));
  const json::Value b = message("user", std::string(100, 'b'));
  const json::Array next = {a, message("assistant", "fine"), message("user", "more")};
  const ReplayReport report = replay(kPlain, {line({a}), line({b}), line(next)}, {.capacity = 150});
  CHECK(causes(report) == "eviction 1");
  // Both prompts have 103 tokens, the first of which is the same; of 205, the last 55 of the first prompt go.
  CHECK(hits(report, "as-sent") == 1 + 48);
  CHECK(report.causes[0].lost_tokens == 108 - 48);
  CHECK(causes(replay(kPlain, {line({a}), line({b}), line(next)})) == "");
}

TEST_CASE("000:36: a chain of replies is put together") {
  const auto response = [](const std::string& id, const std::string& text) {
    json::Object said{{"type", "message"}, {"role", "assistant"}, {"content", text}};
    return json::Object{{"id", id}, {"output", json::Array{std::move(said)}}};
  };
  const auto entry = [](json::Object request, json::Value reply) {
    return json::to_compact(json::Object{{"body", std::move(request)}, {"response", std::move(reply)}});
  };
  const ReplayReport report = replay(
      kPlain, {entry({{"input", "hello"}, {"model", "m"}, {"instructions", "abcd"}}, response("r1", "fine")),
               entry({{"input", "more"}, {"model", "m"}, {"instructions", "abcd"}, {"previous_response_id", "r1"}},
                     response("r2", "x")),
               entry({{"input", "lost"}, {"model", "m"}, {"previous_response_id", "r9"}}, response("r3", "x"))});
  CHECK(report.requests == 2);
  CHECK(hits(report, "as-sent") == 19);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].reason == "the reply that it continues is not in the log");
  CHECK(report.apis.at("responses") == 2);
}

// One conversation of a few turns with the fault `fault` in its last request.
void plant(std::vector<std::string>& log, int number, const std::string& fault) {
  const std::string name = "conversation " + std::to_string(number * 7919 + 13) + " ";
  json::Array messages = {message("system", "Task of " + fault + "\nref 00\nDate: 2026-11-20"), message("user", name)};
  json::Array offered = tools({"a", "b", "c"});
  std::mt19937 random(static_cast<unsigned>(number));
  const auto turns = 2 + random() % 3;
  for (unsigned turn = 0; turn < turns; ++turn) {
    const json::Value answer = reasoned("since " + name, "answer " + std::to_string(turn) + name);
    log.push_back(line_with_reply(messages, answer, {{"tools", offered}}));
    messages.push_back(answer);
    messages.push_back(message("user", "question " + std::to_string(turn) + name));
  }
  if (fault == "volatile-header") messages[0] = message("system", "Task of " + fault + "\nref 01\nDate: 2026-11-20");
  if (fault == "date") messages[0] = message("system", "Task of " + fault + "\nref 00\nDate: 2026-11-21");
  if (fault == "tools-reordered") offered = tools({"c", "a", "b"});
  if (fault == "tools-changed") offered = tools({"a", "b"});
  if (fault == "reasoning-left-out") messages[messages.size() - 2].as_object().erase("reasoning_content");
  if (fault == "message-edited") messages[1] = message("user", name + "edited");
  if (fault == "history-truncated") messages.erase(messages.begin() + 1, messages.begin() + 3);
  if (fault == "answer-left-out") messages.erase(messages.end() - 2);
  if (fault == "branched") messages[messages.size() - 2] = message("assistant", "another answer" + name);
  log.push_back(line(messages, {{"tools", offered}}));
}

TEST_CASE("fifty conversations with a fault in each, all of which are found") {
  const std::vector<std::string> faults = {"volatile-header",    "date",
                                           "tools-reordered",    "tools-changed",
                                           "reasoning-left-out", "message-edited",
                                           "history-truncated",  "answer-left-out",
                                           "branched",           "none"};
  std::vector<std::string> log;
  for (int i = 0; i < 50; ++i) plant(log, i, faults[static_cast<std::size_t>(i) % faults.size()]);
  const ReplayReport report = replay(kPlain, log);
  CHECK(report.conversations == 50);
  std::string expected;
  for (std::string fault : {"answer-left-out", "branched", "date", "history-truncated", "message-edited",
                            "reasoning-left-out", "tools-changed", "tools-reordered", "volatile-header"})
    expected += (expected.empty() ? "" : ", ") + fault + " 5";
  CHECK(causes(report) == expected);
}

TEST_CASE("prompts are the same with and without what is known of an earlier one") {
  const PromptMaker maker(parts_of(kPlain));
  std::mt19937 random(3);
  json::Array messages;
  std::optional<Prompt> known;
  for (int step = 0; step < 300; ++step) {
    if (messages.size() > 12 || random() % 5 == 0) messages.resize(random() % (messages.size() + 1));
    std::string content(random() % 30, 'x');
    for (char& c : content) c = "ab <>\n"[random() % 6];
    if (random() % 4 == 0) content += "<end><user>";
    messages.push_back(message(random() % 2 == 0 ? "user" : "assistant", content));
    if (random() % 6 == 0) messages[random() % messages.size()] = message("system", content + "!");
    const Sheet sheet = maker.sheet(messages, std::nullopt, {}, std::nullopt);
    const auto fresh = maker.prompt(sheet, nullptr);
    const auto again = maker.prompt(sheet, known ? &*known : nullptr);
    REQUIRE(fresh.ok());
    REQUIRE(again.ok());
    CHECK(fresh.value().text == again.value().text);
    CHECK(fresh.value().ids == again.value().ids);
    CHECK(fresh.value().ends == again.value().ends);
    known = again.value();
  }
}

TEST_CASE("memory for few conversations only") {
  std::vector<std::string> log;
  for (int i = 0; i < 40; ++i) log.push_back(line({message("user", std::to_string(i) + std::string(2000, 'x'))}));
  const ReplayReport report = replay(kPlain, log, {.memory_bytes = 100'000});
  CHECK(report.requests == 40);
  CHECK(report.forgotten > 20);
}

TEST_CASE("hostile lines are counted and passed over") {
  const std::string good = line({message("user", "hello")});
  std::string deep(5000, '[');
  std::string raises = line({message("user", "hello"), json::Object{{"role", "user"}, {"content", 3}}});
  const ReplayReport report = replay(
      "{% for m in messages %}{% if m.content is number %}{{ raise_exception('no content') }}{% endif %}{% endfor "
      "%}" +
          std::string(kPlain),
      {good, good.substr(0, good.size() / 2), std::string("{\"messages\": \0}", 15), "", "   ", deep, "3", "{}",
       R"({"messages": [{"role": "user", "content": "a\ud800"}]})",
       "{\"messages\": [{\"role\": \"user\", \"content\": \"\xff\xfe\"}]}", raises, R"({"messages": []})",
       R"({"messages": [[]]})", R"({"request": {"request": {"request": {"request": {"request": 1}}}}})", good});
  CHECK(report.requests == 5);
  CHECK(report.lines == 15);
  std::string skipped;
  for (const SkippedLines& lines : report.skipped) skipped += lines.reason + " " + std::to_string(lines.count) + "; ";
  CHECK(skipped == "not JSON 3; no chat request 4; refused by the template 1; ");
  CHECK(json::parse(json::to_compact(to_json(report))).ok());
}

TEST_CASE("a diff names the first difference, its cause and its cost") {
  const PromptMaker maker(parts_of(kPlain));
  const auto request = [](json::Array messages) {
    chat::ApiRequest out;
    out.messages = std::move(messages);
    return out;
  };
  const json::Value user = message("user", "hello");
  auto same =
      diff_requests(maker, request({message("system", "abcd"), user}),
                    request({message("system", "abcd"), user, message("assistant", "fine"), message("user", "more")}));
  REQUIRE(same.ok());
  CHECK_FALSE(same.value().breaks);
  CHECK(same.value().before_tokens == 14);
  CHECK(same.value().answer_tokens == 5);
  CHECK(same.value().common_tokens == 19);
  CHECK(same.value().recomputed_tokens == 7);
  auto other = diff_requests(
      maker, request({message("system", "ab 1 cd"), user}),
      request({message("system", "ab 2 cd"), user, message("assistant", "fine"), message("user", "more")}));
  REQUIRE(other.ok());
  CHECK(other.value().breaks);
  CHECK(other.value().common_tokens == 4);
  CHECK(other.value().recomputed_tokens == 29 - 4);
  CHECK(other.value().cause.name == "volatile-header");
  CHECK(other.value().message == 0);
  CHECK(other.value().place == "messages[0].content");
  CHECK(other.value().shared_end == "<system>ab ");
  CHECK(other.value().before_text.starts_with("1 cd<end>"));
  CHECK(other.value().after_text.starts_with("2 cd<end>"));
  const json::Value shown = to_json(other.value());
  CHECK(shown.find("cause")->find_string("name") == "volatile-header");

  const PromptMaker forgetful(parts_of(kForgetful));
  auto dropped = diff_requests(forgetful, request({user, reasoned("why", "a")}),
                               request({user, reasoned("why", "a"), message("user", "b")}));
  REQUIRE(dropped.ok());
  CHECK(dropped.value().cause.name == "template: reasoning-dropped");
}

TEST_CASE("what cache_control marks is read again while its time lasts") {
  const std::string system(1100, 's');
  const auto line = [&](const std::string& time, int turns) {
    json::Array messages;
    for (int i = 0; i < turns; ++i) {
      if (i > 0) messages.push_back(message("assistant", "fine"));
      messages.push_back(message("user", "turn " + std::to_string(i)));
    }
    json::Object block{{"type", "text"}, {"text", system}, {"cache_control", json::Object{{"type", "ephemeral"}}}};
    json::Object body{{"system", json::Array{std::move(block)}}, {"messages", std::move(messages)}};
    return json::to_compact(json::Value(json::Object{{"timestamp", time}, {"request", std::move(body)}}));
  };
  const ReplayReport report =
      replay(kPlain, {line("2026-03-14T15:00:00", 1), line("2026-03-14T15:04:00", 2), line("2026-03-14T15:09:01", 3)});
  CHECK(report.marks.requests == 3);
  constexpr std::uint64_t kMarked = 1101;  // <system> and the text
  CHECK(report.marks.read_tokens == kMarked);
  CHECK(report.marks.written_tokens == 2 * kMarked);
  CHECK(report.marks.expired_tokens == kMarked);
  CHECK(to_json(report).find("cache_control")->find("read_tokens")->to_int64() == kMarked);
  CHECK(replay(kPlain, {R"({"messages": [{"role": "user", "content": "x"}]})"}).marks.requests == 0);
}

// Three conversations of two requests each that take turns.
std::vector<std::string> turns_of_three() {
  std::vector<std::string> lines;
  for (const bool is_second : {false, true}) {
    for (const std::string name : {"a", "b", "c"}) {
      json::Array messages{json::Object{{"role", "user"}, {"content", name + std::string(400, 'x')}}};
      if (is_second) {
        messages.emplace_back(json::Object{{"role", "assistant"}, {"content", "answer " + name}});
        messages.emplace_back(json::Object{{"role", "user"}, {"content", "go on"}});
      }
      lines.push_back(json::to_compact(json::Object{{"messages", std::move(messages)}}));
    }
  }
  return lines;
}

TEST_CASE("a fleet serves the log by each rule, as sent and bridged") {
  ReplayOptions options;
  options.routings.assign(cache::kRoutings.begin(), cache::kRoutings.end());
  options.fleet = {.replicas = 2, .capacity = 10'000, .block = 1, .concurrency = 1};
  const ReplayReport report = test::replay_of(parts_of(kPlain), options, turns_of_three());
  REQUIRE(report.fleets.size() == 8);
  for (const ReplayFleet& fleet : report.fleets) {
    CAPTURE(cache::to_string(fleet.routing));
    CHECK(fleet.prompt_tokens == report.lanes[0].prompt_tokens);
    // Where each conversation stays with its replica, all is found but what is new, and the id with which all begin.
    const bool is_all = fleet.hit_tokens + 6 > report.lanes[0].hits[1];
    CHECK(is_all == (fleet.moved == 0));
    if (fleet.routing == cache::Routing::kExact) CHECK(is_all);
    if (fleet.routing == cache::Routing::kRoundRobin) CHECK(fleet.moved == 3);  // the fourth request goes to the second
  }
  CHECK(report.fleets[0].lane == "as-sent");
  CHECK(report.fleets[0].busiest_share == doctest::Approx(0.65).epsilon(0.2));
  CHECK(test::replay_of(parts_of(kPlain), {}, turns_of_three()).fleets.empty());
}

TEST_CASE("what a replica has no room for is not found") {
  ReplayOptions options;
  options.routings = {cache::Routing::kExact};
  options.fleet = {.replicas = 1, .capacity = 500, .block = 1, .concurrency = 1};
  CHECK(test::replay_of(parts_of(kPlain), options, turns_of_three()).fleets[0].hit_rate() < 0.01);
  options.fleet.replicas = 3;
  const ReplayReport report = test::replay_of(parts_of(kPlain), options, turns_of_three());
  CHECK(report.fleets[0].hit_tokens + 6 > report.lanes[0].hits[1]);
}

}  // namespace
}  // namespace rondo::replay
