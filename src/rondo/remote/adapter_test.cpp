// Adapters against servers with scripted answers.
#include "remote/adapter.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "json/parse.h"
#include "json/print.h"
#include "net/server.h"
#include "tests/support/http.h"
#include "tests/support/listening.h"

namespace rondo::remote {
namespace {

using engine::StopReason;
using engine::TokenId;
using testing::Listening;

// A server with scripted answers, by path.
struct Scripted {
  explicit Scripted(net::Loop& loop) {
    auto made = net::Server::make(loop, {}, [this](net::Exchange exchange) {
      const std::string path = exchange.request().path;
      bodies[path].push_back(exchange.request().body);
      const auto found = answers.find(path);
      if (found == answers.end()) return exchange.reply(404, {}, R"({"error":"no such path"})");
      found->second(std::move(exchange));
    });
    REQUIRE(made.ok());
    server = std::move(made).value();
  }

  void json(const std::string& path, int status, const std::string& body) {
    answers[path] = [status, body](net::Exchange exchange) { exchange.reply(status, {}, body); };
  }
  // Events, each in a piece of its own.  The stream stays open if the last one is "...", and breaks off if it is "!".
  void events(const std::string& path, const std::vector<std::string>& datas) {
    answers[path] = [this, datas](net::Exchange exchange) {
      exchange.start(200, {{"Content-Type", "text/event-stream"}});
      for (const std::string& data : datas) {
        if (data == "...") {
          exchange.on_gone([this] { ++gone; });
          kept.push_back(std::move(exchange));
          return;
        }
        if (data == "!") return exchange.abort();
        exchange.write("data: " + data + "\n\n");
      }
      exchange.finish();
    };
  }

  std::map<std::string, std::function<void(net::Exchange)>> answers;
  std::map<std::string, std::vector<std::string>> bodies;
  std::vector<net::Exchange> kept;
  int gone = 0;
  std::unique_ptr<net::Server> server;
};

struct Setup {
  net::Loop loop;
  Scripted engine{loop};
  std::unique_ptr<net::Client> client = testing::client_of(loop);

  ServerInfo info(ServerKind kind, const std::string& path) const {
    ServerInfo out;
    out.kind = kind;
    out.url = engine.server->url();
    out.model = "m";
    out.path = path;
    out.context_tokens = 100;
    return out;
  }

  engine::Outcome run(Adapter& adapter, engine::Request request, Listening& listener) {
    engine::Outcome outcome = testing::run(adapter, std::move(request), listener);
    CHECK(adapter.running() == 0);
    return outcome;
  }
};

engine::Request request_of(std::vector<TokenId> stop_ids = {}) {
  engine::Request out;
  out.prompt = {1, 2, 3};
  out.max_tokens = 10;
  out.stop_ids = std::move(stop_ids);
  return out;
}

TEST_CASE("adapter: vLLM's stream, choices and usage") {
  Setup setup;
  setup.engine.events(
      "/inference/v1/generate",
      {R"({"choices":[{"index":0,"token_ids":[5]},{"index":1,"token_ids":[7]}],"prompt_token_ids":[1,2,3]})",
       R"({"choices":[{"index":1,"token_ids":[8],"finish_reason":"length"}]})",
       R"({"choices":[{"index":0,"token_ids":[9],"finish_reason":"stop","stop_reason":null}]})",
       R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}})",
       "[DONE]"});
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kVllm, "/inference/v1/generate"));
  Listening listener(setup.loop);
  engine::Request request = request_of();
  request.choices = 2;
  request.max_tokens = 2;
  request.sampling.temperature = 1;
  const engine::Outcome outcome = setup.run(adapter, request, listener);
  CHECK(!outcome.error);
  CHECK(listener.ids[0] == std::vector<TokenId>{5, 9});
  CHECK(listener.ids[1] == std::vector<TokenId>{7, 8});
  CHECK(outcome.choices[0].stop == StopReason::kStopToken);
  CHECK(outcome.choices[0].stop_id == 9);
  CHECK(outcome.choices[0].inexact == "");
  CHECK(outcome.choices[1].stop == StopReason::kLength);
  CHECK(outcome.usage.cached_tokens == 2);
  CHECK(outcome.usage.completion_tokens == 4);
  CHECK(setup.client->connections() == 1);  // kept
}

