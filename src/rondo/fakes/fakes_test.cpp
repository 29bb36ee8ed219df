// The traps of the three engines, one by one, as a client sees them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/utf8.h"
#include "fakes/engine_server.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "net/sse.h"
#include "tests/support/http.h"
#include "tests/support/json.h"

namespace rondo::fakes {
namespace {

using testing::parsed;

// The value at "a.0.b"; null if there is none.
json::Value at(const json::Value& value, std::string_view path) {
  json::Value here = value;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(key.size() + 1, path.size()));
    if (here.is_array()) {
      const std::size_t index = std::stoul(std::string(key));
      if (index >= here.as_array().size()) return nullptr;
      here = json::Value(here.as_array()[index]);
    } else {
      const json::Value* found = here.find(key);
      if (found == nullptr) return nullptr;
      here = json::Value(*found);
    }
  }
  return here;
}

std::string shown(const json::Value& value, std::string_view path) { return json::to_compact(at(value, path)); }

EngineOptions options_of(Dialect dialect) {
  EngineOptions options;
  options.dialect = dialect;
  // 300 ends with the text stop, 2 with the end id; 226 130 172 are the bytes of one character.
  options.model.rules = {{{1, 2, 3}, {65, 226, 130, 172, 66, 2}}, {{7, 7}, {300, 301, 302, 303, 304, 305}}};
  options.model.end_after = 1000;
  return options;
}

struct Subject {
  explicit Subject(EngineOptions options) : client(testing::client_of(loop)) {
    auto made = EngineServer::make(loop, std::move(options));
    REQUIRE(made.ok());
    server = std::move(made).value();
  }

  net::Response send(const std::string& target, const std::string& body) {
    auto response = body.empty() ? testing::get(loop, *client, server->url() + target)
                                 : testing::post(loop, *client, server->url() + target, body);
    REQUIRE(response.ok());
    return std::move(response).value();
  }
  json::Value ask(const std::string& target, const std::string& body, int status = 200) {
    const net::Response response = send(target, body);
    CHECK(response.status == status);
    return parsed(response.body);
  }
  auto begin(const std::string& target, const std::string& body, testing::Recorder& recorder) {
    net::Request request;
    request.method = "POST";
    request.url = server->url() + target;
    request.body = body;
    return client->stream(std::move(request), recorder);
  }
  // The events of a stream; `ending` tells how it ended.
  std::vector<std::string> stream(const std::string& target, const std::string& body) {
    testing::Recorder recorder(loop);
    const auto call = begin(target, body, recorder);
    loop.run();
    ending = recorder.ending->status.ok() ? "" : recorder.ending->status.error().message;
    pieces = recorder.pieces;
    std::vector<std::string> events;
    net::SseReader reader;
    CHECK(reader.read(recorder.body, [&](const net::SseEvent& event) { events.push_back(event.data); }).ok());
    return events;
  }

  net::Loop loop;
  std::unique_ptr<net::Client> client;
  std::unique_ptr<EngineServer> server;
  std::string ending;
  std::vector<std::string> pieces;
};

// `count` ids that no rule knows.
std::string ids_text(std::size_t count, int first = 400) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ",") + std::to_string(first + static_cast<int>(i % 50));
  return text + "]";
}

// --- vLLM ---

