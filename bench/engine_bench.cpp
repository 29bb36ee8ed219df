// The embedded engine beside llama-server built from the same source, with the same model and options, in one run.
//
// `agents`: prompts decoded, wall time, time to the first token.  Each agent has 20 turns: a tool's result comes in, the model
// writes reasoning and an answer.  `keeps`: the template keeps all of it, and both engines are sent the same row of ids.
// `drops`: the template drops reasoning from earlier turns; a client that renders sends llama-server a prompt without it, rondo
// goes on from the ids that were sampled.
// `decode`: short prompts and long answers, which is the rate of decoding alone.
// `beside`: three streams run while a prompt of 16,384 ids comes in; the longest time between two ids of a stream, in batches
// of that prompt.
//
//   bench_engine [--quick] [--agents N] [--only agents|decode|beside] [--memory ARCHITECTURE] [--server PATH]
//                [--threads N] [--gpu-layers N] [--flash-attention] [--width N] [--layers N]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// What both engines are given.
struct Setup {
  std::string server;  // llama-server; "": rondo alone
  std::string model;
  int threads = 1;
  int gpu_layers = 0;
  bool flash_attention = false;
};

constexpr std::size_t kBatch = 512;

struct Measured {
  double wall_s = 0;
  std::size_t prefilled = 0;
  std::size_t sampled = 0;
  std::vector<double> first_token_s;
  double last_first_s = 0;  // when the last of the first tokens came, from the beginning

  [[nodiscard]] double first_token_p95() const {
    std::vector<double> sorted = first_token_s;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[(sorted.size() * 95 + 99) / 100 - 1];  // the nearest rank
  }
};

// One turn on an engine: calls `sampled` whenever ids arrive and `done` with all of them and how many ids were prefilled.
using Turn = std::function<void(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> sampled,
                                std::function<void(Ids, std::size_t)> done)>;

Ids made_ids(std::size_t count, std::uint64_t seed) {
  engine::Random random(seed);
  Ids ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(300 + random.next() % 30000);  // behind control and byte tokens
  return ids;
}

double since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

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
        index, prompt, shape.reasoning + shape.answer,
        [&, asked, is_first = true]() mutable {
          if (!std::exchange(is_first, false)) return;
          measured.first_token_s.push_back(since(asked));
          measured.last_first_s = since(begin);
        },
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

// Three streams, and behind their first tokens a long prompt: the longest time between two ids of a stream until the long
// prompt's first id, in batches of it.
struct Beside {
  double prefill_s = 0;
  double longest_gap_s = 0;

  [[nodiscard]] double gap_batches(std::size_t prompt) const {
    return longest_gap_s / (prefill_s / (static_cast<double>(prompt) / kBatch));
  }
};

Beside play_beside(net::Loop& loop, std::size_t prompt_ids, const Turn& turn) {
  constexpr std::size_t kStreams = 3;
  constexpr std::size_t kLong = 4000;  // more ids than a stream gets while the prompt is decoded
  Beside measured;
  std::vector<Clock::time_point> last(kStreams);
  std::size_t started = 0;
  std::optional<Clock::time_point> asked;
  const auto ask = [&] {
    asked = Clock::now();
    turn(
        kStreams, made_ids(prompt_ids, 7), 1,
        [&] {
          measured.prefill_s = since(*asked);
          loop.stop();
        },
        [](const Ids&, std::size_t) {});
  };
  const auto stream = [&](std::size_t index) {
    turn(
        index, made_ids(64, 100 + index), kLong,
        [&, index, is_first = true]() mutable {
          const auto now = Clock::now();
          const double gap_s = std::chrono::duration<double>(now - std::exchange(last[index], now)).count();
          if (std::exchange(is_first, false)) {
            if (++started == kStreams) loop.post(ask);
          } else if (asked) {
            measured.longest_gap_s = std::max(measured.longest_gap_s, gap_s);
          }
        },
        [](const Ids&, std::size_t) {});
  };
  for (std::size_t i = 0; i < kStreams; ++i) loop.post([&stream, i] { stream(i); });
  loop.run();
  return measured;
}

// --- rondo ------------------------------------------------------------------------------------------------------------

struct Collecting final : engine::Listener {
  void on_start(const engine::Start&) override {}
  void on_tokens(std::size_t, std::span<const engine::SampledToken> tokens) override {
    sampled();
    for (const engine::SampledToken& token : tokens) ids.push_back(token.id);
  }
  void on_end(const engine::Outcome& outcome) override {
    if (outcome.error) std::fprintf(stderr, "rondo: %s\n", outcome.error->to_string().c_str());
    done(ids, outcome.usage.prompt_tokens - outcome.usage.cached_tokens.value_or(0));
  }
  std::function<void()> sampled;
  std::function<void(Ids, std::size_t)> done;
  Ids ids;
};

