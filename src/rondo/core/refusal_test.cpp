#include "core/refusal.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

// The hint for a conversation that the template refuses.
std::string hint(const std::string& chat_template, const char* messages, bool with_tools = false) {
  const auto model = testing::memory_model({.chat_template = chat_template + "\n"});
  Call call = testing::call_of(messages);
  if (with_tools) call.conversation.tools = testing::tools();
  const auto made = model->render(call);
  REQUIRE(!made.ok());
  return made.error().hint;
}

// Prints every content as text.
const std::string kPrints = "{%- for m in messages %}{{- '[' + m.content + ']' }}{%- endfor %}";

}  // namespace

TEST_CASE("an error of a template names the message and the field") {
  CHECK(hint(kPrints, R"([{"role": "user", "content": "a"},
                          {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
                          {"role": "user", "content": "b"}])") ==
        "messages[1].content: with a text in its place the template goes on");
  CHECK(
      hint("{%- for m in messages %}{%- if m.role == 'critic' %}{{- raise_exception('no critics') }}{%- endif %}{%- "
           "endfor %}",
           R"([{"role": "user", "content": "a"}, {"role": "critic", "content": "b"}])") ==
      "messages[1].role: the template takes a message of the role `user` at this place, and none of the role `critic`");
  CHECK(hint("{%- for m in messages %}{%- if m.extra %}{{- raise_exception('extra') }}{%- endif %}{%- endfor %}",
             R"([{"role": "user", "content": "a", "extra": 1}])") ==
        "messages[0].extra: without it the template goes on");
  CHECK(hint("{%- for m in messages %}{%- for c in m.tool_calls or [] %}{%- for k in c.function.arguments %}"
             "{%- if k == 'bad' %}{{- raise_exception('bad') }}{%- endif %}{%- endfor %}{%- endfor %}{%- endfor %}",
             R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls":
                 [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {"bad": 1}}}]}])") ==
        "messages[1].tool_calls[0]: with {} as arguments the template goes on");
}

TEST_CASE("an error that no message is at fault for names what is, or nothing") {
  CHECK(hint("{%- if tools %}{{- raise_exception('no tools') }}{%- endif %}", R"([{"role": "user", "content": "a"}])",
             true) == "without `tools` the template goes on");
  CHECK(hint("{{- raise_exception('never') }}", R"([{"role": "user", "content": "a"}])").empty());
  CHECK(hint("{{- raise_exception('never') }}", "[]").empty());
}

TEST_CASE("an error of a template names what a tool lacks") {
  const auto hint_of = [](const std::string& written, const char* tools) {
    const auto model = testing::memory_model({.chat_template = "{%- for t in tools or [] %}{{- " + written +
                                                               " }}{%- endfor %}\n{{- messages[0].content }}"});
    Call call = testing::user_call();
    call.conversation.tools = json::parse(tools).value();
    return model->render(call).error().hint;
  };
  constexpr const char* kTools = R"([{"type": "function", "function": {"name": "f", "description": "d", "parameters":
      {"type": "object", "properties": {"q": {"type": "string", "description": "d"}, "n": {"type": "integer"}}}}}])";
  CHECK(hint_of("t.function.parameters.properties.n.description + '.'", kTools) ==
        "tools[0].function.parameters.properties.n: with a member `description` there the template goes on");
  CHECK(hint_of("t.function.parameters.required + []", kTools) ==
        "tools[0].function.parameters: with a member `required` there the template goes on");
  CHECK(hint_of("t.function.description[0] + '.'", R"([{"type": "function", "function": {"name": "f"}}])") ==
        "tools[0].function: with a member `description` there the template goes on");
  CHECK(hint_of("raise_exception('no tools')", kTools) == "without `tools` the template goes on");
}

}  // namespace rondo::core
