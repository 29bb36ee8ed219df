// What requests ask of the reply: reasoning on and off, constraints, ids in and out, what the engine's own API has to answer.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/embedded.h"
#include "gateway/service.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "spans/memory_store.h"
#include "tests/support/gateway_client.h"
#include "tests/support/small_model.h"

using namespace rondo;
using testing::Answer;

namespace {

// The small template, whose model thinks unless `ponder` is false; `zeal` takes two words, and no others.
std::string thinking_template() {
  std::string text = testing::small_template();
  // Calls without white space, and without tokens of their own: a model that knows nothing does not put these in the right places.
  const std::string call = "'{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}'";
  const std::size_t begin = text.find(call);
  REQUIRE(begin != std::string::npos);
  text.replace(begin, call.size(),
               "'<<run:' + c.function.name + '|with|' + (c.function.arguments | tojson) + '|end>>'");
  const std::string prompt = "    {{- '[[assistant: ' }}\n";
  const std::size_t at = text.find(prompt);
  REQUIRE(at != std::string::npos);
  text.insert(at + prompt.size(),
              "{%- if zeal is defined and zeal not in ['low', 'high'] %}{{- raise_exception('zeal?') }}{%- endif %}"
              "{%- if ponder is defined and not ponder %}{{- '(*mull  mull*)' }}"
              "{%- elif zeal == 'high' %}{{- '(*mull ' }}{%- endif %}");
  return text;
}

// A server that has the chat APIs itself.
class Upstream {
 public:
  explicit Upstream(net::Loop& loop) {
    auto server = net::Server::make(loop, {}, [this](net::Exchange exchange) {
      path = exchange.request().path;
      body = exchange.request().body;
      if (path == "/v1/messages") return exchange.reply(404, {}, "");
      if (body.find("\"stream\":true") == std::string::npos)
        return exchange.reply(200, {{"content-type", "application/json"}}, "{\"seen\":true}");
      exchange.start(200, {{"content-type", "text/event-stream"}});
      exchange.write("data: {}\n\n");
      exchange.write("data: [DONE]\n\n");
      exchange.finish();
    });
    REQUIRE(server.ok());
    server_ = std::move(server).value();
  }
  [[nodiscard]] std::string url() const { return server_->url(); }
  std::string path;
  std::string body;

 private:
  std::unique_ptr<net::Server> server_;
};

class Gateway {
 public:
  explicit Gateway(bool has_upstream = false) : folder_("gateway-chat"), kept_(store_, spans::HashKey{1, 2, 3}) {
    const std::string path = testing::small_model(folder_, "model.gguf", thinking_template());
    auto model = core::Model::load({.path = path});
    REQUIRE(model.ok());
    model_ = std::move(model).value();
    auto loaded = engine::Embedded::load(path, {.llama = {.context_tokens = 2048}, .parallel = 2});
    REQUIRE(loaded.ok());
    embedded_ = std::move(loaded).value();
    serving_ = embedded_->serve(loop_);
    client_ = net::Client::make(loop_, {}).value();
    gateway::ServiceParts parts;
    parts.models = {{.name = "small", .model = model_, .serving = serving_.get()}};
    if (has_upstream) {
      upstream = std::make_unique<Upstream>(loop_);
      parts.models.front().upstream = {
          .client = client_.get(), .url = [this] { return upstream->url(); }, .model = "its-own"};
    }
    parts.spans = &kept_;
    testing::make_repeatable(parts);
    service_ = std::make_unique<gateway::Service>(loop_, std::move(parts));
    server_ =
        net::Server::make(loop_, {}, [this](net::Exchange exchange) { service_->handle(std::move(exchange)); }).value();
  }
  ~Gateway() {
    server_.reset();
    service_.reset();
    upstream.reset();
    client_.reset();
  }

