#include "template/polyfill.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "template/chat_template.h"

namespace rondo::tmpl {
namespace {

// What a template that prints roles and contents makes of the messages with these polyfills, a line for each message.
std::string given(const Polyfills& polyfills, const char* messages, const char* tools = nullptr) {
  const auto chat_template = jinja::Template::compile(
      "{% for m in messages %}{{ m.role ~ '|' ~ m.content ~ ('|calls' if m.tool_calls else '') ~ '\n' }}{% endfor %}"
      "{{ 'tools' if tools else '' }}",
      {.prelude = prelude_of(polyfills)}, "test");
  REQUIRE(chat_template.ok());
  chat::Conversation conversation;
  conversation.messages = json::parse(messages).value().as_array();
  if (tools != nullptr) conversation.tools = json::parse(tools).value();
  const auto rendered = apply(*chat_template.value(), conversation, {});
  return rendered.ok() ? rendered.value().text.bytes() : rendered.error().message;
}

constexpr const char* kOrders = R"([{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A"}, {"role": "system", "content": "T"}, {"role": "user", "content": "V"}])";
constexpr const char* kCalls = R"([{"role": "user", "content": "U"},
    {"role": "assistant", "content": "A", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": 1}}},
                                                         {"name": "g", "arguments": "{}"}]},
    {"role": "tool", "tool_call_id": "1", "content": "R"}, {"role": "tool", "content": {"b": 2}}])";

// What was said about the first messages does not apply to those that came later.
TEST_CASE("what polyfills change in new messages is told as of those before them") {
  Polyfills polyfills;
  polyfills.late_system = polyfills.results = polyfills.repeated = true;
  const json::Array messages = json::parse(R"([{"role": "tool", "content": "4"}, {"role": "user", "content": "And?"},
    {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Now."}])")
                                   .value()
                                   .as_array();
  CHECK(changes_of_new(polyfills, messages, {true, "assistant"}) ==
        std::vector<std::string>{"new_messages[0]: given as a user message",
                                 "new_messages[1]: joined to the message before it",
                                 "new_messages[2]: given in front of the next user message",
                                 "new_messages[3]: joined to the message before it"});
  CHECK(changes_of_new(polyfills, std::span(messages).first(1), preceding_of(messages)) ==
        std::vector<std::string>{"new_messages[0]: given as a user message",
                                 "new_messages[0]: joined to the message before it"});
  CHECK(!preceding_of(std::span(messages).subspan(2, 1)).has_begun);
}

}  // namespace

TEST_CASE("without polyfills the messages are those that were sent") {
  CHECK(given({}, kOrders) == "system|S\nuser|U\nassistant|A\nsystem|T\nuser|V\n");
  CHECK(given({}, "[]", R"([{"name": "f"}])") == "tools");
}

TEST_CASE("system text goes into user messages, or into one of its own") {
  CHECK(given({.system = true}, kOrders) == "user|S\n\nU\nassistant|A\nsystem|T\nuser|V\n");
  CHECK(given({.late_system = true}, kOrders) == "system|S\nuser|U\nassistant|A\nuser|T\n\nV\n");
  CHECK(given({.system = true}, R"([{"role": "system", "content": "S"}])") == "user|S\n");
  CHECK(given({.system = true}, R"([{"role": "system", "content": "S"}, {"role": "assistant", "content": "A"}])") ==
        "user|S\nassistant|A\n");
  CHECK(given({.developer = true}, R"([{"role": "developer", "content": [{"type": "text", "text": "D"}]}])") ==
        "system|[{'type': 'text', 'text': 'D'}]\n");
}

TEST_CASE("calls are text of the content, results are user messages") {
  const std::string calls =
      "A\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n"
      "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>";
  CHECK(given({.calls = true, .results = true}, kCalls) ==
        "user|U\nassistant|" + calls +
            "\nuser|<tool_response>\nR\n</tool_response>\nuser|<tool_response>\n{\"b\": 2}\n</tool_response>\n");
  CHECK(given({.repeated = true, .calls = true, .results = true}, kCalls) ==
        "user|U\nassistant|" + calls +
            "\nuser|<tool_response>\nR\n</tool_response>\n\n<tool_response>\n{\"b\": 2}\n</tool_response>\n");
}

TEST_CASE("calls are given in both forms at once") {
  const auto chat_template = jinja::Template::compile(
      "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.name ~ c.arguments ~ c.function.name }}{% endfor %}"
      "{% endfor %}",
      {.prelude = prelude_of({.flat = true})}, "test");
  REQUIRE(chat_template.ok());
  chat::Conversation conversation;
  conversation.messages = json::parse(kCalls).value().as_array();
  conversation.messages[1].as_object().find("tool_calls")->as_array().pop_back();
  const auto rendered = apply(*chat_template.value(), conversation, {});
  REQUIRE(rendered.ok());
  CHECK(rendered.value().text.bytes() == "f{'a': 1}f");
}

TEST_CASE("004:236-247: tools stand once, in the first system text or in one of their own") {
  constexpr const char* kTools = R"([{"type": "function", "function": {"name": "f"}}])";
  for (const Polyfills& polyfills : {Polyfills{.tools = true}, Polyfills{.system = true, .tools = true}}) {
    for (const char* messages : {kOrders, kCalls}) {
      const std::string text = given(polyfills, messages, kTools);
      CAPTURE(text);
      const std::size_t first = text.find(R"({"type": "function", "function": {"name": "f"}})");
      CHECK(first != std::string::npos);
      CHECK(text.find("# Tools", first) == std::string::npos);
      CHECK(text.starts_with(polyfills.system ? "user|" : "system|"));
      CHECK_FALSE(text.ends_with("tools"));
    }
  }
}

TEST_CASE("messages of one role are joined, but for calls") {
  CHECK(given({.repeated = true}, R"([{"role": "user", "content": "a"}, {"role": "user", "content": [{"text": "b"}]},
                                      {"role": "user", "content": "c"}])") == "user|a\n\nb\n\nc\n");
  CHECK(given({.repeated = true}, R"([{"role": "assistant", "content": "a", "tool_calls": [{"name": "f"}]},
                                      {"role": "assistant", "content": "b"}])") == "assistant|a|calls\nassistant|b\n");
  CHECK(given({.repeated = true, .parts = true},
              R"([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])") ==
        "user|[{'type': 'text', 'text': 'a\\n\\nb'}]\n");
}

TEST_CASE("what is changed is told") {
  chat::Conversation conversation;
  conversation.messages = json::parse(kOrders).value().as_array();
  conversation.tools = json::Array{json::Object{{"name", "f"}}};
  CHECK(changes_of({.system = true, .late_system = true, .tools = true}, conversation) ==
        std::vector<std::string>{"tools: given in the system text",
                                 "messages[0]: given at the beginning of the first user message",
                                 "messages[3]: given in front of the next user message"});
  conversation.messages = json::parse(kCalls).value().as_array();
  CHECK(changes_of({.repeated = true, .calls = true, .results = true}, conversation) ==
        std::vector<std::string>{"messages[1]: calls given as text of the content",
                                 "messages[2]: given as a user message", "messages[3]: given as a user message",
                                 "messages[3]: joined to the message before it"});
  CHECK(names_of({.system = true, .parts = true}) == std::vector<std::string>{"system", "parts"});
}

}  // namespace rondo::tmpl
