#include "engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "engine/engine.h"

namespace rondo::engine {

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31U);
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

Sampler::Sampler(const Sampling& sampling, std::span<const TokenId> prompt)
    : sampling_(sampling), random_(sampling.seed) {
  for (const Sampling::Bias& bias : sampling_.bias) bias_[bias.id] += bias.value;
  if (sampling_.repetition_penalty != 1.0F) {
    for (const TokenId id : prompt) penalties_.try_emplace(id, 0.0F);
  }
}

void Sampler::accept(TokenId id) {
  if (sampling_.repetition_penalty == 1.0F && sampling_.frequency_penalty == 0.0F && sampling_.presence_penalty == 0.0F)
    return;
  penalties_[id] += 1.0F;
}

void Sampler::collect(std::span<const float> logits, const Allowed& allowed) {
  candidates_.clear();
  sorted_ = 0;
  const auto add = [&](std::size_t id) {
    const float logit = std::isnan(logits[id]) ? kNever : logits[id];
    candidates_.push_back({static_cast<TokenId>(id), logit, 0.0});
  };
  if (allowed.kind == Allowed::Kind::kOnly) {
    for (const TokenId id : allowed.ids) {
      if (id >= 0 && static_cast<std::size_t>(id) < logits.size()) add(static_cast<std::size_t>(id));
    }
    return;
  }
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const bool masked = allowed.kind == Allowed::Kind::kMask &&
                        (id / 64 >= allowed.mask.size() || ((allowed.mask[id / 64] >> (id % 64)) & 1U) == 0);
    if (!masked) add(id);
  }
}

// `is_by_id`: all ids of the vocabulary are candidates, each at its own index.
void Sampler::penalize(bool is_by_id) {
  if (bias_.empty() && penalties_.empty()) return;
  const auto apply = [&](const std::unordered_map<TokenId, float>& values, const auto& change) {
    if (is_by_id) {
      for (const auto& [id, value] : values) {
        if (id >= 0 && static_cast<std::size_t>(id) < candidates_.size())
          change(candidates_[static_cast<std::size_t>(id)].logit, value);
      }
      return;
    }
    for (Candidate& candidate : candidates_) {
      const auto found = values.find(candidate.id);
      if (found != values.end()) change(candidate.logit, found->second);
    }
  };
  apply(bias_, [](float& logit, float value) {
    logit += value;
    if (std::isnan(logit)) logit = kNever;
  });
  apply(penalties_, [&](float& logit, float times) {
    logit = logit > 0 ? logit / sampling_.repetition_penalty : logit * sampling_.repetition_penalty;
    logit -= times * sampling_.frequency_penalty + (times > 0 ? sampling_.presence_penalty : 0.0F);
  });
}

// The best `count` candidates come first, in order.
void Sampler::sort_best(std::size_t count) {
  const std::size_t wanted = std::min(count, candidates_.size());
  if (wanted <= sorted_) return;
  const auto at = [&](std::size_t index) { return candidates_.begin() + static_cast<std::ptrdiff_t>(index); };
  std::partial_sort(at(sorted_), at(wanted), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  sorted_ = wanted;
}

void Sampler::weigh() {
  float best = kNever;
  for (const Candidate& candidate : candidates_) best = std::max(best, candidate.logit);
  for (Candidate& candidate : candidates_) {
    candidate.weight =
        std::exp(static_cast<double>(candidate.logit - best) / static_cast<double>(sampling_.temperature));
  }
}

double Sampler::sum() const {
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.weight;
  return sum;
}

void Sampler::cut_to_typical() {
  const double all = sum();
  double entropy = 0;
  for (const Candidate& candidate : candidates_) {
    const double share = candidate.weight / all;
    if (share > 0) entropy -= share * std::log(share);
  }
  const auto distance = [&](const Candidate& candidate) {
    return std::abs(-std::log(candidate.weight / all) - entropy);
  };
  std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    const double distance_a = distance(a);
    const double distance_b = distance(b);
    return distance_a != distance_b ? distance_a < distance_b : a.id < b.id;
  });
  double reached = 0;
  std::size_t kept = 0;
  do reached += candidates_[kept++].weight;
  while (kept < candidates_.size() && reached < all * static_cast<double>(sampling_.typical_p));
  candidates_.resize(kept);
  sorted_ = 0;
}

