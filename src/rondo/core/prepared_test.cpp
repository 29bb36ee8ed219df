#include "core/prepared.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

using testing::call_of;
using testing::memory_model;

Prepared prepared(const Model& model, Call& call) {
  auto out = model.prepare(call, TokenizerUse::kRequired);
  REQUIRE(out.ok());
  return std::move(out).value();
}

TEST_CASE("a key names everything but the messages") {
  const auto model = memory_model();
  Call call = testing::user_call();
  const Prepared use = prepared(*model, call);
  const std::string key = derived_key(use, call.conversation);
  Call other = call_of(R"([{"role": "user", "content": "Something else"}])");
  static_cast<void>(prepared(*model, other));
  CHECK(derived_key(use, other.conversation) == key);
  const auto differs = [&](const auto& change) {
    chat::Conversation changed = call.conversation;
    change(changed);
    return derived_key(use, changed) != key;
  };
  CHECK(differs([](chat::Conversation& c) { c.tools = testing::tools(); }));
  CHECK(differs([](chat::Conversation& c) { c.documents = json::Value(json::Array{}); }));
  CHECK(differs([](chat::Conversation& c) { c.kwargs.set("enable_thinking", false); }));
  CHECK(differs([](chat::Conversation& c) { c.bos_token = "other"; }));
  CHECK(differs([](chat::Conversation& c) { c.eos_token.reset(); }));
  Prepared tools = use;
  tools.is_tool_template = true;
  CHECK(derived_key(tools, call.conversation) != key);
}

TEST_CASE("corrections replace parts of what was inferred, and are checked") {
  const auto stops = [](const char* corrections) {
    const auto model = memory_model({.corrections = testing::object(corrections)});
    Call call = testing::user_call();
    const auto format = model->format(call);
    return format.ok() ? json::to_compact(*format::to_json(*format.value()).find("stops")) : format.error().message;
  };
  const std::string inferred = stops("{}");
  CHECK(inferred.find("~fin~") != std::string::npos);
  const std::string corrected = stops(R"({"stops": {"content": ["~end~"]}})");
  CHECK(corrected.find("~end~") != std::string::npos);
  CHECK(corrected != inferred);
  CHECK(stops(R"({"stops": {"content": 5}})").starts_with("`corrections`: "));
  CHECK(stops(R"({"no such part": 5})").starts_with("`corrections`: "));
}

TEST_CASE("explained_format has the grounds, and the corrections too") {
  const auto model = memory_model();
  Call call = testing::user_call();
  const Prepared use = prepared(*model, call);
  const json::Object corrections = testing::object(R"({"header": "[[me>>"})");
  const auto explained = explained_format(use, call.conversation, corrections);
  REQUIRE(explained.ok());
  CHECK(explained.value().format->header == "[[me>>");
  CHECK(explained_format(use, call.conversation, std::nullopt).value().format->header == "[[assistant>>");
  const json::Object wrong = testing::object(R"({"header": 1})");
  CHECK_FALSE(explained_format(use, call.conversation, wrong).ok());
}

// The tail of the prompt of `call` under `chat_template`.
Result<std::string> tail_of(const char* chat_template, Call call) {
  const auto model = testing::made(Model::from_memory(testing::memory(chat_template), {}));
  const Prepared use = prepared(*model, call);
  const auto format = model->format(call);
  REQUIRE(format.ok());
  return prompt_tail(use, call.conversation, call.has_messages, *format.value());
}

TEST_CASE("the tail of a prompt begins behind the data of the messages") {
  CHECK(tail_of(testing::kTemplate, testing::user_call()).value() == "~fin~[[assistant>>");
  Call without = testing::user_call();
  without.conversation.messages.clear();
  without.has_messages = false;
  CHECK(tail_of(testing::kTemplate, without).value() == "~fin~[[assistant>>");
  Call tools = testing::user_call();
  tools.conversation.tools = testing::tools();
  CHECK(tail_of("{{ messages[0].content }}|{{ tools | tojson }}[[assistant>>", tools).value() == "[[assistant>>");
}

TEST_CASE("the tail of a continued message has its text") {
  Call call = call_of(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well, I"}])");
  call.conversation.add_generation_prompt = false;
  call.conversation.continue_final_message = "content";
  CHECK(tail_of(testing::kTemplate, call).value() == "~fin~[[assistant>>Well, I");
  call.conversation.continue_final_message = "reasoning";
  CHECK_FALSE(tail_of(testing::kTemplate, call).ok());
}

TEST_CASE("a template that refuses the conversation still has its usual prompt") {
  constexpr const char* kPicky = R"({%- for m in messages %}
{%- if m.content == 'refuse' %}{{ raise_exception('no') }}{% endif %}{{- '[[' + m.role + '>>' + m.content + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% if enable_thinking is defined and enable_thinking %}{{ '(*mull ' }}{% endif %}{% endif %})";
  Call call = call_of(R"([{"role": "user", "content": "refuse"}])");
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>");
  call.conversation.kwargs.set("enable_thinking", true);
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>(*mull ");
  call.conversation.kwargs.set("enable_thinking", false);
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>");
}

TEST_CASE("a template that runs out of its limits has no tail") {
  constexpr const char* kEndless = R"({%- if messages[0].content == 'endless' %}
{%- for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{% endif %}
{{- messages[0].content }}[[assistant>>)";
  const auto tail = tail_of(kEndless, call_of(R"([{"role": "user", "content": "endless"}])"));
  REQUIRE_FALSE(tail.ok());
  CHECK(tail.error().code == ErrorCode::kLimit);
}

}  // namespace
}  // namespace rondo::core
