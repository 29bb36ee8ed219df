// What a model's template, and what it writes, mean for a turn: time, ids of calls, continued messages, turns that break off.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "grammar/gbnf_reader.h"
#include "grammar/matcher.h"
#include "json/print.h"
#include "net/sse.h"
#include "tests/support/core_models.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;

// With ids in calls and results, as some templates write them.
constexpr const char* kWithIds = R"JINJA(
{{- bos_token }}
{%- for m in messages %}
{{- '[[' + m.role + (' ' + m.tool_call_id if m.role == 'tool' else '') + '>>' }}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + ' #' + c.id + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% endif %})JINJA";

struct Gateway : testing::ScriptedGateway {
  explicit Gateway(const std::string& chat_template = core::testing::kTemplate, net::ServerOptions http = {},
                   gateway::ServiceOptions options = {})
      : ScriptedGateway(
            std::move(options), false, std::move(http),
            core::testing::made(core::Model::from_memory(core::testing::memory(chat_template.c_str()), {}))) {}
  // Has the engine say a text, and then end or fail.
  void says(const std::string& text, bool fails = false) {
    const auto ids = model->tokenize(text, true).value();
    engine.on_begin = [ids, fails](Scripted::Run& run) {
      run.say(ids);
      fails ? run.fail() : run.end(engine::StopReason::kStopToken);
    };
  }
  [[nodiscard]] std::string prompt() const { return model->detokenize(engine.prompts.back(), false).value(); }
  Answer chat(const json::Array& messages, const std::string& more = "", net::Headers headers = {}) {
    return post("/v1/chat/completions", R"({"messages": )" + json::to_compact(json::Value(messages)) + more + "}",
                std::move(headers));
  }
};

// The same engine, as one that takes grammars.
class HeldEngine final : public engine::Serving {
 public:
  explicit HeldEngine(engine::Serving& engine) : engine_(engine), capabilities_(engine.capabilities()) {
    capabilities_.grammars = {engine::Grammar::Dialect::kGbnf};
  }
  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override {
    grammar = request.grammar.text;
    return engine_.submit(std::move(request), listener);
  }
  std::string grammar;

 private:
  engine::Serving& engine_;
  engine::Capabilities capabilities_;
};

json::Object user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }
json::Object assistant(const std::string& text) { return {{"role", "assistant"}, {"content", text}}; }

json::Value message_in(const Answer& answer) {
  REQUIRE_MESSAGE(answer.status == 200, answer.body);
  return *answer.json().find("choices")->as_array().front().find("message");
}

std::string content_in(const Answer& answer) {
  return std::string(message_in(answer).find_string("content").value_or("none"));
}

const std::string kTools = R"(, "tools": )" + json::to_compact(core::testing::tools());

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("bug: templates that show the date were refused, since nobody gave them the time") {
  Gateway gateway("{{- strftime_now('%Y-%m-%d') }}" + std::string(core::testing::kTemplate));
  gateway.says("one~fin~");
  CHECK(content_in(gateway.chat({user("a")})) == "one");
  CHECK(gateway.prompt().starts_with("2026-03-14"));
  CHECK(gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": [{"role": "user", "content": "b"}]})").status ==
        200);
  CHECK(gateway.post("/v1/responses", R"({"input": "c", "text": {"format": {"type": "json_object"}}})").status == 200);
  const std::string counted = R"({"messages": [{"role": "user", "content": "b"}]})";
  CHECK(gateway.post("/v1/messages/count_tokens", counted).status == 200);
  CHECK(gateway.post("/v1/chat/completions/render", counted).status == 200);
}

