// The time to choose a token from the logits of a vocabulary, beside llama.cpp's samplers with the same options.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "engine/engine.h"
#include "engine/sampling.h"
#ifdef RONDO_HAVE_LLAMA
#include "bench/llama_sampling_peer.h"
#endif

namespace {

using namespace rondo;

struct Case {
  const char* name;
  engine::Sampling sampling;
};

// Logits as models give them: a few likely ids far above the others.
std::vector<float> logits_of(std::size_t vocabulary, std::uint64_t seed) {
  engine::Random random(seed);
  std::vector<float> logits(vocabulary);
  for (float& logit : logits) logit = static_cast<float>(2.5 * random.normal());
  for (int i = 0; i < 20; ++i) logits[random.next() % vocabulary] = static_cast<float>(10.0 + 3.0 * random.normal());
  return logits;
}

}  // namespace

int main() {
  const Case cases[] = {
      {"greedy", {}},
      {"temperature 1", {.temperature = 1.0F}},
      {"temperature 0.7, top_k 20, top_p 0.8", {.temperature = 0.7F, .top_k = 20, .top_p = 0.8F}},
      {"temperature 0.8, top_p 0.95", {.temperature = 0.8F, .top_p = 0.95F}},
      {"temperature 0.8, min_p 0.05", {.temperature = 0.8F, .min_p = 0.05F}},
  };
  constexpr std::size_t kRows = 8;
  for (const std::size_t vocabulary : {std::size_t{32'000}, std::size_t{151'936}}) {
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < kRows; ++i) rows.push_back(logits_of(vocabulary, i + 1));
    for (const Case& one : cases) {
      const std::string name = std::to_string(vocabulary) + " ids, " + one.name;
      std::size_t turn = 0;
      engine::Sampler sampler(one.sampling);
      bench::measure(("rondo: " + name).c_str(), 0, [&] { (void)sampler.pick(rows[turn++ % kRows], {}); });
#ifdef RONDO_HAVE_LLAMA
      bench::LlamaSampling peer(one.sampling);
      bench::measure(("llama.cpp: " + name).c_str(), 0, [&] { (void)peer.pick(rows[turn++ % kRows]); });
#endif
    }
  }
  return 0;
}
