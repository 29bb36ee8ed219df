#include "remote/dialect.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "json/parse.h"
#include "json/print.h"
#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

using engine::Grammar;
using engine::StopReason;
using engine::TokenId;

ServerInfo info_of(ServerKind kind, const std::string& path = {}) {
  ServerInfo out;
  out.kind = kind;
  out.url = "http://engine";
  out.model = "m";
  out.path = path;
  return out;
}

engine::Request asking(std::vector<TokenId> prompt = {1, 2, 3}) {
  engine::Request out;
  out.prompt = std::move(prompt);
  out.max_tokens = 7;
  return out;
}

json::Value body_of(const Dialect& dialect, const engine::Request& request) {
  auto body = dialect.body(request, 1, 5, "id-1");
  REQUIRE(body.ok());
  auto parsed = json::parse(body.value());
  REQUIRE(parsed.ok());
  return std::move(parsed).value();
}

std::string text_of(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? "none" : json::to_compact(*found);
}

std::vector<TokenId> ids_of(const Part& part) {
  std::vector<TokenId> out;
  for (const engine::SampledToken& token : part.tokens) out.push_back(token.id);
  return out;
}

Event read(const Dialect& dialect, Reading& reading, std::string_view data) {
  auto event = dialect.read(data, reading);
  REQUIRE_MESSAGE(event.ok(), event.error().message);
  return std::move(event).value();
}

TEST_CASE("vLLM: a request by both ways in") {
  engine::Request request = asking();
  request.stop_ids = {9, 8};
  request.tenant = "acme/1";
  request.logprobs = 2;
  request.sampling.bias = {{4, -INFINITY}, {5, 1.5F}};
  const auto generate = make_vllm(info_of(ServerKind::kVllm, "/inference/v1/generate"));
  json::Value body = body_of(*generate, request);
  CHECK(text_of(body, "token_ids") == "[1,2,3]");
  CHECK(text_of(body, "model") == "\"m\"");
  CHECK(text_of(body, "cache_salt") == "\"t61636d652f31\"");
  CHECK(text_of(body, "request_id") == "\"id-1\"");
  const json::Value& sampling = *body.find("sampling_params");
  CHECK(text_of(sampling, "stop_token_ids") == "[9,8]");
  CHECK(text_of(sampling, "logprobs") == "2");
  CHECK(text_of(sampling, "max_tokens") == "7");
  CHECK(text_of(sampling, "seed") == "5");
  CHECK(text_of(sampling, "logit_bias") == R"({"4":-100.0,"5":1.5})");
  CHECK(text_of(sampling, "skip_special_tokens") == "false");  // no id goes without its text
  CHECK(body.find("return_token_ids") == nullptr);             // which would return the prompt too
  const auto completions = make_vllm(info_of(ServerKind::kVllm, "/v1/completions"));
  body = body_of(*completions, request);
  CHECK(text_of(body, "prompt") == "[1,2,3]");
  CHECK(text_of(body, "return_token_ids") == "true");
  CHECK(text_of(body, "return_tokens_as_token_ids") == "true");
  CHECK(text_of(body, "stop_token_ids") == "[9,8]");
  CHECK(text_of(body, "add_special_tokens") == "false");
}

TEST_CASE("SGLang: a request") {
  engine::Request request = asking();
  request.stop_ids = {9, 8};
  request.logprobs = 2;
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  const json::Value body = body_of(*sglang, request);
  CHECK(text_of(body, "input_ids") == "[1,2,3]");
  CHECK(text_of(body, "stream") == "true");
  CHECK(text_of(body, "rid") == "\"id-1\"");
  CHECK(text_of(body, "return_logprob") == "true");
  CHECK(text_of(body, "top_logprobs_num") == "2");
  const json::Value& sampling = *body.find("sampling_params");
  CHECK(text_of(sampling, "stop_token_ids") == "[9,8]");
  CHECK(text_of(sampling, "max_new_tokens") == "7");
  CHECK(text_of(sampling, "sampling_seed") == "5");
  CHECK(text_of(sampling, "no_stop_trim") == "true");          // the id that stops is told too
  CHECK(text_of(sampling, "skip_special_tokens") == "false");  // no id goes without its text
}

