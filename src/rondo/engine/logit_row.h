// Passes over the logits of a whole vocabulary.  An id whose logit is NaN is not in the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace rondo::engine {

using TokenId = std::int32_t;

inline constexpr float kNever = -std::numeric_limits<float>::infinity();

// Returns e^x for x <= 0, with a relative error below 2e-7; 0 for x below -87 and for NaN.  It does not depend on the
// system's library.
[[nodiscard]] float exp_of(float x);

// Returns the id with the greatest logit, the lowest among equals; nullopt if no id is in the row.
[[nodiscard]] std::optional<TokenId> best_of(std::span<const float> row);

// Returns the `count` ids with the greatest logits, the greatest first, among equals the lowest first.  Ids without a
// logit above minus infinity are left out.
[[nodiscard]] std::vector<TokenId> best_of(std::span<const float> row, std::size_t count);

// Returns the ids whose logits are at least `bound`, ascending.
[[nodiscard]] std::vector<TokenId> ids_from(std::span<const float> row, float bound);

// The probabilities of all ids times a factor that is the same for all: 1 for the best id.
class TokenWeights {
 public:
  // REQUIRES: `best` is the greatest logit of the row and finite; temperature > 0.
  void set(std::span<const float> row, float best, float temperature);
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] std::span<const float> values() const { return values_; }
  // Returns the id at which the sum of the weights, ascending by id, passes `share` of the whole.
  [[nodiscard]] TokenId at(double share) const;

 private:
  std::vector<float> values_;
  std::vector<double> sums_;  // of each chunk of values
  double sum_ = 0;
};

}  // namespace rondo::engine