TEST_CASE(
    "adapter: a stop id that the server names but leaves out is told; ids that it counts but leaves out are not "
    "exact") {
  Setup setup;
  setup.engine.events("/v1/completions",
                      {R"({"choices":[{"index":0,"token_ids":[5],"finish_reason":"stop","stop_reason":9}]})",
                       R"({"choices":[],"usage":{"completion_tokens":4}})", "[DONE]"});
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kVllm, "/v1/completions"));
  Listening listener(setup.loop);
  const engine::Outcome outcome = setup.run(adapter, request_of({9}), listener);
  CHECK(listener.ids[0] == std::vector<TokenId>{5, 9});
  CHECK(outcome.choices[0].inexact == "the server counts 2 ids that it did not tell");
}

TEST_CASE("adapter: SGLang's several choices are several requests, each with a seed") {
  Setup setup;
  setup.engine.events(
      "/generate", {R"({"output_ids":[5],"meta_info":{"completion_tokens":1,"cached_tokens":2,"finish_reason":null}})",
                    R"({"output_ids":[5,6],"meta_info":{"completion_tokens":2,"cached_tokens":2,)"
                    R"("finish_reason":{"type":"stop","matched":6}}})",
                    "[DONE]"});
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kSglang, "/generate"));
  Listening listener(setup.loop);
  engine::Request request = request_of();
  request.choices = 3;
  request.sampling.seed = 10;
  const engine::Outcome outcome = setup.run(adapter, request, listener);
  CHECK(!outcome.error);
  for (std::size_t choice = 0; choice < 3; ++choice) {
    CHECK(listener.ids[choice] == std::vector<TokenId>{5, 6});
    CHECK(outcome.choices[choice].stop_id == 6);
    CHECK(setup.engine.bodies["/generate"][choice].find("\"sampling_seed\":" + std::to_string(10 + choice)) !=
          std::string::npos);
  }
  CHECK(outcome.usage.cached_tokens == 2);
  CHECK(outcome.usage.completion_tokens == 6);
}

TEST_CASE("adapter: llama-server's holes are filled with what the tokenizer makes of the text") {
  Setup setup;
  setup.engine.events(
      "/completion",
      {R"({"content":"a","tokens":[5],"stop":false,"tokens_predicted":1})",
       R"({"content":"é","tokens":[7],"stop":false,"tokens_predicted":3})",
       R"({"content":"b","tokens":[8],"stop":false,"tokens_predicted":4})",
       R"({"content":"","tokens":[2],"stop":false,"tokens_predicted":5})",
       R"({"content":"","tokens":[],"stop":true,"stop_type":"eos","tokens_predicted":5,"timings":{"cache_n":2}})"});
  setup.engine.json("/tokenize", 200, R"({"tokens":[6,7]})");
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kLlamaServer, "/completion"));
  {
    Listening listener(setup.loop);
    const engine::Outcome outcome = setup.run(adapter, request_of(), listener);
    CHECK(listener.ids[0] == std::vector<TokenId>{5, 6, 7, 8, 2});
    CHECK(outcome.choices[0].inexact == "");
    CHECK(outcome.choices[0].stop_id == 2);
    CHECK(outcome.usage.cached_tokens == 2);
    CHECK(setup.engine.bodies["/tokenize"][0].find("\"content\":\"é\"") != std::string::npos);
  }
  // Other tokens for the same text, another number, no answer: the result is not exact, and nothing is invented.
  for (const char* answer : {R"({"tokens":[7,6]})", R"({"tokens":[1,6,7]})", "no"}) {
    setup.engine.json("/tokenize", 200, answer);
    Listening listener(setup.loop);
    const engine::Outcome outcome = setup.run(adapter, request_of(), listener);
    CHECK(listener.ids[0] == std::vector<TokenId>{5, 7, 8, 2});
    CHECK(outcome.choices[0].inexact == "1 id of a character in pieces were not told by the server");
  }
}