TEST_CASE("ids of every length are written as numbers") {
  std::vector<TokenId> ids;
  std::string text;
  for (const TokenId id : {0, 7, 10, 99, 100, 999, 1000, 1001, 9999, 10'000, 99'099, 100'000, 151'643, 999'999,
                           1'000'000, 2'147'483'647, 5}) {
    ids.push_back(id);
    text += (text.empty() ? "" : ",") + std::to_string(id);
  }
  CHECK(object_with_ids("a", ids, {}) == "{\"a\":[" + text + "]}");
}

TEST_CASE("servers are told which requests belong together, by a name that is nobody's") {
  engine::Request request = asking();
  const auto vllm = make_vllm(info_of(ServerKind::kVllm, "/inference/v1/generate"));
  const auto completions = make_vllm(info_of(ServerKind::kVllm, "/v1/completions"));
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  for (const auto* dialect : {&vllm, &completions, &sglang}) {
    const json::Value alone = body_of(**dialect, request);
    CHECK(alone.find("session_id") == nullptr);
    CHECK(alone.find("routing_key") == nullptr);
  }
  request.affinity = "ann's plans";
  const std::string name = text_of(body_of(*vllm, request), "session_id");
  CHECK(name.size() > 10);
  CHECK(name.find("plans") == std::string::npos);
  CHECK(text_of(body_of(*completions, request), "session_id") == name);
  CHECK(text_of(body_of(*sglang, request), "routing_key") == name);
  request.tenant = "bob";
  CHECK(text_of(body_of(*vllm, request), "session_id") != name);
}

TEST_CASE("grammars in the words of each server, and what has none") {
  engine::Request request = asking();
  request.grammar = {.dialect = Grammar::Dialect::kJsonSchema, .text = R"({"type": "object"})"};
  const auto vllm = make_vllm(info_of(ServerKind::kVllm, "/inference/v1/generate"));
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  const auto llama = make_llama_server(info_of(ServerKind::kLlamaServer));
  CHECK(text_of(*body_of(*vllm, request).find("sampling_params"), "structured_outputs") ==
        R"({"json":{"type":"object"}})");
  CHECK(text_of(*body_of(*sglang, request).find("sampling_params"), "json_schema") == R"("{\"type\": \"object\"}")");
  CHECK(text_of(body_of(*llama, request), "json_schema") == R"({"type":"object"})");
  request.grammar.text = "{";
  CHECK(vllm->body(request, 1, 0, "").error().code == ErrorCode::kInvalidArgument);
  CHECK(llama->body(request, 1, 0, "").error().code == ErrorCode::kInvalidArgument);
  request.grammar = {.dialect = Grammar::Dialect::kStructuralTag, .text = "{}"};
  CHECK(text_of(*body_of(*vllm, request).find("sampling_params"), "structured_outputs") ==
        R"({"structural_tag":"{}"})");
  CHECK(text_of(*body_of(*sglang, request).find("sampling_params"), "structural_tag") == "\"{}\"");
  request.grammar = {.dialect = Grammar::Dialect::kGbnf,
                     .text = "root ::= \"a\"",
                     .is_lazy = true,
                     .triggers = {{Grammar::Trigger::Kind::kWord, -1, "<w>"},
                                  {Grammar::Trigger::Kind::kToken, 5, "<t>"},
                                  {Grammar::Trigger::Kind::kPattern, -1, "(x)"}},
                     .preserved_tokens = {"<t>"}};
  const json::Value body = body_of(*llama, request);
  CHECK(text_of(body, "grammar_lazy") == "true");
  CHECK(text_of(body, "grammar_triggers") ==
        R"([{"type":1,"value":"<w>"},{"type":0,"value":"<t>","token":5},{"type":3,"value":"(x)[\\s\\S]*"}])");
  CHECK(text_of(body, "preserved_tokens") == R"(["<t>"])");
  CHECK(!vllm->body(request, 1, 0, "").ok());
  CHECK(!sglang->body(request, 1, 0, "").ok());
  request = asking();
  request.sampling.typical_p = 0.5F;
  CHECK(!vllm->body(request, 1, 0, "").ok());
  CHECK(!sglang->body(request, 1, 0, "").ok());
  CHECK(text_of(body_of(*llama, request), "typical_p") == "0.5");
}

TEST_CASE("a number of sampling reaches a server, or the server's dialect refuses it by name") {
  for (const KindRow& row : kServerKinds) {
    const auto dialect = row.make(info_of(row.kind, "/inference/v1/generate"));
    const std::string plain = dialect->body(asking(), 1, 5, "id-1").value();
    for (const engine::SamplingNumber& number : engine::kSamplingNumbers) {
      engine::Request request = asking();
      request.sampling.*number.value = 0.5F;
      const auto body = dialect->body(request, 1, 5, "id-1");
      if (body.ok()) {
        CHECK_MESSAGE(body.value() != plain, row.name << " " << number.name);
      } else {
        CHECK_MESSAGE(body.error().message.starts_with(number.name), row.name << " " << body.error().message);
      }
    }
  }
}

TEST_CASE("the least tokens in the words of each server") {
  engine::Request request = asking();
  request.stop_ids = {9};
  const auto vllm = make_vllm(info_of(ServerKind::kVllm, "/inference/v1/generate"));
  const auto completions = make_vllm(info_of(ServerKind::kVllm, "/v1/completions"));
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  const auto llama = make_llama_server(info_of(ServerKind::kLlamaServer));
  CHECK(body_of(*vllm, request).find("sampling_params")->find("min_tokens") == nullptr);
  CHECK(text_of(body_of(*llama, request), "ignore_eos") == "none");
  request.min_tokens = 3;
  CHECK(text_of(*body_of(*vllm, request).find("sampling_params"), "min_tokens") == "3");
  CHECK(text_of(body_of(*completions, request), "min_tokens") == "3");
  CHECK(text_of(*body_of(*sglang, request).find("sampling_params"), "min_new_tokens") == "3");
  // llama-server knows only all or nothing.
  CHECK(llama->body(request, 1, 0, "").error().code == ErrorCode::kInvalidArgument);
  request.min_tokens = request.max_tokens;
  CHECK(text_of(body_of(*llama, request), "ignore_eos") == "true");
  CHECK(text_of(body_of(*llama, request), "logit_bias") == "[[9,false]]");
}

TEST_CASE("which ids may be sampled, in the words of each server") {
  engine::Request request = asking();
  request.sampling.bias = {{4, 1.5F}, {5, 2}};
  request.bad_ids = {{5}, {6}};
  request.bad_words = {"x", "y"};
  const auto vllm = make_vllm(info_of(ServerKind::kVllm, "/inference/v1/generate"));
  const auto completions = make_vllm(info_of(ServerKind::kVllm, "/v1/completions"));
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  const auto llama = make_llama_server(info_of(ServerKind::kLlamaServer));
  const auto refusal = [&](const Dialect& dialect) { return dialect.body(request, 1, 0, "").error().message; };
  // Rows of one id are changes of logits.
  const json::Value one = *body_of(*vllm, request).find("sampling_params");
  CHECK(text_of(one, "logit_bias") == R"({"4":1.5,"5":-100.0,"6":-100.0})");
  CHECK(text_of(one, "bad_words") == "none");
  CHECK(text_of(one, "allowed_token_ids") == "none");
  CHECK(text_of(*body_of(*sglang, request).find("sampling_params"), "logit_bias") ==
        R"({"4":1.5,"5":-1000000000.0,"6":-1000000000.0})");
  CHECK(text_of(body_of(*llama, request), "logit_bias") == "[[4,1.5],[5,2.0],[5,false],[6,false]]");
  // Longer rows go to vLLM as texts.
  request.bad_ids.push_back({7, 8});
  CHECK(text_of(*body_of(*vllm, request).find("sampling_params"), "bad_words") == R"(["x","y"])");
  CHECK(text_of(body_of(*completions, request), "bad_words") == R"(["x","y"])");
  CHECK(refusal(*sglang) == "bad_words of several tokens cannot be asked of SGLang");
  CHECK(refusal(*llama) == "bad_words of several tokens cannot be asked of llama-server");
  request.bad_words.clear();
  CHECK(refusal(*vllm) == "bad_words of several tokens without their texts cannot be asked of vLLM");
  request.bad_ids.clear();
  request.allowed_ids = {9, 4};
  CHECK(text_of(*body_of(*vllm, request).find("sampling_params"), "allowed_token_ids") == "[9,4]");
  CHECK(text_of(body_of(*completions, request), "allowed_token_ids") == "[9,4]");
  CHECK(refusal(*sglang) == "allowed_token_ids cannot be asked of SGLang");
  CHECK(refusal(*llama) == "allowed_token_ids cannot be asked of llama-server");
}

TEST_CASE("vLLM: events of both ways in") {
  const auto vllm = make_vllm(info_of(ServerKind::kVllm));
  Reading reading;
  Event event = read(
      *vllm, reading,
      R"({"choices":[{"index":1,"token_ids":[5,6],"finish_reason":null,"stop_reason":null,"logprobs":{"content":[)"
      R"({"token_id":5,"logprob":-0.5,"rank":1,"top_logprobs":[{"token_id":7,"logprob":-2},{"token_id":5,"logprob":-0.5}]}]}}]})");
  REQUIRE(event.parts.size() == 1);
  CHECK(event.parts[0].choice == 1);
  CHECK(ids_of(event.parts[0]) == std::vector<TokenId>{5, 6});
  CHECK(event.parts[0].tokens[0].logprob == -0.5F);
  CHECK(event.parts[0].tokens[0].best[0].id == 5);
  CHECK(event.parts[0].tokens[0].best[1].id == 7);
  CHECK(std::isnan(event.parts[0].tokens[1].logprob));
  CHECK(!event.parts[0].stop);
  event = read(
      *vllm, reading,
      R"({"choices":[{"index":0,"text":"x","token_ids":[8],"finish_reason":"stop","stop_reason":8,)"
      R"("logprobs":{"tokens":["token_id:8"],"token_logprobs":[-1],"top_logprobs":[{"token_id:8":-1,"token_id:9":-3}]}}]})");
  CHECK(event.parts[0].stop == StopReason::kStopToken);
  CHECK(event.parts[0].stop_id == 8);
  CHECK(event.parts[0].tokens[0].logprob == -1.0F);
  CHECK(event.parts[0].tokens[0].best.size() == 2);
  event = read(
      *vllm, reading,  // log probabilities of fewer ids than there are, and of none
      R"({"choices":[{"token_ids":[5,6],"logprobs":{"token_logprobs":[-1],"top_logprobs":[{"token_id:5":-1}]}}]})");
  CHECK(event.parts[0].tokens[0].logprob == -1.0F);
  CHECK(std::isnan(event.parts[0].tokens[1].logprob));
  CHECK(event.parts[0].tokens[1].best.empty());
  event = read(*vllm, reading,
               R"({"choices":[{"token_ids":[5],"logprobs":{"content":[{"token_id":5,"logprob":-1,"top_logprobs":)"
               R"([{"logprob":-1},{"token_id":-5,"logprob":-1},{"token_id":7,"logprob":-2}]}]}}]})");
  REQUIRE(event.parts[0].tokens[0].best.size() == 1);
  CHECK(event.parts[0].tokens[0].best[0].id == 7);
  event = read(
      *vllm, reading,
      R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}})");
  CHECK(event.cached_tokens == 0);
  CHECK(event.completion_tokens == 3);
  event = read(*vllm, reading, R"({"choices":[],"usage":{"prompt_tokens":3,"prompt_tokens_details":null}})");
  CHECK(!event.cached_tokens);
  CHECK(read(*vllm, reading, "[DONE]").is_last);
  CHECK(read(*vllm, reading, R"({"error":{"message":"gone"}})").error->message == "gone");
  CHECK(read(*vllm, reading, R"({"choices":[{"finish_reason":"abort"}]})").error);
  for (const char* broken :
       {"", "x", "[]", "{\"choices\":3}", "{\"choices\":[{\"token_ids\":[1.5]}]}",
        "{\"choices\":[{\"token_ids\":[-5]}]}", "{\"choices\":[{\"token_ids\":[99999999999]}]}", "{\"choices\":["})
    CHECK_MESSAGE(!vllm->read(broken, reading).ok(), broken);
}

