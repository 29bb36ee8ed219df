#include "engine/logit_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "engine/engine.h"
#include "engine/sampling.h"

using namespace rondo::engine;

namespace {

// A row with ties, ids that are not there, and values without bounds.
std::vector<float> random_row(Random& random, std::size_t size) {
  std::vector<float> row(size);
  for (float& logit : row) {
    switch (random.next() % 8) {
      case 0: logit = std::numeric_limits<float>::quiet_NaN(); break;
      case 1: logit = kNever; break;
      case 2: logit = static_cast<float>(random.next() % 4); break;
      default: logit = static_cast<float>(8.0 * random.normal());
    }
  }
  return row;
}

// The slow twin: all ids that are in the row, the best first.
std::vector<TokenId> sorted_ids(std::span<const float> row) {
  std::vector<TokenId> ids;
  for (std::size_t id = 0; id < row.size(); ++id) {
    if (!std::isnan(row[id])) ids.push_back(static_cast<TokenId>(id));
  }
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
    return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)];
  });
  return ids;
}

}  // namespace

TEST_CASE("the best ids of a row are those of a sorted list") {
  Random random(5);
  for (std::size_t size = 0; size < 100; ++size) {
    CAPTURE(size);
    const std::vector<float> row = random_row(random, size);
    const std::vector<TokenId> sorted = sorted_ids(row);
    CHECK(best_of(row) == (sorted.empty() ? std::optional<TokenId>() : sorted.front()));
    std::vector<TokenId> possible = sorted;
    std::erase_if(possible, [&](TokenId id) { return row[static_cast<std::size_t>(id)] == kNever; });
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{40}, size}) {
      std::vector<TokenId> wanted = possible;
      wanted.resize(std::min(count, wanted.size()));
      CHECK(best_of(row, count) == wanted);
    }
    for (const float bound : {-3.0F, 0.0F, 1.0F, 2.0F}) {
      std::vector<TokenId> wanted;
      for (std::size_t id = 0; id < row.size(); ++id) {
        if (row[id] >= bound) wanted.push_back(static_cast<TokenId>(id));
      }
      CHECK(ids_from(row, bound) == wanted);
    }
  }
}

TEST_CASE("powers of e are those of the library") {
  for (int step = 0; step < 6350; ++step) {
    const float x = static_cast<float>(step) * -0.0137F;
    CAPTURE(x);
    const double wanted = std::exp(static_cast<double>(x));
    CHECK(std::abs(static_cast<double>(exp_of(x)) - wanted) <= 2e-7 * wanted);
  }
  CHECK(exp_of(0.0F) == 1.0F);
  CHECK(exp_of(-87.5F) == 0.0F);
  CHECK(exp_of(kNever) == 0.0F);
  CHECK(exp_of(std::numeric_limits<float>::quiet_NaN()) == 0.0F);
}

TEST_CASE("weights are probabilities, and each share of them belongs to an id") {
  Random random(6);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{15}, std::size_t{256}, std::size_t{257}, std::size_t{1000}}) {
    CAPTURE(size);
    std::vector<float> row = random_row(random, size);
    row[size / 2] = 30.0F;
    const float temperature = 3.0F;
    TokenWeights weights;
    weights.set(row, 30.0F, temperature);
    double sum = 0;
    for (std::size_t id = 0; id < size; ++id) {
      const bool is_possible = row[id] > kNever;
      const double wanted = is_possible ? std::exp(static_cast<double>((row[id] - 30.0F) / temperature)) : 0;
      CHECK(static_cast<double>(weights.values()[id]) == doctest::Approx(wanted).epsilon(1e-6));
      sum += wanted;
    }
    CHECK(weights.sum() == doctest::Approx(sum).epsilon(1e-6));
    double before = 0;
    for (std::size_t id = 0; id < size; ++id) {
      const double share = (before + static_cast<double>(weights.values()[id]) / 2) / weights.sum();
      before += static_cast<double>(weights.values()[id]);
      if (weights.values()[id] > 1e-4F) CHECK(weights.at(share) == static_cast<TokenId>(id));
    }
  }
}

TEST_CASE("a share that rounding leads beyond the end belongs to the last id that has a weight") {
  std::vector<float> row(600, kNever);
  row[3] = 1.0F;
  row[300] = 1.0F;
  TokenWeights weights;
  weights.set(row, 1.0F, 1.0F);
  CHECK(weights.at(0.0) == 3);
  CHECK(weights.at(0.499) == 3);
  CHECK(weights.at(0.5) == 300);
  CHECK(weights.at(1.0) == 300);
}
