// `rondo chat` on a model of a few hundred tokens.
#include <doctest/doctest.h>

#include "demo/demo.h"
#include "demo/demo_data.h"
#include "json/parse.h"
#include "rondo/model.h"
#include "tests/support/small_model.h"

namespace rondo::demo {
namespace {

using testing::OwnFolder;

struct Talk {
  Status status = Done{};
  std::string printed;
  std::string notes;
};

// A conversation of these lines.
Talk talk(const ChatOptions& options, const std::vector<std::string>& lines) {
  Talk out;
  std::size_t next = 0;
  const auto read_line = [&]() -> std::optional<std::string> {
    return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
  };
  out.status = run_chat(
      options, read_line, [&](std::string_view text) { out.printed += text; },
      [&](std::string_view text) { out.notes += text; });
  return out;
}

// The turns of a conversation that went through.
std::vector<json::Value> turns_of(ChatOptions options, const std::vector<std::string>& lines) {
  options.json = true;
  const Talk done = talk(options, lines);
  REQUIRE_MESSAGE(done.status.ok(), (done.status.ok() ? "" : done.status.error().to_string()));
  CHECK(done.notes == "");
  std::vector<json::Value> turns;
  std::string_view rest = done.printed;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    REQUIRE(end != std::string_view::npos);
    turns.push_back(json::parse(rest.substr(0, end)).value());
    rest.remove_prefix(end + 1);
  }
  return turns;
}

std::int64_t count(const json::Value& turn, const char* field) { return *turn.find(field)->to_int64(); }

std::string text(const json::Value& turn, const char* field) { return std::string(*turn.find_string(field)); }

// What people are told about the turn.
std::string counts_of(const json::Value& turn) {
  return "  " + std::to_string(count(turn, "prompt_tokens")) +
         " prompt tokens: " + std::to_string(count(turn, "reused_tokens")) + " reused, " +
         std::to_string(count(turn, "prefilled_tokens")) + " prefilled; " +
         std::to_string(count(turn, "generated_tokens")) + " generated, ended by " + text(turn, "stop") + "\n";
}

ChatOptions of(const std::string& model) {
  ChatOptions options;
  options.model = model;
  options.max_tokens = 6;
  return options;
}

}  // namespace

TEST_CASE("a conversation's model must be there, and is loaded when something is said") {
  const ChatOptions other = of(RONDO_SOURCE_DIR "/README.md");
  CHECK(talk(other, {}).status.ok());
  CHECK(talk(other, {"", ""}).status.ok());
  const Talk said = talk(other, {"", "hello"});
  REQUIRE_FALSE(said.status.ok());
  if (!testing::has_engine())
    CHECK_MESSAGE(said.status.error().message.find("run `rondo serve MODEL --url") != std::string::npos,
                  "bug: a build without an engine complained of the file");
  const Talk refused = talk(of("nowhere.gguf"), {});
  REQUIRE_FALSE(refused.status.ok());
  CHECK(refused.status.error().code == ErrorCode::kNotFound);
  CHECK(refused.status.error().source == "nowhere.gguf");
  CHECK(refused.printed == "");
  const Talk without_data = talk(of(""), {});
  REQUIRE_FALSE(without_data.status.ok());
  CHECK(without_data.status.error().message.find("./dev setup") != std::string::npos);
}

TEST_CASE("a template without system text is talked to with some where polyfills supply it") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  ChatOptions options = of(testing::small_model(folder, "small.gguf", testing::small_template()));
  options.chat_template = folder.file("lacking.jinja", R"({%- for m in messages -%}
{%- if m.role == 'system' -%}{{ raise_exception('no system text') }}{%- endif -%}
{{- m.role + ': ' + m.content + '~fin~' -}}
{%- endfor -%})");
  options.system = "Be brief.";
  CHECK(talk(options, {"hello"}).status.error().message.find("no system text") != std::string::npos);
  options.polyfill = "auto";
  CHECK(turns_of(options, {"hello", "world"}).size() == 2);
  options.polyfill = "perhaps";
  CHECK(talk(options, {"hello"}).status.error().message ==
        "`polyfill` is \"off\", \"auto\" or \"on\", found `perhaps`");
}

TEST_CASE("each prompt of a conversation is a bridge, and its turns print as JSON or as text") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  ChatOptions options = of(testing::small_model(folder, "small.gguf", testing::small_template()));
  const std::vector<std::string> lines = {"hello", "", "hello world", "the city"};
  const std::vector<json::Value> turns = turns_of(options, lines);
  REQUIRE(turns.size() == 3);
  CHECK(count(turns[0], "prompt_tokens") == 11);  // <bos>, [[, user, :, space, hello, ~fin~, [[, assistant, :, space
  CHECK(count(turns[0], "reused_tokens") == 0);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    CHECK(count(turns[i], "reused_tokens") + count(turns[i], "prefilled_tokens") == count(turns[i], "prompt_tokens"));
    CHECK(count(turns[i], "generated_tokens") <= 6);
    CHECK((text(turns[i], "stop") == "length") == (count(turns[i], "generated_tokens") == 6));
    if (i > 0) {
      CHECK(count(turns[i], "reused_tokens") + 1 ==
            count(turns[i - 1], "prompt_tokens") + count(turns[i - 1], "generated_tokens"));
    }
  }
  const Talk shown = talk(options, lines);
  CHECK(shown.status.ok());
  CHECK(shown.printed ==
        text(turns[0], "content") + "\n" + text(turns[1], "content") + "\n" + text(turns[2], "content") + "\n");
  CHECK(shown.notes == counts_of(turns[0]) + counts_of(turns[1]) + counts_of(turns[2]));

  options.max_tokens = 1;
  CHECK(count(turns_of(options, {"hello"})[0], "generated_tokens") == 1);
  options.system = "the";
  const auto expected =
      Model::load(testing::kSmallFolder).value().tokenize("<bos>[[system: the~fin~[[user: hello~fin~[[assistant: ");
  CHECK(count(turns_of(options, {"hello"})[0], "prompt_tokens") == static_cast<std::int64_t>(expected.value().size()));
}

