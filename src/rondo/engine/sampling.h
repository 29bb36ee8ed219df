// Choosing the next token from logits: greedy or seeded, the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/logit_row.h"

namespace rondo::engine {

struct Allowed;

// The steps are applied in this order: bias, penalties, temperature, the cuts in the order of the members, the draw.
// Each step uses the probabilities that the steps before it have left.
struct Sampling {
  struct Bias {
    TokenId id = -1;
    float value = 0;  // added to the logit; minus infinity excludes the id
  };
  float temperature = 0.0F;  // 0: greedy; bias and penalties still apply, cuts do not
  std::size_t top_k = 0;     // keep only the k best; 0: all
  // Keep only the ids nearest to the expected surprise, until their probabilities reach this sum.
  float typical_p = 1.0F;
  float top_p = 1.0F;  // keep only the best ids, until their probabilities reach this sum
  float min_p = 0.0F;  // keep only ids with at least this share of the best one's probability
  std::uint64_t seed = 0;
  std::vector<Bias> bias{};
  float repetition_penalty =
      1.0F;  // for ids in the prompt and completion: positive logits are divided by it, negative ones multiplied
  float frequency_penalty = 0.0F;  // subtracted for each time that an id was sampled
  float presence_penalty = 0.0F;   // subtracted once if an id was sampled
};

// The settings that are numbers, and the range of each.  The names are those of the chat APIs' fields
// (apis/request.h).
struct SamplingNumber {
  std::string_view name;
  float Sampling::* value;
  float least;
  float most;
};
inline constexpr std::array kSamplingNumbers = {
    SamplingNumber{"temperature", &Sampling::temperature, 0, 100},
    SamplingNumber{"top_p", &Sampling::top_p, 0, 1},
    SamplingNumber{"min_p", &Sampling::min_p, 0, 1},
    SamplingNumber{"typical_p", &Sampling::typical_p, 0, 1},
    SamplingNumber{"repetition_penalty", &Sampling::repetition_penalty, 0.001F, 100},
    SamplingNumber{"frequency_penalty", &Sampling::frequency_penalty, -100, 100},
    SamplingNumber{"presence_penalty", &Sampling::presence_penalty, -100, 100},
};

// A small generator of our own, because the distributions of standard libraries differ.
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
  // The ids of `prompt` count for the repetition penalty.
  explicit Sampler(const Sampling& sampling, std::span<const TokenId> prompt = {});

  // Returns the next id; nullopt if no id is allowed.  Among equal logits the lowest id wins.  An id without a finite
  // logit is chosen only if no other is allowed.
  [[nodiscard]] std::optional<TokenId> pick(std::span<const float> logits, const Allowed& allowed);

  // Notes that `id` was taken; from now on it counts for the penalties.
  void accept(TokenId id);

 private:
  struct Candidate {
    TokenId id;
    float logit;
    double weight;  // its probability times a factor that is the same for all
  };
  [[nodiscard]] std::optional<TokenId> pick_listed(std::span<const float> logits, std::span<const TokenId> listed);
  [[nodiscard]] float changed(TokenId id, float logit) const;
  [[nodiscard]] std::span<const float> row_of(std::span<const float> logits, const Allowed& allowed);
  void apply_mask(std::span<const std::uint64_t> mask);
  [[nodiscard]] std::optional<TokenId> draw_from(std::span<const float> row);
  void set_candidates(std::span<const float> row, std::span<const TokenId> ids, float best);
  double set_likely_candidates(std::span<const float> row, float best);
  void sort_best(std::size_t count);
  void cut_to_typical();
  void cut_to_top_p(double all);
  void cut_to_min_p();
  [[nodiscard]] double sum() const;
  [[nodiscard]] TokenId draw();

  Sampling sampling_;
  Random random_;
  std::vector<float> row_;  // logits that bias, penalties or a mask have changed
  TokenWeights weights_;
  std::vector<Candidate> candidates_;
  std::size_t sorted_ = 0;                        // how many candidates at the beginning are the best ones, in order
  std::unordered_map<TokenId, float> penalties_;  // how often each id was sampled; kept only if there are penalties
  std::unordered_map<TokenId, float> bias_;
};

// The natural logarithms of the probabilities that `logits` define.
class LogProbabilities {
 public:
  explicit LogProbabilities(std::span<const float> logits);
  // REQUIRES: 0 <= id < number of logits.
  [[nodiscard]] float of(TokenId id) const;
  // Returns the `count` most likely ids, most likely first; among equal ones, the lowest first.  Ids that are
  // impossible are left out.
  [[nodiscard]] std::vector<TokenId> best(std::size_t count) const;

 private:
  std::span<const float> logits_;
  double log_sum_ = 0;
};

}  // namespace rondo::engine
