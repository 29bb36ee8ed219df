// Requests that the APIs refuse: schemas and grammars that are none, what has too many characters, conversations without
// a beginning, and both forms of tools at once.
#include <doctest/doctest.h>

#include <string>

#include "apis/request.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using chat::Api;

Outcome<GenerateRequest> asked(Api api, const std::string& members) {
  const std::string body =
      api == Api::kResponses ? R"("input": "x")" : R"("max_tokens": 9, "messages": [{"role": "user", "content": "x"}])";
  return read(api, testing::parsed("{" + body + ", " + members + "}"));
}

// The sentence of the refusal, whose field must be `param`.
std::string refused(const Outcome<GenerateRequest>& read, const std::string& param) {
  if (read.ok()) return "taken";
  CHECK(read.fault().status() == 400);
  CHECK(read.fault().param == param);
  return read.fault().message;
}

const std::string kTypo = R"({"type": "object", "properties": {"a": {"type": "strnig"}}})";
const std::string kTold = R"( is not a valid JSON schema: `/properties/a`: the type "strnig" is not known)";

}  // namespace

TEST_CASE("bug: a schema that is none was taken, and a warning said that it is not enforced") {
  const auto field = [](const std::string& path) { return "`" + path + "`" + kTold; };
  for (const std::string strict : {"true", "false"}) {
    std::string path = "tools[0].function.parameters";
    CHECK(refused(asked(Api::kChat, R"("tools": [{"type": "function", "function": {"name": "f", "strict": )" + strict +
                                        R"(, "parameters": )" + kTypo + "}}]"),
                  path) == field(path));
    path = "tools[0].parameters";
    CHECK(refused(asked(Api::kResponses, R"("tools": [{"type": "function", "name": "f", "strict": )" + strict +
                                             R"(, "parameters": )" + kTypo + "}]"),
                  path) == field(path));
  }
  std::string path = "tools[0].tools[0].parameters";
  CHECK(refused(asked(Api::kResponses, R"("tools": [{"type": "namespace", "name": "n", "description": "d",
      "tools": [{"type": "function", "name": "f", "parameters": )" +
                                           kTypo + "}]}]"),
                path) == field(path));
  path = "tools[0].input_schema";
  CHECK(refused(asked(Api::kMessages, R"("tools": [{"name": "f", "input_schema": )" + kTypo + "}]"), path) ==
        field(path));
  path = "response_format.json_schema.schema";
  CHECK(refused(
            asked(Api::kChat, R"("response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": )" +
                                  kTypo + "}}"),
            path) == field(path));
  path = "text.format.schema";
  CHECK(refused(asked(Api::kResponses,
                      R"("text": {"format": {"type": "json_schema", "name": "s", "schema": )" + kTypo + "}}"),
                path) == field(path));
  path = "output_config.format.schema";
  CHECK(
      refused(asked(Api::kMessages, R"("output_config": {"format": {"type": "json_schema", "schema": )" + kTypo + "}}"),
              path) == field(path));
  CHECK(refused(asked(Api::kChat, R"("guided_json": )" + kTypo), "guided_json") == field("guided_json"));
  const auto of_type = [](const std::string& type) {
    return asked(Api::kResponses,
                 R"("tools": [{"type": "function", "name": "f", "parameters": {"type": )" + type + "}}]");
  };
  CHECK(refused(of_type(R"("array")"), "tools[0].parameters") ==
        "`tools[0].parameters` must be a JSON schema of the type `object`, because arguments have names");
  CHECK(of_type(R"(["object", "null"])").ok());
  CHECK(of_type("null").ok());
}

TEST_CASE("bug: a custom tool's grammar that is none was taken") {
  const auto custom = [](const std::string& syntax, const std::string& definition) {
    const std::string grammar =
        R"({"type": "grammar", "syntax": ")" + syntax + R"(", "definition": ")" + definition + "\"}";
    return asked(Api::kResponses, R"("tools": [{"type": "custom", "name": "f", "format": )" + grammar + "}]");
  };
  const std::string path = "tools[0].format.definition";
  CHECK(refused(custom("regex", "a("), path) == "`" + path + "` is not a regular expression: `(` without `)`");
  CHECK(refused(custom("lark", "start: other"), path) ==
        "`" + path + "` is not a grammar: the grammar has no rule `other`");
  CHECK(refused(custom("lark", "start: /a(/"), path).starts_with("`" + path + "` is not a grammar: "));
  CHECK(custom("regex", "(?=a)\\\\x{1F600}").ok());
  CHECK(custom("lark", R"(start: \"(\" start \")\" | \"x\")").ok());
  const std::string chat_path = "tools[0].custom.format.grammar.definition";
  CHECK(refused(asked(Api::kChat, R"("tools": [{"type": "custom", "custom": {"name": "f", "format": {"type": "grammar",
      "grammar": {"syntax": "regex", "definition": "["}}}}])"),
                chat_path) == "`" + chat_path + "` is not a regular expression: `[` without `]`");
}

