#include "apis/request.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using testing::parsed;

constexpr auto kChat = chat::Api::kChat;
constexpr auto kMessages = chat::Api::kMessages;
constexpr auto kResponses = chat::Api::kResponses;

GenerateRequest request(chat::Api api, std::string_view body, const HeaderLookup& headers = {}) {
  Outcome<GenerateRequest> out = read(api, parsed(body), headers);
  REQUIRE_MESSAGE(out.ok(), out.fault().message);
  return std::move(out.value());
}

// "param: sentence" of the fault.
std::string refusal(chat::Api api, std::string_view body, const ReadOptions& options = {}) {
  const Outcome<GenerateRequest> out = read(api, parsed(body), {}, options);
  if (out.ok()) return "";
  CHECK(out.fault().status() == 400);
  return out.fault().param + ": " + out.fault().message;
}

std::string chat_with(std::string_view members) {
  return R"({"messages": [{"role": "user", "content": "Hi"}], )" + std::string(members) + "}";
}

TEST_CASE("a chat request with every field") {
  const GenerateRequest out = request(kChat, chat_with(R"("model": "m", "temperature": 0.5, "top_p": 0.9, "top_k": 40,
      "min_p": 0.1, "seed": -7, "presence_penalty": 1, "frequency_penalty": -1, "repetition_penalty": 1.1,
      "logit_bias": {"12": -100, "7": 1.5}, "stop": ["a", "b"], "n": 2, "logprobs": true, "top_logprobs": 3,
      "max_tokens": 10, "max_completion_tokens": 20, "stream": true, "stream_options": {"include_usage": true},
      "reasoning_effort": "low", "chat_template_kwargs": {"x": 1}, "documents": [{"text": "d"}],
      "parallel_tool_calls": false, "prompt_cache_key": "k", "store": true, "metadata": {"a": "b"}, "user": "u",
      "return_token_ids": true, "continue_final_message": true, "unknown": 1,
      "response_format": {"type": "json_schema", "json_schema": {"name": "s", "strict": true, "schema": {"type": "object"}}})"));
  CHECK(out.model == "m");
  CHECK(out.sampling.temperature == 0.5);
  CHECK(out.sampling.top_p == 0.9);
  CHECK(out.sampling.top_k == 40);
  CHECK(out.sampling.min_p == 0.1);
  CHECK(out.sampling.seed == -7);
  CHECK(out.sampling.presence_penalty == 1);
  CHECK(out.sampling.frequency_penalty == -1);
  CHECK(out.sampling.repetition_penalty == 1.1);
  CHECK(out.sampling.logit_bias == std::vector<std::pair<std::int32_t, double>>{{12, -100}, {7, 1.5}});
  CHECK(out.stops == std::vector<std::string>{"a", "b"});
  CHECK(out.choices == 2);
  CHECK(out.logprobs);
  CHECK(out.top_logprobs == 3);
  CHECK(out.max_tokens == 20);
  CHECK(out.stream);
  CHECK(out.include_usage);
  CHECK(out.reasoning.mode == ReasoningWish::Mode::kOn);
  CHECK(out.reasoning.effort == "low");
  CHECK(json::to_compact(json::Value(out.kwargs)) == R"({"x":1})");
  CHECK(json::to_compact(*out.documents) == R"([{"text":"d"}])");
  CHECK_FALSE(out.tool_choice.parallel);
  CHECK(out.cache_key == "k");
  CHECK(out.session.group == "k");
  CHECK(out.store);
  CHECK(out.metadata.size() == 1);
  CHECK(out.user == "u");
  CHECK(out.return_token_ids);
  CHECK(out.continue_final);
  CHECK(out.format.kind == AnswerFormat::Kind::kSchema);
  CHECK(out.format.is_strict);
  CHECK(json::to_compact(out.format.schema) == R"({"type":"object"})");
  CHECK(out.warnings == std::vector<std::string>{"`store` was left out: there is no list of completions"});
}

TEST_CASE("responses: log probabilities are asked for by either field") {
  const auto asked = [](const std::string& more) { return request(kResponses, R"({"input": "a")" + more + "}"); };
  CHECK_FALSE(asked("").logprobs);
  CHECK(asked(R"(, "include": ["message.output_text.logprobs"])").logprobs);
  CHECK(asked(R"(, "top_logprobs": 2)").logprobs);
  CHECK(asked(R"(, "top_logprobs": 2)").top_logprobs == 2);
}

TEST_CASE("a stop text has so many bytes at most") {
  const auto stop_of = [](std::size_t bytes) { return chat_with("\"stop\": \"" + std::string(bytes, 'x') + "\""); };
  CHECK(request(kChat, stop_of(kMostStopBytes)).stops.front().size() == kMostStopBytes);
  CHECK(refusal(kChat, stop_of(kMostStopBytes + 1)) == "stop: `stop` holds a text that is too long");
}

TEST_CASE("null is a field that is absent, and whole floats are integers") {
  const GenerateRequest out =
      request(kChat, chat_with(R"("temperature": null, "stop": null, "n": 1.0, "tools": null)"));
  CHECK_FALSE(out.sampling.temperature);
  CHECK(out.choices == 1);
}

TEST_CASE("wrong types and values are refused with their field") {
  CHECK(refusal(kChat, "[]") == ": the body must be an object, found an array");
  CHECK(refusal(kChat, "{}") == "messages: `messages` is missing");
  CHECK(refusal(kChat, R"({"messages": {}})") == "messages: `messages` must be an array, found an object");
  CHECK(refusal(kChat, R"({"messages": [{"content": "x"}]})") == "messages[0].role: `messages[0].role` is missing");
  CHECK(refusal(kChat, R"({"messages": [{"role": "user", "content": 1}]})") ==
        "messages[0].content: `messages[0].content` must be a string or an array, found an integer");
  CHECK(refusal(kChat, R"({"messages": [{"role": "user", "content": [{"type": "text"}]}]})") ==
        "messages[0].content[0].text: `messages[0].content[0].text` is missing or no string");
  CHECK(refusal(kChat, chat_with(R"("temperature": "1")")) ==
        "temperature: `temperature` must be a number, found a string");
  CHECK(refusal(kChat, chat_with(R"("temperature": 3)")) ==
        "temperature: `temperature` must be between 0 and 2, found 3");
  CHECK(refusal(kChat, chat_with(R"("n": 0)")) == "n: `n` must be at least 1, found 0");
  CHECK(refusal(kChat, chat_with(R"("max_tokens": 0)")) == "max_tokens: `max_tokens` must be at least 1, found 0");
  CHECK(refusal(kChat, chat_with(R"("n": 1.5)")) == "n: `n` must be an integer, found 1.5");
  CHECK(refusal(kChat, chat_with(R"("stop": [1])")) == "stop: `stop` must hold texts, found an integer");
  CHECK(refusal(kChat, chat_with(R"("stream_options": {"include_usage": 1})")) ==
        "stream_options.include_usage: `stream_options.include_usage` must be a boolean, found an integer");
  CHECK(refusal(kChat, chat_with(R"("logit_bias": {"x": 1})")) ==
        "logit_bias.x: `logit_bias.x` must be named by a token id");
  CHECK(refusal(kChat, chat_with(R"("response_format": {"type": "json_schema", "json_schema": {"name": "a"}})")) ==
        "response_format.json_schema.schema: `response_format.json_schema.schema` is missing");
  CHECK(refusal(kChat, chat_with(R"("tools": [{"type": "function", "function": {}}])")) ==
        "tools[0].function.name: `tools[0].function.name` is missing");
  CHECK(refusal(kResponses, R"({"input": 1})") == "input: `input` must be a string or an array, found an integer");
  CHECK(refusal(kResponses, R"({"input": [{"type": "function_call", "name": "f"}]})") ==
        "input[0].call_id: `input[0].call_id` is missing");
  CHECK(refusal(kResponses, R"({"input": "x", "previous_response_id": "r", "conversation": "c"})") ==
        "conversation: `conversation` and `previous_response_id` exclude each other");
  CHECK(refusal(kMessages, R"({"messages": [{"role": "tool", "content": "x"}]})") ==
        "messages[0].role: `messages[0].role` must be one of `user`, `assistant`, `system`, found `tool`");
  CHECK(
      refusal(kMessages,
              R"({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f"}]}]})") ==
      "messages[0].content[0].input: `messages[0].content[0].input` is missing or of the wrong type");
}

