// Calls that were cut off, or that have arguments of another form than their API has: what clients are shown, and that the
// conversation goes on from it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/print.h"
#include "net/sse.h"
#include "tests/support/core_models.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;

constexpr const char* kCustomTool = R"([{"type": "custom", "custom": {"name": "sh"}}])";
constexpr const char* kResponsesTools = R"([{"type": "custom", "name": "sh"}, {"type": "function", "name": "add"}])";
constexpr const char* kMessagesTool = R"([{"name": "add", "input_schema": {"type": "object"}}])";

struct Gateway : testing::ScriptedGateway {
  Gateway()
      : ScriptedGateway({}, false, {}, core::testing::made(core::Model::from_memory(core::testing::memory(), {}))) {}
  // Has the engine say the first `size` ids of a text; all of it, if there are no more.
  void says(const std::string& text, std::size_t size = std::string::npos) {
    auto ids = model->tokenize(text, true).value();
    const bool is_cut = size < ids.size();
    if (is_cut) ids.resize(size);
    engine.on_begin = [ids, is_cut](Scripted::Run& run) {
      run.say(ids);
      run.end(is_cut ? engine::StopReason::kLength : engine::StopReason::kStopToken);
    };
  }
  json::Value chat(const json::Array& messages, const std::string& tools) {
    const Answer answer = post("/v1/chat/completions", R"({"messages": )" + json::to_compact(json::Value(messages)) +
                                                           R"(, "tools": )" + tools + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    prefix = answer.header("x-rondo-prefix");
    return answer.json().find("choices")->as_array().front();
  }
  json::Value messages(const json::Array& list) {
    const Answer answer =
        post("/v1/messages", R"({"max_tokens": 99, "messages": )" + json::to_compact(json::Value(list)) +
                                 R"(, "tools": )" + kMessagesTool + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    prefix = answer.header("x-rondo-prefix");
    return answer.json();
  }
  [[nodiscard]] bool went_on() const { return prefix.starts_with("how=bridge"); }
  std::string prefix;
};

json::Object user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

// The messages after a reply of Chat: it, the results of its calls, or else the user.
json::Array behind(const json::Value& reply) {
  json::Array out{user("a"), reply};
  const json::Value* calls = reply.find("tool_calls");
  if (calls == nullptr || calls->is_null()) {
    out.push_back(user("b"));
    return out;
  }
  for (const json::Value& call : calls->as_array())
    out.push_back(json::Object{{"role", "tool"}, {"tool_call_id", *call.find_string("id")}, {"content", "r"}});
  return out;
}

std::string input_of(const json::Value& message) {
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || calls->is_null()) return "none";
  return std::string(calls->as_array().front().find("custom")->find_string("input").value_or("no text"));
}

// The deltas of a custom call's input, joined.
std::string streamed_input(const Answer& answer) {
  std::string out;
  net::SseReader reader;
  (void)reader.read(answer.body, [&](const net::SseEvent& event) {
    const auto chunk = json::parse(event.data);
    const json::Value* choices = chunk.ok() ? chunk.value().find("choices") : nullptr;
    if (choices == nullptr || choices->as_array().empty()) return;
    const json::Value* calls = choices->as_array().front().find("delta")->find("tool_calls");
    const json::Value* custom = calls == nullptr ? nullptr : calls->as_array().front().find("custom");
    if (custom != nullptr) out += custom->find_string("input").value_or("");
  });
  return out;
}

const std::string kCustomCall = R"({!do sh with {"input": "ls -l"} do!}~fin~)";

}  // namespace

TEST_CASE("bug: the input of a custom tool's call that was cut off began with the wrapper around it") {
  Gateway gateway;
  for (std::size_t size = 6; size < 30; ++size) {
    gateway.says(kCustomCall, size);
    CAPTURE(size);
    const json::Value reply = *gateway.chat({user("a")}, kCustomTool).find("message");
    const std::string input = input_of(reply);
    if (input == "none") continue;  // no name yet
    CHECK_MESSAGE(std::string("ls -l").starts_with(input), input);
    const Answer streamed = gateway.post(
        "/v1/chat/completions", R"({"stream": true, "messages": [{"role": "user", "content": "a"}], "tools": )" +
                                    std::string(kCustomTool) + "}");
    CHECK(streamed_input(streamed) == input);
    (void)gateway.chat(behind(reply), kCustomTool);
    CHECK_MESSAGE(gateway.went_on(), gateway.prefix);
  }
}

TEST_CASE("bug: calls that the most tokens cut off were called complete in Responses") {
  Gateway gateway;
  std::size_t cut = 0;
  for (const std::string& text : {kCustomCall, std::string(R"({!do add with {"x": 1} do!}~fin~)")}) {
    const std::size_t whole = gateway.model->tokenize(text, true).value().size();
    for (std::size_t size = 8; size <= whole; ++size) {
      gateway.says(text, size);
      CAPTURE(size);
      const std::string body = R"({"input": "a", "tools": )" + std::string(kResponsesTools);
      const json::Value reply = gateway.post("/v1/responses", body + "}").json();
      const json::Value& item = reply.find("output")->as_array().back();
      if (!item.find_string("type")->ends_with("_call")) continue;
      // The arguments are whole before the blank, the end of the call and the end of the turn.
      const bool is_whole = size + 3 >= whole;
      cut += is_whole ? 0 : 1;
      const std::string status = is_whole ? R"("status":"completed"})" : R"("status":"incomplete"})";
      CHECK_MESSAGE(json::to_compact(item).ends_with(status), json::to_compact(item));
      const Answer streamed = gateway.post("/v1/responses", body + R"(, "stream": true})");
      const std::size_t done = streamed.body.find("response.output_item.done");
      REQUIRE(done != std::string::npos);
      CHECK(streamed.body.substr(done, streamed.body.find("\n\n", done) - done).ends_with(status + "}"));
    }
  }
  CHECK(cut > 20);
}

