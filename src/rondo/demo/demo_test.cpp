// `rondo demo` on a model of a few hundred tokens, with an invented template instead of the families'.
#include "demo/demo.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/files.h"
#include "demo/demo_parts.h"
#include "demo/table.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/small_model.h"

namespace rondo::demo {
namespace {

using testing::OwnFolder;

void ignore_text(std::string_view) {}

struct Shown {
  Status status = Done{};
  std::string printed;
  std::string notes;
};

Shown show(const DemoOptions& options) {
  Shown out;
  out.status = run_demo(
      options, [&](std::string_view text) { out.printed += text; }, [&](std::string_view text) { out.notes += text; });
  return out;
}

// Words that the conversations repeat.  As tokens they make the prompts half as long.
std::vector<std::string> words() {
  return {"type",   "string",  "description", "function", "parameters", "properties",  "required", "name",
          "object", "search",  "flight",      "weather",  "origin",     "destination", "departs",  "price",
          "Lisbon", "Hamburg", "assistant",   "forecast", "city",       "days",        "note",     "with"};
}

// The test data for the demonstration, all of it small and invented.
DemoOptions small_demo(const OwnFolder& folder) {
  const DemoData data = demo_data().value();
  const std::string tokenizer = files::read(std::string(testing::kSmallFolder) + "/tokenizer.json").value();
  const auto add = [&](const std::string& name) {
    const bool is_json = name.ends_with(".json");
    folder.file("fixtures/" + name, is_json ? tokenizer : testing::small_vocabulary(words()));
  };
  add(data.model.vocabulary);
  folder.file("fixtures/" + data.model.chat_template, testing::small_template());
  for (const DemoFamily& family : data.families) {
    add(family.tokenizer);
    for (const std::string& name : family.templates) {
      if (name.starts_with("fixtures/")) folder.file(name, testing::small_template());
    }
  }
  DemoOptions options;
  options.fixtures = folder.path("fixtures");
  options.cache_folder = folder.path("cache");
  options.layers = 2;
  options.conversations = 0;  // thousands of bytes are thousands of tokens here
  options.corpus =
      folder.path("corpus");  // which does not exist; without a name it would be searched for beside the checkout
  return options;
}

// A clock that advances by a fifth of a second each time.
std::function<double()> slow_clock() {
  return [now = 0.0]() mutable { return now += 0.21; };
}

// A model without a template whose vocabulary contains the repeated text, so prompts are short.
std::string base_weights(const OwnFolder& folder) {
  return testing::small_model(folder, "base.gguf", "",
                              {{": the path follows the water, and the next village is still far away.\n", false}});
}

std::int64_t number(const json::Value& value, const char* field) { return *value.find(field)->to_int64(); }

std::int64_t sum(const json::Array& turns, const char* field) {
  std::int64_t total = 0;
  for (const json::Value& turn : turns) total += number(turn, field);
  return total;
}

// The line of totals that belongs to the report of a run.
std::string totals(const json::Value& run, const std::string& seconds) {
  const json::Array& turns = run.find("turns")->as_array();
  return "bridge:    0 breaks, " + std::to_string(sum(turns, "prompt_tokens")) + " prompt tokens, " +
         std::to_string(sum(turns, "reused")) + " reused, " + std::to_string(sum(turns, "prefilled")) + " prefilled, " +
         std::to_string(sum(turns, "generated")) + " generated" + seconds + "\n";
}

// The line of the other way.
std::string other_totals(const json::Value& run, const std::string& name, const std::string& seconds) {
  const std::int64_t breaks = number(run, "rerender_breaks");
  return name + ": " + std::to_string(breaks) + (breaks == 1 ? " break, " : " breaks, ") +
         std::to_string(number(run, "rerender_prefilled")) + " prefilled" + seconds + "\n";
}

}  // namespace

TEST_CASE("the demonstration says the same as text and as JSON") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("demo-test");
  DemoOptions options = small_demo(folder);
  options.gemma = base_weights(folder);
  options.conversations = 2;
  options.seconds = slow_clock();
  const Shown text = show(options);
  REQUIRE_MESSAGE(text.status.ok(), (text.status.ok() ? "" : text.status.error().to_string()));
  options.json = true;
  options.seconds = slow_clock();
  const Shown machine = show(options);
  REQUIRE(machine.status.ok());
  const json::Value report = json::parse(machine.printed).value();

