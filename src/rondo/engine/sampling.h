// Choosing the next token from logits: greedy or seeded, the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rondo::engine {

using TokenId = std::int32_t;
struct Allowed;

// The steps are taken in this order: bias, penalties, temperature, then the cuts in the order of the members, then the draw.
// Probabilities are those of what the steps before have left.
struct Sampling {
  struct Bias {
    TokenId id = -1;
    float value = 0;  // added to the logit; minus infinity forbids the id
  };
  float temperature = 0.0F;  // 0: greedy; bias and penalties count, cuts do not
  std::size_t top_k = 0;     // only the k best; 0: all
  float typical_p = 1.0F;    // only the ids nearest to the expected surprise, until their probabilities reach this sum
  float top_p = 1.0F;        // only the best whose probabilities reach this sum
  float min_p = 0.0F;        // only ids with at least this share of the best one's probability
  std::uint64_t seed = 0;
  std::vector<Bias> bias{};
  float repetition_penalty =
      1.0F;                        // logits of ids in prompt and completion are divided by it, negative ones multiplied
  float frequency_penalty = 0.0F;  // subtracted for each time that an id was sampled
  float presence_penalty = 0.0F;   // subtracted once if an id was sampled
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
  // `prompt` counts for the repetition penalty.
  explicit Sampler(const Sampling& sampling, std::span<const TokenId> prompt = {});

  // The next id, or nullopt if nothing is allowed.  Among equal logits the lowest id wins; ids without a finite logit
  // are chosen only when no other is allowed.
  [[nodiscard]] std::optional<TokenId> pick(std::span<const float> logits, const Allowed& allowed);

  // `id` was taken; it counts for the penalties from now on.
  void accept(TokenId id);

 private:
  struct Candidate {
    TokenId id;
    float logit;
    double weight;  // its probability times a number that is the same for all; set by weigh()
  };
  [[nodiscard]] static TokenId greedy(std::span<const float> logits);
  void collect(std::span<const float> logits, const Allowed& allowed);
  void penalize(bool is_by_id);
  void sort_best(std::size_t count);
  void weigh();
  void cut_to_typical();
  void cut_to_top_p();
  [[nodiscard]] double sum() const;
  [[nodiscard]] TokenId draw();

  Sampling sampling_;
  Random random_;
  std::vector<Candidate> candidates_;
  std::size_t sorted_ = 0;                        // candidates at the beginning that are the best, in order
  std::unordered_map<TokenId, float> penalties_;  // times sampled, of ids met before; kept only if there are penalties
  std::unordered_map<TokenId, float> bias_;
};

// The natural logarithms of the probabilities that `logits` stand for.
class LogProbabilities {
 public:
  explicit LogProbabilities(std::span<const float> logits);
  // REQUIRES: the id is within the logits.
  [[nodiscard]] float of(TokenId id) const;
  // The `count` likeliest ids, the likeliest first; of equal ones the lowest first.
  [[nodiscard]] std::vector<TokenId> best(std::size_t count) const;

 private:
  std::span<const float> logits_;
  double log_sum_ = 0;
};

}  // namespace rondo::engine
