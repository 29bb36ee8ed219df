// Agents on the embedded engine, beside llama-server built from the same source: prompts decoded, wall time, time to the
// first token.
//
// Each agent has 20 turns: a tool's result comes in, the model writes reasoning and an answer.  `keeps`: the template keeps
// all of it, and both engines are sent the same row of ids.  `drops`: the template drops reasoning from earlier turns; a
// client that renders sends llama-server a prompt without it, rondo goes on from the ids that were sampled.
//
//   bench_engine [--quick] [--agents N] [--server PATH]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/llama_server.h"
#include "engine/embedded.h"
#include "engine/tiny_model.h"
#include "net/loop.h"

namespace {

using namespace rondo;
using engine::TokenId;
using Ids = std::vector<TokenId>;
using Clock = std::chrono::steady_clock;

struct Shape {
  std::size_t agents = 1;
  std::size_t turns = 20;
  std::size_t head = 400;      // system text and tools, the same for all agents
  std::size_t result = 16;     // what comes in each turn
  std::size_t reasoning = 16;  // of what the model writes
  std::size_t answer = 80;
  bool drops_reasoning = false;
};

struct Measured {
  double wall_s = 0;
  std::size_t prefilled = 0;
  std::size_t sampled = 0;
  std::vector<double> first_token_s;

  [[nodiscard]] double first_token_p95() const {
    std::vector<double> sorted = first_token_s;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() * 95 / 100];
  }
};

// One turn on an engine: calls `first` with the first id and `done` with all of them and how many ids were prefilled.
using Turn = std::function<void(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> first,
                                std::function<void(Ids, std::size_t)> done)>;

Ids made_ids(std::size_t count, std::uint64_t seed) {
  engine::Random random(seed);
  Ids ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(300 + random.next() % 30000);  // behind control and byte tokens
  return ids;
}

// Plays all agents at once; `is_rendered`: prompts are without the reasoning of earlier turns.
Measured play(net::Loop& loop, const Shape& shape, bool is_rendered, const Turn& turn) {
  struct Agent {
    Ids kept;  // what the next prompt begins with
    std::size_t turn = 0;
  };
  std::vector<Agent> agents(shape.agents);
  Measured measured;
  std::size_t running = shape.agents;
  const auto begin = Clock::now();
  const auto since = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };
  std::function<void(std::size_t)> next = [&](std::size_t index) {
    Agent& agent = agents[index];
    if (agent.turn == shape.turns) {
      if (--running == 0) loop.stop();
      return;
    }
    Ids prompt = agent.kept;
    const Ids result = made_ids(shape.result, 1000 * (index + 1) + agent.turn);
    prompt.insert(prompt.end(), result.begin(), result.end());
    const auto asked = Clock::now();
    turn(
        index, prompt, shape.reasoning + shape.answer, [&, asked] { measured.first_token_s.push_back(since(asked)); },
        [&, index, prompt](const Ids& sampled, std::size_t prefilled) {
          measured.prefilled += prefilled;
          measured.sampled += sampled.size();
          Agent& done = agents[index];
          done.kept = prompt;
          const auto from = sampled.begin() + static_cast<std::ptrdiff_t>(is_rendered ? shape.reasoning : 0);
          done.kept.insert(done.kept.end(), from, sampled.end());
          ++done.turn;
          next(index);
        });
  };
  for (std::size_t i = 0; i < agents.size(); ++i) {
    agents[i].kept = made_ids(shape.head, 1);
    loop.post([&next, i] { next(i); });
  }
  loop.run();
  measured.wall_s = since(begin);
  return measured;
}

// --- rondo ------------------------------------------------------------------------------------------------------------

struct Collecting final : engine::Listener {
  void on_start(const engine::Start&) override {}
  void on_tokens(std::size_t, std::span<const engine::SampledToken> tokens) override {
    if (ids.empty()) first();
    for (const engine::SampledToken& token : tokens) ids.push_back(token.id);
  }
  void on_end(const engine::Outcome& outcome) override {
    if (outcome.error) std::fprintf(stderr, "rondo: %s\n", outcome.error->to_string().c_str());
    done(ids, outcome.usage.prompt_tokens - outcome.usage.cached_tokens.value_or(0));
  }
  std::function<void()> first;
  std::function<void(Ids, std::size_t)> done;
  Ids ids;
};

