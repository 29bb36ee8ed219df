// Tests what a model gives a template besides the messages.
#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

// Cannot be rendered without a list of tools.
constexpr const char* kCountsTools = R"({{- '[[tools>>' + (tools | length | string) + '~fin~' }}
{%- for m in messages %}{{- '[[' + m.role + '>>' + (m.content or '') + '~fin~' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{%- endif %})";

TEST_CASE("bug: a template that needs a list of tools refused conversations without tools") {
  const auto model = testing::made(Model::from_memory(testing::memory(kCountsTools), {}));
  Call call = testing::user_call();
  const auto encoded = model->encode(call);
  REQUIRE_MESSAGE(encoded.ok(), encoded.error().to_string());
  CHECK(encoded.value().text == "[[tools>>0~fin~[[user>>Hi~fin~[[assistant>>");
  CHECK(encoded.value().shaped == std::vector<std::string>{"tools: given as an empty list"});

  Call with_tools = testing::user_call();
  with_tools.conversation.tools = testing::tools();
  CHECK(model->encode(with_tools).value().shaped.empty());
  const auto strict = testing::made(Model::from_memory(testing::memory(kCountsTools), {.strict = true}));
  Call again = testing::user_call();
  CHECK_FALSE(strict->encode(again).ok());
  Call usual = testing::user_call();
  CHECK(testing::memory_model()->encode(usual).value().shaped.empty());
}

TEST_CASE("bug: a tool without a description was refused by a template that joins it to text") {
  const std::string chat_template =
      "{%- for t in tools or [] %}{{- t.function.name + ': ' + t.function.description + '~fin~' }}{%- endfor %}" +
      std::string(testing::kTemplate);
  const auto model = testing::made(Model::from_memory(testing::memory(chat_template.c_str()), {}));
  const std::string sentence = "tools[0].function.description: given as an empty text";
  Call call = testing::user_call();
  call.conversation.tools = testing::tools();
  const auto encoded = model->encode(call);
  REQUIRE_MESSAGE(encoded.ok(), encoded.error().to_string());
  CHECK(encoded.value().text.starts_with("add: ~fin~"));
  CHECK(encoded.value().shaped == std::vector<std::string>{sentence});
  // A call that was prepared keeps what is known of it.
  CHECK(model->encode(call).value().shaped == std::vector<std::string>{sentence});
  Call without_messages;
  without_messages.conversation.tools = testing::tools();
  REQUIRE(model->prepare(without_messages, TokenizerUse::kRequired).ok());
  CHECK(without_messages.shaping.tools == std::vector<std::string>{sentence});
}

}  // namespace
}  // namespace rondo::core
