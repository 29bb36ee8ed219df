// What clients are told: of what they asked for and did not get, and of what was wrong.
#include <doctest/doctest.h>

#include <string>

#include "json/print.h"
#include "tests/support/template_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;

struct Gateway : testing::TemplateGateway {
  using TemplateGateway::TemplateGateway;
  Answer chat(const std::string& members) {
    return post("/v1/chat/completions",
                R"({"messages": [{"role": "user", "content": "a"}])" + (members.empty() ? "" : ", " + members) + "}");
  }
  [[nodiscard]] std::string text_of(const Answer& answer, const char* field) const {
    const json::Value body = answer.json();
    REQUIRE_MESSAGE(body.find(field) != nullptr, answer.body);
    std::vector<core::TokenId> ids;
    for (const json::Value& id : body.find(field)->as_array())
      ids.push_back(static_cast<core::TokenId>(*id.to_int64()));
    return model->detokenize(ids, false).value();
  }
};

std::string param_of(const Answer& answer) {
  const json::Value body = answer.json();
  const json::Value* error = body.find("error");
  return error == nullptr ? "no error" : std::string(error->find_string("param").value_or(""));
}

std::size_t count_of(const net::Headers& headers, std::string_view name) {
  std::size_t count = 0;
  for (const net::Header& header : headers) count += header.name == name ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("bug: what a stored response is to include was not read") {
  Gateway gateway;
  gateway.engine.reply = gateway.model->tokenize("(*mull why mull*)yes~fin~", true).value();
  const auto secret_of = [](const Answer& answer) {
    const json::Value body = answer.json();
    const json::Value* list = body.find("output") == nullptr ? body.find("data") : body.find("output");
    for (const json::Value& item : list->as_array()) {
      const json::Value* secret = item.find("encrypted_content");
      if (item.find_string("type") == "reasoning") return secret == nullptr ? "none" : secret->as_string();
    }
    return std::string("no reasoning");
  };
  const std::string kSecret = "include[]=reasoning.encrypted_content";
  const Answer with = gateway.post("/v1/responses", R"({"input": "a", "include": ["reasoning.encrypted_content"]})");
  const Answer without = gateway.post("/v1/responses", R"({"input": "b"})");
  const std::string id(without.json().find_string("id").value_or(""));
  const std::string first(with.json().find_string("id").value_or(""));
  CHECK(secret_of(without) == "none");
  CHECK(secret_of(gateway.ask("GET", "/v1/responses/" + id)) == "none");
  const std::string later = secret_of(gateway.ask("GET", "/v1/responses/" + id + "?" + kSecret));
  CHECK(later.starts_with("sig_"));
  CHECK(secret_of(gateway.ask("GET", "/v1/responses/" + first + "?" + kSecret)) == secret_of(with));
  const Answer streamed = gateway.ask("GET", "/v1/responses/" + id + "?stream=true&" + kSecret);
  CHECK(streamed.body.find(later) != std::string::npos);
  const Answer next = gateway.post("/v1/responses", R"({"input": "c", "previous_response_id": ")" + id + "\"}");
  const std::string following(next.json().find_string("id").value_or(""));
  CHECK(secret_of(gateway.ask("GET", "/v1/responses/" + following + "/input_items?" + kSecret)) == later);

  const Answer made = gateway.post("/v1/conversations", "{}");
  const std::string talk(made.json().find_string("id").value_or(""));
  gateway.engine.on_begin = [&gateway](testing::Scripted::Run& run) {
    run.say(gateway.engine.reply);
    run.end(engine::StopReason::kStopToken);
  };
  (void)gateway.post("/v1/responses", R"({"input": "d", "conversation": ")" + talk + "\"}");
  CHECK(secret_of(gateway.ask("GET", "/v1/conversations/" + talk + "/items")) == "none");
  CHECK(secret_of(gateway.ask("GET", "/v1/conversations/" + talk + "/items?" + kSecret)).starts_with("sig_"));

  const Answer logprobs = gateway.ask("GET", "/v1/responses/" + id + "?include=message.output_text.logprobs");
  CHECK(logprobs.status == 200);
  CHECK(logprobs.warnings().find("log probabilities") != std::string::npos);
  const Answer wrong = gateway.ask("GET", "/v1/responses/" + id + "?include=" + kSecret.substr(10) + "&include=x.y");
  CHECK(wrong.status == 400);
  CHECK(wrong.error() == "`include` names `x.y`, which the API does not have");
  CHECK(param_of(wrong) == "include");
}