TEST_CASE("fake vllm: the route for ids is forbidden, missing or there") {
  const std::string body = R"({"token_ids": [1, 2, 3], "sampling_params": {"max_tokens": 9}})";
  EngineOptions options = options_of(Dialect::kVllm);
  {
    Subject subject(options);
    const json::Value refused = subject.ask("/inference/v1/generate", "{}", 403);
    CHECK(shown(refused, "error.type") == "\"PermissionDeniedError\"");
    CHECK(shown(refused, "error.code") == "403");
    CHECK(shown(subject.ask("/version", ""), "version") == "\"0.33.0\"");
    CHECK(shown(subject.ask("/v1/models", ""), "data.0.max_model_len") == "4096");
  }
  options.generate = EngineOptions::Route::kMissing;
  { CHECK(Subject(options).send("/inference/v1/generate", "{}").status == 404); }
  options.generate = EngineOptions::Route::kOn;
  Subject subject(options);
  subject.ask("/inference/v1/generate", "{}", 400);
  const json::Value whole = subject.ask("/inference/v1/generate", body);
  CHECK(shown(whole, "output_mode") == "\"tokens\"");
  CHECK(shown(whole, "choices.0.token_ids") == "[65,226,130,172,66,2]");
  CHECK(shown(whole, "choices.0.finish_reason") == "\"stop\"");
  CHECK(shown(whole, "choices.0.stop_reason") == "null");
  CHECK(shown(whole, "prompt_token_ids") == "[1,2,3]");
  CHECK(shown(whole, "usage.prompt_tokens_details") == "null");
}

TEST_CASE("fake vllm: request ids get a prefix, and abort by either form") {
  EngineOptions options = options_of(Dialect::kVllm);
  options.generate = EngineOptions::Route::kOn;
  Subject subject(options);
  subject.server->set_fault({.kind = Fault::Kind::kHang, .after = 2});
  testing::Recorder recorder(subject.loop);
  const auto call = subject.begin(
      "/inference/v1/generate",
      R"({"request_id": "r1", "token_ids": [7, 7], "stream": true, "sampling_params": {"max_tokens": 6}})", recorder);
  testing::settle(subject.loop);
  CHECK(recorder.body.find("\"request_id\":\"generate-tokens-r1\"") != std::string::npos);
  CHECK(subject.send("/inference/v1/abort_requests", R"({"request_ids": ["r1"]})").status == 200);
  testing::settle(subject.loop);
  CHECK(recorder.body.find("\"finish_reason\":\"abort\"") != std::string::npos);
  CHECK(recorder.body.ends_with("data: [DONE]\n\n"));
  CHECK(subject.server->log().back().was_aborted);
  CHECK(subject.server->log().back().completions == std::vector<Ids>{{300, 301}});
}

TEST_CASE("fake vllm: a stream of completions tells the prompt's ids in its first chunk alone") {
  Subject subject(options_of(Dialect::kVllm));
  const auto events =
      subject.stream("/v1/completions",
                     R"({"prompt": [1, 2, 3], "max_tokens": 20, "stream": true, "return_token_ids": true,
                                         "stream_options": {"include_usage": true}})");
  REQUIRE(events.size() == 8);
  std::string ids;
  for (std::size_t i = 0; i < 6; ++i) {
    const json::Value event = parsed(events[i]);
    ids += shown(event, "choices.0.token_ids");
    CHECK(shown(event, "choices.0.prompt_token_ids") == (i == 0 ? "[1,2,3]" : "null"));
    CHECK(shown(event, "choices.0.finish_reason") == (i == 5 ? "\"stop\"" : "null"));
  }
  CHECK(ids == "[65][226][130][172][66][2]");
  CHECK(shown(parsed(events[6]), "choices") == "[]");
  CHECK(shown(parsed(events[6]), "usage.completion_tokens") == "6");
  CHECK(events[7] == "[DONE]");
  // Without the flag there are no ids at all.
  const json::Value plain = subject.ask("/v1/completions", R"({"prompt": [1, 2, 3], "max_tokens": 2})");
  CHECK(shown(plain, "choices.0.token_ids") == "null");
  CHECK(shown(plain, "choices.0.logprobs") == "null");
  CHECK(shown(plain, "choices.0.finish_reason") == "\"length\"");
}

