// What clients of vLLM and SGLang ask besides OpenAI's fields: log probabilities of the prompt, a part of it, ids that
// stop, tags, caches of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "json/print.h"
#include "tests/support/template_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;

struct Gateway : testing::TemplateGateway {
  using TemplateGateway::TemplateGateway;

  Answer chat(const std::string& messages, const std::string& members = "") {
    return post("/v1/chat/completions", R"({"messages": )" + messages + (members.empty() ? "" : ", " + members) + "}");
  }
  void says(const std::string& text) { engine.reply = model->tokenize(text, true).value(); }
  [[nodiscard]] std::string prompt() const { return model->detokenize(engine.prompts.back(), false).value(); }
};

std::string content_of(const Answer& answer) {
  const json::Value body = answer.json();
  REQUIRE_MESSAGE(body.find("choices") != nullptr, answer.body);
  return std::string(body.find("choices")->as_array().front().find("message")->find_string("content").value_or("none"));
}

constexpr const char* kQuestion = R"([{"role": "user", "content": "ab"}])";

}  // namespace

TEST_CASE("gateway: a chat reply has the log probabilities of its prompt") {
  Gateway gateway;
  gateway.engine.capable.tells_prompt_logprobs = true;
  const Answer answer = gateway.chat(kQuestion, R"("prompt_logprobs": 1)");
  REQUIRE_MESSAGE(answer.status == 200, answer.body);
  CHECK(gateway.engine.prompt_logprobs == 1);
  const json::Value body = answer.json();
  const json::Array& told = body.find("prompt_logprobs")->as_array();
  const std::vector<core::TokenId>& prompt = gateway.engine.prompts.back();
  REQUIRE(told.size() == prompt.size());
  CHECK(told.front().is_null());
  const std::string own = std::to_string(prompt[3]);
  const std::string other = std::to_string(prompt[3] + 1);
  CHECK(*told[3].find(own)->find("logprob") == json::Value(-2.0));
  CHECK(told[3].find(own)->find("rank")->is_null());
  CHECK(*told[3].find(other)->find("rank") == json::Value(1));
  CHECK(told[3].find(other)->find("decoded_token")->is_string());

  const Answer none = gateway.chat(kQuestion);
  CHECK(none.json().find("prompt_logprobs") == nullptr);
  CHECK_FALSE(gateway.engine.prompt_logprobs.has_value());
}

TEST_CASE("gateway: an engine that tells nothing of prompts is not asked to, in a chat neither") {
  Gateway gateway;
  const Answer refused = gateway.chat(kQuestion, R"("prompt_logprobs": 0)");
  CHECK(refused.status == 400);
  CHECK(refused.error() == "the engine tells no log probabilities of prompts");
  CHECK(refused.json().find("error")->find_string("param") == "prompt_logprobs");
}

TEST_CASE("gateway: with `echo` the content begins with that of the message that is continued") {
  Gateway gateway;
  gateway.says(" four~fin~");
  const char* const kBegun =
      R"([{"role": "user", "content": "a"},
          {"role": "assistant", "content": [{"type": "text", "text": "two and two is"}]}])";
  const std::string wish = R"("echo": true, "continue_final_message": true, "add_generation_prompt": false)";
  CHECK(content_of(gateway.chat(kBegun, wish)) == "two and two is four");
  const Answer streamed = gateway.chat(kBegun, wish + R"(, "stream": true)");
  CHECK(streamed.body.find(R"("delta":{"role":"assistant","content":"two and two is"})") != std::string::npos);
  CHECK(streamed.body.find("two and two is", streamed.body.find("two and two is") + 1) == std::string::npos);
  // The reply is kept as it was sampled, whether the client was shown its beginning or not.
  const Answer next = gateway.chat(
      R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "two and two is four"},
          {"role": "user", "content": "and more?"}])");
  CHECK(next.header("x-rondo-prefix").starts_with("how=bridge"));
}