  const json::Value& agent = *report.find("agent");
  CHECK(number(agent, "bridge_breaks") == 0);
  CHECK(agent.find("turns")->as_array().size() == 12);
  CHECK(text.printed.find(totals(agent, ", 5.04 s of which prompts 2.52 s")) != std::string::npos);
  CHECK(text.printed.find(other_totals(agent, "re-render", ", 5.04 s of which prompts 2.52 s")) != std::string::npos);
  CHECK(*agent.find("bridge_seconds")->to_double() == doctest::Approx(5.04));
  CHECK(*agent.find("rerender_prompt_seconds")->to_double() == doctest::Approx(2.52));

  const json::Value& plain = *report.find("plain_text");
  CHECK(text.printed.find(totals(plain, ", 1.05 s")) != std::string::npos);
  CHECK(text.printed.find(other_totals(plain, "fresh    ", ", 1.05 s")) != std::string::npos);
  CHECK(text.printed.find("\nmodel:     " + options.gemma + " (") != std::string::npos);
  CHECK(text.printed.find(", attention memory, context of 8192 tokens, ") != std::string::npos);
  CHECK(text.printed.starts_with("An agent with 3 tools and 12 turns of the model.  Each next prompt is a bridge"));

  std::string rollouts;
  for (const json::Value& family : report.find("families")->as_array()) {
    CAPTURE(*family.find_string("name"));
    CHECK(number(family, "bridge_breaks") == 0);
    CHECK(family.find("failure") == nullptr);
    CHECK(family.find("prompts")->as_array().size() == demo_data().value().rollout.size());
    CHECK(text.printed.find("\n" + std::string(*family.find_string("name"))) != std::string::npos);
    rollouts += "rollout: " + std::string(*family.find_string("name")) + "\n";
  }
  CHECK(text.notes.find("turn 11 of 12\nturn 12 of 12\nseveral conversations at once\na template without tools\n" +
                        rollouts) != std::string::npos);

  // The template without tools: the grammar leaves one valid call of all those offered, and an answer by the schema.
  const json::Value& bare = *report.find("bare");
  CHECK(bare.find_string("template") == "one of ours");
  const json::Array& said = bare.find("messages")->as_array();
  REQUIRE(said.size() == 5);
  const json::Value& function = *said[2].find("tool_calls")->as_array().at(0).find("function");
  CHECK(function.find_string("name") == "get_weather");
  const std::string arguments = json::to_compact(*function.find("arguments"));
  const bool is_good = arguments.find("Lisbon") != std::string::npos || arguments.find("Hamburg") != std::string::npos;
  CHECK_MESSAGE((is_good && arguments.find('9') == std::string::npos), arguments);
  CHECK(said[3].find_string("content") == "sun, 24 C");
  const std::string answer(said[4].find_string("content").value_or(""));
  CHECK_MESSAGE((answer == R"({"umbrella": false})" || answer == R"({"umbrella": true})"), answer);
  const json::Array& bare_turns = bare.find("turns")->as_array();
  REQUIRE(bare_turns.size() == 2);
  CHECK(number(bare_turns[1], "reused") + 1 ==
        number(bare_turns[0], "prompt_tokens") + number(bare_turns[0], "generated"));
  CHECK(text.printed.find("\n  tools: given in the system text\n") != std::string::npos);
  CHECK(text.printed.find("\n  new_messages[0]: given as a user message\n") != std::string::npos);

  const json::Value& together = *report.find("together");
  CHECK(number(together, "conversations") == 2);
  CHECK(number(together, "turns") == 24);
  const json::Value& bridged = *together.find("bridge");
  const json::Value& rerendered = *together.find("rerender");
  CHECK(number(bridged, "prefilled") <= number(rerendered, "prefilled"));
  // What the four have in common is decoded only once.
  CHECK(number(bridged, "prefilled") < 2 * sum(agent.find("turns")->as_array(), "prefilled"));
  CHECK(bridged.find("first_token_seconds") != nullptr);
  CHECK(text.printed.find("\n2 such conversations at once on one engine, 24 turns in all.\n") != std::string::npos);
}

