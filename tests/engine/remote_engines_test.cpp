// Adapters against the fake engines: what these sampled is what is handed out, id for id, by every way in.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fakes/engine_server.h"
#include "remote/adapter.h"
#include "tests/support/http.h"
#include "tests/support/listening.h"

namespace rondo::remote {
namespace {

using engine::StopReason;
using engine::TokenId;
using fakes::EngineOptions;
using fakes::EngineServer;
using Ids = std::vector<TokenId>;
using testing::Listening;

struct Engine {
  explicit Engine(EngineOptions options) {
    auto made = EngineServer::make(loop, std::move(options));
    REQUIRE(made.ok());
    server = std::move(made).value();
    std::optional<Result<ServerInfo>> found;
    const auto asking = probe(*client, server->url(), [&](Result<ServerInfo> got) {
      found = std::move(got);
      loop.stop();
    });
    loop.run();
    REQUIRE_MESSAGE(found->ok(), found->error().message);
    adapter = std::make_unique<Adapter>(loop, *client, found->value());
  }

  net::Loop loop;
  std::unique_ptr<net::Client> client = testing::client_of(loop);
  std::unique_ptr<EngineServer> server;
  std::unique_ptr<Adapter> adapter;
};

std::vector<EngineOptions> all_ways() {
  EngineOptions vllm;
  vllm.dialect = fakes::Dialect::kVllm;
  EngineOptions generate = vllm;
  generate.generate = EngineOptions::Route::kOn;
  generate.prompt_tokens_details = true;
  EngineOptions old = vllm;
  old.generate = EngineOptions::Route::kMissing;
  EngineOptions sglang;
  sglang.dialect = fakes::Dialect::kSglang;
  EngineOptions incremental = sglang;
  incremental.incremental = true;
  EngineOptions llama;
  llama.dialect = fakes::Dialect::kLlamaServer;
  std::vector<EngineOptions> out = {vllm, generate, old, sglang, incremental, llama};
  const std::size_t count = out.size();
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(out[i]);
    out.back().cut_bytes = 3;  // inside of characters, lines and numbers
  }
  return out;
}

std::string name_of(const Engine& engine) {
  return std::string(to_string(engine.adapter->info().kind)) + " " + engine.adapter->info().path;
}

engine::Request request_of(std::size_t size = 40) {
  engine::Request out;
  for (std::size_t i = 0; i < size; ++i) out.prompt.change().push_back(static_cast<TokenId>(300 + i * 7 % 90));
  out.max_tokens = 200;
  return out;
}

TEST_CASE("engines: what is sampled is what is handed out") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    CAPTURE(options.cut_bytes);
    for (std::size_t size = 20; size < 60; size += 8) {
      Listening listener(engine.loop);
      const engine::Outcome outcome = testing::run(*engine.adapter, request_of(size), listener);
      REQUIRE_MESSAGE(!outcome.error, outcome.error->to_string());
      const fakes::Logged& logged = engine.server->log().back();
      CHECK(logged.prompt == request_of(size).prompt);
      CHECK(listener.ids[0] == logged.completions[0]);
      CHECK(outcome.choices[0].inexact == "");
      CHECK(outcome.choices[0].stop == StopReason::kStopToken);
      CHECK(outcome.choices[0].stop_id == 2);
      CHECK(outcome.usage.prompt_tokens == size);
      CHECK(outcome.usage.completion_tokens == listener.ids[0].size());
    }
    CHECK(engine.adapter->running() == 0);
  }
}

