// Fleets of fake engines that die, hang, answer nonsense, and come back with nothing.
#include "remote/fleet.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fakes/engine_server.h"
#include "tests/support/http.h"
#include "tests/support/listening.h"

namespace rondo::remote {
namespace {

using engine::StopReason;
using engine::TokenId;
using fakes::EngineOptions;
using fakes::EngineServer;
using Ids = std::vector<TokenId>;
using Kind = fakes::Fault::Kind;
using testing::Listening;

struct Engines {
  explicit Engines(std::size_t count, FleetOptions options = {}, EngineOptions engine = sglang()) {
    std::vector<ServerInfo> infos;
    for (std::size_t i = 0; i < count; ++i) {
      auto made = EngineServer::make(loop, engine);
      REQUIRE(made.ok());
      servers.push_back(std::move(made).value());
      std::optional<Result<ServerInfo>> found;
      const auto asking = probe(*client, servers.back()->url(), [&](Result<ServerInfo> got) {
        found = std::move(got);
        loop.stop();
      });
      loop.run();
      REQUIRE(found->ok());
      infos.push_back(found->value());
    }
    fleet = std::make_unique<Fleet>(loop, *client, std::move(infos), options);
  }

  static EngineOptions sglang() {
    EngineOptions out;
    out.dialect = fakes::Dialect::kSglang;
    return out;
  }

  // Which server has computed most requests in its log with that prompt.
  std::size_t server_of(const std::string& url) const {
    if (servers.size() == 1 && url.empty()) return 0;  // the only one is not named
    for (std::size_t i = 0; i < servers.size(); ++i) {
      if (servers[i]->url() == url) return i;
    }
    REQUIRE(false);
    return 0;
  }

  engine::Outcome run(const engine::Request& request, Listening& listener) {
    return testing::run(*fleet, request, listener);
  }
  std::size_t serve(const engine::Request& request) {
    Listening listener(loop);
    const engine::Outcome outcome = run(request, listener);
    REQUIRE_MESSAGE(!outcome.error, outcome.error->to_string());
    return server_of(listener.start->replica);
  }
  void wait(int milliseconds) {
    const net::Timer timer = loop.after(net::Milliseconds(milliseconds), [this] { loop.stop(); });
    loop.run();
  }