TEST_CASE("the demonstration fails without the base weights it is to show; without a clock it shows no times") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("demo-test");
  DemoOptions options = small_demo(folder);
  options.gemma = folder.path("no-base.gguf");
  const Shown text = show(options);
  REQUIRE_FALSE(text.status.ok());
  CHECK(text.status.error().source == options.gemma);
  CHECK(text.printed.find(" generated\nre-render: ") != std::string::npos);
  CHECK(text.printed.find(" prefilled\n\nA template that has neither tools nor a system role (") != std::string::npos);
  CHECK(text.printed.find("Plain text turns") == std::string::npos);
  options.model = folder.path("nowhere.gguf");
  const Shown nothing = show(options);
  REQUIRE_FALSE(nothing.status.ok());
  CHECK(nothing.status.error().code == ErrorCode::kNotFound);
  CHECK(nothing.printed == "");
}

TEST_CASE("the demonstration shows all families and then fails where one did") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("demo-test");
  DemoOptions options = small_demo(folder);
  options.json = true;
  const DemoFamily family = demo_data().value().families[1];
  for (const std::string& name : family.templates) std::filesystem::remove(folder.path(name));
  const Shown shown = show(options);
  REQUIRE_FALSE(shown.status.ok());
  CHECK(shown.status.error().message ==
        "a rollout of the demonstration failed: " + family.name + ": none of its templates is there");
  const json::Value report = json::parse(shown.printed).value();
  const json::Array& families = report.find("families")->as_array();
  REQUIRE(families.size() == 5);
  for (std::size_t i = 0; i < families.size(); ++i) CHECK((families[i].find("failure") != nullptr) == (i == 1));
  CHECK(families[1].find_string("failure") == "none of its templates is there");
}

TEST_CASE("a family's rollout fails with what is wrong with its parts") {
  const OwnFolder folder("family-test");
  const DemoData data = demo_data().value();
  DemoFamily family;
  family.name = "own";
  family.templates = {"corpus/own.jinja", "fixtures/own.jinja"};
  family.tokenizer = "tokenizer.json";
  const auto failure = [&](const std::string& corpus) {
    const FamilyRun run = run_family(family, data, folder.path("fixtures"), corpus);
    CHECK(run.name == "own");
    CHECK(run.rows.empty());
    return run.failure;
  };
  CHECK(failure("") == "none of its templates is there");
  folder.file("corpus/own.jinja", "{{ raise_exception('not me') }}");
  CHECK(failure("") == "none of its templates is there");
  CHECK(failure(folder.path("corpus")).starts_with("no such file"));  // of the tokenizer
  folder.file("fixtures/tokenizer.json", "{");
  CHECK(failure(folder.path("corpus")) != "");
  folder.file("fixtures/tokenizer.json", files::read(std::string(testing::kSmallFolder) + "/tokenizer.json").value());
  CHECK(failure(folder.path("corpus")) == "not me");
  folder.file("corpus/own.jinja", "{{ x");
  CHECK(failure(folder.path("corpus")).starts_with("unexpected end of template"));
  folder.file("corpus/own.jinja", "the same for all");
  CHECK(failure(folder.path("corpus")) == "the template shows nothing of the scripted turn");
}

TEST_CASE("a family whose template has no place for words beside a call is shown without them") {
  const OwnFolder folder("family-test");
  DemoFamily family;
  family.name = "silent";
  family.templates = {"fixtures/silent.jinja"};
  family.tokenizer = "tokenizer.json";
  folder.file("tokenizer.json", files::read(std::string(testing::kSmallFolder) + "/tokenizer.json").value());
  folder.file("silent.jinja",
              "{% for m in messages if m.tool_calls and m.content %}{{ raise_exception('no words') }}{% endfor %}" +
                  testing::small_template());
  const DemoData data = demo_data().value();
  const FamilyRun run = run_family(family, data, folder.path(), "");
  CHECK(run.failure == "");
  CHECK(run.rows.size() == data.rollout.size());
  CHECK(run.bridge_breaks == 0);
}