TEST_CASE("bug: a conversation of one message could not be continued where the template looks at the first one") {
  const std::string looks = "{%- if messages[0].role == 'system' %}{{- 'rules ' }}{% endif %}";
  Gateway gateway(looks + core::testing::kTemplate);
  gateway.says(" upon a time~fin~");
  const Answer answer = gateway.chat(R"([{"role": "assistant", "content": "Once"}])",
                                     R"("continue_final_message": true, "add_generation_prompt": false)");
  CHECK(content_of(answer) == " upon a time");
  CHECK(gateway.prompt() == "<bos>[[assistant>>Once");
  const Answer next =
      gateway.chat(R"([{"role": "assistant", "content": "Once upon a time"}, {"role": "user", "content": "and?"}])");
  CHECK(next.header("x-rondo-prefix").starts_with("how=bridge"));
  CHECK(gateway.prompt() == "<bos>[[assistant>>Once upon a time~fin~[[user>>and?~fin~[[assistant>>");
}

TEST_CASE("gateway: a prompt that the client cuts, and what does not continue from it") {
  Gateway gateway;
  gateway.says("yes~fin~");
  const std::string whole = "<bos>[[user>>ab~fin~[[assistant>>";
  (void)gateway.chat(kQuestion);
  CHECK(gateway.prompt() == whole);
  Answer answer = gateway.chat(kQuestion, R"("truncate_prompt_tokens": 13, "return_token_ids": true)");
  CHECK(gateway.prompt() == "[[assistant>>");
  CHECK(answer.json().find("prompt_token_ids")->as_array().size() == 13);
  CHECK(*answer.json().find("usage")->find("prompt_tokens") == json::Value(13));
  CHECK(answer.header("x-rondo-prefix").starts_with("how=render expected=0"));
  CHECK(content_of(answer) == "yes");
  (void)gateway.chat(kQuestion, R"("truncate_prompt_tokens": 9, "truncation_side": "right")");
  CHECK(gateway.prompt() == "<bos>[[user>>");
  (void)gateway.chat(kQuestion, R"("truncate_prompt_tokens": 1000)");
  CHECK(gateway.prompt() == whole);

  const Answer rendered = gateway.post("/v1/chat/completions/render",
                                       R"({"truncate_prompt_tokens": 13, "messages": )" + std::string(kQuestion) + "}");
  CHECK(rendered.json().find("token_ids")->as_array().size() == 13);

  // A later request that wants all messages gets them all.
  const std::string other = R"([{"role": "user", "content": "other"})";
  answer = gateway.chat(other + "]", R"("truncate_prompt_tokens": 13)");
  (void)gateway.chat(other + R"(, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "go on"}])");
  CHECK(gateway.prompt() == "<bos>[[user>>other~fin~[[assistant>>yes~fin~[[user>>go on~fin~[[assistant>>");
}

TEST_CASE("gateway: no conversation continues from a cut prompt by the key of a call") {
  Gateway gateway;
  gateway.says(R"({!do look with {"q":"x"} do!}~fin~)");
  const std::string tools =
      R"("tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}])";
  const std::string question = R"({"role": "user", "content": "go"})";
  const Answer first = gateway.chat("[" + question + "]", tools + R"(, "truncate_prompt_tokens": 13)");
  const json::Value body = first.json();
  const json::Value* message = body.find("choices")->as_array().front().find("message");
  REQUIRE_MESSAGE(message->find("tool_calls") != nullptr, first.body);
  const std::string id(message->find("tool_calls")->as_array().front().find_string("id").value_or(""));
  const Answer next = gateway.chat("[" + question + ", " + json::to_compact(*message) +
                                       R"(, {"role": "tool", "tool_call_id": ")" + id + R"(", "content": "y"}])",
                                   tools);
  CHECK(next.header("x-rondo-prefix").starts_with("how=render"));
  CHECK(gateway.prompt().starts_with("<bos>[[tools>>1~fin~[[user>>go~fin~"));
}

