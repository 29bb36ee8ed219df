#include "chat/api_request.h"

#include <doctest/doctest.h>

#include <string>

#include "json/parse.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::chat {
namespace {

using testing::parsed;

ApiRequest request(std::string_view body) {
  auto out = read_request(parsed(body));
  REQUIRE_MESSAGE(out.ok(), body);
  return std::move(out).value();
}

std::string refusal(std::string_view body) {
  auto out = read_request(parsed(body));
  return out.ok() ? "" : out.error().message;
}

std::string messages_of(std::string_view body) { return json::to_compact(json::Value(request(body).messages)); }

std::string reply_of(std::string_view body) {
  const auto reply = read_reply(parsed(body));
  return reply ? json::to_compact(json::Value(reply->messages)) : "none";
}

TEST_CASE("chat requests keep their messages, tools and template variables as they are") {
  const ApiRequest out = request(R"({"model": "m", "messages": [{"role": "user", "content": "Hi", "x": 1.0}],
      "tools": [{"type": "function", "function": {"name": "f"}}], "chat_template_kwargs": {"enable_thinking": false},
      "reasoning_effort": "low", "session_id": "s1"})");
  CHECK(out.api == Api::kChat);
  CHECK(json::to_compact(json::Value(out.messages)) == R"([{"role":"user","content":"Hi","x":1.0}])");
  CHECK(json::to_compact(*out.tools) == R"([{"type":"function","function":{"name":"f"}}])");
  CHECK(json::to_compact(json::Value(out.kwargs)) == R"({"enable_thinking":false,"reasoning_effort":"low"})");
  CHECK(out.model == "m");
  CHECK(out.conversation == "s1");
  CHECK(out.notes.empty());
}

TEST_CASE("bug: functions, the form before tools, were no tools of a logged request") {
  const ApiRequest out = request(
      R"({"messages": [{"role": "user", "content": "Hi"}], "functions": [{"name": "f", "parameters": {"type": "object"}}]})");
  CHECK(json::to_compact(*out.tools) ==
        R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])");
  const ApiRequest both = request(
      R"({"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "g"}}],
      "functions": [{"name": "f"}]})");
  CHECK(json::to_compact(*both.tools) == R"([{"type":"function","function":{"name":"g"}}])");
  CHECK_FALSE(request(R"({"messages": [{"role": "user", "content": "Hi"}], "functions": []})").tools);
}

TEST_CASE("the Messages API: system blocks, results before the text, thinking, calls") {
  const ApiRequest out = request(R"({"system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}],
      "metadata": {"user_id": "u7"},
      "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"},
          {"type": "text", "text": "One moment."},
          {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo", "days": 1.0}}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "rain"}]},
          {"type": "text", "text": "And now?"}]}],
      "tools": [{"name": "weather", "description": "d", "input_schema": {"type": "object"}},
                {"type": "web_search_20250305", "name": "web_search"}]})");
  CHECK(out.api == Api::kMessages);
  CHECK(out.conversation == "u7");
  CHECK(
      json::to_compact(json::Value(out.messages)) ==
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},)"
      R"({"role":"assistant","content":"One moment.","reasoning_content":"Look it up.","tool_calls":[{"id":"toolu_1",)"
      R"("type":"function","function":{"name":"weather","arguments":"{\"city\": \"Oslo\", \"days\": 1.0}"}}]},)"
      R"({"role":"tool","tool_call_id":"toolu_1","content":"rain"},{"role":"user","content":"And now?"}])");
  CHECK(json::to_compact(*out.tools) ==
        R"([{"type":"function","function":{"name":"weather","description":"d","parameters":{"type":"object"}}}])");
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0] == "the tool `web_search` of the server was left out");
}

TEST_CASE("000:37: the Messages API: marks of what is to be cached change nothing") {
  const std::string source = R"({"system": [{"type": "text", "text": "Be brief."@}],
      "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"@}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {}@}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"@}]}],
      "tools": [{"name": "weather", "description": "d", "input_schema": {"type": "object"}@}]})";
  const auto with = [&source](const std::string& mark) {
    std::string text = source;
    for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos;) text.replace(at, 1, mark);
    return request(text.c_str());
  };
  const ApiRequest plain = with("");
  const ApiRequest marked = with(R"(, "cache_control": {"type": "ephemeral", "ttl": "1h"})");
  CHECK(json::Value(marked.messages) == json::Value(plain.messages));
  CHECK(*marked.tools == *plain.tools);
  CHECK(marked.notes.empty());
}