class Rondo {
 public:
  Rondo(const Setup& setup, std::size_t parallel, std::size_t context, std::size_t head) : head_(head) {
    auto loaded = engine::Embedded::load(setup.model, {.llama = {.context_tokens = context,
                                                                 .batch_tokens = kBatch,
                                                                 .threads = setup.threads,
                                                                 .gpu_layers = setup.gpu_layers,
                                                                 .flash_attention = setup.flash_attention},
                                                       .parallel = parallel});
    if (!loaded.ok()) {
      std::fprintf(stderr, "rondo: %s\n", loaded.error().to_string().c_str());
      std::exit(1);
    }
    embedded_ = std::move(loaded).value();
    serving_ = embedded_->serve(loop_);
    listeners_.resize(parallel);
    running_.resize(parallel);
  }

  [[nodiscard]] net::Loop& loop() { return loop_; }

  void complete(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> sampled,
                std::function<void(Ids, std::size_t)> done) {
    auto listener = std::make_unique<Collecting>();
    listener->sampled = std::move(sampled);
    // The listener ends itself: what follows is posted.
    listener->done = [this, done = std::move(done)](Ids ids, std::size_t prefilled) {
      loop_.post([done, ids = std::move(ids), prefilled] { done(ids, prefilled); });
    };
    running_[agent] = nullptr;
    listeners_[agent] = std::move(listener);
    engine::Request request{.prompt = prompt, .max_tokens = tokens};
    if (head_ != 0) request.shared_heads = {head_};
    running_[agent] = serving_->submit(std::move(request), *listeners_[agent]);
  }

 private:
  std::size_t head_;
  net::Loop loop_;
  std::unique_ptr<engine::Embedded> embedded_;
  std::unique_ptr<engine::Serving> serving_;
  std::vector<std::unique_ptr<Collecting>> listeners_;
  std::vector<std::unique_ptr<engine::Submission>> running_;
};

bench::LlamaServerOptions server_options(const Setup& setup, std::size_t parallel, std::size_t context) {
  return {.program = setup.server,
          .model = setup.model,
          .parallel = parallel,
          .context_tokens = context,
          .threads = setup.threads,
          .gpu_layers = setup.gpu_layers,
          .flash_attention = setup.flash_attention};
}

// An engine's function complete() as a turn.
template <typename Engine>
Turn turns_of(Engine& engine) {
  return [&engine](std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> sampled,
                   std::function<void(Ids, std::size_t)> done) {
    engine.complete(agent, prompt, tokens, std::move(sampled), std::move(done));
  };
}

// --- the table --------------------------------------------------------------------------------------------------------

std::string ratio(double ours, double theirs, bool has_peer, const char* format) {
  char text[64];
  std::string out;
  std::snprintf(text, sizeof text, format, ours);
  out += text;
  if (!has_peer) return out;
  std::snprintf(text, sizeof text, format, theirs);
  out += std::string(" / ") + text;
  std::snprintf(text, sizeof text, " = %.2f", ours / theirs);
  return out + text;
}

void compare_agents(const char* memory, const Setup& setup, const Shape& shape) {
  constexpr std::size_t kContext = 8192;
  Measured ours;
  Measured theirs;
  {
    Rondo rondo(setup, shape.agents, kContext, shape.head);
    ours = play(rondo.loop(), shape, false, turns_of(rondo));
  }
  const bool has_peer = !setup.server.empty();
  if (has_peer) {
    bench::LlamaServer server(server_options(setup, shape.agents, kContext));
    theirs = play(server.loop(), shape, shape.drops_reasoning, turns_of(server));
  }
  std::printf(
      "%-10s %2zu agents, %-5s  prefilled %s  wall, s %s  first token p95, ms %s\n", memory, shape.agents,
      shape.drops_reasoning ? "drops" : "keeps",
      ratio(static_cast<double>(ours.prefilled), static_cast<double>(theirs.prefilled), has_peer, "%.0f").c_str(),
      ratio(ours.wall_s, theirs.wall_s, has_peer, "%.2f").c_str(),
      ratio(ours.first_token_p95() * 1e3, theirs.first_token_p95() * 1e3, has_peer, "%.1f").c_str());
  std::fflush(stdout);
}

// Engines take turns, and the best of three rounds counts: what else runs on the machine only makes a round slower.
void compare_decoding(const char* memory, const Setup& setup, std::size_t agents, std::size_t answer) {
  constexpr std::size_t kContext = 2048;
  const Shape shape{.agents = agents, .turns = 1, .head = 32, .reasoning = 0, .answer = answer};
  const auto rate = [](const Measured& measured) {
    return static_cast<double>(measured.sampled) / (measured.wall_s - measured.last_first_s);
  };
  const bool has_peer = !setup.server.empty();
  double ours = 0;
  double theirs = 0;
  for (int round = 0; round < 3; ++round) {
    {
      Rondo rondo(setup, agents, kContext, 0);
      ours = std::max(ours, rate(play(rondo.loop(), shape, false, turns_of(rondo))));
    }
    if (!has_peer) continue;
    bench::LlamaServer server(server_options(setup, agents, kContext));
    theirs = std::max(theirs, rate(play(server.loop(), shape, false, turns_of(server))));
  }
  std::printf("%-10s %2zu streams decode, ids/s %s\n", memory, agents, ratio(ours, theirs, has_peer, "%.0f").c_str());
  std::fflush(stdout);
}

