#include "engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

void Sampler::collect(std::span<const float> logits, const Allowed& allowed) {
  candidates_.clear();
  const auto add = [&](std::size_t id) {
    const float logit = std::isnan(logits[id]) ? -std::numeric_limits<float>::infinity() : logits[id];
    candidates_.push_back({static_cast<TokenId>(id), logit});
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

void Sampler::cut_to_best() {
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  const std::size_t kept = sampling_.top_k == 0 ? candidates_.size() : std::min(sampling_.top_k, candidates_.size());
  if (kept < candidates_.size() || sampling_.top_p < 1.0F) {
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(),
                      better);
    candidates_.resize(kept);
  }
}

TokenId Sampler::draw() {
  float best = -std::numeric_limits<float>::infinity();
  for (const Candidate& candidate : candidates_) best = std::max(best, candidate.logit);
  if (!std::isfinite(best)) return candidates_.front().id;
  weights_.clear();
  double sum = 0;
  for (const Candidate& candidate : candidates_) {
    weights_.push_back(
        std::exp(static_cast<double>(candidate.logit - best) / static_cast<double>(sampling_.temperature)));
    sum += weights_.back();
  }
  if (sampling_.top_p < 1.0F) {  // the candidates are sorted then
    const double wanted = sum * static_cast<double>(std::max(sampling_.top_p, 0.0F));
    double reached = 0;
    std::size_t kept = 0;
    do reached += weights_[kept++];  // in the order of the sum, so that it is reached
    while (reached < wanted);
    weights_.resize(kept);
    sum = reached;
  }
  double left = random_.uniform() * sum;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    left -= weights_[i];
    if (left < 0) return candidates_[i].id;
  }
  return candidates_[weights_.size() - 1].id;  // rounding
}

std::optional<TokenId> Sampler::pick(std::span<const float> logits, const Allowed& allowed) {
  collect(logits, allowed);
  if (candidates_.empty()) return std::nullopt;
  if (sampling_.temperature > 0.0F) {
    cut_to_best();
    return draw();
  }
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit < b.logit : a.id > b.id;
  };
  return std::max_element(candidates_.begin(), candidates_.end(), worse)->id;
}

}  // namespace rondo::engine