TEST_CASE("bug: the cause of a loss named a field of the translated messages") {
  Gateway gateway;
  const auto path_of = [&](const char* address, const std::string& body) {
    const json::Value told = gateway.post(address, body, {{"x-rondo-explain", "1"}}).json();
    const json::Value* rondo = told.find("rondo");
    REQUIRE_MESSAGE(rondo != nullptr, json::to_compact(told));
    const json::Value* cause = rondo->find("cause");
    return cause->is_null() ? "no cause" : std::string(cause->find_string("path").value_or(""));
  };
  const auto messages = [](const char* system, const std::string& rest) {
    return R"({"max_tokens": 9, "system": [{"type": "text", "text": ")" + std::string(system) +
           R"("}], "messages": [{"role": "user", "content": "a"})" + rest + "]}";
  };
  const std::string edited = R"(, {"role": "assistant", "content": [{"type": "text", "text": "never said"}]},
      {"role": "user", "content": "b"})";
  CHECK(path_of("/v1/messages", messages("Be kind", "")) == "no cause");
  CHECK(path_of("/v1/messages", messages("Be kind", edited)) == "messages[1].content[0].text");
  const auto responses = [](const std::string& rest) {
    return R"({"instructions": "Be kind", "input": [{"role": "user", "content": "c"})" + rest + "]}";
  };
  CHECK(path_of("/v1/responses", responses("")) == "no cause");
  CHECK(path_of("/v1/responses", responses(R"(, {"role": "assistant", "content": [{"type": "output_text",
      "text": "never said"}]}, {"role": "user", "content": "d"})")) == "input[1].content[0].text");
}

TEST_CASE("bug: each item that was left out had a header of its own, more than clients take") {
  Gateway gateway;
  std::string items;
  for (int i = 0; i < 200; ++i)
    items +=
        R"({"type": "reasoning", "summary": [], "encrypted_content": "x"}, {"role": "assistant", "content": "a"}, )";
  const Answer answer =
      gateway.post("/v1/responses", R"({"input": [)" + items + R"({"role": "user", "content": "a"}]})");
  CHECK(answer.status == 200);
  CHECK(count_of(answer.headers, "warning") == 1);
  const std::string told = answer.warnings();
  CHECK(told.starts_with("299 rondo \"the encrypted reasoning at input[0] was left out\", 299 rondo \""));
  CHECK_MESSAGE(told.ends_with(" more\""), told);
  CHECK(told.size() < 2200);
  // A long name does not hide what happened to it.
  const std::string name(5000, 'n');
  const std::string tool = R"({"type": "function", "function": {"name": ")" + name + R"("}})";
  const std::string twice = gateway.chat(R"("tools": [)" + tool + ", " + tool + "]").warnings();
  CHECK(twice.size() < 400);
  CHECK_MESSAGE(twice.ends_with("nnn` is there twice\""), twice);
}

TEST_CASE("bug: reasoning without its text was said to be left out although it stayed in the prompt") {
  Gateway gateway;
  const auto ids = gateway.model->tokenize("(*mull hm mull*)One~fin~", true).value();
  gateway.engine.on_begin = [ids](testing::Scripted::Run& run) {
    run.say(ids);
    run.end(engine::StopReason::kStopToken);
  };
  const auto ask = [&](const json::Array& input) {
    return gateway.post("/v1/responses", R"({"input": )" + json::to_compact(json::Value(input)) + "}");
  };
  json::Array input{json::Object{{"role", "user"}, {"content", "a"}}};
  const Answer first = ask(input);
  const json::Value reply = first.json();
  REQUIRE(reply.find("output")->as_array().front().find_string("type") == "reasoning");
  for (json::Value item : reply.find("output")->as_array()) {
    item.as_object().erase("content");
    if (item.find_string("type") == "message") item = *(reply.find("output")->as_array().end() - 1);
    input.push_back(std::move(item));
  }
  input.emplace_back(json::Object{{"role", "user"}, {"content", "b"}});
  const Answer known = ask(input);
  CHECK(known.header("x-rondo-prefix").starts_with("how=bridge"));
  CHECK(known.warnings() == "");
  input.front().as_object().set("content", "another conversation");
  for (json::Value& item : input) item.as_object().erase("id");
  CHECK(ask(input).warnings() == "299 rondo \"the encrypted reasoning at input[1] was left out\"");
}