TEST_CASE("bug: a conversation would have broken at midnight where the template shows the date") {
  Gateway gateway("{{- strftime_now('%Y-%m-%d') }}" + std::string(core::testing::kTemplate));
  gateway.says("one~fin~");
  json::Array messages = {user("a"), assistant("one"), user("b")};
  (void)gateway.chat({user("a")});
  const std::string before = gateway.prompt();
  gateway.now.day = 15;
  for (int turn = 0; turn < 6; ++turn) {  // the last ones are long enough for a window of the history
    const Answer answer = gateway.chat(messages);
    CHECK_MESSAGE(answer.header("x-rondo-prefix").starts_with("how=bridge"), answer.body);
    CHECK_MESSAGE(gateway.prompt().starts_with(before + "one~fin~"), gateway.prompt());
    CHECK(count_of(gateway.prompt(), "2026-") == 1);
    messages.push_back(assistant("one"));
    messages.push_back(user("c" + std::to_string(turn)));
  }
  // Written anew, it is still the same conversation.
  messages.insert(messages.begin(), json::Object{{"role", "system"}, {"content", "be brief"}});
  CHECK(gateway.chat(messages).header("x-rondo-prefix").starts_with("how=raw-turns"));
  CHECK(gateway.prompt().starts_with("2026-03-14"));
  (void)gateway.chat({user("another")});
  CHECK(gateway.prompt().starts_with("2026-03-15"));
}

TEST_CASE("bug: an engine that died behind its first token made a reply that looked complete") {
  struct Row {
    std::string path;
    std::string body;
    std::string type;
  };
  const std::string messages = R"("messages": [{"role": "user", "content": "a"}])";
  for (const Row& row : {Row{"/v1/chat/completions", "{" + messages, "server_error"},
                         Row{"/v1/messages", R"({"max_tokens": 9, )" + messages, "api_error"},
                         Row{"/v1/responses", R"({"input": "a")", "server_error"},
                         Row{"/v1/completions", R"({"prompt": "a")", "server_error"}}) {
    Gateway gateway;
    gateway.says("half of", true);
    const Answer whole = gateway.post(row.path, row.body + "}");
    CHECK_MESSAGE(whole.status == 502, row.path, whole.body);
    CHECK(whole.json().find("error")->find_string("type") == row.type);
    CHECK(whole.error() == "the engine has died");
    CHECK_MESSAGE(gateway.log.find(R"("status":502)") != std::string::npos, gateway.log);
    const Answer streamed = gateway.post(row.path, row.body + R"(, "stream": true})");
    CHECK(streamed.body.find("the engine has died") != std::string::npos);
    CHECK_MESSAGE(streamed.body.find(R"(":"h")") != std::string::npos, streamed.body);
    for (const char* end : {R"("finish_reason":"stop")", "message_stop", "message_delta", "response.completed",
                            "response.incomplete", R"("status":"completed")"})
      CHECK_MESSAGE(streamed.body.find(end) == std::string::npos, streamed.body);
    CHECK_MESSAGE(count_of(gateway.log, R"("status":502)") == 2, gateway.log);
  }
}

TEST_CASE("a turn that an engine broke off is kept as far as it came, as one that failed") {
  Gateway gateway;
  gateway.says("half of", true);
  const Answer streamed = gateway.chat({user("a")}, R"(, "stream": true)", {{"x-rondo-session", "one"}});
  CHECK(streamed.status == 200);
  const json::Value turns = *gateway.ask("GET", "/rondo/v1/sessions/one").json().find("turns");
  CHECK(turns.as_array().front().find_string("finish") == "failed");
  gateway.says(" it~fin~");
  (void)gateway.chat({user("a"), assistant("half of"), user("go on")});
  CHECK_MESSAGE(gateway.prompt().find("[[assistant>>half of") != std::string::npos, gateway.prompt());
}

TEST_CASE("bug: a stream had a reason for its end before the error that its turn could not be kept") {
  struct Full final : spans::MemoryStore {
    void put(spans::StoredTurn, Kept kept) override { kept(Error(ErrorCode::kIo, "no space is left")); }
  } full;
  spans::Spans unkept(full, spans::HashKey{1});
  Gateway gateway;
  gateway.parts.spans = &unkept;
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  gateway.says("one~fin~");
  const Answer answer = gateway.chat({user("a")}, R"(, "stream": true)");
  CHECK_MESSAGE(answer.body.find("no space is left") != std::string::npos, answer.body);
  CHECK_MESSAGE(answer.body.find(R"("finish_reason":"stop")") == std::string::npos, answer.body);
}

TEST_CASE("bug: results carried the ids that clients were handed out instead of those that the model wrote") {
  for (const bool is_respelled : {false, true}) {
    Gateway gateway(kWithIds);
    gateway.says("{!do add #first with {\"a\": 1} do!}{!do add #second with {\"a\": 2} do!}~fin~");
    json::Value called = message_in(gateway.chat({user("a")}, kTools));
    json::Array& calls = called.as_object().find("tool_calls")->as_array();
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].find_string("id")->starts_with("call_"));
    if (is_respelled) calls[0].as_object().set("id", "of-a-proxy");
    json::Array messages = {user("a"), called};
    for (const json::Value& call : calls)
      messages.push_back(json::Object{{"role", "tool"}, {"tool_call_id", *call.find_string("id")}, {"content", "3"}});
    gateway.says("done~fin~");
    Answer answer = gateway.chat(messages, kTools, {{"x-rondo-explain", "1"}});
    CHECK_MESSAGE(gateway.prompt().find("[[tool first>>3~fin~[[tool second>>3~fin~") != std::string::npos,
                  gateway.prompt());
    CHECK_MESSAGE(answer.json().find("rondo")->find("notes")->as_array().empty(), answer.body);
    // Turns as they were sampled, behind another system text.
    messages.insert(messages.begin(), json::Object{{"role", "system"}, {"content", "be brief"}});
    answer = gateway.chat(messages, kTools);
    CHECK(answer.header("x-rondo-prefix").starts_with("how=raw-turns"));
    CHECK_MESSAGE(gateway.prompt().find("[[tool first>>3~fin~[[tool second>>3~fin~") != std::string::npos,
                  gateway.prompt());
  }
}

