// Choosing the next token from logits: greedy or seeded, the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rondo::engine {

using TokenId = std::int32_t;
struct Allowed;

struct Sampling {
  float temperature = 0.0F;  // 0: greedy
  std::size_t top_k = 0;     // only the k best; 0: all
  float top_p = 1.0F;        // only the best whose probabilities reach this sum
  std::uint64_t seed = 0;
};

// A small generator of our own: the standard library's distributions differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next();  // splitmix64
  [[nodiscard]] double uniform();      // [0, 1)
  [[nodiscard]] double normal();       // mean 0, deviation 1

 private:
  std::uint64_t state_;
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), random_(sampling.seed) {}

  // The next id, or nullopt if nothing is allowed.  Among equal logits the lowest id wins; ids without a finite logit
  // are chosen only when no other is allowed.
  [[nodiscard]] std::optional<TokenId> pick(std::span<const float> logits, const Allowed& allowed);

 private:
  struct Candidate {
    TokenId id;
    float logit;
  };
  void collect(std::span<const float> logits, const Allowed& allowed);
  void cut_to_best();
  [[nodiscard]] TokenId draw();

  Sampling sampling_;
  Random random_;
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
};

}  // namespace rondo::engine