TEST_CASE("engines: what a request excludes is not sampled") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    Listening free(engine.loop);
    (void)testing::run(*engine.adapter, request_of(), free);
    engine::Request request = request_of();
    request.bad_ids = {{free.ids[0][0]}};
    Listening barred(engine.loop);
    const engine::Outcome outcome = testing::run(*engine.adapter, std::move(request), barred);
    REQUIRE_MESSAGE(!outcome.error, outcome.error->to_string());
    CHECK(std::ranges::count(free.ids[0], free.ids[0][0]) > 0);
    CHECK(std::ranges::count(barred.ids[0], free.ids[0][0]) == 0);
    request = request_of();
    request.max_tokens = 6;
    request.allowed_ids = {400, 77};
    Listening listed(engine.loop);
    const engine::Outcome limited = testing::run(*engine.adapter, std::move(request), listed);
    const bool takes_ids = options.dialect == fakes::Dialect::kVllm;
    CHECK(limited.error.has_value() == !takes_ids);
    if (takes_ids) CHECK(std::ranges::all_of(listed.ids[0], [](TokenId id) { return id == 400 || id == 77; }));
  }
}

TEST_CASE("engines: cached tokens are told as the engine counts them, or not at all") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    for (int i = 0; i < 2; ++i) {
      Listening listener(engine.loop);
      const engine::Outcome outcome = testing::run(*engine.adapter, request_of(), listener);
      const bool tells = options.dialect != fakes::Dialect::kVllm || options.prompt_tokens_details;
      CHECK(outcome.usage.cached_tokens.has_value() == tells);
      if (tells) CHECK(*outcome.usage.cached_tokens == engine.server->log().back().cached);
      if (tells && i == 1) CHECK(*outcome.usage.cached_tokens >= 32);
    }
  }
}

TEST_CASE("engines: length, stop ids and choices end as they should") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    engine::Request request = request_of();
    request.max_tokens = 3;
    Listening cut(engine.loop);
    engine::Outcome outcome = testing::run(*engine.adapter, request, cut);
    CHECK(outcome.choices[0].stop == StopReason::kLength);
    CHECK(cut.ids[0].size() == 3);
    CHECK(outcome.choices[0].inexact == "");

    request.max_tokens = 200;
    request.stop_ids = {cut.ids[0][1]};
    Listening stopped(engine.loop);
    outcome = testing::run(*engine.adapter, request, stopped);
    CHECK(outcome.choices[0].stop == StopReason::kStopToken);
    CHECK(outcome.choices[0].stop_id == cut.ids[0][1]);
    CHECK(stopped.ids[0].back() == cut.ids[0][1]);
    CHECK(stopped.ids[0].size() <= 2);

    request.stop_ids.clear();
    request.choices = 3;
    request.sampling.temperature = 1;
    request.sampling.seed = 4;
    Listening several(engine.loop);
    outcome = testing::run(*engine.adapter, request, several);
    REQUIRE(!outcome.error);
    CHECK(several.ids.size() == 3);
    CHECK(several.ids[0] != several.ids[1]);
    for (const engine::Ending& ending : outcome.choices) CHECK(ending.stop == StopReason::kStopToken);
    CHECK(engine.adapter->running() == 0);
  }
}

TEST_CASE("engines: log probabilities in every shape") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    engine::Request request = request_of();
    request.logprobs = 2;
    request.max_tokens = 6;
    Listening listener(engine.loop);
    const engine::Outcome outcome = testing::run(*engine.adapter, request, listener);
    REQUIRE(!outcome.error);
    REQUIRE(!listener.tokens[0].empty());
    for (const engine::SampledToken& token : listener.tokens[0]) {
      CHECK(token.logprob == doctest::Approx(fakes::Model::logprob_of(token.id)));
      REQUIRE(token.best.size() >= 2);
      CHECK(token.best[0].logprob >= token.best[1].logprob);
      CHECK(token.best[0].id == token.id);
    }
  }
}

