#include "core/encoders.h"

#include <doctest/doctest.h>

#include "core/model.h"
#include "json/parse.h"
#include "tests/support/own_folder.h"

namespace rondo::core {
namespace {

// Encoders with words that no model uses.
constexpr const char* kTokens =
    "bos_token: str = '[begin]'\neos_token = '[end]'\nthinking_start_token = '[muse]'\nthinking_end_token = '[done]'\n"
    "dsml_token = '~M~'\nresponse_format_template = ('Answer as:\\n' '{schema}')\n";
constexpr const char* kBlock =
    "TOOLS_SYSTEM_TEMPLATE = '''Tools of \"it's\" {dsml_token}:\n{tool_schemas}\n'''\n"
    "user_msg_template = '[ask]{content}[say]'\n";
constexpr const char* kTurns =
    "TOOLS_TEMPLATE = 'Tools {dsml_token}: {tool_schemas}'\nUSER_SP_TOKEN = '[ask]'\nASSISTANT_SP_TOKEN = '[say]'\n"
    "LATEST_REMINDER_SP_TOKEN = '[note]'\ntool_calls_block_name = 'calls'\n"
    "DS_TASK_SP_TOKENS = {'action': '[act]', 'title': '[title]'}\n";
constexpr const char* kEfforts =
    "REASONING_EFFORT_PROMPTS: Dict[str, str] = {'low': '', 'max': ('Try ' 'hard.\\n')}\nDEFAULT_REASONING_EFFORT = "
    "'low'\n";

std::shared_ptr<const Model> model_of(const std::string& python, bool strict = true) {
  const rondo::testing::OwnFolder folder("encoders");
  Source source;
  source.chat_template = folder.file("encoding_own.py", python);
  source.strict = strict;
  const auto model = Model::load(source);
  REQUIRE(model.ok());
  return model.value();
}

// The prompt, or the sentence of its error.
std::string prompt(const Model& model, const char* messages, const char* kwargs = "{}", const char* tools = "null") {
  Call call;
  call.conversation.messages = json::parse(messages).value().as_array();
  if (auto value = json::parse(tools); !value.value().is_null()) call.conversation.tools = value.value();
  call.conversation.kwargs = json::parse(kwargs).value().as_object();
  call.conversation.add_generation_prompt = true;
  call.has_messages = true;
  const auto text = model.render(call);
  return text.ok() ? text.value() : text.error().message;
}

constexpr const char* kTool = R"([{"type": "function", "function": {"name": "f", "parameters": {}}}])";
constexpr const char* kCalled =
    R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "reasoning_content": "hm",
  "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": "x", "b": 1}}},
                 {"id": "2", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "2", "content": "two"}, {"role": "tool", "tool_call_id": "1", "content": "one"}])";

}  // namespace

TEST_CASE("encoders: results in a block of their own") {
  const auto model = model_of(std::string(kTokens) + kBlock);
  CHECK(prompt(*model, R"([{"role": "user", "content": "hi"}])") == "[begin][ask]hi[say][done]");
  CHECK(prompt(*model, R"([{"role": "user", "content": "hi"}])", R"({"thinking": true})") ==
        "[begin][ask]hi[say][muse]");
  CHECK(prompt(*model, R"([{"role": "system", "content": "S", "response_format": {"a": 1}}])", "{}", kTool) ==
        "[begin]S\n\nTools of \"it's\" ~M~:\n{\"name\": \"f\", \"parameters\": {}}\n\n\nAnswer as:\n{\"a\": 1}");
  CHECK(prompt(*model, R"([{"role": "developer", "content": "D"}])") ==
        "[begin][ask]\n\n# The user's message is: D[say][done]");
  CHECK(prompt(*model, kCalled, R"({"thinking_mode": "thinking"})") ==
        "[begin][ask]q[say][muse]hm[done]\n\n<~M~function_calls>\n<~M~invoke name=\"f\">\n"
        "<~M~parameter name=\"a\" string=\"true\">x</~M~parameter>\n<~M~parameter name=\"b\" "
        "string=\"false\">1</~M~parameter>\n"
        "</~M~invoke>\n<~M~invoke name=\"f\">\n\n</~M~invoke>\n</~M~function_calls>[end]\n\n<function_results>\n"
        "<result>two</result>\n<result>one</result>\n</function_results>\n\n[muse]");
  CHECK(prompt(*model, R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])",
               R"({"thinking": true})") == "An answer behind the last question has neither reasoning nor calls");
  CHECK(prompt(*model, R"([{"role": "tool", "content": "a"}])") == "Invalid messages: a result behind no answer");
  CHECK(prompt(*model, R"([{"role": "nobody", "content": "a"}])") == "Unknown role: nobody");
  CHECK(prompt(*model, "[]", R"({"thinking_mode": "loud"})") == "Invalid thinking_mode `loud`");
}