TEST_CASE("bug: renders and counts did not find the replies that a request shows by their ids") {
  Gateway gateway;
  const auto ids = gateway.model->tokenize("(*mull hm mull*)One~fin~", true).value();
  gateway.engine.on_begin = [ids](testing::Scripted::Run& run) {
    run.say(ids);
    run.end(engine::StopReason::kStopToken);
  };
  json::Array input{json::Object{{"role", "user"}, {"content", "a"}}};
  const auto body = [&] { return R"({"input": )" + json::to_compact(json::Value(input)) + "}"; };
  const json::Value reply = gateway.post("/v1/responses", body()).json();
  for (json::Value item : reply.find("output")->as_array()) {
    if (item.find_string("type") == "reasoning") item.as_object().erase("content");
    input.push_back(std::move(item));
  }
  input.emplace_back(json::Object{{"role", "user"}, {"content", "b"}});
  input.front().as_object().set("content", "something else");  // only the ids tell which reply it is
  const std::string rendered = gateway.text_of(gateway.post("/v1/responses/render", body()), "token_ids");
  CHECK(rendered.find("hm") != std::string::npos);
  const json::Value counted = gateway.post("/v1/responses/input_tokens", body()).json();
  REQUIRE(gateway.post("/v1/responses", body()).status == 200);
  CHECK(rendered == gateway.model->detokenize(gateway.engine.prompts.back(), false).value());
  CHECK(counted.find("input_tokens")->to_int64() == static_cast<std::int64_t>(gateway.engine.prompts.back().size()));
}

TEST_CASE("bug: documents vanished where the template has no place for them") {
  const std::string documents = R"("documents": [{"title": "t", "text": "d"}])";
  CHECK(Gateway().chat(documents).warnings() ==
        "299 rondo \"`documents` was left out: the model's template has no place for documents\"");
  Gateway shows("{%- for d in documents or [] %}{{- d.text }}{% endfor %}" + std::string(core::testing::kTemplate));
  CHECK(shows.chat(documents).warnings() == "");
  CHECK(Gateway().chat(R"("documents": [])").warnings() == "");
}

TEST_CASE("bug: `add_generation_prompt: false` had no effect") {
  Gateway gateway;
  const std::string body = R"({"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": )";
  const std::string closed = "<bos>[[user>>a~fin~";
  CHECK(gateway.text_of(gateway.post("/v1/chat/completions/render", body + "false}"), "token_ids") == closed);
  CHECK(gateway.text_of(gateway.post("/tokenize", body + "false}"), "tokens") == closed);
  CHECK(gateway.text_of(gateway.post("/tokenize", body + "true}"), "tokens") == closed + "[[assistant>>");
  const Answer refused = gateway.post("/v1/chat/completions", body + "false}");
  CHECK(refused.status == 400);
  CHECK(param_of(refused) == "add_generation_prompt");
}

TEST_CASE("bug: `/tokenize` read a prompt otherwise than `/v1/completions`") {
  Gateway gateway;
  const Answer made = gateway.post("/tokenize", R"({"prompt": "a~fin~b"})");
  const std::size_t count = made.json().find("tokens")->as_array().size();
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a~fin~b", "max_tokens": 1})").status == 200);
  CHECK(gateway.engine.prompts.back().size() == count);
  CHECK(count < 7);
}

TEST_CASE("bug: a template that failed was not named, nor the field on which it did") {
  Gateway fails("{{- messages[0].content.nothing.more }}" + std::string(core::testing::kTemplate));
  const Answer failed = fails.chat("");
  CHECK(failed.status == 400);
  CHECK(param_of(failed) == "messages");
  CHECK_MESSAGE(failed.error().starts_with("the model's template failed on `messages`: "), failed.error());
  Gateway refuses("{%- if tools %}{{- raise_exception('no tools') }}{% endif %}" +
                  std::string(core::testing::kTemplate));
  const Answer refused = refuses.chat(R"("tools": [{"type": "function", "function": {"name": "f"}}])");
  CHECK(param_of(refused) == "tools");
  CHECK(refused.error() == "the model's template refuses `tools`: no tools (line 1, column 20)");
}

TEST_CASE("bug: errors did not name the type of an item, a turn, or the field of an unknown conversation") {
  Gateway gateway;
  const Answer only = gateway.post("/v1/responses", R"({"input": [{"type": "zz"}]})");
  CHECK(only.error() == "`input` must not be empty: an item `zz` at input[0] was left out");
  const Answer unknown = gateway.post("/v1/responses", R"({"input": "a", "conversation": "conv_x"})");
  CHECK(unknown.status == 404);
  CHECK(param_of(unknown) == "conversation");
  CHECK(gateway.post("/s/mine/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"}]})").status ==
        200);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/mine/tokens?turn=99").error() ==
        "the session `mine` has no turn 99: its last one is 0");
}