TEST_CASE("engines: log probabilities of the prompt, by a request before the one for ids, or a refusal") {
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    engine::Request request = request_of();
    request.prompt_logprobs = 2;
    request.max_tokens = 3;
    request.choices = 2;
    request.sampling.temperature = 1;
    Listening listener(engine.loop);
    const engine::Outcome outcome = testing::run(*engine.adapter, request, listener);
    const bool tells = options.dialect != fakes::Dialect::kLlamaServer;
    CHECK(engine.adapter->capabilities().tells_prompt_logprobs == tells);
    REQUIRE(outcome.error.has_value() != tells);
    CHECK(engine.adapter->running() == 0);
    if (!tells) {
      CHECK(outcome.error->code == ErrorCode::kInvalidArgument);
      CHECK(outcome.error->message == "log probabilities of the prompt cannot be asked of llama-server");
      continue;
    }
    CHECK(outcome.usage.cached_tokens.value_or(0) == 0);  // it had to be computed
    REQUIRE(listener.prompt.size() == request.prompt.size());
    for (std::size_t i = 0; i < request.prompt.size(); ++i) {
      const engine::SampledToken& token = listener.prompt[i];
      CHECK(token.id == request.prompt[i]);
      CHECK(std::isnan(token.logprob) == (i == 0));
      CHECK(token.best.size() == (i == 0 ? 0 : 2));
      if (i > 0) CHECK(token.logprob == doctest::Approx(fakes::Model::logprob_of(token.id)));
    }
    CHECK(listener.ids[0].size() == 3);
    CHECK(listener.ids[1].size() == 3);
    // Faults of that request are those of the whole.
    engine.server->set_fault({.kind = fakes::Fault::Kind::kError500});
    Listening failed(engine.loop);
    CHECK(testing::run(*engine.adapter, request, failed).error->code == ErrorCode::kEngine);
    engine.server->set_fault({.kind = fakes::Fault::Kind::kDie});
    Listening died(engine.loop);
    CHECK(testing::run(*engine.adapter, request, died).error->code == ErrorCode::kIo);
    testing::settle(engine.loop);
    CHECK(engine.adapter->running() == 0);
  }
}

TEST_CASE("engines: a request for log probabilities of the prompt is cancelled before they are there") {
  for (const EngineOptions& options : all_ways()) {
    if (options.dialect == fakes::Dialect::kLlamaServer) continue;
    Engine engine(options);
    CAPTURE(name_of(engine));
    engine.server->set_fault({.kind = fakes::Fault::Kind::kHang});
    engine::Request request = request_of();
    request.prompt_logprobs = 0;
    Listening listener(engine.loop);
    const auto running = engine.adapter->submit(request, listener);
    running->cancel();
    engine.loop.run();
    REQUIRE(listener.outcome);
    CHECK(listener.outcome->choices[0].stop == StopReason::kCancelled);
    CHECK(listener.prompt.empty());
    CHECK(engine.adapter->running() == 0);
  }
}

TEST_CASE("engines: characters in pieces, spelled as no tokenizer would") {
  for (EngineOptions options : all_ways()) {
    // "é" as two bytes, "ab" as two ids where there is one for both.
    options.model.pieces = {{400, "ab"}};
    options.model.rules = {{{7, 8, 9}, {0xC3, 0xA9, 'a', 'b', 0xF0, 0x9F, 0x98, 0x80, 300, 2}}};
    Engine engine(options);
    CAPTURE(name_of(engine));
    engine::Request request;
    request.prompt = {1, 7, 8, 9};
    Listening listener(engine.loop);
    const engine::Outcome outcome = testing::run(*engine.adapter, request, listener);
    REQUIRE(!outcome.error);
    CHECK(listener.ids[0] == Ids{0xC3, 0xA9, 'a', 'b', 0xF0, 0x9F, 0x98, 0x80, 300, 2});
    CHECK(outcome.choices[0].inexact == "");
    // Cut inside of a character.
    request.max_tokens = 6;
    Listening cut(engine.loop);
    const engine::Outcome ended = testing::run(*engine.adapter, request, cut);
    CHECK(ended.choices[0].stop == StopReason::kLength);
    if (ended.choices[0].inexact.empty()) {
      CHECK(cut.ids[0] == Ids{0xC3, 0xA9, 'a', 'b', 0xF0, 0x9F});
    } else {
      CHECK(cut.ids[0] == Ids{0xC3, 0xA9, 'a', 'b'});
    }
  }
}

