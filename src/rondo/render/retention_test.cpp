// Tests what a rollout cuts out where there is no reasoning, only its markers.
#include "render/retention.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "render/rollout.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

// A template that drops reasoning once others follow.  What it writes for an answer ends with `prompt`, and its turns in
// history begin with `in_history`.
std::shared_ptr<const RolloutModel> ending_prompts_with(const std::string& prompt, const std::string& in_history) {
  const std::string source =
      "{%- for m in messages -%}{{- '[[' + m.role + '>>' -}}{%- if m.role == 'assistant' -%}{{- '" + in_history +
      "' -}}{%- endif -%}{{- m.content + '~fin~' -}}{%- endfor -%}"
      "{%- if add_generation_prompt -%}{{- '[[assistant>>" +
      prompt + "' -}}{%- endif -%}";
  auto compiled = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().to_string()));
  auto format = std::make_shared<format::Format>();
  format->header = "[[assistant>>";
  format->generation_prompts = {{"default", "[[assistant>>" + prompt}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "(*mull ", " mull*)", false};
  format->stops.content = {"~fin~"};
  RolloutModel::Parts parts;
  parts.chat_template = compiled.value();
  parts.tokenizer = test::byte_tokenizer({"~fin~", "(*mull ", " mull*)"}, "~fin~");
  parts.format = std::move(format);
  return RolloutModel::make(std::move(parts));
}

// The ids up to the next question, as text, once a question follows what was sampled.
std::string kept_text(const std::shared_ptr<const RolloutModel>& model, const std::string& sampled,
                      Retention retention) {
  const auto message = [](const char* text) { return json::Value(json::Object{{"role", "user"}, {"content", text}}); };
  const tokenizer::Tokenizer& tokenizer = *model->parts().tokenizer;
  auto rollout = Rollout::start(model, {message("Hi")});
  REQUIRE(rollout.ok());
  REQUIRE(rollout.value().complete(tokenizer.encode_ids(sampled, {})).ok());
  REQUIRE(rollout.value().extend({message("More")}, retention).ok());
  CHECK(rollout.value().message_indices().size() == rollout.value().ids().size());
  const std::string text = tokenizer.decode(rollout.value().ids(), {}).value();
  return text.substr(0, text.find("[[user>>More"));
}

TEST_CASE("bug: an empty block of reasoning stayed in a prompt whose template drops it") {
  const std::string none = "[[user>>Hi~fin~[[assistant>>Yo~fin~";
  const std::string block = "[[user>>Hi~fin~[[assistant>>(*mull  mull*)Yo~fin~";
  const auto closed = ending_prompts_with("(*mull  mull*)", "");
  const auto plain = ending_prompts_with("", "");
  const auto opened = ending_prompts_with("(*mull ", "");
  const auto closing = ending_prompts_with(" mull*)", "");
  for (const Retention retention :
       {Retention::kTemplate, Retention::kToolCycle, Retention::kThinkingBetweenToolCalls}) {
    CHECK(kept_text(closed, "Yo~fin~", retention) == none);
    CHECK(kept_text(plain, "(*mull  mull*)Yo~fin~", retention) == none);
    CHECK(kept_text(opened, " mull*)Yo~fin~", retention) == none);
    CHECK(kept_text(closing, "Yo~fin~", retention) == none);
    CHECK(kept_text(closed, "(*mull Hm mull*)Yo~fin~", retention) == none);
    CHECK(kept_text(plain, "Yo~fin~", retention) == none);
  }
  CHECK(kept_text(closed, "Yo~fin~", Retention::kAll) == block);
}

TEST_CASE("bug: the header behind reasoning stayed beside that of the prompt") {
  const auto model = ending_prompts_with("", "");
  for (const char* thought : {"(*mull Hm mull*)", "(*mull  mull*)"}) {
    const std::string said = thought + std::string("[[assistant>>Yo~fin~");
    CHECK(kept_text(model, said, Retention::kTemplate) == "[[user>>Hi~fin~[[assistant>>Yo~fin~");
    CHECK(kept_text(model, said, Retention::kAll) == "[[user>>Hi~fin~[[assistant>>" + said);
  }
}

TEST_CASE("an empty block stays where the template still writes one, and other text of a prompt stays") {
  CHECK(kept_text(ending_prompts_with("(*mull  mull*)", "(*mull  mull*)"), "Yo~fin~", Retention::kTemplate) ==
        "[[user>>Hi~fin~[[assistant>>(*mull  mull*)Yo~fin~");
  CHECK(kept_text(ending_prompts_with("(*mull Done. mull*)", ""), "Yo~fin~", Retention::kTemplate) ==
        "[[user>>Hi~fin~[[assistant>>(*mull Done. mull*)Yo~fin~");
}

TEST_CASE("bug: reasoning that a template never writes was told of in some retentions only") {
  const auto compiled =
      jinja::Template::compile("{% for m in messages %}{{ m.content }}{% endfor %}", {}, "test").value();
  const chat::Conversation base;
  const tmpl::ApplyOptions options;
  const auto tokenizer = test::byte_tokenizer({"~fin~"}, "~fin~");
  const TurnContext context{*compiled, *tokenizer, base, options};
  const json::Array messages = {json::Object{{"role", "user"}, {"content", "Q"}},
                                json::Object{{"role", "assistant"}, {"content", "A"}, {"reasoning_content", "R"}},
                                json::Object{{"role", "assistant"}, {"content", "B"}}};
  const auto rendered = render_messages(context, messages, false);
  REQUIRE(rendered.ok());
  format::Format format;
  CHECK(unwritten_reasoning(messages, {}, rendered.value(), format) ==
        std::vector<std::string>{"messages[1]: the template never writes its reasoning"});
  format.reasoning.present = true;
  CHECK(unwritten_reasoning(messages, {}, rendered.value(), format).empty());
}

}  // namespace
}  // namespace rondo::render