TEST_CASE("the Messages API: what has no form is named; images and failed results survive") {
  const ApiRequest out = request(R"({"messages": [
      {"role": "user", "content": [{"type": "text", "text": "See"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]},
      {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "tool_use", "id": "t",
        "name": "f", "input": {}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": [
        {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}]})");
  CHECK(
      json::to_compact(json::Value(out.messages)) ==
      R"([{"role":"user","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":)"
      R"("data:image/png;base64,AAAA"}}]},{"role":"assistant","content":"","tool_calls":[{"id":"t","type":"function",)"
      R"("function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"t","content":"a\nb","is_error":true}])");
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0] == "the redacted thinking of messages[1] was left out");
}

TEST_CASE("custom tools and tools of a namespace become functions, and the table knows what they were") {
  const ApiRequest out = request(R"({"input": [
        {"type": "function_call", "call_id": "c1", "id": "fc_1", "namespace": "mcp__files", "name": "read", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "id": "ctc_1", "name": "patch", "input": "x\"y"}],
      "tools": [
        {"type": "namespace", "name": "mcp__files", "description": "d", "tools": [
          {"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": true}]},
        {"type": "custom", "name": "patch", "description": "p",
         "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}},
        {"type": "web_search"}]})");
  CHECK(json::to_compact(*out.tools) ==
        R"([{"type":"function","function":{"name":"mcp__files__read","parameters":{"type":"object"}}},)"
        R"({"type":"function","function":{"name":"patch","description":"p","parameters":{"type":"object","properties":)"
        R"({"input":{"type":"string","description":"text of this lark grammar:\nstart: /a/"}},"required":["input"],)"
        R"("additionalProperties":false}}}])");
  REQUIRE(out.tool_table.size() == 2);
  CHECK(out.tool_table[0].client_name == "read");
  CHECK(out.tool_table[0].name_space == "mcp__files");
  CHECK(out.tool_table[0].is_strict);
  CHECK(out.tool_table[1].kind == ApiTool::Kind::kCustom);
  CHECK(json::to_compact(out.tool_table[1].grammar) == R"({"syntax":"lark","definition":"start: /a/"})");
  CHECK(out.notes == std::vector<std::string>{"the tool `web_search` of the server was left out"});
  CHECK(json::to_compact(json::Value(out.messages)) ==
        R"([{"role":"assistant","content":"","tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"mcp__files__read","arguments":"{}"}},)"
        R"({"id":"c2","type":"function","function":{"name":"patch","arguments":"{\"input\": \"x\\\"y\"}"}}]}])");
  REQUIRE(out.echoed.size() == 2);
  CHECK(out.echoed[1].key == "ctc_1");
}

TEST_CASE("custom tools and calls of the Chat API") {
  const ApiRequest out = request(R"({"messages": [{"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "x"}}]}],
      "tools": [{"type": "custom", "custom": {"name": "patch", "format": {"type": "grammar",
        "grammar": {"syntax": "regex", "definition": "a+"}}}}, {"type": "function", "function": {"name": "f", "x": 1}}]})");
  CHECK(json::to_compact(out.messages[0]) ==
        R"({"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"patch",)"
        R"("arguments":"{\"input\": \"x\"}"}}]})");
  REQUIRE(out.tool_table.size() == 2);
  CHECK(json::to_compact(out.tool_table[0].grammar) == R"({"syntax":"regex","definition":"a+"})");
  CHECK(json::to_compact(out.tools->as_array()[1]) == R"({"type":"function","function":{"name":"f","x":1}})");
}