TEST_CASE("SGLang: all ids so far, or what is new") {
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  Reading reading;
  const auto event = [&](const std::string& ids, int count, const std::string& more = "") {
    return read(*sglang, reading,
                R"({"text":"é\"]","output_ids":)" + ids +
                    R"(,"meta_info":{"id":"r","finish_reason":null,"prompt_tokens":3,)" +
                    R"("cached_tokens":2,"completion_tokens":)" + std::to_string(count) + more + "}}")
        .parts[0];
  };
  CHECK(ids_of(event("[5]", 1)) == std::vector<TokenId>{5});
  CHECK(ids_of(event("[5, 51]", 2)) == std::vector<TokenId>{51});
  CHECK(ids_of(event("[5, 51]", 2)).empty());
  CHECK(ids_of(event("[5, 51,6,7]", 4)) == std::vector<TokenId>{6, 7});
  reading = {};
  CHECK(ids_of(event("[5]", 1)) == std::vector<TokenId>{5});
  CHECK(ids_of(event("[5]", 2)) == std::vector<TokenId>{5});  // the same id again
  CHECK(ids_of(event("[5,5]", 4)) == std::vector<TokenId>{5, 5});
  CHECK(event("[7]", 6).missing == 1);
  reading = {};
  CHECK(ids_of(event("[5,6]", 2)) == std::vector<TokenId>{5, 6});
  CHECK(!sglang->read(R"({"output_ids":[5,7,8],"meta_info":{"completion_tokens":3}})", reading).ok());
  CHECK(!sglang->read(R"({"output_ids":["a"],"meta_info":{"completion_tokens":1}})", reading).ok());
  CHECK(!sglang->read(R"({"output_ids":[5,6,"a"],"meta_info":{"completion_tokens":3}})", reading).ok());
  CHECK(!sglang->read(R"({"output_ids":[5,6,-1],"meta_info":{"completion_tokens":3}})", reading).ok());
  reading = {};
  const Part with_logprobs = event("[5,6]", 2,
                                   R"(,"output_token_logprobs":[[-0.5,5,null],[-1,6,"x"]],)"
                                   R"("output_top_logprobs":[[[-0.5,5,null]],[[-1,6,null],[-2,7,null]]])");
  CHECK(with_logprobs.tokens[1].logprob == -1.0F);
  CHECK(with_logprobs.tokens[1].best[1].id == 7);
}