TEST_CASE("bug: the reply to a continued message repeated what the client had begun") {
  Gateway gateway;
  gateway.says(" four~fin~");
  const json::Array begun = {user("a"), assistant("two and two is")};
  const std::string wish = R"(, "continue_final_message": true, "add_generation_prompt": false)";
  CHECK(content_in(gateway.chat(begun, wish)) == " four");
  CHECK(gateway.prompt().ends_with("[[assistant>>two and two is"));
  const Answer streamed = gateway.chat(begun, wish + R"(, "stream": true)");
  CHECK_MESSAGE(streamed.body.find("two and") == std::string::npos, streamed.body);
  const Answer messages =
      gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": )" + json::to_compact(json::Value(begun)) + "}");
  CHECK(messages.json().find("content")->as_array().front().find_string("text") == " four");
  // Clients keep it as one message, or as two.
  const std::string kept = "[[assistant>>two and two is four~fin~";
  for (const json::Array& shown :
       {json::Array{user("a"), assistant("two and two is four"), user("and more?")},
        json::Array{user("a"), assistant("two and two is"), assistant(" four"), user("and more?")}}) {
    const Answer next = gateway.chat(shown);
    CHECK_MESSAGE(next.header("x-rondo-prefix").starts_with("how=bridge"), next.header("x-rondo-prefix"));
    CHECK_MESSAGE(gateway.prompt().find(kept) != std::string::npos, gateway.prompt());
  }
}