TEST_CASE("bug: a custom tool's call with arguments of another form was not found again") {
  Gateway gateway;
  for (const std::string arguments :
       {R"({"input":"x","y":1})", R"({"inp":"x"})", R"({"input":5})", R"("ls -l")", "{}", R"({"input":""})"}) {
    CAPTURE(arguments);
    gateway.says("{!do sh with " + arguments + " do!}~fin~");
    json::Value reply = *gateway.chat({user("a")}, kCustomTool).find("message");
    (void)gateway.chat(behind(reply), kCustomTool);
    CHECK_MESSAGE(gateway.went_on(), gateway.prefix << " " << json::to_compact(reply));
    // So it is where a proxy replaces the ids.
    reply.as_object().find("tool_calls")->as_array().front().as_object().set("id", "other");
    (void)gateway.chat(behind(reply), kCustomTool);
    CHECK_MESSAGE(gateway.went_on(), gateway.prefix << " " << json::to_compact(reply));
  }
  gateway.says("{!do sh with {} do!}~fin~");
  CHECK(input_of(*gateway.chat({user("a")}, kCustomTool).find("message")).empty());
}

TEST_CASE("bug: arguments that are no object became an empty input in Messages, and the text was lost") {
  struct Row {
    std::string arguments;
    std::string content;
    std::string reason;
  };
  const Row rows[] = {
      {"[1,2]", R"x([{"type":"text","text":"add([1,2])"}])x", "end_turn"},
      {"5", R"x([{"type":"text","text":"add(5)"}])x", "end_turn"},
      {R"("ls -l")", R"x([{"type":"text","text":"add(ls -l)"}])x", "end_turn"},  // as the template's strings are read
      {"{'city':'a'}", R"x([{"type":"text","text":"add({'city':'a'})"}])x", "end_turn"},
      {R"({"x": oops})", R"x({"type":"text","text":"add({\"x\": oops})"}])x", "end_turn"},
      {R"({"x": 1})", R"("input":{"x":1}}])", "tool_use"},
      {"{\"x\": \"1\n2\"}", R"("input":{"x":"1\n2"}}])", "tool_use"},
      {"{}", R"("input":{}}])", "tool_use"},
  };
  Gateway gateway;
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    gateway.says("{!do add with " + row.arguments + " do!}~fin~");
    const json::Value reply = gateway.messages({user("a")});
    const json::Value& content = *reply.find("content");
    CHECK_MESSAGE(json::to_compact(content).ends_with(row.content), json::to_compact(content));
    CHECK(reply.find_string("stop_reason") == row.reason);
    json::Array next;
    for (const json::Value& block : content.as_array()) {
      if (block.find_string("type") == "tool_use")
        next.push_back(json::Object{{"type", "tool_result"}, {"tool_use_id", *block.find_string("id")}});
    }
    if (next.empty()) next.push_back(json::Object{{"type", "text"}, {"text", "b"}});
    (void)gateway.messages({user("a"), json::Object{{"role", "assistant"}, {"content", content}},
                            json::Object{{"role", "user"}, {"content", next}}});
    CHECK_MESSAGE(gateway.went_on(), gateway.prefix);
  }
}

TEST_CASE("functions: a call has the form that Chat had before tools, and the conversation goes on from it") {
  const std::string functions = R"(, "functions": [{"name": "add", "parameters": {"type": "object"}}]})";
  Gateway gateway;
  const auto ask = [&](const std::string& more, const std::string& messages) {
    const Answer answer = gateway.post("/v1/chat/completions", "{" + more + R"("messages": )" + messages + functions);
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    gateway.prefix = answer.header("x-rondo-prefix");
    return answer;
  };
  const auto choice_of = [](const Answer& answer) { return answer.json().find("choices")->as_array().front(); };
  gateway.says(R"({!do add with {"x": 1} do!}~fin~)");
  const std::string first = R"([{"role": "user", "content": "a"}])";
  const json::Value choice = choice_of(ask("", first));
  CHECK(choice.find_string("finish_reason") == "function_call");
  const json::Value& message = *choice.find("message");
  CHECK(json::to_compact(message) == R"({"role":"assistant","content":null,"refusal":null,)"
                                     R"("function_call":{"name":"add","arguments":"{\"x\": 1}"}})");
  const std::string streamed = ask(R"("stream": true, )", first).body;
  CHECK(streamed.find(R"("delta":{"function_call":{"name":"add","arguments":""}})") != std::string::npos);
  CHECK(streamed.find(R"("finish_reason":"function_call")") != std::string::npos);
  CHECK(streamed.find("tool_calls") == std::string::npos);
  const auto next = [&](const json::Value& said) {
    return R"([{"role": "user", "content": "a"}, )" + json::to_compact(said) +
           R"(, {"role": "function", "name": "add", "content": "r"}])";
  };
  (void)ask("", next(message));
  CHECK_MESSAGE(gateway.went_on(), gateway.prefix);

  // The form has one call.  What the model wrote behind it does not vanish.
  gateway.says(R"({!do add with {"x": 1} do!}{!do add with {"x": 2} do!}~fin~)");
  const json::Value twice = *choice_of(ask("", first)).find("message");
  CHECK_MESSAGE(json::to_compact(twice).starts_with(R"x({"role":"assistant","content":"add({\"x\": 2})")x"),
                json::to_compact(twice));
  CHECK(json::to_compact(twice).ends_with(R"("function_call":{"name":"add","arguments":"{\"x\": 1}"}})"));
  (void)ask("", next(twice));
  CHECK_MESSAGE(gateway.went_on(), gateway.prefix);
}