TEST_CASE("what is drawn depends on the temperature and the seed") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  ChatOptions options = of(testing::small_model(folder, "small.gguf", testing::small_template()));
  options.max_tokens = 16;
  const std::string greedy = talk(options, {"hello"}).printed;
  options.seed = 1;
  CHECK(talk(options, {"hello"}).printed == greedy);
  options.temperature = 2;
  const std::string drawn = talk(options, {"hello"}).printed;
  CHECK(talk(options, {"hello"}).printed == drawn);
  options.seed = 2;
  CHECK(talk(options, {"hello"}).printed != drawn);
}

TEST_CASE("a conversation has the template that is named, and the clock's time") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  ChatOptions options = of(testing::small_model(folder, "small.gguf", testing::small_template()));
  options.chat_template = folder.path("nowhere.jinja");
  CHECK(talk(options, {"hello"}).status.error().code == ErrorCode::kNotFound);
  options.chat_template = folder.file(
      "clock.jinja",
      "{% if strftime_now('%Y-%m-%d %H:%M:%S') != '1999-12-31 23:58:07' %}{{ raise_exception('no time') }}{% endif %}" +
          testing::small_template());
  CHECK(talk(options, {"hello"}).status.error().message.find("none was given") != std::string::npos);
  options.clock = [] {
    std::tm time{};
    time.tm_mday = 1;
    return time;
  };
  CHECK(talk(options, {"hello"}).status.error().message == "no time");
  options.clock = [] {
    std::tm time{};
    time.tm_year = 99;
    time.tm_mon = 11;
    time.tm_mday = 31;
    time.tm_hour = 23;
    time.tm_min = 58;
    time.tm_sec = 7;
    return time;
  };
  CHECK(turns_of(options, {"hello"}).size() == 1);
}

TEST_CASE("reasoning stands in round brackets, calls in square ones") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  // Nearly every token is a whole call, so the model is bound to make some.
  std::vector<engine::ExtraToken> calls;
  for (int i = 0; i < 3000; ++i) calls.push_back({"{!do f with {\"n\": " + std::to_string(i) + "} do!}", false});
  ChatOptions options = of(testing::small_model(folder, "calls.gguf", testing::small_template(), calls));
  const json::Value called = turns_of(options, {"hello"})[0];
  const json::Array& found = called.find("tool_calls")->as_array();
  REQUIRE_FALSE(found.empty());
  std::string expected = text(called, "content") + "\n";
  for (const json::Value& call : found) {
    CHECK(text(call, "name") == "f");
    CHECK(text(call, "status") != "");
    expected += "[calls f " + text(call, "arguments") + "]\n";
  }
  CHECK(called.find("reasoning_content")->is_null());
  CHECK(talk(options, {"hello"}).printed == expected);

  options = of(testing::small_model(
      folder, "thinking.gguf",
      "{% for m in messages %}[[{{ m.role }}: "
      "{% if m.role == 'assistant' %}(*mull {{ m.reasoning_content }} mull*){% endif %}{{ m.content or '' }}~fin~"
      "{% endfor %}{% if add_generation_prompt %}[[assistant: (*mull {% endif %}"));
  const json::Value thought = turns_of(options, {"hello"})[0];
  REQUIRE_FALSE(thought.find("reasoning_content")->is_null());
  CHECK(talk(options, {"hello"}).printed ==
        "(" + text(thought, "reasoning_content") + ")\n" + text(thought, "content") + "\n");
}

TEST_CASE("without a model the small random one is made, and said to be that") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("chat-test");
  const DemoModel plan = demo_data().value().model;
  folder.file(plan.chat_template, testing::small_template());
  folder.file(plan.vocabulary, testing::small_vocabulary());
  ChatOptions options = of("");
  options.fixtures = folder.path();
  options.cache_folder = folder.path("cache");
  const Talk first = talk(options, {"hello"});
  REQUIRE(first.status.ok());
  CHECK(first.notes.starts_with("making a small model with random weights: "));
  CHECK(first.notes.find("\ntalking to a model with random weights: it writes nonsense") != std::string::npos);
  const Talk again = talk(options, {"hello"});
  CHECK(again.printed == first.printed);
  CHECK(again.notes.starts_with("talking to a model with random weights"));
}

}  // namespace rondo::demo