TEST_CASE("adapter: ids behind the last whole character are sampled once more, where that gives the same") {
  Setup setup;
  int asked = 0;
  setup.engine.answers["/completion"] = [&](net::Exchange exchange) {
    if (++asked % 2 == 0) return exchange.reply(200, {}, R"({"content":"","tokens":[6,7],"stop":true})");
    exchange.start(200, {});
    exchange.write("data: {\"content\":\"a\",\"tokens\":[5],\"stop\":false,\"tokens_predicted\":1}\n\n");
    exchange.write(
        "data: {\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"limit\",\"tokens_predicted\":3}\n\n");
    exchange.finish();
  };
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kLlamaServer, "/completion"));
  engine::Request request = request_of();
  request.max_tokens = 3;
  Listening greedy(setup.loop);
  engine::Outcome outcome = setup.run(adapter, request, greedy);
  CHECK(greedy.ids[0] == std::vector<TokenId>{5, 6, 7});
  CHECK(outcome.choices[0].stop == StopReason::kLength);
  CHECK(outcome.choices[0].inexact == "");
  CHECK(setup.engine.bodies["/completion"][1].starts_with(R"({"prompt":[1,2,3,5],"n_predict":2,)"));
  request.sampling.temperature = 1;
  Listening drawn(setup.loop);
  outcome = setup.run(adapter, request, drawn);
  CHECK(drawn.ids[0] == std::vector<TokenId>{5});
  CHECK(outcome.choices[0].inexact == "the server counts 2 ids that it did not tell");
}

TEST_CASE("bug: a request for no token failed, or had one") {
  Setup setup;
  setup.engine.answers["/completion"] = [](net::Exchange exchange) {
    exchange.start(200, {});
    exchange.write("data: {\"content\":\"a\",\"tokens\":[5],\"stop\":false,\"tokens_predicted\":1}\n\n");
    exchange.write(
        "data: {\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"eos\",\"tokens_predicted\":1}\n\n");
    exchange.finish();
  };
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kLlamaServer, "/completion"));
  Listening listener(setup.loop);
  engine::Request request = request_of();
  request.max_tokens = 0;
  const engine::Outcome outcome = setup.run(adapter, request, listener);
  CHECK(setup.engine.bodies["/completion"][0].find("\"n_predict\":1,") != std::string::npos);
  CHECK(listener.ids[0].empty());
  REQUIRE(outcome.choices.size() == 1);
  CHECK(outcome.choices[0].stop == StopReason::kLength);
  CHECK(outcome.choices[0].inexact.empty());
}

TEST_CASE("adapter: a stop id that the server does not know ends the choice, and its connection") {
  Setup setup;
  setup.engine.events("/completion",
                      {R"({"content":"a","tokens":[5],"stop":false,"tokens_predicted":1,"timings":{"cache_n":1}})",
                       R"({"content":"b","tokens":[6],"stop":false,"tokens_predicted":2})",
                       R"({"content":"c","tokens":[7],"stop":false,"tokens_predicted":3})", "..."});
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kLlamaServer, "/completion"));
  Listening listener(setup.loop);
  const engine::Outcome outcome = setup.run(adapter, request_of({6}), listener);
  CHECK(listener.ids[0] == std::vector<TokenId>{5, 6});
  CHECK(outcome.choices[0].stop == StopReason::kStopToken);
  CHECK(outcome.choices[0].stop_id == 6);
  CHECK(outcome.usage.cached_tokens == 1);
  CHECK(!outcome.error);
  testing::settle(setup.loop);
  CHECK(setup.engine.gone == 1);
}