TEST_CASE("plain text: each prompt is all ids so far, beside the same text tokenized again") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("plain-test");
  EmbeddedOptions options;
  options.model = base_weights(folder);
  options.needs_template = false;
  auto model = load_embedded(options, ignore_text);
  REQUIRE(model.ok());
  const auto run = run_plain_text(model.value(), {});
  REQUIRE_MESSAGE(run.ok(), run.error().to_string());
  const std::vector<DemoRow>& rows = run.value().rows;
  REQUIRE(rows.size() == 5);
  CHECK_FALSE(run.value().bridge_seconds);
  CHECK_FALSE(run.value().rerender_seconds);
  std::size_t breaks = 0;
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].turn == i + 1);
    CHECK(rows[i].reused + rows[i].prefilled == rows[i].prompt);
    CHECK(rows[i].generated == 24);
    CHECK(rows[i].stop == "length");
    breaks += rows[i].cause.empty() ? 0 : 1;
    fresh += rows[i].rerender_prompt;
    if (i == 0) continue;
    const std::size_t seen = rows[i - 1].prompt + rows[i - 1].generated;
    CHECK(rows[i].reused + 1 == seen);  // all but the last, which was sampled but not decoded
    CHECK(rows[i].prompt > seen);
    CHECK(rows[i].cause.empty() == (rows[i].rerender_reused == seen));
  }
  CHECK(rows[0].cause.empty());
  CHECK(rows[0].rerender_prompt == rows[0].prompt);
  // Random bytes are hardly ever the tokens that a tokenizer makes of their text.
  CHECK(breaks > 0);
  CHECK(run.value().rerender_breaks == breaks);
  CHECK(run.value().rerender_prefilled == fresh);
}

TEST_CASE("a table: widths count characters, what is too long is cut, and an empty column takes no room") {
  const std::vector<Column> columns = {{"name", Align::kLeft, 5}, {"of\ntokens"}, {"", Align::kLeft}, {"x"}};
  CHECK(format_table(columns, {{"\u00e9\u00e9", "7", "", "1"}, {"a\nlong one", "1234567", ""}, {}}) ==
        "            of\n"
        "name    tokens    x\n"
        "-----  -------    -\n"
        "\u00e9\u00e9           7    1\n"
        "a lo\u2026  1234567\n"
        "\n");
  CHECK(format_table({{"n"}}, {{"1"}}) == "n\n-\n1\n");
}

TEST_CASE("a client answers the calls that it saw, in their order, and then the user speaks") {
  DemoStep step;
  step.results = {"one", "two"};
  step.user = "and?";
  const json::Value said = json::parse(R"({"tool_calls": [{"id": "a", "function": {"name": "f"}}]})").value();
  CHECK(json::to_compact(client_messages(step, &said)) ==
        R"([{"role":"tool","tool_call_id":"a","name":"f","content":"one"},{"role":"tool","content":"two"},)"
        R"({"role":"user","content":"and?"}])");
  CHECK(json::to_compact(client_messages(step, nullptr)) ==
        R"([{"role":"tool","content":"one"},{"role":"tool","content":"two"},{"role":"user","content":"and?"}])");
  step = {};
  CHECK(client_messages(step, &said).empty());
}

TEST_CASE("tables of rows: dashes where nothing is to say") {
  DemoRow first;
  first.turn = 1;
  first.prompt = 120;
  first.prefilled = 120;
  first.generated = 7;
  first.stop = "stop";
  DemoRow second = first;
  second.turn = 2;
  second.reused = 126;
  second.rerender_reused = 30;
  second.cause = "line 3 writes it otherwise";
  CHECK(rows_table({first, second}) ==
        "      prompt                                      re-render\n"
        "turn  tokens  reused  prefilled  generated  stop     reuses  why not more\n"
        "----  ------  ------  ---------  ---------  ----  ---------  --------------------------\n"
        "   1     120       0        120          7  stop          -\n"
        "   2     120     126        120          7  stop         30  line 3 writes it otherwise\n");
  FamilyRun ran;
  ran.name = "one";
  ran.chat_template = "a";
  ran.rows = {first, second};
  ran.rerender_breaks = 1;
  ran.bridge_kept = 127;
  ran.rerender_kept = 30;
  FamilyRun failed;
  failed.name = "two";
  failed.failure = "not there";
  const std::string table = families_table({ran, failed});
  CHECK(table.find("line 3 writes it otherwise") != std::string::npos);
  CHECK(table.find("failed: not there") != std::string::npos);
  CHECK(to_json(failed).find_string("failure") == "not there");
  CHECK(to_json(ran).find("failure") == nullptr);
  CHECK(to_json(ran).find("prompts")->as_array()[0].find("break") == nullptr);
  CHECK(to_json(ran).find("prompts")->as_array()[1].find("break")->find_string("cause") == second.cause);
}

}  // namespace rondo::demo