TEST_CASE("gateway: a prompt is cut to what leaves room for the reply") {
  Gateway gateway;
  gateway.engine.capable.context_tokens = 20;
  const std::string wish = R"("truncate_prompt_tokens": -1, "max_tokens": 7)";
  CHECK(gateway.chat(R"([{"role": "user", "content": "a text that is long"}])", wish).status == 200);
  CHECK(gateway.prompt() == "[[assistant>>");
  const Answer completed =
      gateway.post("/v1/completions", R"({"prompt": "a text that is too long for it", )" + wish + "}");
  CHECK(completed.status == 200);
  CHECK(gateway.prompt() == "o long for it");
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a text that is too long for it"})").status == 400);
}

TEST_CASE("gateway: a reply has the text of its prompt") {
  Gateway gateway;
  const std::string wish = R"("return_prompt_text": true)";
  CHECK(gateway.chat(kQuestion, wish).json().find_string("prompt_text") == gateway.prompt());
  const Answer streamed = gateway.chat(kQuestion, wish + R"(, "stream": true, "n": 1)");
  const std::size_t first = streamed.body.find("\"prompt_text\":\"<bos>[[user>>ab~fin~[[assistant>>\"");
  CHECK(first < streamed.body.find("\n\n"));
  CHECK(streamed.body.find("prompt_text", first + 20) == std::string::npos);
}

TEST_CASE("bug: an id of `stop_token_ids` was a part of the content, and nothing told that it had ended the reply") {
  Gateway gateway;
  gateway.says("one, two~fin~");
  const std::string stop = R"("stop_token_ids": [)" + std::to_string(',') + "]";
  const auto choice_of = [](const Answer& answer) { return answer.json().find("choices")->as_array().front(); };
  const auto stops_at = [&](engine::TokenId id) {
    gateway.engine.on_begin = [id, &gateway](testing::Scripted::Run& run) {
      std::vector<engine::TokenId> ids = gateway.engine.reply;
      ids.erase(std::ranges::find(ids, id) + 1, ids.end());
      run.say(ids);
      run.end(engine::StopReason::kStopToken);
    };
  };
  stops_at(',');
  Answer answer = gateway.chat(kQuestion, stop + R"(, "return_token_ids": true, "logprobs": true)");
  CHECK(content_of(answer) == "one");
  CHECK(*choice_of(answer).find("stop_reason") == json::Value(','));
  CHECK(choice_of(answer).find_string("finish_reason") == "stop");
  CHECK(choice_of(answer).find("token_ids")->as_array().back() == json::Value(','));
  CHECK(choice_of(answer).find("logprobs")->find("content")->as_array().size() == 3);
  CHECK(content_of(gateway.chat(kQuestion, stop + R"(, "include_stop_str_in_output": true)")) == "one,");
  CHECK(gateway.chat(kQuestion, stop + R"(, "stream": true)").body.find(R"("stop_reason":44)") != std::string::npos);
  answer = gateway.post("/v1/completions", R"({"prompt": "ab", )" + stop + "}");
  CHECK(choice_of(answer).find_string("text") == "one");
  CHECK(*choice_of(answer).find("stop_reason") == json::Value(','));
  answer = gateway.post("/v1/completions", R"({"prompt": "ab", "no_stop_trim": true, )" + stop + "}");
  CHECK(choice_of(answer).find_string("text") == "one,");
  // The conversation goes on from what was sampled.
  (void)gateway.chat(R"([{"role": "user", "content": "ab"}, {"role": "assistant", "content": "one"},
                         {"role": "user", "content": "and?"}])");
  CHECK(gateway.prompt().starts_with("<bos>[[user>>ab~fin~[[assistant>>one,~fin~"));
  // The model's own end is no reason, unless the request names it.
  gateway.engine.on_begin = nullptr;
  CHECK(choice_of(gateway.chat(kQuestion)).find("stop_reason") == nullptr);
  const engine::TokenId end = gateway.engine.reply.back();
  answer = gateway.chat(kQuestion, R"("stop_token_ids": [)" + std::to_string(end) + "]");
  CHECK(content_of(answer) == "one, two");
  CHECK(*choice_of(answer).find("stop_reason") == json::Value(end));
}