TEST_CASE("bug: a reply that a stop text ended went on behind that, so that text was lost") {
  Gateway gateway;
  const std::string wish = R"(, "continue_final_message": true, "add_generation_prompt": false)";
  struct Case {
    std::string said;
    std::string stop;
    std::string shown;  // as its client sends it back
    std::string prompt;
  };
  for (const Case& one : {Case{"Hi there.~fin~", "th", "Hi ", "Hi "},
                          {"Hi there.~fin~", "th", "Hi", "Hi"},
                          {"Hi there.~fin~", "Hi", "", ""},
                          {"(*mull th mull*)Hi th, th~fin~", ", th", "Hi th", "(*mull th mull*)Hi th"},
                          {"na\u00efve~fin~", "\u00ef", "na", "na"},
                          {"Hi there.~fin~", "x", "Hi there.", "Hi there."}}) {
    gateway.says(one.said);
    const std::string text = json::to_compact(json::Value(one.said));
    const Answer first = gateway.chat({user(text)}, R"(, "stop": [")" + one.stop + "\"]");
    CAPTURE(first.body);
    CHECK(content_in(first).starts_with(one.shown));
    gateway.says("on~fin~");
    const json::Array begun = {user(text), assistant(one.shown)};
    CHECK(content_in(gateway.chat(begun, wish)) == "on");
    CHECK_MESSAGE(gateway.prompt().ends_with("[[assistant>>" + one.prompt), gateway.prompt());
    const std::string body = json::to_compact(json::Value(begun));
    if (one.shown.empty()) continue;
    const Answer messages = gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": )" + body + "}");
    CHECK(messages.json().find("content")->as_array().front().find_string("text") == "on");
    CHECK_MESSAGE(gateway.prompt().ends_with("[[assistant>>" + one.prompt), gateway.prompt());
    const Answer next = gateway.chat({user(text), assistant(one.shown + "on"), user("and?")});
    CHECK_MESSAGE(next.header("x-rondo-prefix").starts_with("how=bridge"), next.header("x-rondo-prefix"));
    CHECK(gateway.prompt().ends_with(one.prompt + "on~fin~[[user>>and?~fin~[[assistant>>"));
  }
}

TEST_CASE("bug: what continued a message lost its first blank where tokens carry blanks") {
  json::Object vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    std::array<char, 8> spelled{};
    std::snprintf(spelled.data(), spelled.size(), "<0x%02X>", static_cast<unsigned>(byte));
    const bool is_printed = byte > ' ' && byte < 0x7F;
    vocabulary.set(is_printed    ? std::string(1, static_cast<char>(byte))
                   : byte == ' ' ? "\u2581"
                                 : spelled.data(),
                   byte);
  }
  core::MemoryModel marked = core::testing::memory();
  json::Value tokenizer = json::parse(marked.tokenizer_json).value();
  tokenizer.as_object().set(
      "model",
      json::Object{{"type", "BPE"}, {"byte_fallback", true}, {"vocab", vocabulary}, {"merges", json::Array{}}});
  tokenizer.as_object().set("pre_tokenizer", json::Value());
  tokenizer.as_object().set(
      "normalizer", json::parse(R"({"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"})").value());
  tokenizer.as_object().set("decoder", json::parse(R"({"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})")
                                           .value());
  marked.tokenizer_json = json::to_compact(tokenizer);
  Gateway gateway;
  gateway.model = core::testing::made(core::Model::from_memory(marked, {}));
  gateway.parts.models.front().model = gateway.model;
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  gateway.says(" four~fin~");
  const std::string wish = R"(, "logprobs": true, "continue_final_message": true, "add_generation_prompt": false)";
  const Answer answer = gateway.chat({user("a"), assistant("two and two is")}, wish);
  CHECK(content_in(answer) == " four");
  const json::Value logprobs = *answer.json().find("choices")->as_array().front().find("logprobs");
  CHECK(logprobs.find("content")->as_array().front().find_string("token") == " ");
  // A reply of its own begins without.
  CHECK(content_in(gateway.chat({user("a")})) == "four");
}