TEST_CASE("what clients send back of a reply is found: item ids, signatures, encrypted content") {
  const ApiRequest responses = request(R"({"input": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"role": "user", "content": "b"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"role": "user", "content": "c"},
        {"type": "message", "id": "msg_2", "role": "assistant", "content": "d"}]})");
  std::string keys;
  for (const EchoedKey& key : responses.echoed) keys += std::to_string(key.message) + key.key + " ";
  CHECK(keys == "0rs_1 0e 0msg_1 3msg_2 ");
  const ApiRequest messages = request(R"({"messages": [{"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
                                          {"type": "redacted_thinking", "data": "r"}]}]})");
  REQUIRE(messages.echoed.size() == 2);
  CHECK(messages.echoed[0].kind == EchoedKey::Kind::kSignature);
  CHECK(messages.echoed[0].message == 1);
  CHECK(messages.echoed[1].key == "r");
}

TEST_CASE("the Responses API: one assistant message until something else follows") {
  const ApiRequest out =
      request(R"({"instructions": "Be brief.", "prompt_cache_key": "k", "reasoning": {"effort": "high"},
      "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Look."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"},
        {"type": "function_call", "call_id": "c2", "name": "time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "function_call_output", "call_id": "c2", "output": "noon"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Done."}], "encrypted_content": "x"},
        {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "a\nb"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "ok"}],
      "tools": [{"type": "function", "name": "weather", "parameters": {"type": "object"}}, {"type": "web_search"}]})");
  CHECK(out.api == Api::kResponses);
  CHECK(out.conversation == "k");
  CHECK(json::to_compact(json::Value(out.kwargs)) == R"({"reasoning_effort":"high"})");
  CHECK(json::to_compact(json::Value(out.messages)) ==
        R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},)"
        R"({"role":"assistant","content":"One moment.","reasoning_content":"Look.","tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},)"
        R"({"id":"c2","type":"function","function":{"name":"time","arguments":"{}"}}]},)"
        R"({"role":"tool","tool_call_id":"c1","content":"rain"},{"role":"tool","tool_call_id":"c2","content":"noon"},)"
        R"({"role":"assistant","content":"","reasoning_content":"Done.","tool_calls":[)"
        R"({"id":"c3","type":"function","function":{"name":"patch","arguments":"{\"input\": \"a\\nb\"}"}}]},)"
        R"({"role":"tool","tool_call_id":"c3","content":"ok"}])");
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0] == "the tool `web_search` of the server was left out");
}

TEST_CASE("the Responses API: items without anything between them are of the same reply") {
  CHECK(messages_of(R"({"input": [
        {"type": "message", "role": "assistant", "content": "a"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "r"}]},
        {"type": "message", "role": "assistant", "content": "b"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
        {"type": "message", "role": "assistant", "content": "c"}]})") ==
        R"([{"role":"assistant","content":"ab","reasoning_content":"r","tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
        R"({"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"c"}])");
}

TEST_CASE("the Responses API: a text alone, a chain, and items without a form") {
  CHECK(messages_of(R"({"input": "Hi"})") == R"([{"role":"user","content":"Hi"}])");
  const ApiRequest out = request(R"({"previous_response_id": "resp_1", "conversation": {"id": "conv_1"}, "input": [
      {"type": "item_reference", "id": "x"}, {"type": "reasoning", "summary": [], "encrypted_content": "x"},
      {"type": "message", "role": "user", "content": "Go on"}]})");
  CHECK(out.previous_response == "resp_1");
  CHECK(out.conversation == "conv_1");
  CHECK(json::to_compact(json::Value(out.messages)) == R"([{"role":"user","content":"Go on"}])");
  REQUIRE(out.notes.size() == 2);
  CHECK(out.notes[0] == "an item `item_reference` at input[0] was left out");
  CHECK(out.notes[1] == "the encrypted reasoning at input[1] was left out");
}