TEST_CASE("fake vllm: sixteen tokens by default; stop ids are told, the end is not") {
  Subject subject(options_of(Dialect::kVllm));
  const json::Value unasked = subject.ask("/v1/completions", R"({"prompt": [9, 9], "return_token_ids": true})");
  CHECK(shown(unasked, "usage.completion_tokens") == "16");
  const json::Value stopped =
      subject.ask("/v1/completions", R"({"prompt": [7, 7], "return_token_ids": true, "stop_token_ids": [302]})");
  CHECK(shown(stopped, "choices.0.token_ids") == "[300,301,302]");
  CHECK(shown(stopped, "choices.0.stop_reason") == "302");
  const json::Value text =
      subject.ask("/v1/completions", R"({"prompt": [7, 7], "return_token_ids": true, "stop": " 301"})");
  CHECK(shown(text, "choices.0.stop_reason") == "\" 301\"");
  CHECK(shown(text, "choices.0.text") == "\" 300\"");
}

TEST_CASE("fake vllm: cached tokens are whole blocks, never all of the prompt, and told with a flag alone") {
  EngineOptions options = options_of(Dialect::kVllm);
  options.prompt_tokens_details = true;
  Subject subject(options);
  const auto cached = [&](std::size_t prompt, const std::string& more = "") {
    const json::Value reply =
        subject.ask("/v1/completions", "{\"max_tokens\": 1, \"prompt\": " + ids_text(prompt) + more + "}");
    CHECK(subject.server->log().back().cached ==
          static_cast<std::size_t>(*at(reply, "usage.prompt_tokens_details.cached_tokens").to_int64()));
    return subject.server->log().back().cached;
  };
  CHECK(cached(40) == 0);
  CHECK(cached(40) == 32);
  CHECK(cached(32) == 16);  // not the last block, because one id of it must be computed
  CHECK(cached(33) == 32);
  CHECK(cached(40, R"(, "cache_salt": "other")") == 0);
  CHECK(cached(40, R"(, "cache_salt": "other")") == 32);
  subject.server->flush();
  CHECK(cached(40) == 0);
}

TEST_CASE("fake vllm: what was sampled is known too, but for the last id") {
  Subject subject(options_of(Dialect::kVllm));
  const json::Value first = subject.ask(
      "/v1/completions", "{\"max_tokens\": 25, \"return_token_ids\": true, \"prompt\": " + ids_text(24) + "}");
  const Logged logged = subject.server->log().back();
  REQUIRE(logged.completions[0].size() == 25);
  Ids next = logged.prompt;
  next.insert(next.end(), logged.completions[0].begin(), logged.completions[0].end());
  next.push_back(5);
  std::string prompt = "[";
  for (const TokenId id : next) prompt += (prompt.size() == 1 ? "" : ",") + std::to_string(id);
  subject.ask("/v1/completions", "{\"max_tokens\": 1, \"prompt\": " + prompt + "]}");
  CHECK(subject.server->log().back().cached == 48);
}

TEST_CASE("fake vllm: choices, log probabilities in both shapes, and errors") {
  EngineOptions options = options_of(Dialect::kVllm);
  options.generate = EngineOptions::Route::kOn;
  Subject subject(options);
  const json::Value two = subject.ask(
      "/inference/v1/generate", R"({"token_ids": [9], "sampling_params": {"max_tokens": 3, "n": 2, "logprobs": 2}})");
  CHECK(shown(two, "choices.1.index") == "1");
  CHECK(shown(two, "choices.0.token_ids") != shown(two, "choices.1.token_ids"));
  CHECK(shown(two, "choices.0.logprobs.content.0.token_id") == shown(two, "choices.0.token_ids.0"));
  CHECK(shown(two, "choices.0.logprobs.content.0.top_logprobs.1.rank") == "2");
  const json::Value named = subject.ask(
      "/v1/completions", R"({"prompt": [7, 7], "max_tokens": 1, "logprobs": 1, "return_tokens_as_token_ids": true})");
  CHECK(shown(named, "choices.0.logprobs.tokens") == R"(["token_id:300"])");
  CHECK(shown(subject.ask("/v1/completions", R"({"model": "x", "prompt": [1]})", 404), "error.type") ==
        "\"NotFoundError\"");
  CHECK(shown(subject.ask("/v1/completions", R"({"prompt": [1], "max_tokens": 4096})", 400), "error.param") ==
        "\"input_tokens\"");
  subject.ask("/v1/completions", "not JSON", 400);
}