TEST_CASE("adapter: cancelling reaches the server, and a submission that is gone hears nothing") {
  for (const bool is_destroyed : {false, true}) {
    Setup setup;
    setup.engine.events("/generate",
                        {R"({"output_ids":[5],"meta_info":{"completion_tokens":1,"finish_reason":null}})", "..."});
    setup.engine.json("/abort_request", 200, "");
    Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kSglang, "/generate"));
    Listening listener(setup.loop);
    auto running = adapter.submit(request_of(), listener);
    listener.on_some = [&] {
      if (is_destroyed) {
        running.reset();
        setup.loop.stop();
      } else {
        running->cancel();
        running->cancel();
      }
    };
    setup.loop.run();
    testing::settle(setup.loop);
    CHECK(listener.outcome.has_value() == !is_destroyed);
    if (!is_destroyed) CHECK(listener.outcome->choices[0].stop == StopReason::kCancelled);
    CHECK(listener.ids[0] == std::vector<TokenId>{5});
    CHECK(setup.engine.gone == 1);
    CHECK(adapter.running() == 0);
    REQUIRE(setup.engine.bodies["/abort_request"].size() == 1);
    const auto sent = json::parse(setup.engine.bodies["/generate"][0]);
    const auto aborted = json::parse(setup.engine.bodies["/abort_request"][0]);
    CHECK(sent.value().find_string("rid") == aborted.value().find_string("rid"));
  }
}

TEST_CASE("adapter: what goes wrong has a code and a sentence") {
  Setup setup;
  Adapter adapter(setup.loop, *setup.client, setup.info(ServerKind::kVllm, "/v1/completions"));
  const auto outcome_of = [&](engine::Request request) {
    Listening listener(setup.loop);
    return setup.run(adapter, std::move(request), listener);
  };
  engine::Request long_one = request_of();
  long_one.prompt.change().assign(100, 1);
  CHECK(outcome_of(long_one).error->code == ErrorCode::kLimit);
  engine::Request strange = request_of();
  strange.grammar.dialect = engine::Grammar::Dialect::kLark;
  CHECK(outcome_of(strange).error->message == "a grammar in the form `lark` cannot be asked of vllm");
  CHECK(outcome_of(engine::Request{}).error->code == ErrorCode::kInvalidArgument);
  CHECK(outcome_of(request_of()).error->message == "status 404: no such path");
  setup.engine.json("/v1/completions", 503, "busy");
  CHECK(outcome_of(request_of()).error->code == ErrorCode::kEngine);
  setup.engine.events("/v1/completions", {R"({"choices":[{"index":0,"token_ids":[5]}]})", "!"});
  CHECK(outcome_of(request_of()).error->code == ErrorCode::kIo);
  setup.engine.events("/v1/completions", {R"({"choices":[{"index":0,"token_ids":[5]}]})"});
  CHECK(outcome_of(request_of()).error->message == "the answer ended before its last event");
  setup.engine.events("/v1/completions", {"{nonsense"});
  CHECK(outcome_of(request_of()).error->code == ErrorCode::kEngine);
  setup.engine.events("/v1/completions", {R"({"choices":[{"index":4,"token_ids":[5]}]})"});
  CHECK(outcome_of(request_of()).error->message == "an event is of a choice that was not asked for");
  setup.engine.server.reset();
  CHECK(outcome_of(request_of()).error->code == ErrorCode::kIo);
}

TEST_CASE("adapter: max_tokens is cut to the context, and a choice that ends there says so") {
  Setup setup;
  setup.engine.events("/v1/completions",
                      {R"({"choices":[{"index":0,"token_ids":[5,6],"finish_reason":"length"}]})", "[DONE]"});
  ServerInfo info = setup.info(ServerKind::kVllm, "/v1/completions");
  info.context_tokens = 5;
  Adapter adapter(setup.loop, *setup.client, info);
  Listening listener(setup.loop);
  const engine::Outcome outcome = setup.run(adapter, request_of(), listener);
  CHECK(outcome.choices[0].stop == StopReason::kContextFull);
  CHECK(setup.engine.bodies["/v1/completions"][0].find("\"max_tokens\":2,") != std::string::npos);
}