void compare_beside(const char* memory, const Setup& setup, std::size_t prompt) {
  const std::size_t context = prompt + 1024;
  Beside ours;
  Beside theirs;
  {
    Rondo rondo(setup, 4, context, 0);
    ours = play_beside(rondo.loop(), prompt, turns_of(rondo));
  }
  const bool has_peer = !setup.server.empty();
  if (has_peer) {
    bench::LlamaServer server(server_options(setup, 4, context));
    theirs = play_beside(server.loop(), prompt, turns_of(server));
  }
  std::printf("%-10s a prompt of %zu beside 3 streams: longest gap, batches %s  first token, s %s\n", memory, prompt,
              ratio(ours.gap_batches(prompt), theirs.gap_batches(prompt), has_peer, "%.2f").c_str(),
              ratio(ours.prefill_s, theirs.prefill_s, has_peer, "%.2f").c_str());
  std::fflush(stdout);
}

struct Options {
  bool is_quick = false;
  std::vector<std::size_t> agents = {1, 4, 8};
  std::string only;
  std::string memory;
  std::size_t width = 0;  // of the model; 0: as the benchmark is recorded
  std::size_t layers = 0;
  Setup setup;
};

Options read_options(int argc, char** argv) {
  Options options;
  if (const char* server = std::getenv("RONDO_BENCH_LLAMA_SERVER"); server != nullptr) options.setup.server = server;
  const std::map<std::string_view, std::function<void(const char*)>> with_value = {
      {"--server", [&](const char* word) { options.setup.server = word; }},
      {"--agents", [&](const char* word) { options.agents = {std::strtoull(word, nullptr, 10)}; }},
      {"--only", [&](const char* word) { options.only = word; }},
      {"--memory", [&](const char* word) { options.memory = word; }},
      {"--width", [&](const char* word) { options.width = std::strtoull(word, nullptr, 10); }},
      {"--layers", [&](const char* word) { options.layers = std::strtoull(word, nullptr, 10); }},
      {"--threads", [&](const char* word) { options.setup.threads = std::atoi(word); }},
      {"--gpu-layers", [&](const char* word) { options.setup.gpu_layers = std::atoi(word); }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") options.is_quick = true;
    if (word == "--flash-attention") options.setup.flash_attention = true;
    if (const auto found = with_value.find(word); found != with_value.end() && i + 1 < argc) found->second(argv[++i]);
  }
  return options;
}

void compare(const char* memory, const Options& options) {
  const auto is_asked = [&](std::string_view part) { return options.only.empty() || options.only == part; };
  for (const std::size_t count : options.agents) {
    for (const bool drops : {false, true}) {
      if (!is_asked("agents")) continue;
      compare_agents(memory, options.setup,
                     {.agents = count, .turns = options.is_quick ? 6U : 20U, .drops_reasoning = drops});
    }
    if (is_asked("decode")) compare_decoding(memory, options.setup, count, options.is_quick ? 64 : 512);
  }
  if (is_asked("beside")) compare_beside(memory, options.setup, options.is_quick ? 4096 : 16384);
}

}  // namespace

int main(int argc, char** argv) {
  Options options = read_options(argc, argv);
  if (!engine::has_llama_cpp()) {
    std::printf("engine: this build has no embedded engine\n");
    return 0;
  }
  if (options.setup.server.empty()) std::printf("engine: no llama-server, rondo's own figures alone\n");
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("engine: no vocabulary, RONDO_FIXTURES is not set\n");
    return 0;
  }
  options.setup.model = (std::filesystem::temp_directory_path() / "rondo-bench-engine.gguf").string();
  std::printf("a random model per kind of memory; rondo / llama-server\n");
  for (const char* architecture : {"qwen3", "gemma3", "mamba2", "qwen35"}) {
    if (!options.memory.empty() && options.memory != architecture) continue;
    engine::TinyModel model;
    model.architecture = architecture;
    model.vocabulary = std::string(fixtures) + "/vocab/ggml-vocab-llama-spm.gguf";
    model.width = static_cast<std::uint32_t>(options.width != 0 ? options.width : options.is_quick ? 128 : 192);
    model.layers = static_cast<std::uint32_t>(options.layers != 0 ? options.layers : options.is_quick ? 2 : 4);
    model.window_tokens = 256;
    model.context_tokens = 32768;
    if (const auto written = engine::write_tiny_model(model, options.setup.model); !written.ok()) {
      std::fprintf(stderr, "%s\n", written.error().to_string().c_str());
      return 1;
    }
    compare(architecture, options);
  }
  std::filesystem::remove(options.setup.model);
  return 0;
}