// --- SGLang ---

TEST_CASE("fake sglang: chunks are cumulative, or with a flag not") {
  EngineOptions options = options_of(Dialect::kSglang);
  const std::string body = R"({"input_ids": [1, 2, 3], "stream": true, "sampling_params": {"max_new_tokens": 20}})";
  {
    Subject subject(options);
    const auto events = subject.stream("/generate", body);
    REQUIRE(events.size() == 7);
    CHECK(shown(parsed(events[0]), "output_ids") == "[65]");
    CHECK(shown(parsed(events[0]), "meta_info.finish_reason") == "null");
    CHECK(shown(parsed(events[5]), "output_ids") == "[65,226,130,172,66,2]");
    CHECK(shown(parsed(events[5]), "text") ==
          "\"A\xE2\x82\xAC"
          "B\"");
    CHECK(shown(parsed(events[5]), "meta_info.finish_reason") == R"({"type":"stop","matched":2})");
    CHECK(events[6] == "[DONE]");
  }
  options.incremental = true;
  Subject subject(options);
  const auto events = subject.stream("/generate", body);
  CHECK(shown(parsed(events[5]), "output_ids") == "[2]");
  CHECK(shown(parsed(events[5]), "meta_info.completion_tokens") == "6");
}

TEST_CASE("fake sglang: errors have two shapes, and come within a stream too") {
  Subject subject(options_of(Dialect::kSglang));
  CHECK(at(subject.ask("/generate", "{}", 400), "error").is_string());
  CHECK(at(subject.ask("/generate", R"({"input_ids": "x"})", 400), "error").is_string());
  const std::string long_prompt = "{\"input_ids\": " + ids_text(5000);
  CHECK(at(subject.ask("/generate", long_prompt + "}", 400), "error.message").is_string());
  const auto events = subject.stream("/generate", long_prompt + ", \"stream\": true}");
  REQUIRE(events.size() == 2);
  CHECK(shown(parsed(events[0]), "error.code") == "400");
}

TEST_CASE("fake sglang: the cache counts single ids, never all of the prompt") {
  Subject subject(options_of(Dialect::kSglang));
  const auto cached = [&](std::size_t prompt, const std::string& more = "") {
    const json::Value reply = subject.ask(
        "/generate", "{\"sampling_params\": {\"max_new_tokens\": 1}, \"input_ids\": " + ids_text(prompt) + more + "}");
    return *at(reply, "meta_info.cached_tokens").to_int64();
  };
  CHECK(cached(21) == 0);
  CHECK(cached(21) == 20);
  CHECK(cached(25) == 21);
  CHECK(cached(21, R"(, "extra_key": "tenant")") == 0);
  CHECK(subject.send("/flush_cache", "").status == 200);
  CHECK(cached(21) == 0);
}

TEST_CASE("fake sglang: length, log probabilities, several choices, abort by name") {
  Subject subject(options_of(Dialect::kSglang));
  const json::Value cut = subject.ask(
      "/generate",
      R"({"input_ids": [7, 7], "return_logprob": true, "top_logprobs_num": 2, "sampling_params": {"max_new_tokens": 2}})");
  CHECK(shown(cut, "meta_info.finish_reason") == R"({"type":"length","length":2})");
  CHECK(shown(cut, "meta_info.output_token_logprobs.1.1") == "301");
  CHECK(at(cut, "meta_info.output_top_logprobs.0").as_array().size() == 2);
  const json::Value both =
      subject.ask("/generate", R"({"input_ids": [9], "sampling_params": {"max_new_tokens": 2, "n": 2}})");
  CHECK(shown(both, "1.index") == "1");
  const json::Value one =
      subject.ask("/generate", R"({"input_ids": [9], "sampling_params": {"max_new_tokens": 2, "n": 0}})");
  CHECK(shown(one, "meta_info.completion_tokens") == "2");  // no choice counts as one

  subject.server->set_fault({.kind = Fault::Kind::kHang, .after = 1});
  testing::Recorder recorder(subject.loop);
  const auto call = subject.begin("/generate", R"({"rid": "r", "input_ids": [7, 7], "stream": true})", recorder);
  testing::settle(subject.loop);
  CHECK(subject.send("/abort_request", R"({"rid": "r"})").status == 200);
  testing::settle(subject.loop);
  CHECK(recorder.body.find("\"type\":\"abort\"") != std::string::npos);
}