Result<ServerInfo> probed(Setup& setup) {
  std::optional<Result<ServerInfo>> out;
  const auto asking = probe(*setup.client, setup.engine.server->url() + "/", [&](Result<ServerInfo> found) {
    out = std::move(found);
    setup.loop.stop();
  });
  setup.loop.run();
  return *out;
}

TEST_CASE("probe: each server is known by its answers") {
  {
    Setup setup;
    setup.engine.json("/version", 200, R"({"version":"0.33.0"})");
    setup.engine.json("/v1/models", 200, R"({"data":[{"id":"big","max_model_len":4096}]})");
    for (const auto& [status, path] : std::map<int, std::string>{
             {400, "/inference/v1/generate"}, {403, "/v1/completions"}, {404, "/v1/completions"}}) {
      setup.engine.json("/inference/v1/generate", status, "{}");
      const auto found = probed(setup);
      REQUIRE(found.ok());
      CHECK(found.value().kind == ServerKind::kVllm);
      CHECK(found.value().model == "big");
      CHECK(found.value().context_tokens == 4096);
      CHECK(found.value().path == path);
      CHECK(found.value().notes.size() == (status == 403 ? 2 : 1));
      CHECK(found.value().block == (status == 404 ? 32 : 16));
      CHECK(found.value().cache_tokens == (status == 404 ? 3200 : 0));
      setup.engine.json("/metrics", 200,
                        "# HELP vllm:cache_config_info Information\n"
                        "vllm:cache_config_info{block_size=\"32\",engine=\"0\",num_gpu_blocks=\"100\"} 1.0\nx 1\n");
      if (status == 400)  // the labels of another metric are not those of this one
        setup.engine.json("/metrics", 200,
                          "# HELP vllm:cache_config_info Information\n"
                          "vllm:cache_config_info{num_gpu_blocks=\"None\"} 1.0\nx{block_size=\"64\"} 1\n");
    }
  }
  {
    Setup setup;
    setup.engine.json(
        "/server_info", 200,
        R"({"model_path":"/models/small/","context_length":2048,"max_total_num_tokens":90000,"page_size":1})");
    const auto found = probed(setup);
    REQUIRE(found.ok());
    CHECK(found.value().kind == ServerKind::kSglang);
    CHECK(found.value().model == "small");
    CHECK(found.value().cache_tokens == 90000);
  }
  {
    Setup setup;
    setup.engine.json("/props", 200,
                      R"({"total_slots":4,"default_generation_settings":{"n_ctx":512},"model_path":"a/b.gguf"})");
    const auto found = probed(setup);
    REQUIRE(found.ok());
    CHECK(found.value().kind == ServerKind::kLlamaServer);
    CHECK(found.value().model == "b.gguf");
    CHECK(found.value().parallel == 4);
    CHECK(found.value().path == "/completion");
  }
}

TEST_CASE("probe: no server, another server, a server that wants a key") {
  Setup setup;
  auto found = probed(setup);
  REQUIRE(!found.ok());
  CHECK(found.error().message ==
        "no server that is known: `/props`, `/server_info` and `/version` were answered with 404, 404, 404");
  for (const char* path : {"/props", "/server_info", "/version"}) setup.engine.json(path, 401, "{}");
  found = probed(setup);
  REQUIRE(!found.ok());
  CHECK(!found.error().hint.empty());
  const std::string url = setup.engine.server->url();
  setup.engine.server.reset();
  std::optional<Result<ServerInfo>> out;
  const auto asking = probe(*setup.client, url, [&](Result<ServerInfo> got) {
    out = std::move(got);
    setup.loop.stop();
  });
  setup.loop.run();
  CHECK(out->error().code == ErrorCode::kIo);
}

}  // namespace
}  // namespace rondo::remote