  Answer post(const std::string& path, const std::string& body, net::Headers headers = {}) {
    return testing::ask(*client_, loop_,
                        {.method = "POST", .url = server_->url() + path, .headers = std::move(headers), .body = body});
  }
  // The text of the prompt that the request makes.
  std::string prompt(const std::string& more) {
    const json::Value ids =
        post("/v1/chat/completions/render", R"({"messages": [{"role": "user", "content": "x"}], )" + more + "}").json();
    const json::Value* list = ids.find("token_ids");
    REQUIRE(list != nullptr);
    const Answer text = post("/detokenize", "{\"tokens\": " + json::to_compact(*list) + "}");
    return std::string(text.json().find_string("prompt").value_or(""));
  }
  // Of a request: no more white space than there has to be, which a model that knows nothing likes to write.
  std::string terse() {
    std::string out = "\"logit_bias\": {";
    for (const char* space : {" ", "\\n", "\\t", "\\r"}) {
      const json::Value ids = post("/tokenize", "{\"prompt\": \"" + std::string(space) + "\"}").json();
      out += "\"" + json::to_compact(ids.find("tokens")->as_array().front()) + "\": -100,";
    }
    out.back() = '}';
    return out + ", ";
  }
  std::unique_ptr<Upstream> upstream;

 private:
  testing::OwnFolder folder_;
  net::Loop loop_;
  spans::MemoryStore store_;
  spans::Spans kept_;
  std::shared_ptr<const core::Model> model_;
  std::unique_ptr<engine::Embedded> embedded_;
  std::unique_ptr<engine::Serving> serving_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<gateway::Service> service_;
  std::unique_ptr<net::Server> server_;
};

json::Value choice_of(const json::Value& reply) {
  const json::Value* choices = reply.find("choices");
  REQUIRE_MESSAGE(choices != nullptr, json::to_compact(reply));
  return choices->as_array().front();
}

std::string request(const std::string& more, int tokens = 300) {
  return R"({"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": )" +
         std::to_string(tokens) + ", " + more + "}";
}

constexpr const char* kTools = R"("tools": [
  {"type": "function", "function": {"name": "lamp", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}},
    "required": ["on"], "additionalProperties": false}}},
  {"type": "function", "function": {"name": "door", "parameters": {"type": "object", "properties": {"open": {"type": "boolean"}},
    "required": ["open"], "additionalProperties": false}}}])";

}  // namespace

TEST_CASE("wishes for reasoning are variables of the template, whatever they are called") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const std::string usual = gateway.prompt(R"("n": 1)");
  const std::string off = gateway.prompt(R"("reasoning_effort": "none")");
  CHECK(off == usual + "(*mull  mull*)");
  CHECK(gateway.prompt(R"("thinking": {"type": "disabled"})") == off);
  CHECK(gateway.prompt(R"("reasoning": {"enabled": false})") == off);
  CHECK(gateway.prompt(R"("reasoning_effort": "high")") == usual + "(*mull ");
  CHECK(gateway.prompt(R"("reasoning_effort": "low")") == usual);
  // What the client sets by name counts.
  CHECK(gateway.prompt(R"("reasoning_effort": "none", "chat_template_kwargs": {"ponder": true})") == usual);
  const Answer other = gateway.post("/v1/chat/completions", request(R"("reasoning_effort": "xhigh")", 2));
  CHECK(other.warnings().find("does not know the effort `xhigh`: `high` was set") != std::string::npos);
}

TEST_CASE("reasoning ends where its budget does") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const std::string wish = R"("reasoning_effort": "high", "thinking_token_budget": 3, "logprobs": true)";
  const json::Value reply = gateway.post("/v1/chat/completions", request(wish, 40)).json();
  INFO(json::to_compact(reply));
  const json::Value* usage = reply.find("usage");
  const auto reasoned = usage->find("completion_tokens_details")->find("reasoning_tokens")->to_int64();
  CHECK(reasoned <= 16);  // three, and the tokens of the mark
  CHECK(choice_of(reply).find("message")->find_string("content").value_or("") != "");
}

TEST_CASE("a required call comes at once, is one of those that are allowed, and fits its schema") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto message_of = [&](const std::string& more) {
    const Answer answer = gateway.post(
        "/v1/chat/completions", request(gateway.terse() + kTools + R"(, "reasoning_effort": "none", )" + more, 900));
    const json::Value choice = choice_of(answer.json());
    REQUIRE_MESSAGE(choice.find_string("finish_reason") == "tool_calls", answer.body);
    return *choice.find("message");
  };
  const auto named = [](const json::Value& message) {
    CHECK(message.find("content")->is_null());
    const json::Value& function = *message.find("tool_calls")->as_array().front().find("function");
    const auto arguments = json::parse(*function.find_string("arguments"));
    REQUIRE(arguments.ok());
    CHECK(arguments.value().as_object().begin()->value.is_bool());
    return std::string(*function.find_string("name"));
  };
  const json::Value one = message_of(R"("tool_choice": "required", "parallel_tool_calls": false)");
  CHECK(one.find("tool_calls")->as_array().size() == 1);
  const std::string name = named(one);
  CHECK((name == "lamp" || name == "door"));
  const std::string last = R"(, "parallel_tool_calls": false)";
  CHECK(named(message_of(R"("tool_choice": {"type": "function", "function": {"name": "door"}})" + last)) == "door");
  CHECK(named(message_of(R"("tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required",
      "tools": [{"type": "function", "function": {"name": "lamp"}}]}})" +
                         last)) == "lamp");
}