TEST_CASE("fake engines: an abort ends every choice of a request") {
  Subject subject(options_of(Dialect::kSglang));
  subject.server->set_fault({.kind = Fault::Kind::kHang, .after = 2});
  testing::Recorder recorder(subject.loop);
  const auto call = subject.begin(
      "/generate", R"({"rid": "r", "input_ids": [7, 7], "stream": true, "sampling_params": {"n": 2}})", recorder);
  testing::settle(subject.loop);
  CHECK(subject.send("/abort_request", R"({"rid": "r"})").status == 200);
  testing::settle(subject.loop);
  const std::string abort = "\"type\":\"abort\"";
  const std::size_t first = recorder.body.find(abort);
  REQUIRE(first != std::string::npos);
  CHECK(recorder.body.find(abort, first + 1) != std::string::npos);
  CHECK(subject.server->log().back().completions == std::vector<Ids>{{300}, {300}});
}

// --- llama-server ---

TEST_CASE("fake llama-server: ids within a character never appear in the stream") {
  Subject subject(options_of(Dialect::kLlamaServer));
  const auto events = subject.stream("/completion", R"({"prompt": [1, 2, 3], "stream": true, "return_tokens": true})");
  std::string ids;
  for (const std::string& event : events) ids += shown(parsed(event), "tokens");
  CHECK(ids == "[65][172][66][2][]");
  const json::Value last = parsed(events.back());
  CHECK(shown(last, "content") == "\"\"");
  CHECK(shown(last, "stop") == "true");
  CHECK(shown(last, "stop_type") == "\"eos\"");
  CHECK(shown(last, "tokens_predicted") == "6");
  const json::Value whole = subject.ask("/completion", R"({"prompt": [1, 2, 3], "return_tokens": true})");
  CHECK(shown(whole, "tokens") == "[65,226,130,172,66,2]");
  CHECK(shown(whole, "content") ==
        "\"A\xE2\x82\xAC"
        "B\"");
  CHECK(shown(subject.ask("/completion", R"({"prompt": [1, 2, 3]})"), "tokens") == "[]");
}

TEST_CASE("fake llama-server: slots keep what they computed; tokens_cached is not what was reused") {
  EngineOptions options = options_of(Dialect::kLlamaServer);
  options.slots = 2;
  Subject subject(options);
  const auto reused = [&](const std::string& prompt, const std::string& more = "") {
    const json::Value reply = subject.ask("/completion", "{\"n_predict\": 3, \"prompt\": " + prompt + more + "}");
    CHECK(*at(reply, "tokens_cached").to_int64() ==
          *at(reply, "tokens_evaluated").to_int64() + *at(reply, "tokens_predicted").to_int64() - 1);
    return shown(reply, "timings.cache_n") + " in " + shown(reply, "id_slot");
  };
  CHECK(reused(ids_text(30)) == "0 in 0");
  CHECK(reused(ids_text(30)) == "29 in 0");  // all known, so one is computed again
  CHECK(reused(ids_text(35)) == "30 in 0");
  CHECK(reused(ids_text(30, 450)) == "0 in 1");
  CHECK(reused(ids_text(35)) == "34 in 0");
  CHECK(reused("[9, 8, 7, 6]") == "0 in 1");  // the least recently used one
  CHECK(reused(ids_text(30), R"(, "id_slot": 1)") == "0 in 1");
  CHECK(reused(ids_text(30), R"(, "cache_prompt": false)").starts_with("0 in "));
  CHECK(subject.server->log().front().slot == 0);
}