TEST_CASE("metadata has as many pairs and characters as in the APIs") {
  const auto pairs = [](std::size_t count, const std::string& key, const std::string& value) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
      out +=
          (i == 0 ? "\"" : ", \"") + std::to_string(i % 10) + std::string(i / 10, 'x') + key + "\": \"" + value + "\"";
    return R"("metadata": {)" + out + "}";
  };
  std::string umlauts;
  for (int i = 0; i < 512; ++i) umlauts += "\xC3\xA4";
  for (const Api api : {Api::kChat, Api::kResponses}) {
    CHECK(asked(api, pairs(16, "a", umlauts)).ok());
    CHECK(refused(asked(api, pairs(17, "a", "b")), "metadata") == "`metadata` has 17 pairs, at most 16 are taken");
    CHECK(asked(api, pairs(1, std::string(63, 'k'), "b")).ok());
    CHECK(refused(asked(api, pairs(1, std::string(64, 'k'), "b")), "metadata") ==
          "`metadata` has 65 characters in a key, at most 64 are taken");
    CHECK(refused(asked(api, pairs(1, "a", umlauts + "b")), "metadata.0a") ==
          "`metadata.0a` has 513 characters, at most 512 are taken");
    CHECK(refused(asked(api, R"("metadata": {"a": null})"), "metadata.a") ==
          "`metadata.a` must be a string, found null");
  }
}

TEST_CASE("bug: Messages without a user's message failed in the template") {
  const auto messages = [](const std::string& list) {
    return read(Api::kMessages, testing::parsed(R"({"max_tokens": 9, "messages": )" + list + "}"));
  };
  CHECK(refused(messages("[]"), "messages") == "`messages` must not be empty: at least one message is required");
  const std::string told = "`messages[0].role` must be `user`: first message must use the \"user\" role";
  CHECK(refused(messages(R"([{"role": "assistant", "content": "I"}])"), "messages[0].role") == told);
  CHECK(refused(messages(R"([{"role": "system", "content": "s"}])"), "messages[0].role") == told);
  CHECK(messages(R"([{"role": "assistant", "content": "I"}, {"role": "user", "content": "a"}])").ok());
}

TEST_CASE("bug: a result in Chat without any call before it was taken") {
  const auto chat = [](const std::string& list) {
    return read(Api::kChat, testing::parsed(R"({"messages": [{"role": "user", "content": "a"}, )" + list + "]}"));
  };
  const std::string result = R"({"role": "tool", "content": "r"})";
  CHECK(refused(chat(result), "messages[1].role") ==
        "`messages[1]`: messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
  CHECK(refused(chat(R"({"role": "assistant", "content": "c", "tool_calls": []}, )" + result), "messages[2].role") !=
        "taken");
  CHECK(
      chat(R"({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, )" + result).ok());
  CHECK(chat(R"({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, )" + result).ok());
  CHECK(chat(R"({"role": "function", "name": "f", "content": "r"})").ok());
}

TEST_CASE("bug: results, images and documents in an assistant's message of Messages were left out of the prompt") {
  const auto said_by = [](const std::string& role, const std::string& block) {
    return read(Api::kMessages, testing::parsed(R"({"max_tokens": 9, "messages": [{"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}, {"role": ")" +
                                                role + R"(", "content": [)" + block + "]}]}"));
  };
  const std::string place = "messages[2].content[0].type";
  const auto told = [&](const std::string& role, const std::string& type) {
    return "`" + place + "` is `" + type + "`, which messages with the role `" + role + "` cannot have";
  };
  const std::string result = R"({"type": "tool_result", "tool_use_id": "a", "content": "r"})";
  CHECK(said_by("user", result).ok());
  for (const std::string role : {"assistant", "system"})
    CHECK(refused(said_by(role, result), place) == told(role, "tool_result"));
  const std::string image = R"({"type": "image", "source": {"type": "url", "url": "u"}})";
  const std::string document = R"({"type": "document", "source": {"type": "text", "data": "d"}})";
  const std::string found = R"({"type": "search_result", "title": "t", "source": "s", "content": []})";
  CHECK(refused(said_by("assistant", image), place) == told("assistant", "image"));
  CHECK(refused(said_by("assistant", document), place) == told("assistant", "document"));
  CHECK(refused(said_by("assistant", found), place) == told("assistant", "search_result"));
  for (const std::string& block : {image, document, found}) CHECK(said_by("user", block).ok());
  // What a vendor's server ran is part of its reply.
  CHECK(said_by("assistant", R"({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})").ok());
}

