// A gateway over an engine that says what a test wants it to say, and a client.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/workers.h"
#include "gateway/service.h"
#include "spans/memory_store.h"
#include "tests/support/gateway_client.h"
#include "tests/support/http.h"
#include "tests/support/small_model.h"

namespace rondo::testing {

// An engine that samples the same ids whatever it is asked, or what a test says when it says so.
class Scripted final : public engine::Serving {
 public:
  struct Run : engine::Submission {
    Run(net::Loop& on, engine::Listener& to) : loop(on), listener(&to) {}
    ~Run() override { *is_alive = false; }
    void cancel() override {
      was_cancelled = true;
      later([this] { end(engine::StopReason::kCancelled); });
    }
    void say(const std::vector<engine::TokenId>& ids) const {
      for (const engine::TokenId id : ids) {
        const engine::SampledToken token{.id = id, .logprob = -0.5F};
        listener->on_tokens(0, {&token, 1});
      }
    }
    void end(engine::StopReason reason, std::optional<Error> error = {}) {
      if (has_ended) return;
      has_ended = true;
      engine::Outcome outcome;
      outcome.choices.resize(1);
      outcome.choices[0].stop = reason;
      outcome.error = std::move(error);
      listener->on_end(outcome);
    }
    void fail() { end(engine::StopReason::kCancelled, Error(ErrorCode::kEngine, "the engine has died")); }
    void later(std::function<void()> task) {
      loop.post([alive = is_alive, task = std::move(task)] {
        if (*alive) task();
      });
    }
    net::Loop& loop;
    engine::Listener* listener;
    std::shared_ptr<bool> is_alive = std::make_shared<bool>(true);
    bool was_cancelled = false;
    bool has_ended = false;
  };

  explicit Scripted(net::Loop& loop) : loop_(loop) {}
  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capable; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override {
    auto run = std::make_unique<Run>(loop_, listener);
    last = run.get();
    tenants.push_back(request.tenant);
    prompts.push_back(request.prompt);
    logprobs = request.logprobs;
    prompt_logprobs = request.prompt_logprobs;
    stop_ids = request.stop_ids;
    allowed_ids = request.allowed_ids;
    bad_ids = request.bad_ids;
    grammar = request.grammar;
    run->later([this, run = run.get(), prompt = request.prompt, scores = request.prompt_logprobs] {
      run->listener->on_start({});
      if (scores) tell(*run, prompt, *scores);
      if (on_begin) return on_begin(*run);
      run->say(reply);
      run->end(engine::StopReason::kLength);
    });
    return run;
  }

  // Each id of the prompt after the first, with the ids after it as the likelier ones.
  static void tell(Run& run, std::span<const engine::TokenId> prompt, std::size_t others) {
    std::vector<engine::SampledToken> told;
    for (const engine::TokenId id : prompt) {
      engine::SampledToken token{.id = id};
      if (!told.empty()) token.logprob = -2;
      for (std::size_t i = 1; i <= others && !told.empty(); ++i)
        token.best.push_back({id + static_cast<engine::TokenId>(i), -0.25F * static_cast<float>(i)});
      told.push_back(token);
    }
    run.listener->on_prompt(told);
  }

  engine::Capabilities capable{.name = "scripted", .context_tokens = 1 << 20, .grammars = {}};
  std::vector<engine::TokenId> reply = {70, 71, 72};
  std::function<void(Run&)> on_begin;  // instead of the reply
  Run* last = nullptr;
  std::vector<std::string> tenants;
  std::vector<std::vector<engine::TokenId>> prompts;
  std::optional<std::size_t> logprobs;  // that the last request asked for
  std::optional<std::size_t> prompt_logprobs;
  std::vector<engine::TokenId> stop_ids;  // of the last request
  std::vector<engine::TokenId> allowed_ids;
  std::vector<std::vector<engine::TokenId>> bad_ids;
  engine::Grammar grammar;  // of the last request