TEST_CASE("the Responses API: shells, refusals, images and several answers") {
  const ApiRequest out = request(R"({"model": "m", "input": [
      {"type": "local_shell_call", "call_id": "s1", "action": {"command": ["ls"]}},
      {"type": "local_shell_call", "id": "s2"},
      {"type": "local_shell_call_output", "id": "s1", "output": [{"type": "input_text", "text": "a"}, {"type": "x"}]},
      {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
      {"type": "message", "role": "assistant", "content": "Sorry."},
      {"type": "function_call", "id": "f1", "name": "f"},
      {"type": "message", "role": "assistant", "content": "Done."},
      {"type": "reasoning", "content": [{"text": "a"}, {"text": "b"}], "summary": [{"text": "c"}]},
      {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "output_text", "text": "y"}]},
      {"role": "user", "content": [{"type": "input_image", "image_url": "u"}, {"type": "input_image", "file_id": "i"}]},
      {"role": "user"}, {"role": "user", "content": null}]})");
  CHECK(
      json::to_compact(json::Value(out.messages)) ==
      R"([{"role":"assistant","content":"","tool_calls":[{"id":"s1","type":"function","function":{"name":"local_shell",)"
      R"("arguments":"{\"command\": [\"ls\"]}"}},{"id":"s2","type":"function","function":{"name":"local_shell",)"
      R"("arguments":"{}"}}]},{"role":"tool","tool_call_id":"s1","content":[{"type":"text","text":"a"},{"type":"x"}]},)"
      R"({"role":"assistant","content":"No.Sorry.Done.","reasoning_content":"a\nb","tool_calls":[)"
      R"({"id":"f1","type":"function","function":{"name":"f","arguments":""}}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]},)"
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"image_url","image_url":{"url":"i"}}]},)"
      R"({"role":"user","content":""},{"role":"user","content":""}])");
  CHECK(out.notes.empty());
  CHECK_FALSE(out.has_instructions);
}

TEST_CASE("the Messages API: blocks without a form, results of other kinds, images by address") {
  const ApiRequest out = request(R"({"system": "", "messages": [
      {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "search"}]},
      {"role": "user", "content": [{"type": "text", "text": "first"},
        {"type": "tool_result", "tool_use_id": "1"}, {"type": "tool_result", "tool_use_id": "2", "content": null},
        {"type": "tool_result", "tool_use_id": "3", "content": "plain"},
        {"type": "tool_result", "tool_use_id": "4", "content": [{"type": "text", "text": "see"},
          {"type": "image", "source": {"type": "url", "url": "u"}}, {"type": "other"}]},
        {"type": "image", "source": {"type": "url", "url": "v"}}, {"type": "image"}, {"type": "document"}]},
      {"role": "user", "content": []},
      {"role": "assistant", "content": [{"type": "tool_use", "id": "5", "name": "g"}]}]})");
  CHECK(
      json::to_compact(json::Value(out.messages)) ==
      R"([{"role":"assistant","content":"ab"},{"role":"user","content":"first"},)"
      R"({"role":"tool","tool_call_id":"1","content":""},{"role":"tool","tool_call_id":"2","content":""},)"
      R"({"role":"tool","tool_call_id":"3","content":"plain"},{"role":"tool","tool_call_id":"4","content":[)"
      R"({"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"u"}},{"type":"other"}]},)"
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"v"}},{"type":"image_url","image_url":{"url":""}},)"
      R"({"type":"document"}]},{"role":"assistant","content":"","tool_calls":[{"id":"5","type":"function","function":)"
      R"({"name":"g","arguments":"{}"}}]}])");
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0] == "a block `search` of messages[0] was left out");
  CHECK_FALSE(out.has_instructions);
  CHECK(request(R"({"system": "s", "messages": []})").has_instructions);
}

TEST_CASE("bug: additions and removals of tools within a conversation were taken for content that is not text") {
  const ApiRequest out =
      request(R"({"system": "", "messages": [{"role": "user", "content": "a"}, {"role": "system", "content": [
      {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "f"}}]},
      {"role": "system", "content": [{"type": "text", "text": "s"}, {"type": "tool_removal", "tool": {}}]}]})");
  CHECK(json::to_compact(json::Value(out.messages)) ==
        R"([{"role":"user","content":"a"},{"role":"system","content":"s"}])");
  CHECK(out.sources == std::vector<std::int32_t>{0, 2});
  CHECK(out.notes == std::vector<std::string>{"a block `tool_addition` of messages[1] was left out",
                                              "a block `tool_removal` of messages[2] was left out"});
}

