// The demonstration's parts: the families' rollouts break nowhere over bridges; the conversation on a tiny model runs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "demo/demo.h"
#include "demo/demo_parts.h"
#include "demo/table.h"
#include "json/parse.h"
#include "tests/support/own_folder.h"

using namespace rondo;
using namespace rondo::demo;

namespace {

std::string fixtures() {
  const char* folder = std::getenv("RONDO_FIXTURES");
  if (folder == nullptr) MESSAGE("skipped: RONDO_FIXTURES is not set");
  return folder != nullptr ? folder : "";
}

}  // namespace

TEST_CASE("every family's rollout goes through, and no bridge breaks") {
  const std::string folder = fixtures();
  if (folder.empty()) return;
  const DemoData data = demo_data().value();
  CHECK(data.agent.size() == 12);
  CHECK(data.families.size() == 5);
  std::vector<std::string> corpora{""};
  if (std::getenv("RONDO_TEST_FULL") != nullptr) corpora.push_back(std::string(RONDO_SOURCE_DIR) + "/../shared/corpus");
  for (const std::string& corpus : corpora) {
    for (const DemoFamily& family : data.families) {
      const FamilyRun run = run_family(family, data, folder, corpus);
      CAPTURE(run.name);
      CAPTURE(run.chat_template);
      CHECK(run.failure == "");
      CHECK(run.rows.size() == data.rollout.size());
      CHECK(run.bridge_breaks == 0);
      CHECK(run.rerender_breaks > 0);
      for (std::size_t i = 1; i < run.rows.size(); ++i) {
        CHECK(run.rows[i].reused + 1 >= run.rows[i - 1].prompt + run.rows[i - 1].generated);
        CHECK((run.rows[i].line > 0 || !run.rows[i].cause.empty() || run.rows[i].rerender_reused > 0));
      }
    }
  }
}

TEST_CASE("the agent's conversation on a tiny model reuses everything but the new turns") {
  const std::string folder = fixtures();
  if (folder.empty() || !engine::has_llama_cpp()) return;
  DemoOptions options;
  options.fixtures = folder;
  options.layers = 2;
  const testing::OwnFolder cache;
  options.cache_folder = cache.path();
  options.json = true;
  std::string printed;
  const Status status = run_demo(options, [&](std::string_view text) { printed += text; }, [](std::string_view) {});
  REQUIRE_MESSAGE(status.ok(), (status.ok() ? "" : status.error().to_string()));
  const json::Value report = json::parse(printed).value();
  const json::Value& agent = *report.find("agent");
  CHECK(*agent.find("bridge_breaks") == json::Value(0));
  const json::Array& turns = agent.find("turns")->as_array();
  REQUIRE(turns.size() == 12);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    const auto number = [&](std::size_t turn, const char* key) { return *turns[turn].find(key)->to_int64(); };
    CHECK(number(i, "reused") + 1 == number(i - 1, "prompt_tokens") + number(i - 1, "generated"));
    if (i == 1) continue;  // whether the first turn's words come back in the same tokens is up to the weights
    CHECK(number(i, "rerender_reused") < number(i, "reused"));
    CHECK(turns[i].find("break") != nullptr);
  }
  CHECK(turns[8].find_string("stop") == "length");
  // A template that has neither tools nor a system role: the call is the grammar's, and a result follows it.
  const json::Value& bare = *report.find("bare");
  CHECK(bare.find_string("template") == "templates/google-gemma-2-2b-it.jinja");
  const json::Array& said = bare.find("messages")->as_array();
  REQUIRE(said.size() == 5);
  CHECK(said[2].find("tool_calls")->as_array()[0].find("function")->find_string("name") == "get_weather");
  CHECK(said[4].find_string("content").value_or("").ends_with("e}"));
}

TEST_CASE("the end is a server's turns, both ways of reusing them added up") {
  Served served{.url = "http://127.0.0.1:1", .turns = {{.how = "render", .prompt = 100, .sampled = 9}}};
  served.turns.push_back({.how = "bridge",
                          .prompt = 120,
                          .expected = 109,
                          .cached = 108,
                          .appended = 11,
                          .sampled = 7,
                          .rerender_cached = 60});
  const std::string text = served_text(served);
  CHECK(text.find("   2  bridge     120       109     108        11        7         60\n") != std::string::npos);
  CHECK(text.find("reused: 108 tokens; a server that renders the same requests anew: 60.") != std::string::npos);
  const json::Value turns = *to_json(served).find("turns");
  CHECK(*turns.as_array()[1].find("rerender_cached") == json::Value(60));
}

TEST_CASE("tables align by characters and cut long cells") {
  CHECK(format_table({{"name", Align::kLeft}, {"much"}}, {{"a", "1"}, {"b\u00e9", "22"}}) ==
        "name  much\n----  ----\na        1\nb\u00e9      22\n");
  CHECK(format_table({{"two\nlines", Align::kLeft, 4}}, {{"abcdef"}, {"x\ny"}}) ==
        "two\nlines\n-----\nabc\u2026\nx y\n");
}