TEST_CASE("bug: a continued message with a schema was held to a whole new answer") {
  Gateway gateway;
  HeldEngine engine(gateway.engine);
  gateway.parts.models.front().serving = &engine;
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  gateway.says("2}~fin~");
  const std::string schema = R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
      "required": ["a", "b"], "additionalProperties": false})";
  const std::string format =
      R"(, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": )" + schema + "}}";
  const std::string wish = format + R"(, "continue_final_message": true, "add_generation_prompt": false)";
  const auto fits = [&](const std::string& text) {
    return grammar::accepts(grammar::read_gbnf(engine.grammar).value(), text);
  };
  CHECK(gateway.chat({user("a")}, format).status == 200);
  CHECK(fits(R"({"a": 1, "b": 2}~fin~)"));
  const std::string begun = R"({"a": 1, "b": )";
  CHECK(content_in(gateway.chat({user("a"), assistant(begun)}, wish)) == "2}");
  CHECK(fits("2}~fin~"));
  CHECK(!fits(R"({"a": 1, "b": 2}~fin~)"));
  const Answer messages = gateway.post(
      "/v1/messages", R"({"max_tokens": 9, "messages": )" +
                          json::to_compact(json::Value(json::Array{user("a"), assistant(begun)})) +
                          R"(, "output_config": {"format": {"type": "json_schema", "schema": )" + schema + "}}}");
  CHECK_MESSAGE(messages.status == 200, messages.body);
  CHECK(fits("2}~fin~"));
  // A reply that is known, with its reasoning.
  gateway.says("(*mull hm mull*)" + begun);
  CHECK(content_in(gateway.chat({user("b")}, format)) == begun);
  gateway.says("2}~fin~");
  CHECK(content_in(gateway.chat({user("b"), assistant(begun)}, wish)) == "2}");
  CHECK(gateway.prompt().ends_with("(*mull hm mull*)" + begun));
  CHECK(fits("2}~fin~"));
  CHECK(!fits(R"({"a": 1, "b": 2}~fin~)"));
  const Answer odd = gateway.chat({user("a"), assistant("Sure: ")}, wish);
  CHECK(odd.status == 400);
  CHECK(odd.error() == "no answer that begins so fits the schema");
}

TEST_CASE("bug: a message that was continued lost its calls") {
  Gateway gateway;
  gateway.says("Sure.{!do add with {\"a\": 1} do!}~fin~");
  json::Object called = assistant("Sure.");
  called.set("tool_calls", json::parse(R"([{"id": "x", "type": "function", "function": {"name": "add",
                                           "arguments": "{\"a\": 1}"}}])")
                               .value());
  const json::Array begun = {user("a"), called};
  const std::string wish = kTools + R"(, "continue_final_message": true, "add_generation_prompt": false)";
  const std::string why = " has calls and cannot be continued: what is continued is its content";
  for (const std::string path : {"/v1/chat/completions", "/v1/chat/completions/render"}) {
    const Answer refused = gateway.post(path, R"({"messages": )" + json::to_compact(json::Value(begun)) + wish + "}");
    CHECK(refused.status == 400);
    CHECK(refused.error() == "`messages[1]`" + why);
  }
  const Answer used = gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": [{"role": "user", "content": "a"},
      {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "add", "input": {"a": 1}}]}]})");
  CHECK(used.status == 400);
  CHECK(used.error() == "`messages[1]`" + why);
  // Those of a reply that is known stand as they were sampled.
  CHECK(gateway.chat({user("a")}, kTools).status == 200);
  CHECK(gateway.chat(begun, wish).status == 200);
  CHECK_MESSAGE(gateway.prompt().ends_with("Sure.{!do add with {\"a\": 1} do!}"), gateway.prompt());
}

TEST_CASE("bug: a request without tools was answered with calls") {
  const std::string text = "{!do add with {\"a\": 1} do!}";
  Gateway gateway;
  gateway.says(text + "~fin~");
  CHECK(message_in(gateway.chat({user("a")}, kTools)).find("tool_calls") != nullptr);
  for (const std::string& none : {std::string(), std::string(R"(, "tools": [])")}) {
    const Answer answer = gateway.chat({user("a")}, none);
    CHECK(content_in(answer) == text);
    CHECK(answer.json().find("choices")->as_array().front().find_string("finish_reason") == "stop");
  }
}

TEST_CASE("bug: log probabilities of content had those of reasoning, markers and stops") {
  Gateway gateway;
  gateway.says("(*mull hm mull*)yes.no~fin~");
  const auto tokens = [](const json::Value& list) {
    std::string out;
    for (const json::Value& token : list.as_array()) out += token.find_string("token").value_or("?");
    return out;
  };
  const std::string wish = R"(, "logprobs": true, "stop": ["."])";
  const Answer whole = gateway.chat({user("a")}, wish);
  CHECK(content_in(whole) == "yes");
  const json::Value choice = whole.json().find("choices")->as_array().front();
  CHECK(tokens(*choice.find("logprobs")->find("content")) == "yes");
  const Answer streamed = gateway.chat({user("a")}, wish + R"(, "stream": true)");
  std::string told;
  net::SseReader reader;
  REQUIRE(reader
              .read(streamed.body,
                    [&](const net::SseEvent& event) {
                      if (event.data == "[DONE]") return;
                      const json::Value chunk = json::parse(event.data).value();
                      const json::Value* logprobs = chunk.find("choices")->as_array().front().find("logprobs");
                      if (!logprobs->is_null()) told += tokens(*logprobs->find("content"));
                    })
              .ok());
  CHECK(told == "yes");
  const Answer response =
      gateway.post("/v1/responses", R"({"input": "a", "include": ["message.output_text.logprobs"]})");
  const json::Value message = response.json().find("output")->as_array().back();
  CHECK(tokens(*message.find("content")->as_array().front().find("logprobs")) == "yes.no");
}