TEST_CASE("the Messages API: documents, what searches found and references to tools are text where they are") {
  CHECK(
      messages_of(R"({"system": "", "messages": [{"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "tool_reference", "tool_name": "f"},
        {"type": "tool_reference", "tool_name": "g"}]},
      {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "search_result", "title": "T", "source": "S",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]},
      {"type": "document", "title": "D", "source": {"type": "text", "media_type": "text/plain", "data": "whole"}},
      {"type": "document", "source": {"type": "content", "content": "plain"}},
      {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "one"}]}},
      {"type": "document", "source": {"type": "url", "url": "u"}}, {"type": "text", "text": "ask"}]}]})") ==
      R"([{"role":"tool","tool_call_id":"1","content":"f\ng"},{"role":"tool","tool_call_id":"2","content":"T\nS\na\nb"},)"
      R"({"role":"user","content":[{"type":"text","text":"D\nwhole"},{"type":"text","text":"plain"},)"
      R"({"type":"text","text":"one"},{"type":"document","source":{"type":"url","url":"u"}},)"
      R"({"type":"text","text":"ask"}]}])");
}

TEST_CASE("bug: the context of a document was lost") {
  const auto request = read_request(parsed(R"({"max_tokens": 1, "messages": [{"role": "user", "content": [
      {"type": "document", "title": "T", "context": "C", "source": {"type": "text", "data": "D"}}]}]})"),
                                    Api::kMessages);
  REQUIRE(request.ok());
  CHECK(request.value().messages[0].find_string("content") == "T\nC\nD");
}

TEST_CASE("the Responses API: results of calls that have no form have none either") {
  const ApiRequest out = request(R"({"input": [{"role": "user", "content": "q"},
      {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"]}},
      {"type": "shell_call_output", "call_id": "1", "output": [{"stdout": "x"}]},
      {"type": "function_call", "call_id": "2", "name": "f", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "2", "output": "r"}]})");
  CHECK(out.messages.size() == 3);
  CHECK(out.notes == std::vector<std::string>{"an item `shell_call` at input[1] was left out",
                                              "an item `shell_call_output` at input[2] was left out"});
}

TEST_CASE("which API a request is for") {
  const auto api = [](std::string_view body) { return to_string(request(body).api); };
  CHECK(api(R"({"messages": []})") == "chat");
  CHECK(api(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]})") == "chat");
  CHECK(api(R"({"messages": [{"role": "user"}]})") == "chat");
  CHECK(
      api(R"({"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": [{}, {"type": "thinking"}]}]})") ==
      "messages");
  CHECK(api(R"({"messages": [], "anthropic_version": "x"})") == "messages");
  CHECK(api(R"({"messages": [], "tools": [{"name": "f"}, {"input_schema": {}}]})") == "messages");
  CHECK(api(R"({"messages": [], "tools": {}})") == "chat");
  CHECK(api(R"({"messages": [], "input": "x"})") == "chat");
  CHECK(api(R"({"messages": null, "input": []})") == "responses");
}

TEST_CASE("the most specific name of a conversation counts") {
  const auto conversation = [](const std::string& fields) {
    return request("{\"messages\": [], " + fields + "}").conversation;
  };
  const std::string rest =
      R"("thread_id": "t", "metadata": {"user_id": "u", "session_id": "ms"}, "prompt_cache_key": "k")";
  CHECK(conversation(R"("conversation": {"id": "c"}, )" + rest) == "c");
  CHECK(conversation(R"("conversation": {"id": ""}, )" + rest) == "t");
  CHECK(conversation(R"("conversation": "c", "conversation_id": "d", )" + rest) == "c");
  CHECK(conversation(R"("conversation_id": "d", )" + rest) == "d");
  CHECK(conversation(R"("metadata": {"user_id": "u", "session_id": "ms"}, "prompt_cache_key": "k")") == "ms");
  CHECK(conversation(R"("metadata": {}, "prompt_cache_key": "k")") == "k");
  CHECK(conversation(R"("metadata": null)") == "");
}