TEST_CASE("a custom tool's text is one of its grammar's") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto input_of = [&](const std::string& grammar) {
    const std::string tool =
        R"("tools": [{"type": "custom", "custom": {"name": "walk", "format": {"type": "grammar",
        "grammar": )" +
        grammar + R"(}}}], "tool_choice": "required", "parallel_tool_calls": false, "reasoning_effort": "none")";
    const Answer answer = gateway.post("/v1/chat/completions", request(gateway.terse() + tool, 900));
    REQUIRE_MESSAGE(answer.body.find("tool_calls") != std::string::npos, answer.body);
    const json::Value choice = choice_of(answer.json());
    const json::Value& call = choice.find("message")->find("tool_calls")->as_array().front();
    return std::pair(std::string(call.find("custom")->find_string("input").value_or("")), answer.warnings());
  };
  const auto [walked, nothing] =
      input_of(R"x({"syntax": "lark", "definition": "start: \"go \" (\"north\" | \"south\")"})x");
  CHECK((walked == "go north" || walked == "go south"));
  CHECK(nothing.empty());
  CHECK(input_of(R"({"syntax": "regex", "definition": "[ab]{3}"})").first.size() == 3);
  // A grammar that refers to itself, of which the most tokens may let only a beginning through.
  const auto [nested, none] = input_of(R"x({"syntax": "lark", "definition": "start: \"(\" start \")\" | \"x\""})x");
  CHECK(none.empty());
  CHECK(!nested.empty());
  CHECK(nested.find_first_not_of("(x)") == std::string::npos);
}

TEST_CASE("answers by a grammar, as vLLM, SGLang and llama-server take them") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto answered = [&](const std::string& field) {
    const Answer answer =
        gateway.post("/v1/chat/completions", request(gateway.terse() + field + R"(, "reasoning_effort": "none")", 900));
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    CHECK(answer.warnings().empty());
    return std::string(choice_of(answer.json()).find("message")->find_string("content").value_or(""));
  };
  const std::string gbnf = R"x("root ::= item{3}\nitem ::= \"<\" (\"a\" | \"b\" item?) \">\"")x";
  for (const std::string& field : {"\"grammar\": " + gbnf, "\"ebnf\": " + gbnf, "\"guided_grammar\": " + gbnf,
                                   "\"structured_outputs\": {\"grammar\": " + gbnf + "}"}) {
    const std::string answer = answered(field);
    CHECK_MESSAGE(answer.starts_with("<"), answer);
    CHECK_MESSAGE(answer.find_first_not_of("<ab>") == std::string::npos, answer);
  }
  const std::string date = answered(R"x("guided_grammar": "start: D~4 \"-\" D~2\nD: \"0\"..\"9\"")x");
  CHECK(date.size() == 7);
  CHECK(date.find_first_not_of("0123456789") == 4);
}

TEST_CASE("answers in JSON, and a schema that no grammar of the engine can hold") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const std::string schema = R"("reasoning_effort": "none", "response_format": {"type": "json_schema", "json_schema":
      {"name": "a", "schema": {"type": "object", "properties": {"is": {"enum": ["red", "blue"]}}, "required": ["is"],
       "additionalProperties": false}}})";
  const json::Value reply = gateway.post("/v1/chat/completions", request(gateway.terse() + schema, 900)).json();
  const json::Value choice = choice_of(reply);
  const auto answer = json::parse(*choice.find("message")->find_string("content"));
  REQUIRE_MESSAGE(answer.ok(), json::to_compact(reply));
  CHECK((answer.value().find_string("is") == "red" || answer.value().find_string("is") == "blue"));
  const Answer refused = gateway.post("/v1/chat/completions",
                                      request(R"("response_format": {"type": "json_schema", "json_schema": {"name": "a",
      "schema": {"type": "string", "minLength": 5000, "format": "what"}}})"));
  const bool is_said = refused.warnings().find("not enforced") != std::string::npos;
  CHECK((refused.status == 400 || is_said));
  const Answer impossible =
      gateway.post("/v1/chat/completions", request(R"("response_format": {"type": "json_schema", "json_schema": {
      "name": "a", "schema": {"type": "object", "properties": {"is": false}, "required": ["is"]}}})"));
  CHECK(impossible.status == 400);
  CHECK(impossible.body.find("nothing satisfies the schema") != std::string::npos);
}