TEST_CASE("bug: a call of Messages without a name, and one without an id, were taken") {
  const auto call = [](const char* members) {
    return refusal(kMessages,
                   R"({"max_tokens": 9, "messages": [{"role": "assistant", "content": [{"type": "tool_use", )" +
                       std::string(members) + "}]}]}");
  };
  const std::string place = "messages[0].content[0].";
  CHECK(call(R"("id": "a", "name": "", "input": {})") == place + "name: `" + place + "name` must not be empty");
  CHECK(call(R"("id": "", "name": "f", "input": {})") == place + "id: `" + place + "id` must not be empty");
  CHECK(refusal(kMessages, R"({"max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "tool_result",
                             "tool_use_id": ""}]}]})") ==
        place + "tool_use_id: `" + place + "tool_use_id` must not be empty");
}

TEST_CASE("bug: values that the APIs refuse were taken without a word") {
  const auto place = [](chat::Api api, std::string_view body) {
    const std::string sentence = refusal(api, body);
    return sentence.substr(0, sentence.find(':'));
  };
  const auto messages_with = [](std::string_view members) {
    return R"({"max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}], )" + std::string(members) + "}";
  };
  const auto input_with = [](std::string_view members) { return R"({"input": "x", )" + std::string(members) + "}"; };
  CHECK(place(kChat, chat_with(R"("tools": [1])")) == "tools[0]");
  CHECK(place(kChat, chat_with(R"("tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}])")) ==
        "tools[0].function.parameters");
  CHECK(place(kChat, chat_with(R"("metadata": {"a": 1})")) == "metadata.a");
  for (const char* call : {R"({"id": "a", "function": {"arguments": "{}"}})", R"({"id": "a"})"}) {
    CHECK(place(kChat, R"({"messages": [{"role": "assistant", "tool_calls": [)" + std::string(call) + "]}]}") ==
          "messages[0].tool_calls[0].function.name");
  }
  CHECK(place(kMessages, messages_with(R"("tools": [{"name": "f"}])")) == "tools[0].input_schema");
  CHECK(place(kMessages, messages_with(R"("tools": [{"name": "f", "input_schema": "x"}])")) == "tools[0].input_schema");
  CHECK(place(kMessages, messages_with(R"("tools": [{"type": "bash_20250124", "name": "bash"}])")).empty());
  CHECK(place(kMessages, messages_with(R"("tool_choice": "auto")")) == "tool_choice");
  CHECK(place(kMessages, messages_with(R"("system": [{"type": "image"}])")) == "system[0].type");
  CHECK(place(kMessages, messages_with(R"("stop_sequences": "x")")) == "stop_sequences");
  CHECK(place(kResponses, input_with(R"("tools": [{"type": "function", "name": "f", "parameters": "x"}])")) ==
        "tools[0].parameters");
  CHECK(place(kResponses, input_with(R"("include": ["zap"])")) == "include");
  CHECK(place(kResponses, input_with(R"("reasoning": {"summary": "zap"})")) == "reasoning.summary");
  CHECK(place(kResponses, input_with(R"("text": {"verbosity": "zap"})")) == "text.verbosity");
  CHECK(refusal(kResponses, "{}") == "input: `input` is missing");
}

