#include "render/lossy.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

// The only finding of a bridge behind one question and `sampled`: "cause line place".
std::string finding_of(const std::string& source, const std::string& sampled) {
  const auto tokenizer = test::byte_tokenizer({"~fin~", "(*mull ", " mull*)"}, "~fin~");
  const auto chat_template = jinja::Template::compile(source, {}, "test").value();
  auto format = std::make_shared<format::Format>();
  format->header = "[[assistant>>";
  format->generation_prompts = {{"default", "[[assistant>>"}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "(*mull ", " mull*)", false};
  format->stops.content = {"~fin~"};
  const chat::Conversation base;
  const tmpl::ApplyOptions options;
  const TurnContext context{*chat_template, *tokenizer, base, options};
  const TurnProfile profile = probe_turns(context);
  const json::Array history = json::parse(R"([{"role": "user", "content": "Hi"}])").value().as_array();
  const auto prompt = tokenizer->encode_ids("[[user>>Hi~fin~\n[[assistant>>", {});
  const auto completion = tokenizer->encode_ids(sampled, {});
  const auto said = interpret(format, *tokenizer, profile, std::nullopt, prompt, completion);
  REQUIRE(said.ok());
  const BridgeRequest request{
      .prompt_ids = prompt,
      .completion_ids = completion,
      .completion = &said.value(),
      .messages = history,
      .new_messages = json::parse(R"([{"role": "user", "content": "Thanks"}])").value().as_array(),
      .format = format.get()};
  const auto bridged = bridge(context, profile, request);
  REQUIRE(bridged.ok());
  REQUIRE(bridged.value().lossy.size() == 1);
  const LossyFinding& finding = bridged.value().lossy.front();
  return std::string(to_string(finding.cause)) + " " + std::to_string(finding.line) + " " + finding.place;
}

TEST_CASE("bug: a bridge named no line of the template for what history never writes") {
  const std::string head = "{%- for m in messages -%}\n{{- '[[' + m.role + '>>' -}}\n";
  const std::string tail = "{%- endfor -%}{%- if add_generation_prompt -%}{{- '[[assistant>>' -}}{%- endif -%}";
  const std::string content = "{{- m.content -}}\n";
  const std::string reasoning =
      "{%- if m.reasoning_content -%}{{- '(*mull ' + m.reasoning_content + ' mull*)' -}}{%- endif -%}\n";
  // Reasoning, and a stop in whose place history has another text.
  CHECK(finding_of(head + content + "{{- '~fin~\n' -}}" + tail, "(*mull Hm mull*)Yo~fin~") ==
        "reasoning-dropped 3 messages[1].reasoning_content");
  CHECK(finding_of(head + reasoning + content +
                       "{{- '~over~\n' if m.role == 'assistant' and not loop.last else '~fin~\n' -}}" + tail,
                   "Yo~fin~") == "replaced-close 5 template line 5");
}

}  // namespace
}  // namespace rondo::render