TEST_CASE("texts and ids are completed, in one piece and in several") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const json::Value whole =
      gateway
          .post("/v1/completions",
                R"({"prompt": ["abc", [97, 98]], "max_tokens": 4, "temperature": 0, "n": 2, "return_token_ids": true,
                    "echo": true})",
                {{"x-rondo-session", "ids"}})
          .json();
  REQUIRE(whole.find("choices")->as_array().size() == 4);
  const json::Value first = choice_of(whole);
  CHECK(first.find_string("text").value_or("").starts_with("abc"));
  CHECK(first.find("token_ids")->as_array().size() <= 4);
  const Answer stream = gateway.post(
      "/v1/completions", R"({"prompt": "abc", "max_tokens": 4, "temperature": 0, "echo": true, "stream": true})");
  CHECK(stream.body.ends_with("data: [DONE]\n\n"));
  CHECK(gateway.post("/v1/completions", R"({"prompt": [4000000]})").status == 400);
  CHECK(gateway.post("/v1/completions", R"({"prompt": ""})").status == 400);
  CHECK(
      gateway.post("/v1/completions", R"({"prompt": "a", "max_tokens": 1, "best_of": 3})").warnings().find("best_of") !=
      std::string::npos);
}

TEST_CASE("bug: what a completion has to look like, where it ends and what it shows were left out") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto completed = [&](const std::string& members) {
    const Answer answer = gateway.post("/v1/completions", R"({"prompt": "abcde", "temperature": 0, )" + members + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    CHECK(answer.warnings().empty());
    return choice_of(answer.json());
  };
  const auto text_of = [](const json::Value& choice) { return std::string(choice.find_string("text").value_or("")); };
  const std::string one = text_of(completed(R"("max_tokens": 90, "structured_outputs": {"choice": ["Rust", "Zig"]})"));
  CHECK((one == "Rust" || one == "Zig"));
  const std::string number = text_of(completed(R"("max_tokens": 90, "regex": "[0-9]{3}")"));
  CHECK(number.size() == 3);
  CHECK(number.find_first_not_of("0123456789") == std::string::npos);
  const json::Value constant = completed(R"("max_tokens": 900, "response_format": {"type": "json_schema",
      "json_schema": {"name": "n", "schema": {"const": 7}}})");
  CHECK(text_of(constant).find('7') != std::string::npos);
  CHECK(constant.find_string("finish_reason") == "stop");

  const json::Value free = completed(R"("max_tokens": 12, "min_tokens": 12, "return_token_ids": true)");
  const json::Array& ids = free.find("token_ids")->as_array();
  REQUIRE(ids.size() == 12);
  const std::string stop =
      R"("max_tokens": 12, "return_token_ids": true, "stop_token_ids": [)" + json::to_compact(ids[5]);
  const auto count = [&](const std::string& members) {
    return completed(members).find("token_ids")->as_array().size();
  };
  CHECK(count(stop + "]") <= 6);
  CHECK(count(stop + R"(], "min_tokens": 9)") > 9);
  CHECK(count(stop + R"(], "ignore_eos": true)") == 12);

  // A text that ends it is shown if the request says so, and does not end it before the least tokens.
  const std::string text = text_of(free);
  const auto is_ascii = [](char one) { return one > ' ' && one <= '~'; };
  const auto at = static_cast<std::size_t>(std::find_if(text.begin() + 1, text.end(), is_ascii) - text.begin());
  REQUIRE(at < text.size());
  const std::string piece = text.substr(at, 1);
  REQUIRE(text.find(piece) == at);
  const std::string stops = R"("max_tokens": 12, "stop": )" + json::to_compact(json::Value(piece));
  CHECK(text_of(completed(stops)) == text.substr(0, at));
  CHECK(text_of(completed(stops + R"(, "include_stop_str_in_output": true)")) == text.substr(0, at) + piece);
  CHECK(text_of(completed(stops + R"(, "min_tokens": 12)")) == text);
}