TEST_CASE("encoders: results in user turns") {
  const auto model = model_of(std::string(kTokens) + kTurns + "REASONING_EFFORT_MAX = 'Try.\\n'\n");
  CHECK(prompt(*model, R"([{"role": "user", "content": "hi"}])", R"({"thinking": true, "reasoning_effort": "max"})") ==
        "[begin]Try.\n[ask]hi[say][muse]");
  CHECK(prompt(*model, kCalled, R"({"thinking": true})", kTool) ==
        "[begin]\n\nTools ~M~: {\"name\": \"f\", \"parameters\": "
        "{}}[ask]q[say][muse]hm[done]\n\n<~M~calls>\n<~M~invoke name=\"f\">\n"
        "<~M~parameter name=\"a\" string=\"true\">x</~M~parameter>\n<~M~parameter name=\"b\" "
        "string=\"false\">1</~M~parameter>\n"
        "</~M~invoke>\n<~M~invoke name=\"f\">\n\n</~M~invoke>\n</~M~calls>[end]"
        "[ask]<tool_result>one</tool_result>\n\n<tool_result>two</tool_result>[say][muse]");
  CHECK(prompt(*model, R"([{"role": "user", "content": "a", "task": "title"}, {"role": "assistant", "content": "T"},
                           {"role": "latest_reminder", "content": "L"}, {"role": "user", "content": "b", "task": "action"}])") ==
        "[begin][ask]a[title]T[end][note]L[ask]b[say][done][act]");
  CHECK(prompt(*model, R"([{"role": "developer", "content": "D"}, {"role": "user", "content": "b"}])",
               R"({"thinking": true})") == "[begin][ask]b[say][muse]");
  CHECK(prompt(*model, R"([{"role": "user", "content": "a"}])", R"({"reasoning_effort": "low"})") ==
        "Invalid reasoning effort: low");
  CHECK(prompt(*model, R"([{"role": "user", "content": "a", "task": "dance"}])") == "Invalid task: dance");
}

TEST_CASE("encoders: texts for each effort") {
  const auto model = model_of(std::string(kTokens) + kTurns + kEfforts);
  CHECK(prompt(*model, R"([{"role": "user", "content": "hi"}])", R"({"thinking": true, "reasoning_effort": "max"})") ==
        "[begin]Try hard.\n[ask]hi[say][muse]");
  CHECK(prompt(*model, R"([{"role": "system", "content": "S"}])", R"({"thinking": true})") == "[begin]S[say][muse]");
}

TEST_CASE("encoders: a developer message that an encoder drops is a system message, where the model is not strict") {
  const auto model = model_of(std::string(kTokens) + kTurns + kEfforts, false);
  CHECK(prompt(*model, R"([{"role": "developer", "content": "D"}, {"role": "user", "content": "b"}])",
               R"({"thinking": true})") == "[begin]D[ask]b[say][muse]");
}

TEST_CASE("encoders: from a template follows the rest") {
  for (const std::string& python : {std::string(kTokens) + kBlock, std::string(kTokens) + kTurns + kEfforts}) {
    const auto model = model_of(python, false);
    Call call;
    const auto format = model->format(call);
    REQUIRE(format.ok());
    CHECK(format.value()->calls.present);
    CHECK(format.value()->reasoning.present);
    const auto can = model->capabilities({});
    REQUIRE(can.ok());
    for (const char* feature : {"system", "history", "tools", "tool_calls", "tool_results"}) {
      CAPTURE(feature);
      CHECK(can.value().find(feature)->is_supported);
    }
  }
}

TEST_CASE("encoders: a file without the constants is refused with their names") {
  CHECK(encoder_template("A = 'a'", "x.py")
            .error()
            .message.starts_with("is no encoder that rondo knows: it assigns no text to `TOOLS_SYSTEM_TEMPLATE`, "
                                 "`response_format_template`, `user"));
  const std::string all = std::string(kTokens) + kBlock;
  const auto error = encoder_template(all + "dsml_token = None\n", "x.py").error();
  CHECK(error.to_string() ==
        "x.py: is no encoder that rondo knows: it assigns no text to `dsml_token`, as the nearest one does");
  CHECK(
      encoder_template(all, "x.py")
          .value()
          .starts_with("{%- set TOOLS_SYSTEM_TEMPLATE = 'Tools of \"it\\'s\" {dsml_token}:\\n{tool_schemas}\\n' -%}"));
}

}  // namespace rondo::core
