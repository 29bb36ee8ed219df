#include "engine/logit_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace rondo::engine {
namespace {

// Loops over blocks have a constant length and no branches, so that compilers vectorise them.
constexpr std::size_t kBlock = 16;
constexpr std::size_t kChunk = 16 * kBlock;

constexpr float kLeastPower = -87.0F;

// e^x for kLeastPower <= x <= 0.
inline float power_of(float x) {
  // e^x = 2^n * e^r with |r| <= ln(2) / 2.  Adding kShift rounds to the integer n, which is then in the lowest bits.
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23
  constexpr float kLogOfTwo = 0.693359375F;
  constexpr float kLogOfTwoRest = -2.12194440e-4F;
  const float shifted = x * 1.44269504F + kShift;
  const float n = shifted - kShift;
  const float r = x - n * kLogOfTwo - n * kLogOfTwoRest;
  float power = 1.9875691500e-4F;
  power = power * r + 1.3981999507e-3F;
  power = power * r + 8.3334519073e-3F;
  power = power * r + 4.1665795894e-2F;
  power = power * r + 1.6666665459e-1F;
  power = power * r + 5.0000001201e-1F;
  power = power * r * r + r + 1.0F;
  return power * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
}

using Block = std::array<float, kBlock>;

// exp_of() of (row[i] - best) / temperature for a whole block.
Block powers_of(const float* row, float best, float temperature) {
  Block inside{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float x = (row[i] - best) / temperature;
    inside[i] = x > kLeastPower ? x : kLeastPower;
  }
  Block powers{};
  for (std::size_t i = 0; i < kBlock; ++i) powers[i] = power_of(inside[i]);
  for (std::size_t i = 0; i < kBlock; ++i) powers[i] = inside[i] > kLeastPower ? powers[i] : 0.0F;
  return powers;
}

// The greatest of the numbers in a block; minus infinity if there is none.
float best_of_block(const float* block) {
  std::array<float, kBlock / 2> best{};
  for (std::size_t i = 0; i < best.size(); ++i) best[i] = block[i] > kNever ? block[i] : kNever;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const float other = block[best.size() + i];
    best[i] = other > best[i] ? other : best[i];
  }
  for (std::size_t half = best.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) best[i] = std::max(best[i], best[half + i]);
  }
  return best[0];
}

// Calls take(id) for the ids that may have a logit above `bound`, ascending.  `take` may raise the bound.
template <typename Take>
void each_above(std::span<const float> row, const float& bound, const Take& take) {
  std::size_t at = 0;
  for (; at + kBlock <= row.size(); at += kBlock) {
    if (best_of_block(row.data() + at) <= bound) continue;
    for (std::size_t id = at; id < at + kBlock; ++id) {
      if (row[id] > bound) take(id);
    }
  }
  for (; at < row.size(); ++at) {
    if (row[at] > bound) take(at);
  }
}

}  // namespace

float exp_of(float x) { return x > kLeastPower ? power_of(x) : 0.0F; }

std::optional<TokenId> best_of(std::span<const float> row) {
  std::optional<std::size_t> best;
  float bound = kNever;
  each_above(row, bound, [&](std::size_t id) {
    best = id;
    bound = row[id];
  });
  if (!best) {
    const auto first = std::find_if(row.begin(), row.end(), [](float logit) { return !std::isnan(logit); });
    if (first == row.end()) return std::nullopt;
    best = static_cast<std::size_t>(first - row.begin());
  }
  return static_cast<TokenId>(*best);
}

std::vector<TokenId> best_of(std::span<const float> row, std::size_t count) {
  std::vector<TokenId> heap;  // the worst one first
  if (count == 0) return heap;
  const auto logit = [&](TokenId id) { return row[static_cast<std::size_t>(id)]; };
  const auto better = [&](TokenId a, TokenId b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; };
  float bound = kNever;
  each_above(row, bound, [&](std::size_t id) {
    if (heap.size() == count) {
      std::pop_heap(heap.begin(), heap.end(), better);
      heap.back() = static_cast<TokenId>(id);
    } else {
      heap.push_back(static_cast<TokenId>(id));
    }
    std::push_heap(heap.begin(), heap.end(), better);
    if (heap.size() == count) bound = logit(heap.front());
  });
  std::sort_heap(heap.begin(), heap.end(), better);
  return heap;
}

std::vector<TokenId> ids_from(std::span<const float> row, float bound) {
  std::vector<TokenId> ids;
  const float below = std::nextafter(bound, kNever);
  each_above(row, below, [&](std::size_t id) { ids.push_back(static_cast<TokenId>(id)); });
  return ids;
}

void TokenWeights::set(std::span<const float> row, float best, float temperature) {
  values_.resize(row.size());
  sums_.clear();
  sum_ = 0;
  for (std::size_t chunk = 0; chunk < row.size(); chunk += kChunk) {
    const std::size_t end = std::min(chunk + kChunk, row.size());
    Block sums{};
    std::size_t at = chunk;
    for (; at + kBlock <= end; at += kBlock) {
      const Block powers = powers_of(row.data() + at, best, temperature);
      for (std::size_t i = 0; i < kBlock; ++i) sums[i] += powers[i];
      std::copy(powers.begin(), powers.end(), values_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (; at < end; ++at) {
      values_[at] = exp_of((row[at] - best) / temperature);
      sums[0] += values_[at];
    }
    double of_chunk = 0;
    for (const float sum : sums) of_chunk += static_cast<double>(sum);
    sums_.push_back(of_chunk);
    sum_ += of_chunk;
  }
}

TokenId TokenWeights::at(double share) const {
  // Rounding may lead beyond the end, of all chunks and of one.  So the last one that has a weight is kept.
  const auto passes = [](auto values, double& left) {
    std::size_t last = 0;
    double before = left;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;
      last = i;
      before = left;
      left -= static_cast<double>(values[i]);
      if (left < 0) break;
    }
    left = before;
    return last;
  };
  double left = share * sum_;
  const std::size_t begin = passes(std::span<const double>(sums_), left) * kChunk;
  const auto chunk = std::span<const float>(values_).subspan(begin, std::min(kChunk, values_.size() - begin));
  return static_cast<TokenId>(begin + passes(chunk, left));
}

}  // namespace rondo::engine
