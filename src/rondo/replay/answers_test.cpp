// What replays take for sampled, and the causes that follow from it.  Every byte of their prompts is a token, and so is each marker.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "json/print.h"
#include "replay/replay.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/replays.h"

namespace rondo::replay {
namespace {

constexpr const char* kPlain =
    "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}<why>{{ m.reasoning_content }}<so>{% endif %}"
    "{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

// Reasoning before the last user message is not shown.
constexpr const char* kForgetful =
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% "
    "endif %}{% endfor %}\n"
    "{%- for m in messages %}<{{ m.role }}>{% if m.reasoning_content and loop.index0 > ns.last %}<why>"
    "{{ m.reasoning_content }}<so>{% endif %}{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

PromptMaker::Parts parts_of(const std::string& source) {
  PromptMaker::Parts parts;
  auto compiled = jinja::Template::compile(source, {}, "invented.jinja");
  REQUIRE(compiled.ok());
  parts.chat_template = compiled.value();
  parts.tokenizer = test::byte_tokenizer({"<user>", "<assistant>", "<end>", "<why>", "<so>"}, "<end>");
  analysis::Options options;
  options.tokenizer = parts.tokenizer.get();
  auto format = analysis::analyse(*parts.chat_template, options);
  REQUIRE(format.ok());
  parts.format = format.value();
  return parts;
}

json::Value message(const std::string& role, const std::string& content) {
  return json::Object{{"role", role}, {"content", content}};
}

json::Value reasoned(const std::string& reasoning, const std::string& content) {
  return json::Object{{"role", "assistant"}, {"reasoning_content", reasoning}, {"content", content}};
}

std::string line(json::Array messages) {
  return json::to_compact(json::Value(json::Object{{"messages", std::move(messages)}}));
}

// A request with the reply that it got.
std::string line_with_reply(json::Array messages, json::Value reply) {
  json::Object response{{"choices", json::Array{json::Object{{"message", std::move(reply)}}}}};
  return json::to_compact(
      json::Object{{"request", json::Object{{"messages", std::move(messages)}}}, {"response", std::move(response)}});
}

ReplayReport replayed(const std::vector<std::string>& lines) {
  return test::replay_of(parts_of(kForgetful), {}, lines);
}

// "reasoning-dropped, eviction"
std::string causes(const ReplayReport& report) {
  std::string out;
  for (const ReplayCause& cause : report.causes) out += (out.empty() ? "" : ", ") + cause.name;
  return out;
}

TEST_CASE("bug: reasoning that begins with white space was sampled twice where the template trims it") {
  const auto sampled = [](const std::string& source, json::Value answer) {
    const PromptMaker maker(parts_of(source));
    Sheet sheet = maker.sheet({message("user", "q")}, std::nullopt, {}, std::nullopt);
    const auto prompt = maker.prompt(sheet, nullptr);
    REQUIRE(prompt.ok());
    return maker.parts().tokenizer->decode(maker.sampled(sheet, prompt.value(), std::move(answer)), {}).value();
  };
  std::string trims(kPlain);
  const std::string shown = "{{ m.reasoning_content }}";
  trims.replace(trims.find(shown), shown.size(), "{{ m.reasoning_content | trim }}");
  for (const char* reasoning : {"because", "\nbecause\n", "  because"}) {
    CAPTURE(reasoning);
    CHECK(sampled(trims, reasoned(reasoning, "fine")) == "<why>because<so>fine<end>");
    CHECK(sampled(kPlain, reasoned(reasoning, "fine")) == "<why>" + std::string(reasoning) + "<so>fine<end>");
  }
  CHECK(sampled(trims, reasoned("\n", "fine")) == "<why><so>fine<end>");
  // Escaped, it is there too; the same words in the content are not it.
  std::string escapes(kPlain);
  escapes.replace(escapes.find(shown), shown.size(), "{{ m.reasoning_content | e }}");
  CHECK(sampled(escapes, reasoned("a < b", "fine")) == "<why>a &lt; b<so>fine<end>");
  std::string drops(kPlain);
  const std::string condition = "{% if m.reasoning_content %}";
  drops.replace(drops.find(condition), condition.size(), "{% if m.reasoning_content and m.content != 'fine' %}");
  CHECK(sampled(drops, reasoned("fine", "fine")) == "<why>fine<so>fine<end>");
}

TEST_CASE("bug: a reply in the log counted as a message of the prompt that it answers") {
  const json::Value user = message("user", "hello");
  const json::Value said = reasoned("because", "fine");
  const std::string next = line({user, said, message("user", "more")});
  const ReplayReport without = replayed({line({user}), next});
  const ReplayReport with = replayed({line_with_reply({user}, said), next});
  REQUIRE(with.causes.size() == 1);
  CHECK(with.answers_from_log == 1);
  CHECK(with.causes[0].name == "template: reasoning-dropped");
  CHECK(with.causes[0].line == without.causes[0].line);
  CHECK(with.causes[0].examples[0].path == without.causes[0].examples[0].path);
  CHECK(with.causes[0].examples[0].sentence == without.causes[0].examples[0].sentence);
  // What a reply has besides is no change that the template shows.
  json::Value api = said;
  api.as_object().set("annotations", json::Array{json::Object{{"type", "url_citation"}}});
  CHECK(causes(replayed({line_with_reply({user}, api), next})) == "template: reasoning-dropped");
  CHECK(causes(replayed({line_with_reply({user}, reasoned("", " fine")),
                         line({user, reasoned("", "fine"), message("user", "more")})})) == "content-respelled");
}

}  // namespace
}  // namespace rondo::replay