TEST_CASE("bug: a message of Responses with the role of a result was taken for one, without any call before it") {
  for (const std::string role : {"tool", "function"}) {
    const auto read_it = read(Api::kResponses, testing::parsed(R"({"input": [{"role": "user", "content": "a"},
        {"role": ")" + role + R"(", "content": "r"}]})"));
    CHECK(refused(read_it, "input[1].role") ==
          "`input[1].role` must not be `" + role + "`: a result is an item of the type `function_call_output`");
  }
}

TEST_CASE("functions are tools, and `function_call` chooses one") {
  const auto chat = [](const std::string& members) { return asked(Api::kChat, members); };
  const std::string functions =
      R"("functions": [{"name": "f", "description": "d", "parameters": {"type": "object"}}, {"name": "g"}])";
  using Mode = ToolChoice::Mode;
  const auto read_as = [&](const std::string& choice) {
    Outcome<GenerateRequest> out = chat(functions + choice);
    REQUIRE(out.ok());
    CHECK(out.value().older_calls);
    CHECK(out.value().warnings.empty());
    CHECK_FALSE(out.value().tool_choice.parallel);
    CHECK(*out.value().tools == testing::parsed(R"([{"type": "function", "function": {"name": "f", "description": "d",
        "parameters": {"type": "object"}}}, {"type": "function", "function": {"name": "g"}}])"));
    return out.value().tool_choice;
  };
  CHECK(read_as("").mode == Mode::kAuto);
  CHECK(read_as(R"(, "function_call": "auto", "tools": [])").mode == Mode::kAuto);
  CHECK(read_as(R"(, "function_call": "none")").mode == Mode::kNone);
  const ToolChoice named = read_as(R"(, "function_call": {"name": "g"}, "parallel_tool_calls": true)");
  CHECK(named.mode == Mode::kRequired);
  CHECK(named.only == std::vector<std::string>{"g"});
  CHECK_FALSE(chat(R"("functions": [], "function_call": "none")").value().older_calls);

  const std::string tools = R"(, "tools": [{"type": "function", "function": {"name": "f"}}])";
  CHECK(refused(chat(functions + tools), "functions") ==
        "`functions` and `tools` exclude each other: `functions` is the older form of `tools`");
  CHECK(refused(chat(functions + R"(, "tool_choice": "auto")"), "tool_choice") ==
        "`tool_choice` goes with `tools`; with `functions`, use `function_call`");
  CHECK(refused(chat(functions + R"(, "function_call": {"name": "h"})"), "function_call") ==
        "`function_call` names `h`, which is none of the functions");
  CHECK(refused(chat(functions + R"(, "function_call": "required")"), "function_call") ==
        "`function_call` must be one of `none`, `auto`, found `required`");
  CHECK(refused(chat(R"("function_call": {"name": "f"})"), "function_call") ==
        "`function_call` goes with `functions`, and there are none");
  CHECK(refused(chat(R"("functions": [{"description": "d"}])"), "functions[0].name") ==
        "`functions[0].name` is missing");
  CHECK(refused(chat(R"("functions": [{"name": "f", "parameters": )" + kTypo + "}]"), "functions[0].parameters") ==
        "`functions[0].parameters`" + kTold);
}

}  // namespace rondo::apis
