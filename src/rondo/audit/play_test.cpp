// What is kept of a scenario that was played.
#include "audit/play.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/byte_tokenizer.h"

namespace rondo::audit {
namespace {

const std::string kTurns =
    "{%- for m in messages %}{{- '<' + m.role + '>' + (m.content or '') }}{%- for c in m.tool_calls or [] %}"
    "{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + ':do}' }}{%- endfor %}{{- '[fin]' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}";

class Theatre {
 public:
  explicit Theatre(const std::string& source) {
    const auto compiled = jinja::Template::compile(source, {}, "invented");
    REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
    subject_.chat_template = compiled.value();
    subject_.tokenizer = test::byte_tokenizer({"[fin]"}, "[fin]");
    auto stage = Stage::make(subject_, {"default", {}});
    REQUIRE_MESSAGE(stage.ok(), stage.error().to_string());
    stage_ = std::move(stage).value();
  }

  [[nodiscard]] Played played(const std::string& name, const Sending& sending = {}) const {
    const auto found = std::ranges::find(scenarios(), name, &Scenario::name);
    REQUIRE(found != scenarios().end());
    return play(*stage_, *found, sending);
  }

 private:
  Subject subject_;
  std::unique_ptr<const Stage> stage_;
};

TEST_CASE("play: the prompts of each turn, what ends it, and how much of the messages is shown") {
  const Played played = Theatre(kTurns).played("content");
  const std::string question = "<user>How is the weather in Paris?[fin]<assistant>";
  CHECK(played.first_prompt == question);
  REQUIRE(played.samples.size() == 1);
  const std::string said = played.samples[0].text;
  CHECK(said.ends_with("[fin]"));
  REQUIRE(played.texts.size() == 2);
  CHECK(played.texts[0] == question + said);
  CHECK(played.texts[1] == question + said + "<user>And tomorrow?[fin]<assistant>");
  CHECK(played.alones == std::vector<std::string>{question + said});
  REQUIRE(played.tails.size() == 1);
  CHECK(played.texts[1].substr(played.tails[0].begin, played.tails[0].end - played.tails[0].begin) == "[fin]");
  const std::string data = "How is the weather in Paris?And tomorrow?";
  CHECK(played.data_bytes == data.size() + said.size() - std::string("[fin]").size());
  CHECK_FALSE(played.broken);
  CHECK_FALSE(played.is_refused);
  CHECK_FALSE(played.with_tools);
  CHECK(played.outcome.completion_tokens == said.size() - 4);
}

TEST_CASE("play: a conversation that the template refuses, and one that exceeds its limits") {
  const std::string raises = "{%- if messages | length > 2 %}{{- raise_exception('too long') }}{%- endif %}";
  const Played refused = Theatre(raises + kTurns).played("content");
  CHECK(refused.is_refused);
  CHECK_FALSE(refused.ran_out_of_limits);
  CHECK(refused.outcome.note == "the template refuses the next prompt: too long");
  const std::string runs =
      "{%- if messages[-1].content == 'And tomorrow?' %}{%- for a in range(99999) %}{%- for b in range(99999) %}{%- "
      "endfor %}{%- endfor "
      "%}"
      "{%- endif %}";
  const Played run = Theatre(runs + kTurns).played("content");
  CHECK(run.is_refused);
  CHECK(run.ran_out_of_limits);
}

TEST_CASE("play: what the model says may be given, and calls of later turns have ids of their own") {
  const Theatre theatre(kTurns);
  std::vector<Sampled> samples = theatre.played("content").samples;
  samples[0].text.insert(0, "Well. ");
  samples[0].stop_begin += 6;
  const Played played = theatre.played("content", {.samples = &samples});
  CHECK(played.samples[0].text == samples[0].text);
  CHECK(played.texts[1].starts_with(played.first_prompt + samples[0].text));
  const std::string named = "{%- for m in messages if m.role == 'tool' %}{{- '#' + m.tool_call_id }}{%- endfor %}";
  const std::string ids = Theatre(kTurns + named).played("call-call-answer").texts.back();
  const std::size_t first = ids.find('#');
  const std::size_t second = ids.find('#', first + 1);
  REQUIRE(second != std::string::npos);
  CHECK(ids.substr(first, second - first) != ids.substr(second, second - first));
  CHECK(Theatre(kTurns).played("call").with_tools);
}

}  // namespace
}  // namespace rondo::audit