TEST_CASE("bug: a prompt that was to be cut was not") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto prompt_of = [&](const std::string& members) {
    return json::to_compact(
        *choice_of(gateway
                       .post("/v1/completions",
                             R"({"prompt": [97, 98, 99], "max_tokens": 1, "return_token_ids": true, )" + members + "}")
                       .json())
             .find("prompt_token_ids"));
  };
  CHECK(prompt_of(R"("truncate_prompt_tokens": 2)") == "[98,99]");
  CHECK(prompt_of(R"("truncate_prompt_tokens": 2, "truncation_side": "right")") == "[97,98]");
  CHECK(prompt_of(R"("truncate_prompt_tokens": 9)") == "[97,98,99]");
  CHECK(prompt_of(R"("truncate_prompt_tokens": -1)") == "[97,98,99]");
}

TEST_CASE("bug: names of tokens by their ids, and usage with each chunk, were passed over") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const std::string wish =
      R"("temperature": 0, "stream": true, "max_tokens": 3, "min_tokens": 3, "return_token_ids": true,
      "return_tokens_as_token_ids": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}, )";
  for (const auto& [path, members] :
       {std::pair("/v1/completions", R"("prompt": "a", "logprobs": 0)"),
        std::pair("/v1/chat/completions", R"("messages": [{"role": "user", "content": "a"}], "logprobs": true)")}) {
    const Answer answer = gateway.post(path, "{" + wish + members + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    CHECK(answer.body.find("\"usage\":null") == std::string::npos);
    CHECK(answer.body.find("\"completion_tokens\":1,") < answer.body.find("\"completion_tokens\":3,"));
    CHECK(answer.body.find("\"token_id:") != std::string::npos);
  }
}

TEST_CASE("log probabilities of a prompt are those that its ids were sampled with") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto completed = [&](const std::string& body) {
    const Answer answer = gateway.post("/v1/completions", body);
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    return answer.json();
  };
  const auto list = [](const json::Value& choice, const char* name) {
    return choice.find("logprobs")->find(name)->as_array();
  };
  const json::Value sampled = choice_of(
      completed(R"({"prompt": "abcde", "max_tokens": 90, "temperature": 0, "logprobs": 2, "return_token_ids": true})"));
  json::Array ids = sampled.find("prompt_token_ids")->as_array();
  const std::size_t first = ids.size();
  for (const json::Value& id : sampled.find("token_ids")->as_array()) ids.push_back(id);
  REQUIRE(ids.size() > first + 70);  // more than are scored in one piece
  const std::string prompt = "{\"prompt\": " + json::to_compact(ids);

  // What it sampled, as a prompt: the same numbers, behind those of the prompt, whose first has none.
  const json::Value echoed =
      choice_of(completed(prompt + R"(, "max_tokens": 0, "echo": true, "logprobs": 2, "n": 2, "temperature": 0})"));
  CHECK(list(echoed, "tokens").size() == ids.size());
  CHECK(list(echoed, "token_logprobs").front().is_null());
  CHECK(list(echoed, "top_logprobs").front().is_null());
  CHECK(echoed.find_string("finish_reason") == "length");
  // A byte that is a part of a character is written as `\xe4`.
  const auto bytes_of = [](std::string_view token) {
    if (!token.starts_with("bytes:")) return token.size();
    std::size_t count = 0;
    for (token.remove_prefix(6); !token.empty(); ++count) token.remove_prefix(token.starts_with("\\x") ? 4 : 1);
    return count;
  };
  std::size_t offset = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(list(echoed, "text_offset")[i] == json::Value(offset));
    offset += bytes_of(list(echoed, "tokens")[i].as_string());
    if (i < first) continue;
    const double was = list(sampled, "token_logprobs")[i - first].to_double().value();
    CHECK(list(echoed, "token_logprobs")[i].to_double().value() == doctest::Approx(was).epsilon(0.001));
    const std::size_t others = list(echoed, "top_logprobs")[i].as_object().size();
    CHECK((others == 2 || others == 1));  // by their texts: two ids may have the same
  }
  CHECK(echoed.find_string("text").value_or("").starts_with("abcde"));

  // The same, beside what is sampled, by the numbers of the ids; several choices have it, each in its first piece.
  const std::string wish = R"(, "max_tokens": 2, "prompt_logprobs": 1, "n": 2, "temperature": 0)";
  const json::Value both = completed(prompt + wish + "}");
  for (const json::Value& choice : both.find("choices")->as_array()) {
    const json::Array& told = choice.find("prompt_logprobs")->as_array();
    REQUIRE(told.size() == ids.size());
    CHECK(told.front().is_null());
    for (std::size_t i = first; i < ids.size(); ++i) {
      const json::Value* entry = told[i].find(json::to_compact(ids[i]));
      REQUIRE(entry != nullptr);
      CHECK(*entry->find("rank") == json::Value(1));  // the likeliest was taken
      CHECK(*entry->find("logprob") == list(echoed, "token_logprobs")[i]);
    }
    CHECK(choice.find("logprobs")->is_null());
  }
  const std::string streamed = gateway.post("/v1/completions", prompt + wish + R"(, "stream": true})").body;
  const std::size_t begins = streamed.find("\"prompt_logprobs\":");
  CHECK(begins < streamed.find("data: ", 1));
  CHECK(streamed.find("\"prompt_logprobs\":", streamed.find("\"prompt_logprobs\":", begins + 1) + 1) ==
        std::string::npos);
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a", "max_tokens": 0})").status == 400);
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a", "prompt_logprobs": -1})").status == 400);
}