Measured play_rondo(const std::string& model, const Shape& shape, std::size_t context) {
  net::Loop loop;
  auto loaded = engine::Embedded::load(model, {.llama = {.context_tokens = context}, .parallel = shape.agents});
  if (!loaded.ok()) {
    std::fprintf(stderr, "rondo: %s\n", loaded.error().to_string().c_str());
    std::exit(1);
  }
  const auto serving = loaded.value()->serve(loop);
  std::vector<std::unique_ptr<Collecting>> listeners(shape.agents);
  std::vector<std::unique_ptr<engine::Submission>> running(shape.agents);
  return play(loop, shape, false,
              [&](std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> first,
                  std::function<void(Ids, std::size_t)> done) {
                auto listener = std::make_unique<Collecting>();
                listener->first = std::move(first);
                // The listener ends itself: what follows is posted.
                listener->done = [&loop, done = std::move(done)](Ids ids, std::size_t prefilled) {
                  loop.post([done, ids = std::move(ids), prefilled] { done(ids, prefilled); });
                };
                running[agent] = nullptr;
                listeners[agent] = std::move(listener);
                running[agent] = serving->submit({.prompt = prompt, .max_tokens = tokens, .shared_heads = {shape.head}},
                                                 *listeners[agent]);
              });
}

// --- llama-server -----------------------------------------------------------------------------------------------------

Measured play_server(const std::string& program, const std::string& model, const Shape& shape, std::size_t context) {
  bench::LlamaServer server(program, model, shape.agents, context);
  return play(server.loop(), shape, shape.drops_reasoning,
              [&](std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> first,
                  std::function<void(Ids, std::size_t)> done) {
                server.complete(agent, prompt, tokens, std::move(first), std::move(done));
              });
}

// --- the table --------------------------------------------------------------------------------------------------------

void print(const char* memory, const Shape& shape, const Measured& ours, const Measured* theirs) {
  std::printf("%-15s %2zu agents, %-5s  prefilled %6zu", memory, shape.agents,
              shape.drops_reasoning ? "drops" : "keeps", ours.prefilled);
  if (theirs != nullptr) std::printf(" / %6zu", theirs->prefilled);
  std::printf("  wall %6.2f s", ours.wall_s);
  if (theirs != nullptr) std::printf(" / %6.2f s = %.2f", theirs->wall_s, ours.wall_s / theirs->wall_s);
  std::printf("  first token p95 %5.0f ms", ours.first_token_p95() * 1e3);
  if (theirs != nullptr) {
    std::printf(" / %5.0f ms = %.2f", theirs->first_token_p95() * 1e3,
                ours.first_token_p95() / theirs->first_token_p95());
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  bool is_quick = false;
  std::string server =
      std::getenv("RONDO_BENCH_LLAMA_SERVER") != nullptr ? std::getenv("RONDO_BENCH_LLAMA_SERVER") : "";
  std::vector<std::size_t> agents = {1, 4, 8};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") is_quick = true;
    if (word == "--server" && i + 1 < argc) server = argv[++i];
    if (word == "--agents" && i + 1 < argc) agents = {std::strtoull(argv[++i], nullptr, 10)};
  }
  if (!engine::has_llama_cpp()) {
    std::printf("engine: this build has no embedded engine\n");
    return 0;
  }
  if (server.empty()) std::printf("engine: no llama-server, rondo's own figures alone\n");
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("engine: no vocabulary, RONDO_FIXTURES is not set\n");
    return 0;
  }
  const std::string vocabulary = std::string(fixtures) + "/vocab/ggml-vocab-llama-spm.gguf";
  const std::string path = (std::filesystem::temp_directory_path() / "rondo-bench-engine.gguf").string();
  std::printf("a random model per kind of memory; rondo / llama-server\n");
  for (const char* architecture : {"qwen3", "gemma3", "mamba2", "qwen35"}) {
    engine::TinyModel model;
    model.architecture = architecture;
    model.vocabulary = vocabulary;
    model.width = is_quick ? 128 : 192;
    model.layers = is_quick ? 2 : 4;
    model.window_tokens = 256;
    model.context_tokens = 32768;
    if (const auto written = engine::write_tiny_model(model, path); !written.ok()) {
      std::fprintf(stderr, "%s\n", written.error().to_string().c_str());
      return 1;
    }
    for (const std::size_t count : agents) {
      for (const bool drops : {false, true}) {
        const Shape shape{.agents = count, .turns = is_quick ? 6U : 20U, .drops_reasoning = drops};
        constexpr std::size_t kContext = 8192;
        const Measured ours = play_rondo(path, shape, kContext);
        if (server.empty()) {
          print(architecture, shape, ours, nullptr);
          continue;
        }
        const Measured theirs = play_server(server, path, shape, kContext);
        print(architecture, shape, ours, &theirs);
      }
    }
  }
  std::filesystem::remove(path);
  return 0;
}