TEST_CASE("the effort of reasoning is a template variable that the request may set itself") {
  const auto kwargs = [](const std::string& fields) {
    return json::to_compact(json::Value(request("{\"messages\": [], " + fields + "}").kwargs));
  };
  CHECK(kwargs(R"("reasoning_effort": "low", "reasoning": {"effort": "high"})") == R"({"reasoning_effort":"low"})");
  CHECK(kwargs(R"("reasoning": {"effort": "high"})") == R"({"reasoning_effort":"high"})");
  CHECK(kwargs(R"("reasoning": {"effort": "high"}, "chat_template_kwargs": {"reasoning_effort": 3})") ==
        R"({"reasoning_effort":3})");
  CHECK(kwargs(R"("reasoning": null, "chat_template_kwargs": 4)") == "{}");
}

TEST_CASE("lists of tools and documents are kept where something is in them") {
  const ApiRequest empty = request(R"({"messages": [], "tools": [], "documents": {}})");
  CHECK_FALSE(empty.tools);
  CHECK_FALSE(empty.documents);
  const ApiRequest filled = request(R"({"messages": [], "tools": [1], "documents": [2]})");
  CHECK(json::to_compact(*filled.tools) == "[1]");
  CHECK(json::to_compact(*filled.documents) == "[2]");
}

TEST_CASE("what is no request is refused with its place") {
  CHECK(refusal("[]") == "a request must be an object, found an array");
  CHECK(refusal("{}") == "no chat request: neither `messages` nor `input`");
  CHECK(refusal(R"({"messages": "x"})") == "no chat request: neither `messages` nor `input`");
  CHECK(refusal(R"({"messages": [{"role": 1}]})") == "messages[0].role must be a string, found an integer");
  CHECK(refusal(R"({"system": "s", "messages": [{"role": "user", "content": 1}]})") ==
        "messages[0].content must be a string or an array");
  CHECK(refusal(R"({"system": "s", "messages": [3]})") == "messages[0] has no `role`");
  CHECK(refusal(R"({"input": 3})") == "`input` must be a string or an array, found an integer");
  CHECK(refusal(R"({"input": [3]})") == "input[0] must be an object");
  CHECK(refusal(R"({"input": [{"type": "message"}]})") == "input[0] has no `role`");
}

TEST_CASE("replies of the three APIs") {
  CHECK(reply_of(R"({"id": "x", "choices": [{"message": {"role": "assistant", "content": null, "refusal": null,
      "reasoning_content": "r", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f",
      "arguments": "{\"a\":1}"}}]}}]})") ==
        R"([{"role":"assistant","reasoning_content":"r","tool_calls":[{"id":"c","type":"function","function":)"
        R"({"name":"f","arguments":"{\"a\":1}"}}],"content":""}])");
  const auto messages = read_reply(parsed(R"({"id": "msg_1", "type": "message", "role": "assistant", "content": [
      {"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "Hi"}],
      "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}})"));
  REQUIRE(messages);
  CHECK(messages->id == "msg_1");
  CHECK(json::to_compact(json::Value(messages->messages)) ==
        R"([{"role":"assistant","content":"Hi","reasoning_content":"t"}])");
  CHECK(messages->prompt_tokens == 125);
  CHECK(messages->cached_tokens == 100);
  const auto responses = read_reply(parsed(R"({"id": "resp_1", "output": [{"type": "message", "role": "assistant",
      "content": [{"type": "output_text", "text": "Hi"}]}], "usage": {"input_tokens": 30,
      "input_tokens_details": {"cached_tokens": 16}}})"));
  REQUIRE(responses);
  CHECK(responses->cached_tokens == 16);
  CHECK(json::to_compact(json::Value(responses->messages)) == R"([{"role":"assistant","content":"Hi"}])");
  CHECK(reply_of(R"({"choices": [{"message": {"content": "a", "reasoning_content": null, "tool_calls": []}}]})") ==
        R"([{"role":"assistant","content":"a"}])");
  const auto counted = read_reply(parsed(R"({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 8,
      "prompt_tokens_details": {"cached_tokens": 2}}})"));
  REQUIRE(counted);
  CHECK(counted->prompt_tokens == 8);
  CHECK(counted->cached_tokens == 2);
  const auto uncounted = read_reply(parsed(R"({"content": [{"type": "text", "text": "a"}]})"));
  REQUIRE(uncounted);
  CHECK_FALSE(uncounted->prompt_tokens);
  CHECK_FALSE(uncounted->cached_tokens);
  for (const char* body : {"null", "3", "[]", "{}", R"("x")", R"({"error": {"message": "no"}})", R"({"choices": []})",
                           R"({"choices": 1})", R"({"choices": [{"message": 2}]})", R"({"output": 1})",
                           R"({"output": [{"type": "message"}]})", R"({"content": []})"})
    CHECK_MESSAGE(reply_of(body) == "none", body);
}