TEST_CASE("an event of a choice that nobody can have asked for is an error") {
  const auto vllm = make_vllm(info_of(ServerKind::kVllm));
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  for (const std::size_t choice : {kMostChoices - 1, kMostChoices}) {
    const std::string index = "\"index\":" + std::to_string(choice);
    Reading reading;
    CHECK(vllm->read("{\"choices\":[{" + index + ",\"token_ids\":[5]}]}", reading).ok() == (choice < kMostChoices));
    CHECK(sglang->read("{" + index + R"(,"output_ids":[5],"meta_info":{"completion_tokens":1}})", reading).ok() ==
          (choice < kMostChoices));
  }
}

TEST_CASE("SGLang: how it ends") {
  const auto sglang = make_sglang(info_of(ServerKind::kSglang));
  Reading reading;
  const auto finish = [&](const std::string& reason) {
    return read(*sglang, reading, R"({"output_ids":[],"meta_info":{"finish_reason":)" + reason + "}}");
  };
  CHECK(finish(R"({"type":"stop","matched":7})").parts[0].stop_id == 7);
  CHECK(!finish(R"({"type":"stop","matched":"x"})").parts[0].stop_id);
  CHECK(finish(R"({"type":"length","length":3})").parts[0].stop == StopReason::kLength);
  CHECK(
      finish(R"({"type":"abort","message":"longer than the model's context length","status_code":400})").error->code ==
      ErrorCode::kLimit);
  CHECK(finish(R"({"type":"abort","message":"out of memory","status_code":500})").error->code == ErrorCode::kEngine);
  CHECK(read(*sglang, reading, R"({"error":{"message":"bad input","code":400}})").error->code ==
        ErrorCode::kInvalidArgument);
  CHECK(read(*sglang, reading, R"({"error":"odd"})").error->code == ErrorCode::kEngine);
}

TEST_CASE("llama-server: holes show in the count, reuse in the timings") {
  const auto llama = make_llama_server(info_of(ServerKind::kLlamaServer));
  Reading reading;
  Event event = read(*llama, reading, R"({"index":0,"content":"a","tokens":[5],"stop":false,"tokens_predicted":1})");
  CHECK(event.parts[0].missing == 0);
  event =
      read(*llama, reading,
           R"({"content":"é","tokens":[7],"stop":false,"tokens_predicted":3,"timings":{"cache_n":2,"prompt_n":1}})");
  CHECK(event.parts[0].missing == 1);
  CHECK(event.parts[0].text == "é");
  CHECK(event.cached_tokens == 2);
  event = read(
      *llama, reading,
      R"({"content":"","tokens":[],"stop":true,"stop_type":"limit","tokens_predicted":5,"tokens_evaluated":4,"tokens_cached":9,)"
      R"("truncated":false,"timings":{"cache_n":2}})");
  CHECK(event.is_last);
  CHECK(event.parts[0].stop == StopReason::kLength);
  CHECK(event.parts[0].missing == 2);
  CHECK(event.prompt_tokens == 4);
  CHECK(event.cached_tokens == 2);
  reading = {};
  event =
      read(*llama, reading,
           R"({"content":"a","tokens":[5],"tokens_predicted":1,"completion_probabilities":[{"id":5,"logprob":-0.25,)"
           R"("top_logprobs":[{"id":5,"logprob":-0.25}]}]})");
  CHECK(event.parts[0].tokens[0].logprob == -0.25F);
  CHECK(read(*llama, reading, R"({"error":{"code":500,"message":"slot gone"}})").error->message == "slot gone");
  CHECK(!llama->read(R"({"tokens":["x"]})", reading).ok());
}

TEST_CASE("refusals: a context that is too short is a limit, whatever the words") {
  ServerInfo info = info_of(ServerKind::kVllm);
  info.context_tokens = 100;
  const auto dialect = make_vllm(info);
  const engine::Request request = asking();
  const auto code = [&](int status, std::string_view body) { return dialect->refusal(status, body, request).code; };
  CHECK(code(400, R"({"error":{"message":"This model's maximum context length is 100 tokens."}})") ==
        ErrorCode::kLimit);
  CHECK(code(400, R"({"error":{"type":"exceed_context_size_error","message":"too large"}})") == ErrorCode::kLimit);
  CHECK(code(400, R"({"error":"The input is longer than the model's context length"})") == ErrorCode::kLimit);
  CHECK(code(400, R"({"error":"bad temperature"})") == ErrorCode::kInvalidArgument);
  CHECK(code(422, R"({"detail":[{"msg":"x"}]})") == ErrorCode::kInvalidArgument);
  CHECK(code(500, "oops") == ErrorCode::kEngine);
  CHECK(dialect->refusal(500, "oops", request).message == "status 500: oops");
  CHECK(!dialect->refusal(401, "{}", request).hint.empty());
}

}  // namespace
}  // namespace rondo::remote