TEST_CASE("what token ids can't carry goes to an engine that has the API itself") {
  if (!testing::has_engine()) return;
  const std::string image = R"({"type": "image_url", "image_url": {"url": "data:,"}})";
  const std::string body = R"({"model": "small", "messages": [{"role": "user", "content": [)" + image + "]}]";
  {
    Gateway gateway;
    const Answer refused = gateway.post("/v1/chat/completions", body + "}");
    CHECK(refused.status == 400);
    CHECK(refused.body.find("messages[0].content[0]") != std::string::npos);
  }
  Gateway gateway(true);
  const Answer passed = gateway.post("/v1/chat/completions", body + R"(, "top_k": 5})");
  CHECK(passed.status == 200);
  CHECK(passed.body == "{\"seen\":true}");
  CHECK(passed.headers.find("x-rondo-prefix") == "how=passthrough");
  CHECK(gateway.upstream->path == "/v1/chat/completions");
  CHECK(gateway.upstream->body.find("\"model\":\"its-own\"") != std::string::npos);
  CHECK(gateway.upstream->body.find("\"top_k\":5") != std::string::npos);
  CHECK(gateway.post("/v1/chat/completions", body + R"(, "stream": true})").body == "data: {}\n\ndata: [DONE]\n\n");
  const Answer missing = gateway.post("/v1/messages", R"({"max_tokens": 4, "messages": [{"role": "user", "content": [
      {"type": "image", "source": {"type": "url", "url": "http://x"}}]}]})");
  CHECK(missing.status == 400);
  CHECK(missing.body.find("messages[0].content[0]") != std::string::npos);
}

TEST_CASE("what was not in the engine's cache has a cause, and an earlier reply is compared with") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const std::string asked = R"({"input": "hello", "max_output_tokens": 4)";
  const json::Value first = gateway.post("/v1/responses", asked + "}").json();
  const std::string compared =
      R"(, "prompt_cache_options": {"comparison_response_id": ")" + std::string(*first.find_string("id")) + "\"}";
  const auto type_of = [](const json::Value& reply, const char* member) {
    return std::string(reply.find("prompt_cache_diagnostics")->find_string(member).value_or(""));
  };
  CHECK(type_of(gateway.post("/v1/responses", asked + compared + "}").json(), "type") == "cache_hit");
  CHECK(type_of(gateway.post("/v1/responses", asked + compared + R"(, "instructions": "be brief"})").json(),
                "reason") == "input_changed");
  CHECK(type_of(gateway.post("/v1/responses", asked + R"(, "prompt_cache_options": {"comparison_response_id": "no"}})")
                    .json(),
                "type") == "comparison_response_not_found");
  const json::Value explained =
      gateway.post("/v1/chat/completions", request(R"("n": 2)", 2), {{"x-rondo-explain", "1"}}).json();
  const json::Value* rondo = explained.find("rondo");
  REQUIRE(rondo != nullptr);
  for (const char* name : {"session", "turn", "how", "expected", "cached", "appended", "rendered",
                           "reattached_reasoning", "cause", "notes"})
    CHECK_MESSAGE(rondo->find(name) != nullptr, name);
}