TEST_CASE("recorded streams are joined") {
  CHECK(reply_of(R"([{"id": "x", "choices": [{"delta": {"role": "assistant", "content": ""}}]},
      {"choices": [{"delta": {"reasoning_content": "th"}}]}, {"choices": [{"delta": {"content": "He"}}]},
      {"choices": [{"delta": {"content": "y"}}]},
      {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{\"a"}}]}}]},
      {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "\":1}"}}]}}]},
      {"choices": [], "usage": {"prompt_tokens": 9}}])") ==
        R"([{"role":"assistant","content":"Hey","reasoning_content":"th","tool_calls":[{"id":"c","type":"function",)"
        R"("function":{"name":"f","arguments":"{\"a\":1}"}}]}])");
  const std::string events =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{}}}\n\n"
      "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
      "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\r\n"
      "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\","
      "\"name\":\"f\",\"input\":{}}}\n"
      "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"partial_json\":\"{\\\"a\\\":\"}}\n"
      "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"partial_json\":\"2}\"}}\n"
      "data: {\"type\":\"content_block_delta\",\"index\":99999999,\"delta\":{\"text\":\"x\"}}\n"
      "data: {cut off\ndata: [DONE]\n";
  const auto reply = read_reply(json::Value(events));
  REQUIRE(reply);
  CHECK(reply->id == "m");
  CHECK(json::to_compact(json::Value(reply->messages)) ==
        R"([{"role":"assistant","content":"Hi","tool_calls":[{"id":"t","type":"function","function":{"name":"f",)"
        R"("arguments":"{\"a\": 2}"}}]}])");
  CHECK(reply_of(R"([{"type": "response.created", "response": {}}, {"type": "response.completed", "response":
      {"id": "r", "output": [{"type": "message", "role": "assistant", "content": "Hi"}]}}])") ==
        R"([{"role":"assistant","content":"Hi"}])");
}

// "tools 300, 0:9 3600": message, bytes of its content and seconds.
std::string marks(const std::string& body) {
  std::string out;
  for (const CacheMark& mark : request(body).cache_marks) {
    out += (out.empty() ? "" : ", ") + (mark.message ? std::to_string(*mark.message) : "tools");
    if (mark.text_end != CacheMark::kAll) out += ":" + std::to_string(mark.text_end);
    out += " " + std::to_string(mark.seconds);
  }
  return out;
}

TEST_CASE("marks of the cache are kept, where they stand in the translated messages") {
  CHECK(marks(R"({"system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief.",
          "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
      "tools": [{"name": "f", "input_schema": {}, "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
          {"type": "text", "text": "bc"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r",
          "cache_control": {"type": "ephemeral"}}]}]})") == "tools 300, 0:9 3600, 1:1 300, 3 300");
  CHECK(marks(R"({"cache_control": {"type": "ephemeral"}, "messages": [{"role": "system", "content": [
          {"type": "text", "text": "abc", "cache_control": {"type": "ephemeral"}}]}, {"role": "user", "content": "x"}]})") ==
        "0:3 300, 1 300");
  CHECK(marks(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": 3}]}]})") ==
        "");
}

}  // namespace

