// Choosing the next token from logits: greedy or seeded, the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rondo::engine {

using TokenId = std::int32_t;
struct Allowed;

// The steps are taken in the order of the members: bias, penalties, then cuts, then the draw.
struct Sampling {
  struct Bias {
    TokenId id = -1;
    float value = 0;  // added to the logit; minus infinity forbids the id
  };
  std::vector<Bias> bias{};
  float repetition_penalty = 1.0F;  // logits of ids met before are divided by this where positive, else multiplied
  float frequency_penalty = 0.0F;   // subtracted once for each time that an id was sampled
  float presence_penalty = 0.0F;    // subtracted once if an id was sampled
  std::size_t top_k = 0;            // only the k best; 0: all
  float typical_p = 1.0F;           // only the ids nearest to the expected surprise whose probabilities reach this sum
  float top_p = 1.0F;               // only the best whose probabilities reach this sum
  float min_p = 0.0F;               // only ids with at least this share of the best one's probability
  float temperature = 0.0F;         // 0: greedy
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
