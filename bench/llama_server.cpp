#include "bench/llama_server.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "net/sse.h"

extern char** environ;

namespace rondo::bench {
namespace {

[[noreturn]] void give_up(const std::string& sentence) {
  std::fprintf(stderr, "llama-server: %s\n", sentence.c_str());
  std::exit(1);
}

// One request; its handler lives until the next one of the same agent.
class Completion final : public net::StreamHandler {
 public:
  Completion(std::function<void()> sampled, std::function<void(LlamaServer::Ids, std::size_t)> done)
      : sampled_(std::move(sampled)), done_(std::move(done)) {}

  void on_head(int status, const net::Headers&) override {
    if (status != 200) give_up("answers with status " + std::to_string(status));
  }
  void on_data(std::string_view bytes) override {
    const Status read = reader_.read(bytes, [&](const net::SseEvent& event) { take(event.data); });
    if (!read.ok()) give_up(read.error().to_string());
  }
  void on_end(const net::Ending& ending) override {
    if (!ending.status.ok()) give_up(ending.status.error().to_string());
    done_(std::move(ids_), prefilled_);
  }

  std::unique_ptr<net::Call> call;

 private:
  void take(std::string_view data) {
    const auto parsed = json::parse(data);
    if (!parsed.ok()) return;
    if (const json::Value* tokens = parsed.value().find("tokens"); tokens != nullptr && tokens->is_array()) {
      if (!tokens->as_array().empty()) sampled_();
      for (const json::Value& id : tokens->as_array())
        ids_.push_back(static_cast<engine::TokenId>(id.to_int64().value_or(-1)));
    }
    const json::Value* timings = parsed.value().find("timings");
    const json::Value* count = timings != nullptr ? timings->find("prompt_n") : nullptr;
    if (count != nullptr) prefilled_ = static_cast<std::size_t>(count->to_int64().value_or(0));
  }

  std::function<void()> sampled_;
  std::function<void(LlamaServer::Ids, std::size_t)> done_;
  net::SseReader reader_;
  LlamaServer::Ids ids_;
  std::size_t prefilled_ = 0;
};

}  // namespace

struct LlamaServer::State {
  net::Loop loop;
  std::unique_ptr<net::Client> client;
  std::vector<std::unique_ptr<Completion>> running;
  std::string url;
  pid_t process = 0;
};

LlamaServer::LlamaServer(const LlamaServerOptions& options) : state_(std::make_unique<State>()) {
  static int port = 18430;
  ++port;
  std::vector<std::string> words = {options.program,
                                    "-m",
                                    options.model,
                                    "--host",
                                    "127.0.0.1",
                                    "--port",
                                    std::to_string(port),
                                    "-np",
                                    std::to_string(options.parallel),
                                    "-c",
                                    std::to_string(options.parallel * options.context_tokens),
                                    "-t",
                                    std::to_string(options.threads),
                                    "-tb",
                                    std::to_string(options.threads),
                                    "-ngl",
                                    std::to_string(options.gpu_layers),
                                    "-fa",
                                    options.flash_attention ? "on" : "off",
                                    "-b",
                                    "512",
                                    "-ub",
                                    "512",
                                    "--log-disable",
                                    "--no-webui"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  const int failed =
      posix_spawn(&state_->process, options.program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) give_up("can't be started: " + options.program);
  state_->url = "http://127.0.0.1:" + std::to_string(port);
  state_->running.resize(options.parallel);
  auto client = net::Client::make(state_->loop, {});
  if (!client.ok()) give_up(client.error().to_string());
  state_->client = std::move(client).value();

  int tries = 0;
  std::unique_ptr<net::Call> call;
  net::Timer timer;
  std::function<void()> ask = [&] {
    if (++tries > 300) give_up("does not answer");
    call = state_->client->fetch({.url = state_->url + "/health"}, [&](const Result<net::Response>& response) {
      if (response.ok() && response.value().status == 200) return state_->loop.stop();
      timer = state_->loop.after(net::Milliseconds(100), ask);
    });
  };
  state_->loop.post(ask);
  state_->loop.run();
}

LlamaServer::~LlamaServer() {
  state_->running.clear();
  state_->client.reset();
  kill(state_->process, SIGKILL);
  waitpid(state_->process, nullptr, 0);
}

net::Loop& LlamaServer::loop() { return state_->loop; }

void LlamaServer::complete(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> sampled,
                           std::function<void(Ids, std::size_t)> done) {
  json::Array ids;
  for (const engine::TokenId id : prompt) ids.push_back(static_cast<std::int64_t>(id));
  const json::Value body = json::Object{{"prompt", std::move(ids)}, {"n_predict", static_cast<std::int64_t>(tokens)},
                                        {"temperature", 0.0},       {"samplers", json::Array{"temperature"}},
                                        {"ignore_eos", true},       {"cache_prompt", true},
                                        {"return_tokens", true},    {"stream", true}};
  net::Loop& loop = state_->loop;
  auto completion =
      std::make_unique<Completion>(std::move(sampled), [&loop, done = std::move(done)](Ids ids, std::size_t prefilled) {
        loop.post([done, ids = std::move(ids), prefilled] { done(ids, prefilled); });
      });
  completion->call = state_->client->stream({.method = "POST",
                                             .url = state_->url + "/completion",
                                             .headers = {{"Content-Type", "application/json"}},
                                             .body = json::to_compact(body)},
                                            *completion);
  state_->running[agent] = std::move(completion);
}

}  // namespace rondo::bench