TEST_CASE("bug: a refusal that is sent back vanished beside content") {
  const ApiRequest request = read_request(json::parse(R"({"messages": [
      {"role": "assistant", "content": null, "refusal": "I cannot."},
      {"role": "assistant", "content": [{"type": "refusal", "refusal": "Nor this."}]},
      {"role": "assistant", "content": "Well.", "refusal": "No."}, {"role": "user", "refusal": "a", "content": ""},
      {"role": "assistant", "content": [{"type": "text", "text": "Well."}], "refusal": "No."},
      {"role": "assistant", "content": "Well.", "refusal": null}]})")
                                              .value())
                                 .value();
  CHECK(request.messages[0].find_string("content") == "I cannot.");
  CHECK(json::to_compact(*request.messages[1].find("content")) == R"([{"type":"text","text":"Nor this."}])");
  const std::string both = R"([{"type":"text","text":"Well."},{"type":"text","text":"No."}])";
  CHECK(json::to_compact(*request.messages[2].find("content")) == both);
  CHECK(request.messages[3].find_string("content") == "");
  CHECK(json::to_compact(*request.messages[4].find("content")) == both);
  CHECK(request.messages[5].find_string("content") == "Well.");
}

TEST_CASE("reasoning in parts of the content, or in lists beside it, is the message's") {
  const auto message_of = [](const std::string& members) {
    auto read = read_request(parsed(R"({"messages": [{"role": "assistant", )" + members + "}]}"), Api::kChat);
    REQUIRE_MESSAGE(read.ok(), members);
    return json::to_compact(read.value().messages[0]);
  };
  CHECK(message_of(R"("content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"type": "reasoning", "text": "c"}, {"type": "output_text", "text": "x"}])") ==
        R"({"role":"assistant","content":[{"type":"text","text":"x"}],"reasoning_content":"abc"})");
  CHECK(message_of(R"("content": [{"type": "thinking", "thinking": "a"}])") ==
        R"({"role":"assistant","content":"","reasoning_content":"a"})");
  const std::string sealed = R"("content":[{"type":"reasoning","encrypted":"s"}])";
  CHECK(message_of(sealed) == R"({"role":"assistant",)" + sealed + "}");
  for (const char* list : {R"("thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"}])",
                           R"("reasoning_details":[{"type":"reasoning.text","text":"a"}])",
                           // bug: a summary vanished
                           R"("reasoning_details":[{"type":"reasoning.summary","summary":"a"}])"}) {
    const std::string beside = R"("content":"x",)" + std::string(list);
    CHECK(message_of(beside) == R"({"role":"assistant",)" + beside + R"(,"reasoning_content":"a"})");
    // Such a list repeats the text.
    const std::string repeated = beside + R"(,"reasoning":"b")";
    CHECK(message_of(repeated) == R"({"role":"assistant",)" + repeated + "}");
  }
  CHECK(messages_of(R"({"messages": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]})") ==
        R"([{"role":"user","content":[{"type":"text","text":"x"}]}])");
}

TEST_CASE("bug: a result of a vendor's tool without its call became the result of a call that nobody made") {
  const ApiRequest request = read_request(json::parse(R"({"input": [{"role": "user", "content": "a"},
      {"type": "computer_call_output", "call_id": "1", "output": {"type": "computer_screenshot", "image_url": "u"}},
      {"type": "tool_search_output", "id": "tso_1", "call_id": null, "tools": []},
      {"type": "local_shell_call", "id": "l", "call_id": "2", "action": {"type": "exec"}},
      {"type": "local_shell_call_output", "id": "2", "output": "b"}]})")
                                              .value())
                                 .value();
  REQUIRE(request.messages.size() == 3);
  CHECK(request.messages[2].find_string("content") == "b");
  CHECK(request.notes == std::vector<std::string>{"an item `computer_call_output` at input[1] was left out",
                                                  "an item `tool_search_output` at input[2] was left out"});
}

TEST_CASE("calls and results from before there were tools are read as today's") {
  json::Array messages =
      json::parse(R"([{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
      {"role": "function", "name": "f", "content": "1"}, {"role": "assistant", "content": "a", "function_call": null}, 7])")
          .value()
          .as_array();
  take_old_calls(messages);
  CHECK(
      json::to_compact(json::Value(messages)) ==
      R"([{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","name":"f","content":"1"},{"role":"assistant","content":"a","function_call":null},7])");
}

}  // namespace rondo::chat