TEST_CASE("bug: a call was open if its own end was a stop id") {
  Gateway gateway;
  gateway.says(R"({!do look with {"q":"x"} do!})");
  gateway.engine.on_begin = [&gateway](testing::Scripted::Run& run) {
    run.say(gateway.engine.reply);
    run.end(engine::StopReason::kStopToken);
  };
  const std::string tools =
      R"("tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}])";
  const Answer answer =
      gateway.chat(kQuestion, tools + R"(, "stop_token_ids": [)" + std::to_string(gateway.engine.reply.back()) + "]");
  CHECK(answer.body.find(R"("arguments":"{\"q\":\"x\"}")") != std::string::npos);
  CHECK(answer.body.find(R"("finish_reason":"tool_calls")") != std::string::npos);
}

TEST_CASE("bug: ids that the model does not have reached the engine") {
  Gateway gateway;
  for (const auto& [param, wish] :
       {std::pair<std::string, std::string>{"logit_bias", R"("logit_bias": {"7": 1, "99999": 1})"},
        {"allowed_token_ids", R"("allowed_token_ids": [7, 99999])"},
        {"stop_token_ids", R"("stop_token_ids": [7, 99999])"}}) {
    for (const Answer& refused :
         {gateway.chat(kQuestion, wish), gateway.post("/v1/completions", R"({"prompt": "a", )" + wish + "}")}) {
      CHECK(refused.status == 400);
      CHECK(refused.json().find("error")->find_string("param") == param);
      CHECK(refused.error().starts_with("`" + param + "`: id 99999 is out of range; the vocabulary has "));
    }
  }
}

TEST_CASE("gateway: a structural tag of the client's own goes to an engine that reads such tags") {
  Gateway gateway;
  const std::string tag =
      R"({"structures":[{"begin":"<f>","schema":{"type":"object"},"end":"</f>"}],"triggers":["<f>"]})";
  const std::string wish = R"("response_format": {"type": "structural_tag", )" + tag.substr(1);
  const Answer refused = gateway.chat(kQuestion, wish);
  CHECK(refused.status == 400);
  CHECK(refused.error() == "`response_format`: the engine reads no structural tags");
  gateway.engine.capable.grammars = {engine::Grammar::Dialect::kStructuralTag};
  CHECK(gateway.chat(kQuestion, wish).status == 200);
  CHECK(gateway.engine.grammar.dialect == engine::Grammar::Dialect::kStructuralTag);
  CHECK(gateway.engine.grammar.text == R"({"type":"structural_tag",)" + tag.substr(1));
  const json::Value text(R"({"format":{"type":"any_text"}})");
  const std::string as_text = R"("structured_outputs": {"structural_tag": )" + json::to_compact(text) + "}";
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a", )" + as_text + "}").status == 200);
  CHECK(gateway.engine.grammar.text == text.as_string());
  CHECK(gateway.chat(kQuestion, R"("response_format": {"type": "structural_tag"})").error() ==
        "`response_format` must be a structural tag, with `format` or `structures`");
  const Answer both = gateway.chat(kQuestion, as_text + R"(, "tool_choice": "required",
                               "tools": [{"type": "function", "function": {"name": "look"}}])");
  CHECK(both.error() == "`tool_choice` asks for a call, and `structured_outputs.structural_tag` for another form");
}

TEST_CASE("gateway: prompts of different salts share nothing in the engine") {
  Gateway gateway;
  for (const char* wish : {R"("user": "x")", R"("cache_salt": "a")", R"("extra_key": "a")", R"("cache_salt": "b")"})
    (void)gateway.chat(kQuestion, wish);
  (void)gateway.post("/v1/completions", R"({"prompt": "x", "cache_salt": "b"})");
  const std::vector<std::string>& tenants = gateway.engine.tenants;
  REQUIRE(tenants.size() == 5);
  CHECK(tenants[0] != tenants[1]);
  CHECK(tenants[1] == tenants[2]);
  CHECK(tenants[1] != tenants[3]);
  CHECK(tenants[3] == tenants[4]);
  CHECK(gateway.chat(kQuestion, R"("cache_salt": "")").error() == "`cache_salt` must not be empty");
}