  net::Loop loop;
  std::unique_ptr<net::Client> client = testing::client_of(loop);
  std::vector<std::unique_ptr<EngineServer>> servers;
  std::unique_ptr<Fleet> fleet;
};

engine::Request request_of(TokenId first, std::size_t size = 2000) {
  engine::Request out;
  for (std::size_t i = 0; i < size; ++i) out.prompt.change().push_back(first + static_cast<TokenId>(i % 50));
  out.max_tokens = 100;
  return out;
}

TEST_CASE("fleet: a conversation stays with its replica, and says what was expected and cached") {
  Engines engines(3);
  engine::Request request = request_of(260);
  std::size_t home = 0;
  for (int turn = 0; turn < 4; ++turn) {
    Listening listener(engines.loop);
    const engine::Outcome outcome = engines.run(request, listener);
    REQUIRE(!outcome.error);
    const std::size_t served = engines.server_of(listener.start->replica);
    if (turn == 0) home = served;
    CHECK(served == home);
    CHECK(outcome.usage.expected_tokens == listener.start->expected_tokens);
    if (turn > 0) {
      CHECK(outcome.usage.expected_tokens + 31 == request.prompt.size());
      CHECK(*outcome.usage.cached_tokens == engines.servers[home]->log().back().cached);
      CHECK(*outcome.usage.cached_tokens + 2 >= outcome.usage.expected_tokens);
    }
    request.prompt.change().insert(request.prompt.end(), listener.ids[0].begin(), listener.ids[0].end());
    for (TokenId id = 0; id < 30; ++id) request.prompt.change().push_back(400 + id);
  }
  CHECK(engines.serve(request_of(320)) != home);
  const Fleet::Report report = engines.fleet->report(home);
  CHECK(report.requests == 4);
  CHECK(report.state.running == 0);
  CHECK(report.expected_tokens > 6000);
  CHECK(!report.is_out);
}

TEST_CASE("fleet: conversations that take turns do not make each other's prefixes doubtful") {
  for (const auto dialect : {fakes::Dialect::kVllm, fakes::Dialect::kSglang, fakes::Dialect::kLlamaServer}) {
    EngineOptions options;
    options.dialect = dialect;
    options.prompt_tokens_details = true;
    Engines engines(1, {}, options);
    std::vector<engine::Request> conversations = {request_of(260, 500), request_of(320, 500), request_of(380, 500)};
    for (int turn = 0; turn < 4; ++turn) {
      for (engine::Request& request : conversations) {
        Listening listener(engines.loop);
        const engine::Outcome outcome = engines.run(request, listener);
        REQUIRE(!outcome.error);
        if (turn > 0) CHECK(outcome.usage.expected_tokens + 31 == request.prompt.size());
        if (turn > 0) CHECK(*outcome.usage.cached_tokens + 16 >= outcome.usage.expected_tokens);
        request.prompt.change().insert(request.prompt.end(), listener.ids[0].begin(), listener.ids[0].end());
        for (TokenId id = 0; id < 30; ++id) request.prompt.change().push_back(400 + id);
      }
    }
  }
}

TEST_CASE("fleet: before its first id a request goes to another replica, and nobody hears of it") {
  for (const Kind kind : {Kind::kError500, Kind::kError503, Kind::kDie, Kind::kGarbage, Kind::kHang}) {
    CAPTURE(fakes::to_string(kind));
    FleetOptions options;
    if (kind == Kind::kHang) options.first_token = net::Milliseconds(1000);
    Engines engines(2, options);
    const engine::Request request = request_of(260);
    const std::size_t home = engines.serve(request);
    engines.servers[home]->set_fault({.kind = kind, .count = 1, .after = 0});
    Listening listener(engines.loop);
    const engine::Outcome outcome = engines.run(request, listener);
    REQUIRE(!outcome.error);
    CHECK(engines.server_of(listener.start->replica) == 1 - home);
    CHECK(listener.ids[0] == engines.servers[1 - home]->log().back().completions[0]);
    CHECK(outcome.usage.expected_tokens == 0);
    CHECK(engines.fleet->report(home).state.running == 0);
    CHECK(engines.fleet->report(1 - home).state.running == 0);
    CHECK(engines.fleet->report(home).fault != "");
  }
}

TEST_CASE("fleet: behind the first id nothing is tried again, and what came stays") {
  for (const Kind kind : {Kind::kDie, Kind::kGarbage}) {
    Engines engines(2);
    for (const auto& server : engines.servers) server->set_fault({.kind = kind, .after = 3});
    Listening listener(engines.loop);
    const engine::Outcome outcome = engines.run(request_of(260), listener);
    REQUIRE(outcome.error);
    CHECK(listener.ids[0].size() >= 1);
    CHECK(engines.servers[0]->log().size() + engines.servers[1]->log().size() == 1);
    CHECK(engines.fleet->report(0).state.running + engines.fleet->report(1).state.running == 0);
  }
}

TEST_CASE("fleet: a request at fault is not tried again, and is nobody's failure") {
  Engines engines(2);
  Listening listener(engines.loop);
  const engine::Outcome outcome = engines.run(request_of(260, 5000), listener);
  REQUIRE(outcome.error);
  CHECK(outcome.error->code == ErrorCode::kLimit);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(engines.fleet->report(i).fault == "");
    CHECK(!engines.fleet->report(i).is_out);
  }
}

TEST_CASE("fleet: a replica that is gone is left out, asked for its health, and taken back") {
  Engines engines(2, {.router = {.first_pause_ms = 20}});
  const engine::Request request = request_of(260);
  const std::size_t home = engines.serve(request);
  engines.servers[home]->stop();
  CHECK(engines.serve(request) == 1 - home);
  CHECK(engines.fleet->report(home).state.failures >= 1);  // the pause may be over already
  // Asked again and again, it does not answer; requests do not notice.
  while (engines.fleet->report(home).state.failures < 3) engines.wait(5);
  REQUIRE(engines.servers[home]->start().ok());
  while (engines.fleet->report(home).is_out) engines.wait(5);
  CHECK(engines.fleet->report(home).fault != "");
  // Its prefix is the longer one still: it gets the next request, and is one of all again.
  engines.servers[1 - home]->stop();
  CHECK(engines.serve(request) == home);
  CHECK(engines.fleet->report(home).state.failures == 0);
  CHECK(engines.fleet->report(home).fault == "");
}

TEST_CASE("fleet: a replica that came back with an empty cache is believed") {
  Engines engines(1);
  const engine::Request request = request_of(260);
  engines.serve(request);
  engines.serve(request_of(320));
  engines.servers[0]->flush();
  Listening listener(engines.loop);
  engine::Outcome outcome = engines.run(request_of(320), listener);
  CHECK(outcome.usage.expected_tokens == 2000);
  CHECK(outcome.usage.cached_tokens == 0);
  // What was used before that is gone as well.
  Listening older(engines.loop);
  outcome = engines.run(request, older);
  CHECK(outcome.usage.expected_tokens == 0);
}

TEST_CASE("fleet: all replicas gone is an error of the last one") {
  Engines engines(2);
  for (const auto& server : engines.servers) server->stop();
  Listening listener(engines.loop);
  const engine::Outcome outcome = engines.run(request_of(260), listener);
  REQUIRE(outcome.error);
  CHECK(outcome.error->code == ErrorCode::kIo);
  CHECK(!listener.start);
  CHECK(engines.fleet->report(0).requests + engines.fleet->report(1).requests == 2);
}

TEST_CASE("fleet: cancelling reaches the engine, before and behind the first id") {
  for (const std::size_t after : {0U, 3U}) {
    for (const bool is_destroyed : {false, true}) {
      Engines engines(2);
      for (const auto& server : engines.servers) server->set_fault({.kind = Kind::kHang, .after = after});
      Listening listener(engines.loop);
      auto running = engines.fleet->submit(request_of(260), listener);
      const auto end = [&] {
        if (is_destroyed) {
          running.reset();
          engines.loop.stop();
        } else {
          running->cancel();
        }
      };
      const auto requests = [&] { return engines.servers[0]->log().size() + engines.servers[1]->log().size(); };
      listener.on_some = end;
      net::Timer timer;
      if (after == 0) {
        while (requests() == 0) engines.wait(1);
        timer = engines.loop.after(net::Milliseconds(0), end);
      }
      engines.loop.run();
      testing::settle(engines.loop);
      CHECK(listener.outcome.has_value() == !is_destroyed);
      if (!is_destroyed) CHECK(listener.outcome->choices[0].stop == StopReason::kCancelled);
      CHECK(requests() == 1);
      for (std::size_t i = 0; i < 2; ++i) {
        if (!engines.servers[i]->log().empty()) CHECK(engines.servers[i]->log()[0].was_aborted);
        CHECK(engines.fleet->report(i).state.running == 0);
        CHECK(engines.fleet->report(i).state.waiting == 0);
        CHECK(engines.fleet->report(i).fault == "");
      }
    }
  }
}

TEST_CASE("fleet: many requests over replicas that keep failing all end, and leave nothing behind") {
  Engines engines(3);
  engines.servers[0]->set_fault({.kind = Kind::kError503, .first = 3, .count = 4});
  engines.servers[1]->set_fault({.kind = Kind::kDie, .first = 2, .count = 5, .after = 0});
  std::vector<std::unique_ptr<Listening>> listeners;
  std::vector<std::unique_ptr<engine::Submission>> running;
  for (TokenId i = 0; i < 60; ++i) {
    listeners.push_back(std::make_unique<Listening>(engines.loop));
    running.push_back(engines.fleet->submit(request_of(256 + i % 7 * 20, 300), *listeners.back()));
  }
  const auto is_over = [&] {
    return std::ranges::all_of(listeners, [](const auto& listener) { return listener->outcome.has_value(); });
  };
  while (!is_over()) engines.loop.run();
  for (const auto& listener : listeners)
    CHECK_MESSAGE(!listener->outcome->error, listener->outcome->error->to_string());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(engines.fleet->report(i).state.running == 0);
    CHECK(engines.fleet->report(i).state.waiting == 0);
  }
}

}  // namespace
}  // namespace rondo::remote