// The member that is refused; "" if none is.
std::string refused_member(chat::Api api, const std::string& body) {
  const std::string sentence = refusal(api, body);
  return sentence.substr(0, sentence.find(':'));
}

struct MistypedField {
  chat::Api api;
  const char* members;
  const char* param;
};

const MistypedField kMistyped[] = {
    {kResponses, R"("tools": [{"type": "function", "name": "f", "strict": "yes"}])", "tools[0].strict"},
    {kResponses, R"("tools": [{"type": "function", "name": "f", "description": 5}])", "tools[0].description"},
    {kResponses, R"("tools": [{"type": "namespace", "name": "n", "tools": 5}])", "tools[0].tools"},
    {kResponses, R"("tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function", "parameters": 1}]}])",
     "tools[0].tools[0].parameters"},
    {kResponses, R"("max_tool_calls": "x")", "max_tool_calls"},
    {kResponses, R"("stream_options": 5)", "stream_options"},
    {kResponses, R"("stream_options": {"include_obfuscation": 1})", "stream_options.include_obfuscation"},
    {kResponses, R"("service_tier": 1)", "service_tier"},
    {kResponses, R"("context_management": [1])", "context_management[0]"},
    {kResponses, R"("text": {"format": {"type": "text", "description": 1}})", "text.format.description"},
    {kResponses,
     R"("tools": [{"type": "function", "name": "f"}], "tool_choice": {"type": "allowed_tools", "mode": 5, "tools": []})",
     "tool_choice.mode"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": 5}])", "tools[0].format"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": {}}])", "tools[0].format.type"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": {"type": "zap"}}])", "tools[0].format.type"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "zap"}}])",
     "tools[0].format.syntax"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "lark"}}])",
     "tools[0].format.definition"},
    {kResponses, R"("tools": [{"type": "custom", "name": "c", "format": {"type": "grammar", "definition": 5}}])",
     "tools[0].format.definition"},
    {kChat, R"("tools": [{"type": "custom", "custom": {"name": "c", "format": {"type": "grammar", "grammar": {}}}}])",
     "tools[0].custom.format.grammar.definition"},
    {kChat, R"("tools": [{"type": "function", "function": {"name": "f", "strict": 1}}])", "tools[0].function.strict"},
    {kChat, R"("modalities": [1])", "modalities[0]"},
    {kChat, R"("prediction": 1)", "prediction"},
    {kChat, R"("stop_token_ids": ["x"])", "stop_token_ids[0]"},
    {kChat, R"("allowed_token_ids": [1, -1])", "allowed_token_ids[1]"},
    {kChat, R"("allowed_token_ids": 1)", "allowed_token_ids"},
    {kChat, R"("bad_words": ["a", 5])", "bad_words[1]"},
    {kChat, R"("bad_words": "a")", "bad_words"},
    {kChat, R"("reasoning_effort": "low", "reasoning": {"effort": 5})", "reasoning.effort"},
    {kChat, R"("verbosity": 5)", "verbosity"},
    {kMessages, R"("mcp_servers": 5)", "mcp_servers"},
    {kMessages, R"("context_management": {"edits": {}})", "context_management.edits"},
    {kMessages, R"("cache_control": 5)", "cache_control"},
    {kMessages, R"("tools": [{"name": "f", "input_schema": {}, "strict": "yes"}])", "tools[0].strict"},
    {kMessages, R"("tools": [{"name": "f", "input_schema": {}, "description": 5}])", "tools[0].description"},
};