 private:
  net::Loop& loop_;
};

inline const std::shared_ptr<const core::Model>& folder_model() {
  static const auto kModel = core::Model::load({.path = kSmallFolder}).value();
  return kModel;
}

struct ScriptedGateway {
  explicit ScriptedGateway(gateway::ServiceOptions options = {}, bool has_keys = false, net::ServerOptions http = {},
                           std::shared_ptr<const core::Model> of = folder_model())
      : kept(store, spans::HashKey{1, 2, 3}), engine(loop), model(std::move(of)), workers(std::in_place, 2) {
    parts = parts_of(std::move(options), has_keys);
    service = std::make_unique<gateway::Service>(loop, parts);
    http.admit = [this](net::ServerRequest& request) { return service->admit(request); };
    http.answered = [this](const auto& request, const auto& answered) { service->answered(request, answered); };
    http.explain = gateway::Service::explain;
    server = std::move(net::Server::make(loop, std::move(http), [this](net::Exchange exchange) {
               service->handle(std::move(exchange));
             })).value();
    client = net::Client::make(loop, {}).value();
  }
  gateway::ServiceParts parts_of(gateway::ServiceOptions options, bool has_keys) {
    gateway::ServiceParts made;
    made.models = {{.name = "small", .model = model, .serving = &engine, .is_up = [this] { return engine_is_up; }}};
    made.spans = &kept;
    if (options.hosts.empty()) options.hosts = {"127.0.0.1"};
    if (options.log == gateway::ServiceOptions::Log::kNone) options.log = gateway::ServiceOptions::Log::kJson;
    made.options = std::move(options);
    make_repeatable(made);
    made.local_time = [this] { return now; };
    if (has_keys) {
      made.tenant_of = [](std::string_view secret) -> std::optional<std::string> {
        if (secret == "secret-of-ann") return "ann";
        return secret == "secret-of-bob" ? std::optional<std::string>("bob") : std::nullopt;
      };
    }
    made.log = [this](std::string_view line) {
      const std::lock_guard lock(log_mutex);
      log += line;
    };
    made.page = [](std::string_view nonce) { return "page " + std::string(nonce); };
    made.shared = gateway::Service::share();
    made.workers = &*workers;
    return made;
  }

  ScriptedGateway(const ScriptedGateway&) = delete;
  ScriptedGateway& operator=(const ScriptedGateway&) = delete;
  ~ScriptedGateway() {
    client.reset();
    server.reset();
    service.reset();
  }

  std::unique_ptr<net::Call> begin(const std::string& method, const std::string& path, const std::string& body,
                                   std::optional<Answer>& answer, net::Headers headers = {}) {
    return testing::begin(*client, loop,
                          {.method = method, .url = server->url() + path, .headers = std::move(headers), .body = body},
                          answer);
  }
  Answer wait(std::optional<Answer>& answer) { return testing::wait(loop, answer); }
  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             net::Headers headers = {}) {
    std::optional<Answer> answer;
    const auto call = begin(method, path, body, answer, std::move(headers));
    return wait(answer);
  }
  Answer post(const std::string& path, const std::string& body, net::Headers headers = {}) {
    return ask("POST", path, body, std::move(headers));
  }
  std::string raw(const std::string& bytes, const std::string& until = "") {
    return raw_exchange(loop, server->port(), {bytes}, until);
  }

  net::Loop loop;
  spans::MemoryStore store;
  spans::Spans kept;
  Scripted engine;
  std::shared_ptr<const core::Model> model;
  core::LocalTime now{2026, 3, 14, 15, 9, 26};  // that templates show; change it while no request runs
  std::optional<Workers> workers;
  bool engine_is_up = true;
  std::mutex log_mutex;
  std::string log;
  gateway::ServiceParts parts;  // for further services
  std::unique_ptr<gateway::Service> service;
  std::unique_ptr<net::Server> server;
  std::unique_ptr<net::Client> client;
};

}  // namespace rondo::testing