TEST_CASE("fake engines: who asks for no token gets one, and from vLLM a refusal") {
  Subject llama(options_of(Dialect::kLlamaServer));
  CHECK(llama.stream("/completion", R"({"prompt": [7, 7], "stream": true, "n_predict": 0})").size() == 2);
  Subject vllm(options_of(Dialect::kVllm));
  CHECK(shown(vllm.ask("/v1/completions", R"({"prompt": [7], "max_tokens": 0})", 400), "error.param") ==
        "\"max_tokens\"");
}

TEST_CASE("fake llama-server: requests wait for a slot") {
  EngineOptions options = options_of(Dialect::kLlamaServer);
  options.slots = 1;
  Subject subject(options);
  subject.server->set_fault({.kind = Fault::Kind::kHang, .count = 1, .after = 0});
  testing::Recorder recorder(subject.loop);
  auto call = subject.begin("/completion", R"({"prompt": [7, 7], "stream": true})", recorder);
  testing::settle(subject.loop);
  subject.loop.post([&] { call.reset(); });  // the first ends by closing; only then is there room
  const json::Value second = subject.ask("/completion", R"({"prompt": [7, 7], "n_predict": 1})");
  CHECK(shown(second, "tokens_predicted") == "1");
  REQUIRE(subject.server->log().size() == 2);
  CHECK(subject.server->log()[0].was_aborted);
}