TEST_CASE("bug: known fields were taken with a value of the wrong type") {
  for (const MistypedField& field : kMistyped) {
    const std::string rest = field.api == kResponses
                                 ? R"("input": "x"})"
                                 : R"("max_tokens": 1, "messages": [{"role": "user", "content": "x"}]})";
    CHECK_MESSAGE(refused_member(field.api, "{" + std::string(field.members) + ", " + rest) == field.param,
                  field.members);
  }
}

TEST_CASE("bug: members of messages and parts were taken with a value of the wrong type") {
  const auto chat = [](const std::string& message) {
    return refused_member(kChat, R"({"messages": [)" + message + "]}");
  };
  CHECK(chat(R"({"role": "user", "content": "x", "name": 5})") == "messages[0].name");
  CHECK(chat(R"({"role": "assistant", "refusal": 5})") == "messages[0].refusal");
  CHECK(chat(R"({"role": "assistant", "reasoning_details": {}})") == "messages[0].reasoning_details");
  CHECK(chat(R"({"role": "assistant", "tool_calls": [{"id": 5, "function": {"name": "f"}}]})") ==
        "messages[0].tool_calls[0].id");
  CHECK(chat(R"({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": 5}}]})") ==
        "messages[0].tool_calls[0].function.arguments");
  CHECK(chat(R"({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]})")
            .empty());
  CHECK(chat(R"({"role": "user", "content": [{"type": "text", "text": "x", "cache_control": 5}]})") ==
        "messages[0].content[0].cache_control");
  const auto block = [](const std::string& members) {
    return refused_member(kMessages, R"({"messages": [{"role": "user", "content": [{)" + members + "}]}]}");
  };
  CHECK(block(R"("type": "tool_result", "tool_use_id": "a", "is_error": "x")") == "messages[0].content[0].is_error");
  CHECK(chat(R"({"role": "user", "content": [{"type": "text", "text": "x", "annotations": {"audience": ["user"]}}]})")
            .empty());
  CHECK(refused_member(kResponses, R"({"input": [{"role": "assistant", "content": [
      {"type": "output_text", "text": "x", "annotations": {}}]}]})") == "input[0].content[0].annotations");
  CHECK(block(R"("type": "text", "text": "x", "citations": 5)") == "messages[0].content[0].citations");
  CHECK(block(R"("type": "document", "title": 5)") == "messages[0].content[0].title");
  CHECK(block(R"("type": "document", "source": {"type": "text", "data": 5})") == "messages[0].content[0].source.data");
  CHECK(block(R"("type": "search_result", "source": "s", "content": "x")") == "messages[0].content[0].content");
}

TEST_CASE("bug: a choice of a custom tool could name a function, and the other way round") {
  const std::string tools =
      R"({"input": "x", "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "c"}],
      "tool_choice": )";
  CHECK(refusal(kResponses, tools + R"({"type": "custom", "name": "f"}})") ==
        "tool_choice: `tool_choice` names `f` as a tool of type `custom`, which it is not");
  CHECK(refused_member(kResponses, tools + R"({"type": "function", "name": "c"}})") == "tool_choice");
  CHECK(refusal(kResponses, tools + R"({"type": "custom", "name": "c"}})").empty());
}

