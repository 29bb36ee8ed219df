// What an adapter costs for each token: processor time of the one thread on which 1,000 streams are read, the system's
// included.
//
//   bench_remote [STREAMS [TOKENS]]     1,000 streams of 200 tokens by default
//
// The servers are a thread of their own, whose time does not count.  They write one event for each token, in the words
// of each kind of server, to all streams in turn.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/server.h"
#include "remote/adapter.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::size_t kPrompt = 64;

// Processor time of this thread.
struct Cost {
  double own = 0;
  double system = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Cost cost_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

using Events = std::function<std::string(std::size_t i, std::size_t count)>;

std::string vllm(std::size_t i, std::size_t count) {
  if (i == count)
    return R"({"choices":[],"usage":{"prompt_tokens":64,"completion_tokens":)" + std::to_string(count) + "}}";
  if (i > count) return "[DONE]";
  const std::string finish = i + 1 == count ? "\"length\"" : "null";
  return R"({"request_id":"generate-tokens-r1","model":"m","choices":[{"index":0,"token_ids":[)" +
         std::to_string(1000 + i) + R"(],"logprobs":null,"finish_reason":)" + finish + R"(,"stop_reason":null}]})";
}

std::string sglang(std::size_t i, std::size_t count) {
  if (i >= count) return "[DONE]";
  std::string ids;
  for (std::size_t k = 0; k <= i; ++k) ids += (k == 0 ? "" : ", ") + std::to_string(1000 + k);
  const std::string finish = i + 1 == count ? R"({"type":"length","length":200})" : "null";
  return R"({"text": ")" + std::string(4 * i, 'x') + R"(", "output_ids": [)" + ids +
         R"(], "meta_info": {"id": "r1", "finish_reason": )" + finish +
         R"(, "prompt_tokens": 64, "completion_tokens": )" + std::to_string(i + 1) +
         R"(, "cached_tokens": 0, "weight_version": "default", "e2e_latency": 0.1}})";
}

std::string llama(std::size_t i, std::size_t count) {
  if (i >= count)
    return R"({"index":0,"content":"","tokens":[],"id_slot":0,"stop":true,"stop_type":"limit","tokens_predicted":)" +
           std::to_string(count) + R"(,"tokens_evaluated":64,"timings":{"cache_n":0}})";
  return R"({"index":0,"content":" word","tokens":[)" + std::to_string(1000 + i) +
         R"(],"stop":false,"id_slot":-1,"tokens_predicted":)" + std::to_string(i + 1) +
         R"(,"tokens_evaluated":64,"timings":{"cache_n":0,"prompt_n":64,"prompt_ms":1.5,"predicted_n":3,"predicted_ms":10.5}})";
}

// Answers all streams at the same pace, when all have come.
class Engine {
 public:
  Engine(std::size_t streams, std::size_t tokens, Events events, std::size_t last) {
    auto made = net::Server::make(loop_, {.connections = streams + 16}, [=, this](net::Exchange exchange) {
      exchange.start(200, {{"Content-Type", "text/event-stream"}});
      waiting_.push_back(std::move(exchange));
      if (waiting_.size() == streams) answer(0, tokens, events, last);
    });
    if (!made.ok()) std::abort();
    server_ = std::move(made).value();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Engine() {
    loop_.stop();
    thread_.join();
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::string url() const { return server_->url(); }

 private:
  void answer(std::size_t i, std::size_t tokens, const Events& events, std::size_t last) {
    const std::string event = "data: " + events(i, tokens) + "\n\n";
    for (net::Exchange& exchange : waiting_) {
      exchange.write(event);
      if (i == last) exchange.finish();
    }
    if (i == last) return waiting_.clear();
    timer_ = loop_.after(net::Milliseconds(4), [=, this] { answer(i + 1, tokens, events, last); });
  }

  net::Loop loop_;
  net::Timer timer_;
  std::unique_ptr<net::Server> server_;
  std::vector<net::Exchange> waiting_;
  std::thread thread_;
};

struct Counter final : engine::Listener {
  explicit Counter(std::function<void()> on_over) : over(std::move(on_over)) {}
  void on_start(const engine::Start& /*start*/) override {}
  void on_tokens(std::size_t /*choice*/, std::span<const engine::SampledToken> some) override { tokens += some.size(); }
  void on_end(const engine::Outcome& outcome) override {
    failed = outcome.error.has_value();
    over();
  }
  std::function<void()> over;
  std::size_t tokens = 0;
  bool failed = false;
};

void measure(const char* name, remote::ServerKind kind, const char* path, std::size_t streams, std::size_t tokens,
             const Events& events, std::size_t last) {
  Engine engine(streams, tokens, events, last);
  net::Loop loop;
  auto client = net::Client::make(loop, {.connections_per_origin = streams});
  if (!client.ok()) return;
  remote::ServerInfo info;
  info.kind = kind;
  info.url = engine.url();
  info.model = "m";
  info.path = path;
  remote::Adapter adapter(loop, *client.value(), info);
  std::size_t open = streams;
  std::vector<std::unique_ptr<Counter>> counters;
  std::vector<std::unique_ptr<engine::Submission>> running;
  engine::Request request;
  for (std::size_t i = 0; i < kPrompt; ++i) request.prompt.change().push_back(static_cast<engine::TokenId>(i + 5));
  request.max_tokens = tokens;
  const Cost start = cost_so_far();
  for (std::size_t i = 0; i < streams; ++i) {
    counters.push_back(std::make_unique<Counter>([&] {
      if (--open == 0) loop.stop();
    }));
    running.push_back(adapter.submit(request, *counters.back()));
  }
  loop.run();
  const Cost end = cost_so_far();
  std::size_t told = 0;
  std::size_t failed = 0;
  for (const auto& counter : counters) {
    told += counter->tokens;
    failed += counter->failed ? 1 : 0;
  }
  const double unit = 1e6 / static_cast<double>(told);
  std::printf("remote: %-26s %zu streams, %zu tokens, %zu failed: %.2f us for each token, and %.2f of the system's\n",
              name, streams, told, failed, (end.own - start.own) * unit, (end.system - start.system) * unit);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t streams = 1000;
  std::size_t tokens = 200;
  if (argc > 1 && std::atoi(argv[1]) > 0) streams = static_cast<std::size_t>(std::atoi(argv[1]));
  if (argc > 2 && std::atoi(argv[2]) > 0) tokens = static_cast<std::size_t>(std::atoi(argv[2]));
  using remote::ServerKind;
  measure("vLLM", ServerKind::kVllm, "/inference/v1/generate", streams, tokens, vllm, tokens + 1);
  measure("SGLang, all ids each time", ServerKind::kSglang, "/generate", streams, tokens, sglang, tokens);
  measure("llama-server", ServerKind::kLlamaServer, "/completion", streams, tokens, llama, tokens);
  return 0;
}