TEST_CASE("fake engines: requests side by side end each on its own") {
  Subject subject(options_of(Dialect::kVllm));
  const std::string body = R"({"prompt": [7, 7], "stream": true, "max_tokens": )";
  testing::Recorder recorder(subject.loop);
  const auto call = subject.begin("/v1/completions", body + "40}", recorder);
  CHECK(subject.stream("/v1/completions", body + "2}").size() == 3);
  if (!recorder.ending) subject.loop.run();
  REQUIRE(recorder.ending->status.ok());
  CHECK(recorder.body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("fake llama-server: a server that stops runs none of those that wait") {
  EngineOptions options = options_of(Dialect::kLlamaServer);
  options.slots = 1;
  Subject subject(options);
  subject.server->set_fault({.kind = Fault::Kind::kHang, .after = 0});
  testing::Recorder first(subject.loop);
  testing::Recorder second(subject.loop);
  const auto call = subject.begin("/completion", R"({"prompt": [7, 7], "stream": true})", first);
  const auto waiting = subject.begin("/completion", R"({"prompt": [7, 7], "stream": true})", second);
  testing::settle(subject.loop);
  subject.server->stop();
  CHECK(subject.server->log().size() == 1);
}

TEST_CASE("fake llama-server: no stop ids, texts stop, and what does not fit") {
  Subject subject(options_of(Dialect::kLlamaServer));
  const json::Value reply = subject.ask(
      "/completion", R"({"prompt": [7, 7], "n_predict": 5, "stop_token_ids": [301], "return_tokens": true})");
  CHECK(shown(reply, "tokens") == "[300,301,302,303,304]");
  CHECK(shown(reply, "stop_type") == "\"limit\"");
  const json::Value word = subject.ask("/completion", R"({"prompt": [7, 7], "stop": [" 302"], "n_probs": 2})");
  CHECK(shown(word, "stop_type") == "\"word\"");
  CHECK(shown(word, "stopping_word") == "\" 302\"");
  CHECK(shown(word, "content") == "\" 300 301\"");
  CHECK(shown(word, "completion_probabilities.1.id") == "301");
  const json::Value full = subject.ask("/completion", "{\"prompt\": " + ids_text(4090) + "}");
  CHECK(shown(full, "truncated") == "true");
  const json::Value error = subject.ask("/completion", "{\"prompt\": " + ids_text(4096) + "}", 400);
  CHECK(shown(error, "error.type") == "\"exceed_context_size_error\"");
  CHECK(shown(error, "error.n_prompt_tokens") == "4096");
  CHECK(shown(subject.ask("/props", ""), "total_slots") == "4");
  CHECK(shown(subject.ask("/slots", ""), "0.is_processing") == "false");
  CHECK(shown(subject.ask("/tokenize", R"({"content": "A\u20ac"})"), "tokens") == "[65,226,130,172]");
  CHECK(shown(subject.ask("/detokenize", R"({"tokens": [65, 226, 130, 172]})"), "content") == "\"A\xE2\x82\xAC\"");
  CHECK(subject.send("/nothing", "").status == 404);
}

// --- All ---

TEST_CASE("fake engines: faults hit the requests that they are for") {
  Subject subject(options_of(Dialect::kVllm));
  const std::string body = R"({"prompt": [7, 7], "stream": true, "max_tokens": 6})";
  subject.server->set_fault({.kind = Fault::Kind::kError500, .first = 2, .count = 1});
  CHECK(subject.send("/v1/completions", body).status == 200);
  CHECK(subject.send("/v1/completions", body).status == 500);
  CHECK(subject.send("/v1/completions", body).status == 200);
  subject.server->set_fault({.kind = Fault::Kind::kError503});
  CHECK(subject.send("/v1/completions", body).status == 503);
  subject.server->set_fault({.kind = Fault::Kind::kDie, .after = 3});
  CHECK(subject.stream("/v1/completions", body).size() <= 3);
  CHECK(subject.ending == "read: the connection was closed before the answer was complete");
  CHECK(subject.server->log().back().completions.size() == 1);
  subject.server->set_fault({.kind = Fault::Kind::kGarbage, .after = 1});
  const auto events = subject.stream("/v1/completions", body);
  CHECK(events.size() == 8);
  CHECK_FALSE(json::parse(events[1]).ok());
  for (const auto kind : {Fault::Kind::kSlowStart, Fault::Kind::kSlowTokens}) {
    subject.server->set_fault({.kind = kind, .delay = net::Milliseconds(1)});
    CHECK(subject.stream("/v1/completions", body).size() == 7);
  }
}

TEST_CASE("fake engines: what they say of themselves, and their errors") {
  Subject sglang(options_of(Dialect::kSglang));
  CHECK(shown(sglang.ask("/server_info", ""), "context_length") == "4096");
  CHECK(shown(sglang.ask("/model_info", ""), "is_generation") == "true");
  CHECK(shown(sglang.ask("/v1/models", ""), "data.0.max_model_len") == "4096");
  CHECK(shown(sglang.ask("/tokenize", R"({"prompt": "AB"})"), "tokens") == "[65,66]");
  CHECK(shown(sglang.ask("/detokenize", R"({"tokens": [65, 66]})"), "text") == "\"AB\"");
  CHECK(shown(sglang.ask("/generate", R"({"text": "AB", "sampling_params": {"max_new_tokens": 1}})"),
              "meta_info.prompt_tokens") == "2");
  sglang.ask("/generate", R"({"input_ids": [1], "sampling_params": []})", 400);
  sglang.ask("/generate", R"({"input_ids": []})", 400);
  CHECK(sglang.send("/nothing", "").status == 404);
  Subject llama(options_of(Dialect::kLlamaServer));
  CHECK(shown(llama.ask("/v1/models", ""), "data.0.meta.n_vocab") == "512");
  CHECK(shown(llama.ask("/completion", R"({"prompt": "AB", "n_predict": 1})"), "tokens_evaluated") == "2");
  CHECK(shown(llama.ask("/completion", "{}", 400), "error.type") == "\"invalid_request_error\"");
  CHECK(shown(llama.ask("/completion", R"({"prompt": [1], "id_slot": 9})", 400), "error.code") == "400");
  CHECK(shown(llama.ask("/completion", "[]", 400), "error.type") == "\"invalid_request_error\"");
  llama.server->set_fault({.kind = Fault::Kind::kError503});
  CHECK(shown(llama.ask("/completion", R"({"prompt": [1]})", 503), "error.type") == "\"unavailable_error\"");
  Subject vllm(options_of(Dialect::kVllm));
  CHECK(shown(vllm.ask("/tokenize", R"({"prompt": "AB"})"), "count") == "2");
  CHECK(shown(vllm.ask("/detokenize", R"({"tokens": [65, 66]})"), "prompt") == "\"AB\"");
  CHECK(vllm.send("/health", "").status == 200);
  CHECK(vllm.send("/inference/v1/abort_requests", "{}").status == 404);
  vllm.ask("/v1/completions", R"({"prompt": [-1]})", 400);
}

TEST_CASE("fake engines: sampling waits for a client that does not read, and goes on") {
  EngineOptions options = options_of(Dialect::kVllm);
  constexpr std::size_t kIds = 24;
  options.model.pieces[300] = std::string(500'000, 'x');  // together more than the system buffers for a connection
  options.model.rules = {{{9}, Ids(kIds, 300)}};
  Subject subject(options);
  testing::Recorder recorder(subject.loop);
  const auto call = subject.begin("/v1/completions", R"({"prompt": [9], "stream": true, "max_tokens": 24})", recorder);
  recorder.head_seen = [&] { call->pause(); };
  for (int i = 0; i < 100; ++i) testing::settle(subject.loop);
  CHECK(subject.server->log().back().completions.empty());  // not at its end
  call->resume();
  subject.loop.run();
  REQUIRE(recorder.ending->status.ok());
  CHECK(subject.server->log().back().completions[0].size() == kIds);
  CHECK(recorder.body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("fake engines: names of faults") {
  CHECK(read_fault("die").value().kind == Fault::Kind::kDie);
  CHECK(read_fault("hang:3").value().first == 3);
  CHECK(read_fault("error503:3:2").value().count == 2);
  CHECK_FALSE(read_fault("nonsense").ok());
  CHECK_FALSE(read_fault("die:0").ok());
  CHECK_FALSE(read_fault("die:1:2:3").ok());
  CHECK_FALSE(read_fault("die:x").ok());
  CHECK(to_string(Fault::Kind::kSlowStart) == "slow-start");
}

TEST_CASE("fake engines: pieces of a stream end within lines and characters") {
  EngineOptions options = options_of(Dialect::kSglang);
  options.cut_bytes = 3;
  Subject subject(options);
  const auto events = subject.stream("/generate", R"({"input_ids": [1, 2, 3], "stream": true})");
  CHECK(shown(parsed(events[5]), "text") ==
        "\"A\xE2\x82\xAC"
        "B\"");
  CHECK(subject.pieces.size() > 100);
  bool is_character_cut = false;
  for (const std::string& piece : subject.pieces) is_character_cut = is_character_cut || !utf8::is_valid(piece);
  CHECK(is_character_cut);
}

TEST_CASE("fake engines: a client that closes is noticed, and a server that stops comes back without its cache") {
  Subject subject(options_of(Dialect::kSglang));
  const std::string body = "{\"input_ids\": " + ids_text(20) + "}";
  subject.send("/generate", body);
  subject.send("/generate", body);
  CHECK(subject.server->log().back().cached == 19);
  const std::uint16_t port = subject.server->port();
  subject.server->stop();
  const auto refused =
      testing::get(subject.loop, *subject.client, "http://127.0.0.1:" + std::to_string(port) + "/health");
  CHECK_FALSE(refused.ok());
  REQUIRE(subject.server->start().ok());
  CHECK(subject.server->port() == port);
  subject.send("/generate", body);
  CHECK(subject.server->log().back().cached == 0);
  subject.server->clear_log();
  CHECK(subject.server->log().empty());
}

}  // namespace
}  // namespace rondo::fakes