TEST_CASE("bug: a message of Messages without a block vanished") {
  CHECK(refused_member(kMessages,
                       R"({"messages": [{"role": "user", "content": []}, {"role": "user", "content": "x"}]})") ==
        "messages[0].content");
  CHECK(refusal(kMessages, R"({"messages": [{"role": "user", "content": []}]})") ==
        "messages[0].content: `messages[0].content` must not be empty");
  CHECK(refusal(kMessages, R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": []},
      {"role": "user", "content": "x"}]})")
            .empty());
}

std::vector<std::string> warnings_of(chat::Api api, const std::string& body) { return request(api, body).warnings; }

TEST_CASE("bug: fields without an effect were passed over without a word") {
  using Warnings = std::vector<std::string>;
  const auto chat = [](const std::string& members) { return warnings_of(kChat, chat_with(members)); };
  CHECK(chat(R"("modalities": ["text", "audio"])") == Warnings{"`modalities` was left out: replies are text"});
  CHECK(chat(R"("prediction": {"type": "content", "content": "x"})") == Warnings{"`prediction` was left out"});
  CHECK(chat(R"("structured_outputs": {"regex": "a+"}, "guided_choice": ["a"])") ==
        Warnings{"`guided_choice` was left out: `structured_outputs.regex` took its place"});
  CHECK(chat(R"("response_format": {"type": "json_object"}, "guided_json": {"type": "object"})") ==
        Warnings{"`guided_json` was left out: `response_format` took its place"});
  CHECK(chat(R"("modalities": ["text"], "min_tokens": 0, "ignore_eos": false, "stop_token_ids": [], "prediction": null,
      "structured_outputs": {}, "web_search_options": null)")
            .empty());
  const auto messages = [](const std::string& members) {
    return warnings_of(kMessages, R"({"messages": [{"role": "user", "content": "x"}], )" + members + "}");
  };
  CHECK(messages(R"("mcp_servers": [{"type": "url", "url": "u", "name": "n"}])") ==
        Warnings{"`mcp_servers` was left out"});
  CHECK(messages(R"("context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]})") ==
        Warnings{"`context_management` was left out"});
  CHECK(messages(R"("mcp_servers": [], "context_management": {"edits": []}, "container": null)").empty());
  CHECK(warnings_of(kMessages, R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [
      {"type": "tool_use", "id": "a", "name": "f", "input": {}}, {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
      {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "a", "content": "x"},
      {"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": true},
      {"type": "tool_result", "tool_use_id": "b", "content": "x", "is_error": true}]}]})") ==
        Warnings{"`messages[2].content[1].is_error` reaches the model only if the template shows it"});
  CHECK(warnings_of(kResponses, R"({"input": "x", "context_management": [{"type": "compaction"}]})") ==
        Warnings{"`context_management` was left out"});
}

TEST_CASE("schemas and ends under the names that other servers have for them") {
  const auto schema = [](const std::string& members) {
    const GenerateRequest out = request(kChat, chat_with(members));
    CHECK(out.warnings.empty());
    CHECK(out.format.is_strict);
    CHECK(out.format.kind == AnswerFormat::Kind::kSchema);
    return json::to_compact(out.format.schema);
  };
  CHECK(schema(R"("guided_json": {"type": "object"})") == R"({"type":"object"})");
  CHECK(schema(R"("guided_json": "{\"type\": \"object\"}")") == R"({"type":"object"})");
  CHECK(schema(R"("structured_outputs": {"json": {"type": "array"}})") == R"({"type":"array"})");
  CHECK(schema(R"("json_schema": {"type": "object"})") == R"({"type":"object"})");
  CHECK(schema(R"("response_format": {"type": "json_object", "schema": {"const": 42}})") == R"({"const":42})");
  CHECK(request(kChat, chat_with(R"("structured_outputs": {"json_object": true})")).format.kind ==
        AnswerFormat::Kind::kJson);
  CHECK(refusal(kChat, chat_with(R"("guided_json": "{")")) == "guided_json: `guided_json` is no JSON");
  CHECK(refused_member(kChat, chat_with(R"("structured_outputs": {"json": 5})")) == "structured_outputs.json");
  CHECK(request(kChat, chat_with(R"("stop_token_ids": [7, 9])")).stop_ids == std::vector<std::int32_t>{7, 9});
}

TEST_CASE("bug: what was wrong with items that came before a request was named as a field that it does not have") {
  const json::Value body = parsed(R"({"conversation": "conv_1", "input": [{"role": "user", "content": "a"},
      {"role": "user", "content": [{"type": "input_image", "image_url": "u"}]},
      {"role": "user", "content": [{"type": "input_image", "image_url": "u"}]}]})");
  const auto media = [&](std::vector<std::int32_t> places) {
    const auto out = read(kResponses, body, {}, {.input_places = std::move(places)});
    return out.ok() ? out.value().media : out.fault().message;
  };
  CHECK(media({}) == "input[1].content[0]");
  CHECK(media({-1, 0, 1}) == "input[0].content[0]");
  CHECK(media({-1, -1, 0}) == "conversation");
  const auto noted = read(kResponses, parsed(R"({"input": [{"type": "a"}, {"type": "b"}, {"type": "c input[1]"}]})"),
                          {}, {.input_places = {-1, 0, 7}});
  REQUIRE(noted.ok());
  CHECK(noted.value().warnings == std::vector<std::string>{"an item `b` at input[0] was left out",
                                                           "an item `c input[1]` at input[7] was left out"});
  CHECK(quoted_place("conversation") + " is not text" == "what `conversation` names is not text");
  const auto kept =
      read(kResponses, parsed(R"({"previous_response_id": "r", "input": [{"role": "user", "content": 5}]})"), {},
           {.input_places = {-1}});
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.fault().param == "previous_response_id");
}