TEST_CASE("bug: log probabilities of parts of characters had the bytes of U+FFFD") {
  Gateway gateway;
  gateway.says("\u00fc~fin~");
  const auto shown = [](const json::Value& list) {
    std::string out;
    for (const json::Value& token : list.as_array())
      out += std::string(token.find_string("token").value_or("?")) + json::to_compact(*token.find("bytes")) + " ";
    return out;
  };
  const std::string both = "bytes:\\xc3[195] bytes:\\xbc[188] ";
  const json::Value choice =
      gateway.chat({user("a")}, R"(, "logprobs": true)").json().find("choices")->as_array().front();
  CHECK(shown(*choice.find("logprobs")->find("content")) == both);
  const std::string body = R"({"input": "a", "background": true, "include": ["message.output_text.logprobs"]})";
  const std::string id(gateway.post("/v1/responses", body).json().find_string("id").value_or(""));
  while (gateway.service->running() > 0) testing::settle(gateway.loop);
  const Answer again = gateway.ask("GET", "/v1/responses/" + id + "?stream=true");
  CHECK_MESSAGE(again.body.find("\"bytes\":[195]") != std::string::npos, again.body);
  const json::Value ids = gateway.post("/tokenize", R"({"prompt": "\u00fca", "return_token_strs": true})").json();
  CHECK(json::to_compact(*ids.find("token_strs")) == R"(["bytes:\\xc3","bytes:\\xbc","a"])");
}

TEST_CASE("bug: a completion lost its first blank, and its tokens all of theirs") {
  core::MemoryModel marked = core::testing::memory();
  marked.tokenizer_json = R"({"added_tokens": [{"id": 0, "content": "<bos>", "special": true}],
      "model": {"type": "BPE", "vocab": {"<bos>": 0, "\u2581big": 1, "er": 2, "\u2581": 3, "<0x0A>": 4}, "merges": []},
      "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}})";
  testing::ScriptedGateway gateway({}, false, {}, core::testing::made(core::Model::from_memory(marked, {})));
  gateway.engine.reply = {1, 2, 4, 4, 1};
  const auto pieces = [](const json::Value& choice) {
    const json::Value* logprobs = choice.find("logprobs");
    return json::to_compact(*choice.find("text")) + json::to_compact(*logprobs->find("tokens")) +
           json::to_compact(*logprobs->find("text_offset"));
  };
  for (const auto& [prompt, text] :
       {std::pair<std::string, std::string>{"[0, 1]", R"(" biger\n\n big"[" big","er","\n","\n"," big"][0,4,6,7,8])"},
        {"[0]", R"("biger\n\n big"["big","er","\n","\n"," big"][0,3,5,6,7])"}}) {
    const std::string body = R"({"logprobs": 1, "prompt": )" + prompt;
    CHECK(pieces(gateway.post("/v1/completions", body + "}").json().find("choices")->as_array().front()) == text);
    const Answer streamed = gateway.post("/v1/completions", body + R"(, "stream": true})");
    std::string offsets;
    net::SseReader reader;
    REQUIRE(reader
                .read(streamed.body,
                      [&](const net::SseEvent& event) {
                        if (event.data == "[DONE]") return;
                        const json::Value choice = json::parse(event.data).value().find("choices")->as_array().front();
                        for (const json::Value& at : choice.find("logprobs")->find("text_offset")->as_array())
                          offsets += (offsets.empty() ? "[" : ",") + json::to_compact(at);
                      })
                .ok());
    CHECK(text.ends_with(offsets + "]"));
    CHECK(!offsets.empty());
  }
}