void Sampler::cut_to_top_p() {
  const double wanted = sum() * static_cast<double>(std::max(sampling_.top_p, 0.0F));
  double reached = 0;
  std::size_t kept = 0;
  do {  // a few candidates usually reach it, so the rest need not be sorted
    if (kept == sorted_) sort_best(std::max<std::size_t>(64, sorted_ * 4));
    reached += candidates_[kept++].weight;
  } while (kept < candidates_.size() && reached < wanted);
  candidates_.resize(kept);
  sorted_ = std::min(sorted_, kept);
}

TokenId Sampler::draw() {
  const double all = sum();
  double left = random_.uniform() * all;
  for (const Candidate& candidate : candidates_) {
    left -= candidate.weight;
    if (left < 0) return candidate.id;
  }
  return candidates_.back().id;  // rounding may lead here
}

// The best of all ids if nothing changes the logits first.  It makes no list.
TokenId Sampler::greedy(std::span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t id = 1; id < logits.size(); ++id) {
    if (logits[id] > logits[best] || (std::isnan(logits[best]) && !std::isnan(logits[id]))) best = id;
  }
  return static_cast<TokenId>(best);
}

std::optional<TokenId> Sampler::pick(std::span<const float> logits, const Allowed& allowed) {
  const bool is_plain = allowed.kind == Allowed::Kind::kAny && bias_.empty() && penalties_.empty();
  if (is_plain && sampling_.temperature <= 0.0F && !logits.empty()) return greedy(logits);
  collect(logits, allowed);
  if (candidates_.empty()) return std::nullopt;
  penalize(allowed.kind == Allowed::Kind::kAny);
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit < b.logit : a.id > b.id;
  };
  const auto best = std::max_element(candidates_.begin(), candidates_.end(), worse);
  if (sampling_.temperature <= 0.0F || !std::isfinite(best->logit)) return best->id;
  if (sampling_.top_k > 0 && sampling_.top_k < candidates_.size()) {
    sort_best(sampling_.top_k);
    candidates_.resize(sampling_.top_k);
  }
  weigh();
  if (sampling_.typical_p < 1.0F) cut_to_typical();
  if (sampling_.top_p < 1.0F) cut_to_top_p();
  if (sampling_.min_p > 0.0F) {
    double most = 0;
    for (const Candidate& candidate : candidates_) most = std::max(most, candidate.weight);
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      return candidate.weight < most * static_cast<double>(sampling_.min_p);
    });
  }
  return draw();
}

LogProbabilities::LogProbabilities(std::span<const float> logits) : logits_(logits) {
  float best = kNever;
  for (const float logit : logits) best = std::max(best, logit);
  double sum = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) sum += std::exp(static_cast<double>(logit - best));
  }
  log_sum_ = static_cast<double>(best) + std::log(sum);
}

float LogProbabilities::of(TokenId id) const {
  return static_cast<float>(static_cast<double>(logits_[static_cast<std::size_t>(id)]) - log_sum_);
}

std::vector<TokenId> LogProbabilities::best(std::size_t count) const {
  std::vector<TokenId> ids(logits_.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
  const auto logit = [&](TokenId id) {
    const float value = logits_[static_cast<std::size_t>(id)];
    return std::isnan(value) ? kNever : value;
  };
  std::partial_sort(ids.begin(), middle, ids.end(),
                    [&](TokenId a, TokenId b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
  ids.erase(middle, ids.end());
  return ids;
}

}  // namespace rondo::engine