TEST_CASE("a variable of the template does not replace what the request says itself") {
  const auto of = [](const std::string& members) { return refusal(kChat, chat_with(members)); };
  const std::string tools = R"("tools": [{"type": "function", "function": {"name": "f"}}], )";
  CHECK(of(R"("chat_template_kwargs": {"messages": []})") ==
        "chat_template_kwargs.messages: `chat_template_kwargs.messages` would replace what the request itself says");
  CHECK(of(tools + R"("chat_template_kwargs": {"tools": []})").starts_with("chat_template_kwargs.tools: "));
  CHECK(of(R"("documents": [{"text": "d"}], "chat_template_kwargs": {"documents": []})")
            .starts_with("chat_template_kwargs.documents: "));
  CHECK(of(R"("chat_template_kwargs": {"documents": [], "tools": [], "x": 1})").empty());
}

TEST_CASE("limits: nesting, messages, stops") {
  std::string deep = R"({"messages": [], "x": )";
  for (int i = 0; i < 300; ++i) deep += "[";
  for (int i = 0; i < 300; ++i) deep += "]";
  CHECK(refusal(kChat, deep + "}") == ": the body nests deeper than 256 levels");
  CHECK_FALSE(parse_body(deep + "}").ok());
  CHECK(parse_body("{").fault().code == "invalid_json");
  std::string stops = "\"s\"";
  for (int i = 0; i < 64; ++i) stops += ",\"s\"";
  CHECK(refusal(kChat, chat_with(R"("stop": [)" + stops + "]")) ==
        "stop: `stop` has 65 elements, at most 64 are taken");
}

constexpr std::string_view kTools = R"("tools": [{"type": "function", "function": {"name": "f"}},
    {"type": "custom", "custom": {"name": "c"}}, {"type": "web_search"}])";

TEST_CASE("tool_choice of the Chat API") {
  const auto choice = [](const std::string& value) {
    return request(kChat, chat_with(R"("tool_choice": )" + value + ", " + std::string(kTools))).tool_choice;
  };
  using Mode = ToolChoice::Mode;
  CHECK(choice("\"auto\"").mode == Mode::kAuto);
  CHECK(choice("\"none\"").mode == Mode::kNone);
  CHECK(choice("\"required\"").mode == Mode::kRequired);
  const ToolChoice named = choice(R"({"type": "custom", "custom": {"name": "c"}})");
  CHECK(named.mode == Mode::kRequired);
  CHECK(named.only == std::vector<std::string>{"c"});
  const ToolChoice allowed = choice(R"({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
      {"type": "function", "function": {"name": "f"}}, {"type": "web_search"}]}})");
  CHECK(allowed.mode == Mode::kAuto);
  CHECK(allowed.only == std::vector<std::string>{"f"});
  CHECK(choice(R"({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "web_search"}]}})")
            .mode == Mode::kNone);
  CHECK(refusal(kChat, chat_with(R"("tool_choice": {"type": "function", "function": {"name": "g"}}, )" +
                                 std::string(kTools))) ==
        "tool_choice: `tool_choice` names `g`, which is none of the tools");
  CHECK(refusal(kChat, chat_with(R"("tool_choice": "required")")) ==
        "tool_choice: `tool_choice` asks for a call, but there are no tools");
  CHECK(refusal(kChat, chat_with(R"("tool_choice": 1)")) ==
        "tool_choice: `tool_choice` must be a string or an object, found an integer");
  CHECK(refusal(kChat, chat_with(kTools), {.refuse_unknown_tools = true}) ==
        "tools: the tool `web_search` is not known here");
  CHECK(request(kChat, chat_with(kTools)).warnings ==
        std::vector<std::string>{"the tool `web_search` of the server was left out"});
}