TEST_CASE("bug: a result with an id that no call has was taken for another call's") {
  Gateway gateway;
  const auto chat = [&](const std::string& calls, const std::string& results) {
    const Answer answer = gateway.post(
        "/v1/chat/completions",
        R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [)" + calls + "]}, " +
            results + R"(], "tools": )" + R"([{"type": "function", "function": {"name": "add"}}])" + "}");
    return answer.status == 200 ? "taken" : answer.error();
  };
  const std::string two = R"({"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}},
      {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{}"}})";
  const std::string nameless = R"({"type": "function", "function": {"name": "add", "arguments": "{}"}})";
  const auto result = [](const std::string& id) {
    return R"({"role": "tool", "content": "r")" + (id.empty() ? "" : R"(, "tool_call_id": ")" + id + "\"") + "}";
  };
  CHECK(chat(two, result("c2") + ", " + result("c1")) == "taken");
  CHECK(chat(two, result("c1") + ", " + result("zz")) ==
        "`messages[3].tool_call_id`: no call before it has the id `zz`");
  CHECK(chat(two, result("c2") + ", " + result("")) ==
        "`messages[3].tool_call_id` is missing, and there are several calls");
  // Older clients send no ids.
  CHECK(chat(two, result("") + ", " + result("")) == "taken");
  CHECK(chat(nameless, result("")) == "taken");
  CHECK(chat(nameless, result("x")) == "taken");
  const Answer unknown = gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": [
      {"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "add",
      "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "r"}]}]})");
  CHECK(unknown.status == 400);
  CHECK(unknown.error() ==
        "`messages[2].content[0]`: unexpected `tool_use_id` found in `tool_result` blocks: t2. Each `tool_result` "
        "block must "
        "have a corresponding `tool_use` block in the previous message.");
}

TEST_CASE("bug: tokens of a character that the end of a reply cut off had no log probabilities") {
  Gateway gateway;
  const auto whole = gateway.model->tokenize("H\xe6\xbc\xa2", false).value();
  REQUIRE(whole.size() == 4);
  const auto tokens = [&](engine::StopReason reason) {
    gateway.engine.on_begin = [&whole, reason](testing::Scripted::Run& run) {
      run.say({whole.begin(), whole.end() - 1});
      run.end(reason);
    };
    const json::Value reply = gateway.chat(R"("logprobs": true)").json();
    const json::Value& choice = reply.find("choices")->as_array().at(0);
    CHECK(choice.find("message")->find_string("content") == "H\uFFFD");
    std::string out;
    for (const json::Value& token : choice.find("logprobs")->find("content")->as_array())
      out += std::string(*token.find_string("token")) + " ";
    return out;
  };
  CHECK(tokens(engine::StopReason::kLength) == "H bytes:\\xe6 bytes:\\xbc ");
  CHECK(tokens(engine::StopReason::kStopToken) == "H bytes:\\xe6 bytes:\\xbc ");
}

TEST_CASE("bug: the fields of a completion's prompt and of ids without a text were not named") {
  Gateway gateway;
  gateway.engine.on_begin = [](testing::Scripted::Run& run) {
    run.end(engine::StopReason::kCancelled, Error(ErrorCode::kLimit, "too long"));
  };
  CHECK(param_of(gateway.post("/v1/completions", R"({"prompt": "a"})")) == "prompt");
  CHECK(param_of(gateway.chat("")) == "messages");
  CHECK(param_of(gateway.post("/detokenize", R"({"tokens": [99999999]})")) == "tokens");
}

TEST_CASE("bug: ids of completions began with `chatcmpl_` and `cmpl_`, where the API has a hyphen") {
  Gateway gateway;
  const auto id_of = [](const Answer& answer) { return std::string(answer.json().find_string("id").value_or("")); };
  CHECK(id_of(gateway.chat("")).starts_with("chatcmpl-"));
  CHECK(gateway.chat(R"("stream": true)").body.find(R"("id":"chatcmpl-)") != std::string::npos);
  CHECK(id_of(gateway.post("/v1/completions", R"({"prompt": "a", "max_tokens": 3})")).starts_with("cmpl-"));
}
