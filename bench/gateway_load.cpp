// Load for gateway_bench.py, and an engine that serves the chat API for gateways that pass text on.
//
//   gateway_load engine PORT DELAY_MS TOKENS       serves; a line says when it does
//   gateway_load latency URL FILE COUNT            the request in FILE, one after the other: us
//   gateway_load json FILE COUNT                   what reading that takes: us
//   gateway_load streams URL FILE STREAMS          at once: the time between events of a stream, ms
//
// Results are one line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "json/parse.h"
#include "net/client.h"
#include "net/server.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file
using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double at_share(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::string file_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- The engine --------------------------------------------------------------------------------------------------------

// An answer of `left` words, one for each delay.
struct Answering : std::enable_shared_from_this<Answering> {
  Answering(net::Loop& on, net::Exchange from) : loop(on), exchange(std::move(from)) {}
  void step() {
    if (exchange.is_gone()) return;
    if (left == 0) {
      exchange.write(
          "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{"
          "\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
      return exchange.finish();
    }
    --left;
    exchange.write(
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n");
    timer = loop.after(delay, [self = shared_from_this()] { self->step(); });
  }
  net::Loop& loop;
  net::Exchange exchange;
  net::Milliseconds delay{0};
  int left = 0;
  net::Timer timer;
};

int engine(std::uint16_t port, int delay_ms, int tokens) {
  net::Loop loop;
  const auto handle = [&](net::Exchange exchange) {
    const std::string& path = exchange.request().path;
    if (path != "/v1/chat/completions")
      return exchange.reply(200, {{"content-type", "application/json"}},
                            R"({"object":"list","data":[{"id":"m","object":"model"}],"status":"ok"})");
    if (exchange.request().body.find("\"stream\": true") == std::string::npos &&
        exchange.request().body.find("\"stream\":true") == std::string::npos) {
      return exchange.reply(
          200, {{"content-type", "application/json"}},
          R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":)"
          R"("assistant","content":"a few words"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,)"
          R"("completion_tokens":3,"total_tokens":12}})");
    }
    auto answering = std::make_shared<Answering>(loop, std::move(exchange));
    answering->delay = net::Milliseconds(delay_ms);
    answering->left = tokens;
    answering->exchange.start(200, {{"content-type", "text/event-stream"}});
    answering->step();
  };
  auto server = net::Server::make(loop, {.port = port}, handle);
  if (!server.ok()) return 1;
  std::printf("%s\n", server.value()->url().c_str());
  std::fflush(stdout);
  loop.run();
  return 0;
}

// --- The load ----------------------------------------------------------------------------------------------------------

int latency(const std::string& url, const std::string& body, int count) {
  net::Loop loop;
  auto client = net::Client::make(loop, {});
  std::vector<double> times;
  int failed = 0;
  const int warm = std::max(3, count / 10);
  for (int i = 0; i < count + warm; ++i) {
    const auto start = Clock::now();
    const auto call = client.value()->fetch(
        {.method = "POST", .url = url, .headers = {{"content-type", "application/json"}}, .body = body},
        [&](const Result<net::Response>& response) {
          failed += response.ok() && response.value().status == 200 ? 0 : 1;
          if (response.ok() && response.value().status != 200 && failed == 1)
            std::fprintf(stderr, "%d %s\n", response.value().status, response.value().body.substr(0, 300).c_str());
          loop.stop();
        });
    loop.run();
    if (i >= warm) times.push_back(us_since(start));
  }
  const double best = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  std::printf("{\"best\": %.1f, \"p50\": %.1f, \"p99\": %.1f, \"failed\": %d}\n", best, at_share(times, 0.5),
              at_share(times, 0.99), failed);
  return failed == 0 ? 0 : 1;
}

int read_json(const std::string& text, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = Clock::now();
    const auto value = json::parse(text);
    if (!value.ok()) return 1;
    times.push_back(us_since(start));
  }
  std::printf("{\"p50\": %.1f}\n", at_share(times, 0.5));
  return 0;
}

struct Stream final : net::StreamHandler {
  void on_head(int status, const net::Headers&) override { is_fine = status == 200; }
  void on_data(std::string_view bytes) override {
    if (bytes.find("\"content\"") == std::string_view::npos && bytes.find("token_ids") == std::string_view::npos)
      return;
    if (events > 0) gaps->push_back(us_since(last) / 1000);
    last = Clock::now();
    ++events;
  }
  void on_end(const net::Ending& ending) override {
    is_fine = is_fine && ending.status.ok();
    done();
  }
  std::vector<double>* gaps = nullptr;
  Clock::time_point last;
  std::size_t events = 0;
  bool is_fine = false;
  std::function<void()> done;
};

int streams(const std::string& url, const std::string& body, int count) {
  net::Loop loop;
  auto client = net::Client::make(loop, {.connections_per_origin = static_cast<std::size_t>(count) + 8,
                                         .waiting_per_origin = static_cast<std::size_t>(count) + 8});
  std::vector<double> gaps;
  std::vector<std::unique_ptr<Stream>> all;
  std::vector<std::unique_ptr<net::Call>> calls;
  std::vector<net::Timer> timers;
  int left = count;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Stream>());
    all.back()->gaps = &gaps;
    all.back()->done = [&] {
      if (--left == 0) loop.stop();
    };
    // Not all in the same moment: a thousand clients do not begin together.
    timers.push_back(loop.after(net::Milliseconds(i * 2000 / count), [&, stream = all.back().get()] {
      calls.push_back(client.value()->stream(
          {.method = "POST", .url = url, .headers = {{"content-type", "application/json"}}, .body = body}, *stream));
    }));
  }
  loop.run();
  std::size_t events = 0;
  int failed = 0;
  for (const auto& stream : all) {
    events += stream->events;
    failed += stream->is_fine ? 0 : 1;
  }
  const double most = gaps.empty() ? 0 : *std::max_element(gaps.begin(), gaps.end());
  std::printf("{\"events\": %zu, \"p50\": %.2f, \"p99\": %.2f, \"max\": %.2f, \"failed\": %d}\n", events,
              at_share(gaps, 0.5), at_share(gaps, 0.99), most, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "engine" && argc == 5)
    return engine(static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3]), std::atoi(argv[4]));
  if (mode == "latency" && argc == 5) return latency(argv[2], file_text(argv[3]), std::atoi(argv[4]));
  if (mode == "json" && argc == 4) return read_json(file_text(argv[2]), std::atoi(argv[3]));
  if (mode == "streams" && argc == 5) return streams(argv[2], file_text(argv[3]), std::atoi(argv[4]));
  std::fprintf(stderr, "gateway_load engine|latency|streams ...: see the source\n");
  return 2;
}