TEST_CASE("tool_choice of Messages and Responses") {
  const std::string messages = R"({"messages": [{"role": "user", "content": "x"}], "max_tokens": 5,
      "tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": )";
  const ToolChoice any =
      request(kMessages, messages + R"({"type": "any", "disable_parallel_tool_use": true}})").tool_choice;
  CHECK(any.mode == ToolChoice::Mode::kRequired);
  CHECK_FALSE(any.parallel);
  CHECK(request(kMessages, messages + R"({"type": "tool", "name": "f"}})").tool_choice.only ==
        std::vector<std::string>{"f"});
  const std::string responses = R"({"input": "x", "tools": [{"type": "namespace", "name": "n", "tools": [
      {"type": "function", "name": "f"}]}], "tool_choice": )";
  CHECK(request(kResponses, responses + R"({"type": "function", "name": "f"}})").tool_choice.only ==
        std::vector<std::string>{"n__f"});
  CHECK(request(kResponses, responses + R"({"type": "allowed_tools", "mode": "required", "tools": [
      {"type": "function", "name": "f", "namespace": "n"}]}})")
            .tool_choice.mode == ToolChoice::Mode::kRequired);
}

TEST_CASE("a Messages request") {
  const GenerateRequest out = request(kMessages, R"({"model": "m", "max_tokens": 100, "stop_sequences": ["x"],
      "system": [{"type": "text", "text": "x-anthropic-billing-header: a=1"}, {"type": "text", "text": "Be brief."}],
      "thinking": {"type": "enabled", "budget_tokens": 1024}, "output_config": {"effort": "high",
        "format": {"type": "json_schema", "schema": {"type": "object"}}},
      "metadata": {"user_id": "u"}, "diagnostics": {"previous_message_id": "msg_1"},
      "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "{"}]})");
  CHECK(json::to_compact(out.messages[0]) == R"({"role":"system","content":"Be brief."})");
  CHECK(out.warnings == std::vector<std::string>{"the billing header of `system` was taken off"});
  CHECK(out.continue_final);
  CHECK(out.reasoning.is_shown);
  CHECK(out.reasoning.budget_tokens == 1024);
  CHECK(out.reasoning.effort == "high");
  CHECK(out.kwargs.find("reasoning_effort") == nullptr);  // the gateway finds out what accepts it
  CHECK(out.reasoning.effort == "high");
  CHECK(out.format.kind == AnswerFormat::Kind::kSchema);
  CHECK(out.previous_message_id == "msg_1");
  CHECK(out.session.group == "u");
  CHECK(out.max_tokens == 100);
  CHECK(request(kMessages, R"({"max_tokens": 0, "messages": [{"role": "user", "content": "Hi"}]})").max_tokens == 0);
  const GenerateRequest line =
      request(kMessages, R"({"max_tokens": 1, "thinking": {"type": "adaptive", "display": "omitted"},
      "system": "x-anthropic-billing-header: a=1\nBe brief.", "messages": [{"role": "user", "content": "Hi"}]})");
  CHECK(json::to_compact(line.messages[0]) == R"({"role":"system","content":"Be brief."})");
  CHECK_FALSE(line.reasoning.is_shown);
  CHECK(line.reasoning.is_signed);
  CHECK_FALSE(line.continue_final);
}

TEST_CASE("a Responses request, and what its reply repeats") {
  const GenerateRequest out =
      request(kResponses, R"({"model": "m", "input": "Hi", "instructions": "Be brief.", "store": false,
      "previous_response_id": "resp_1", "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"],
      "text": {"format": {"type": "json_schema", "name": "s", "schema": {}}, "verbosity": "low"}, "truncation": "auto",
      "prompt_cache_options": {"comparison_response_id": "resp_0"}, "max_output_tokens": 9, "metadata": {"a": "b"},
      "tools": [{"type": "function", "name": "f"}], "tool_choice": "required"})");
  CHECK(out.has_instructions);
  CHECK(json::to_compact(json::Value(out.messages)) ==
        R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}])");
  CHECK_FALSE(out.responses.store);
  CHECK(out.responses.previous_response_id == "resp_1");
  CHECK(out.responses.include_encrypted_reasoning);
  CHECK(out.responses.truncate);
  CHECK(out.comparison_response_id == "resp_0");
  CHECK(out.reasoning.is_summarized);
  CHECK(out.format.kind == AnswerFormat::Kind::kSchema);
  CHECK(json::to_compact(*out.responses.echo.find("tools")) ==
        R"([{"type":"function","name":"f","description":null,"parameters":null,"strict":null}])");
  CHECK(json::to_compact(*out.responses.echo.find("reasoning")) == R"({"effort":null,"summary":"auto"})");
  CHECK(json::to_compact(*out.responses.echo.find("prompt_cache_options")) ==
        R"({"mode":"implicit","ttl":"30m","comparison_response_id":"resp_0"})");
  const GenerateRequest bare =
      request(kResponses, R"({"previous_response_id": "r", "conversation": null, "generate": false})");
  CHECK(bare.messages.empty());
  CHECK_FALSE(bare.responses.generate);
  CHECK(request(kResponses, R"({"input": [], "conversation": {"id": "conv_1"}})").responses.conversation == "conv_1");
}