TEST_CASE("engines: a prompt that is too long is a limit, and one that just fits ends with the context") {
  for (const EngineOptions& options : all_ways()) {
    EngineOptions small = options;
    small.context_tokens = 64;
    small.slots = 1;
    small.model.end_after = 1000;
    Engine engine(small);
    CAPTURE(name_of(engine));
    Listening over(engine.loop);
    engine::Outcome outcome = testing::run(*engine.adapter, request_of(70), over);
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == ErrorCode::kLimit);
    // What the server says where nobody has told how long its context is.
    ServerInfo info = engine.adapter->info();
    info.context_tokens = 0;
    Adapter blind(engine.loop, *engine.client, info);
    Listening refused(engine.loop);
    outcome = testing::run(blind, request_of(70), refused);
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == ErrorCode::kLimit);
    Listening full(engine.loop);
    outcome = testing::run(*engine.adapter, request_of(60), full);
    REQUIRE(!outcome.error);
    CHECK(full.ids[0].size() <= 4);
    if (full.ids[0].back() != 2) CHECK(outcome.choices[0].stop == StopReason::kContextFull);
  }
}

TEST_CASE("engines: cancelling reaches them") {
  for (const EngineOptions& options : all_ways()) {
    EngineOptions endless = options;
    endless.model.end_after = 100'000;
    Engine engine(endless);
    CAPTURE(name_of(engine));
    engine.server->set_fault({.kind = fakes::Fault::Kind::kHang, .after = 4});
    engine::Request request = request_of();
    request.max_tokens = 2000;
    Listening listener(engine.loop);
    const auto running = engine.adapter->submit(request, listener);
    listener.on_some = [&] {
      if (listener.ids[0].size() >= 2) running->cancel();
    };
    engine.loop.run();
    REQUIRE(listener.outcome);
    CHECK(listener.outcome->choices[0].stop == StopReason::kCancelled);
    CHECK(!listener.outcome->error);
    testing::settle(engine.loop);
    CHECK(engine.server->log().back().was_aborted);
    CHECK(engine.adapter->running() == 0);
  }
}

TEST_CASE("engines: tenants get salts of their own where the engine knows some") {
  for (const EngineOptions& options : all_ways()) {
    if (options.dialect == fakes::Dialect::kLlamaServer) continue;
    Engine engine(options);
    CAPTURE(name_of(engine));
    for (const char* tenant : {"one", "two", "one"}) {
      engine::Request request = request_of();
      request.tenant = tenant;
      Listening listener(engine.loop);
      REQUIRE(!testing::run(*engine.adapter, request, listener).error);
    }
    const auto& log = engine.server->log();
    REQUIRE(log.size() == 3);
    CHECK(log[0].salt != log[1].salt);
    CHECK(log[0].salt == log[2].salt);
    CHECK(log[1].cached == 0);
    CHECK(log[2].cached >= 32);
  }
}

TEST_CASE("engines: faults are errors with a code, whenever they come") {
  using Kind = fakes::Fault::Kind;
  for (const EngineOptions& options : all_ways()) {
    Engine engine(options);
    CAPTURE(name_of(engine));
    for (const auto& [kind, code] : {std::pair(Kind::kError500, ErrorCode::kEngine),
                                     {Kind::kError503, ErrorCode::kEngine},
                                     {Kind::kDie, ErrorCode::kIo},
                                     {Kind::kGarbage, ErrorCode::kEngine}}) {
      engine.server->set_fault({.kind = kind});
      Listening listener(engine.loop);
      const engine::Outcome outcome = testing::run(*engine.adapter, request_of(), listener);
      CAPTURE(fakes::to_string(kind));
      REQUIRE(outcome.error);
      CHECK(outcome.error->code == code);
      testing::settle(engine.loop);
      CHECK(engine.adapter->running() == 0);
    }
    engine.server->set_fault({});
    Listening listener(engine.loop);
    CHECK(!testing::run(*engine.adapter, request_of(), listener).error);
    engine.server->stop();
    Listening gone(engine.loop);
    CHECK(testing::run(*engine.adapter, request_of(), gone).error->code == ErrorCode::kIo);
  }
}

}  // namespace
}  // namespace rondo::remote