TEST_CASE("bug: at the end of its time a server cut replies without a word") {
  const std::string messages = R"("messages": [{"role": "user", "content": "a"}])";
  for (const auto& [path, body] : {std::pair<std::string, std::string>{"/v1/chat/completions", "{" + messages},
                                   {"/v1/messages", R"({"max_tokens": 9, )" + messages},
                                   {"/v1/responses", R"({"input": "a")"},
                                   {"/v1/completions", R"({"prompt": "a")"}}) {
    for (const bool streams : {false, true}) {
      Gateway gateway;
      gateway.engine.on_begin = [&](Scripted::Run& run) {
        run.say(gateway.model->tokenize("half", false).value());
        gateway.loop.post([&] { gateway.service->cut(); });
      };
      const Answer answer = gateway.post(path, body + (streams ? R"(, "stream": true})" : "}"));
      CHECK(answer.status == (streams ? 200 : 503));
      CHECK_MESSAGE(answer.body.find("the server ends") != std::string::npos, answer.body);
      CHECK_MESSAGE(answer.body.find(R"("finish_reason":"stop")") == std::string::npos, answer.body);
      CHECK(gateway.log.find(R"("status":503)") != std::string::npos);
    }
  }
}

TEST_CASE("bug: a body that is too large was refused in the shape of another API") {
  net::ServerOptions http;
  http.body_bytes = 100;
  Gateway gateway(core::testing::kTemplate, std::move(http));
  const std::string body(1000, ' ');
  for (const char* path : {"/v1/messages", "/s/run/v1/messages"}) {
    const Answer answer = gateway.post(path, body);
    CHECK(answer.status == 413);
    CHECK(answer.json().find_string("type") == "error");
    CHECK(answer.json().find("error")->find_string("type") == "request_too_large");
  }
  CHECK(gateway.post("/v1/chat/completions", body).json().find("error")->find("param") != nullptr);
}

TEST_CASE("bug: a response that runs in the background showed nothing of what had come") {
  Gateway gateway;
  Scripted::Run* running = nullptr;
  gateway.engine.on_begin = [&](Scripted::Run& run) {
    run.say(gateway.model->tokenize("half", false).value());
    running = &run;
  };
  const Answer begun = gateway.post("/v1/responses", R"({"input": "a", "background": true})");
  const std::string path = "/v1/responses/" + std::string(begun.json().find_string("id").value_or(""));
  const auto shown = [&]() -> std::string {
    const Answer answer = gateway.ask("GET", path);
    const json::Value body = answer.json();
    const json::Array& output = body.find("output")->as_array();
    if (output.empty()) return "";
    const std::string text(output.front().find("content")->as_array().front().find_string("text").value_or(""));
    return std::string(body.find_string("status").value_or("")) + " " +
           std::string(output.front().find_string("status").value_or("")) + " " + text;
  };
  std::string now;
  while ((now = shown()).empty()) continue;
  CHECK(now == "in_progress in_progress half");
  running->fail();
  while ((now = shown()).starts_with("in_progress")) continue;
  CHECK(now == "failed incomplete half");
}

TEST_CASE("a server says how Responses streams report reasoning where requests do not") {
  using Events = apis::ReasoningEvents;
  for (const auto& [events, name] : {std::pair(Events::kText, "response.reasoning_text.delta"),
                                     std::pair(Events::kSummary, "response.reasoning_summary_text.delta"),
                                     std::pair(Events::kOpenResponses, "response.reasoning.delta")}) {
    gateway::ServiceOptions options;
    options.reasoning_events = events;
    Gateway gateway(core::testing::kTemplate, {}, std::move(options));
    gateway.says("(*mull hm mull*)yes~fin~");
    const Answer answer = gateway.post("/v1/responses", R"({"input": "a", "stream": true})");
    CHECK_MESSAGE(answer.body.find(name) != std::string::npos, answer.body);
  }
}