TEST_CASE("headers: sessions, explanations, the Open Responses form") {
  const std::map<std::string, std::string, std::less<>> sent = {
      {"x-rondo-session", "s"}, {"thread-id", "t"}, {"x-rondo-explain", "1"}, {"openresponses-version", "1"}};
  const HeaderLookup headers = [&](std::string_view name) {
    const auto found = sent.find(name);
    return found == sent.end() ? std::string() : found->second;
  };
  const GenerateRequest out = request(kResponses, R"({"input": "x", "prompt_cache_key": "k"})", headers);
  CHECK(out.session.session == "s");
  CHECK(out.session.group == "t");
  CHECK(out.explain);
  CHECK(out.open_responses);
}

TEST_CASE("the first part that token ids can't carry is named") {
  CHECK(request(kMessages, R"({"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
      {"type": "image", "source": {"type": "url", "url": "u"}}]}]})")
            .media == "messages[0].content[1]");
  CHECK(request(kChat, chat_with(R"("n": 1)")).media.empty());
}

TEST_CASE("two tools of one name are refused where a call of it could not be told to the client") {
  const std::string with = R"({"input": "x", "tools": [{"type": "function", "name": "n__f"}, )";
  CHECK(refusal(kResponses,
                with + R"({"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}]})") ==
        "tools: `tools` has two different tools that are called `n__f`");
  CHECK(request(kResponses, with + R"({"type": "function", "name": "n__f"}]})").warnings ==
        std::vector<std::string>{"the tool `n__f` is there twice"});
}

TEST_CASE("requests of recorded logs are read") {
  std::size_t count = 0;
  for (const auto& [name, api] :
       {std::pair("chat", kChat), std::pair("messages", kMessages), std::pair("responses", kResponses)}) {
    const auto text = files::read(std::string(RONDO_SOURCE_DIR) + "/fuzz/seeds/replay/" + name + ".jsonl");
    REQUIRE(text.ok());
    std::istringstream lines(text.value());
    for (std::string line; std::getline(lines, line);) {
      json::Value body = parsed(line);
      for (const char* key : {"request", "body"}) {
        if (const json::Value* inner = body.find(key); inner != nullptr) body = json::Value(*inner);
      }
      const char* needed = api == kResponses ? "input" : "messages";
      if (body.find(needed) == nullptr) continue;
      const Outcome<GenerateRequest> out = read(api, body);
      CHECK_MESSAGE(out.ok(), line << ": " << (out.ok() ? "" : out.fault().message));
      ++count;
    }
  }
  CHECK(count >= 3);
}

// Each conversation of the corpus as a request of the Chat API, and in the form of the other two if they have one.
TEST_CASE("every conversation of the corpus is read") {
  const char* corpus = std::getenv("RONDO_CORPUS");
  const std::filesystem::path folder =
      (corpus != nullptr ? std::filesystem::path(corpus)
                         : std::filesystem::path(RONDO_SOURCE_DIR) / "../shared/corpus") /
      "conversations";
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: there is no corpus");
    return;
  }
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    auto text = files::read(entry.path().string());
    REQUIRE(text.ok());
    auto value = json::parse(text.value());
    if (!value.ok() || !value.value().is_object() || value.value().find("messages") == nullptr) continue;
    const Outcome<GenerateRequest> out = read(kChat, value.value());
    const auto id = value.value().find_string("id");
    if (id == "content_null_user" || id == "null_user") {
      CHECK_FALSE(out.ok());  // only a template takes it
      continue;
    }
    CHECK_MESSAGE(out.ok(), entry.path().string() << ": " << (out.ok() ? "" : out.fault().message));
    ++count;
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace rondo::apis
