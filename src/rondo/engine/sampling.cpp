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

// The logit of an id after bias and penalties.
float Sampler::changed(TokenId id, float logit) const {
  if (const auto bias = bias_.find(id); bias != bias_.end()) logit += bias->second;
  if (std::isnan(logit)) logit = kNever;
  const auto penalty = penalties_.find(id);
  if (penalty == penalties_.end()) return logit;
  const float times = penalty->second;
  logit = logit > 0 ? logit / sampling_.repetition_penalty : logit * sampling_.repetition_penalty;
  return logit - times * sampling_.frequency_penalty - (times > 0 ? sampling_.presence_penalty : 0.0F);
}

// The row that is sampled from: the logits themselves if nothing changes them.
std::span<const float> Sampler::row_of(std::span<const float> logits, const Allowed& allowed) {
  const bool is_masked = allowed.kind == Allowed::Kind::kMask;
  if (!is_masked && bias_.empty() && penalties_.empty()) return logits;
  row_.assign(logits.begin(), logits.end());
  const auto change = [&](TokenId id) {
    if (id < 0 || static_cast<std::size_t>(id) >= row_.size()) return;
    const auto at = static_cast<std::size_t>(id);
    row_[at] = changed(id, logits[at]);
  };
  for (const auto& [id, value] : bias_) change(id);
  for (const auto& [id, times] : penalties_) change(id);
  if (is_masked) apply_mask(allowed.mask);
  return row_;
}

void Sampler::apply_mask(std::span<const std::uint64_t> mask) {
  constexpr float kNotThere = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t begin = 0; begin < row_.size(); begin += 64) {
    const std::uint64_t bits = begin / 64 < mask.size() ? mask[begin / 64] : 0;
    const std::span<float> part = std::span(row_).subspan(begin, std::min<std::size_t>(64, row_.size() - begin));
    if (bits == 0) {
      std::fill(part.begin(), part.end(), kNotThere);
      continue;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      const float logit = std::isnan(part[i]) ? kNever : part[i];
      part[i] = ((bits >> i) & 1U) == 0 ? kNotThere : logit;
    }
  }
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

// Makes candidates of these ids.  `best`: the greatest logit of all ids that are sampled from.
void Sampler::set_candidates(std::span<const float> row, std::span<const TokenId> ids, float best) {
  candidates_.clear();
  sorted_ = 0;
  for (const TokenId id : ids) {
    const float logit = row[static_cast<std::size_t>(id)];
    candidates_.push_back({id, logit, static_cast<double>(exp_of((logit - best) / sampling_.temperature))});
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

// `all`: the weights of all ids that are sampled from.
void Sampler::cut_to_top_p(double all) {
  const double wanted = all * static_cast<double>(std::max(sampling_.top_p, 0.0F));
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

void Sampler::cut_to_min_p() {
  double most = 0;
  for (const Candidate& candidate : candidates_) most = std::max(most, candidate.weight);
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    return candidate.weight < most * static_cast<double>(sampling_.min_p);
  });
}

std::optional<TokenId> Sampler::pick(std::span<const float> logits, const Allowed& allowed) {
  if (allowed.kind == Allowed::Kind::kOnly) return pick_listed(logits, allowed.ids);
  const std::span<const float> row = row_of(logits, allowed);
  const std::optional<TokenId> id = draw_from(row);
  const bool has_no_number = !id && allowed.kind == Allowed::Kind::kAny && !row.empty();
  return has_no_number ? std::optional<TokenId>(0) : id;
}

// As pick(), from a few ids only.
std::optional<TokenId> Sampler::pick_listed(std::span<const float> logits, std::span<const TokenId> listed) {
  std::vector<TokenId> ids;
  for (const TokenId id : listed) {
    if (id >= 0 && static_cast<std::size_t>(id) < logits.size()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  row_.clear();
  for (const TokenId id : ids) row_.push_back(changed(id, logits[static_cast<std::size_t>(id)]));
  const std::optional<TokenId> drawn = draw_from(row_);
  return drawn ? std::optional<TokenId>(ids[static_cast<std::size_t>(*drawn)]) : std::nullopt;
}

// Returns an id of the row; nullopt if none is in it.
std::optional<TokenId> Sampler::draw_from(std::span<const float> row) {
  const bool is_greedy = sampling_.temperature <= 0.0F;
  const bool cuts_to_k = sampling_.top_k > 0 && sampling_.top_k < row.size();
  std::vector<TokenId> best;  // the best id, or the best k
  if (cuts_to_k && !is_greedy) best = best_of(row, sampling_.top_k);
  if (best.empty()) {
    const std::optional<TokenId> one = best_of(row);
    if (!one) return std::nullopt;
    best.push_back(*one);
  }
  const float greatest = row[static_cast<std::size_t>(best.front())];
  if (is_greedy || !std::isfinite(greatest)) return best.front();

  const bool cuts_to_share = sampling_.typical_p < 1.0F || sampling_.top_p < 1.0F;
  if (!cuts_to_k && !cuts_to_share && sampling_.min_p <= 0.0F) {
    weights_.set(row, greatest, sampling_.temperature);
    return weights_.at(random_.uniform());
  }
  double all = 0;
  if (cuts_to_k) {
    set_candidates(row, best, greatest);
    sorted_ = candidates_.size();
    all = sum();
  } else if (cuts_to_share) {
    all = set_likely_candidates(row, greatest);
  } else {
    const float lowest = greatest + sampling_.temperature * (std::log(sampling_.min_p) - 1e-4F);
    set_candidates(row, ids_from(row, std::nextafter(lowest, kNever)), greatest);  // cut_to_min_p() looks more closely
  }
  if (sampling_.typical_p < 1.0F) {
    cut_to_typical();
    all = sum();
  }
  if (sampling_.top_p < 1.0F) cut_to_top_p(all);
  if (sampling_.min_p > 0.0F) cut_to_min_p();
  return draw();
}

// Makes candidates of the ids that typical_p and top_p may keep.  Returns the weights of all ids.
double Sampler::set_likely_candidates(std::span<const float> row, float best) {
  weights_.set(row, best, sampling_.temperature);
  const double all = weights_.sum();
  double least = 0;
  if (sampling_.typical_p >= 1.0F) {
    // All ids with less weight than this have together less than what top_p cuts off.
    const double tail = all * (1.0 - static_cast<double>(std::max(sampling_.top_p, 0.0F)));
    least = 0.999 * tail / static_cast<double>(row.size());
  }
  constexpr float kSome = std::numeric_limits<float>::min();
  const std::span<const float> weights = weights_.values();
  candidates_.clear();
  sorted_ = 0;
  for (const TokenId id : ids_from(weights, std::max(static_cast<float>(least), kSome))) {
    const auto at = static_cast<std::size_t>(id);
    candidates_.push_back({id, row[at], static_cast<double>(weights[at])});
  }
  return all;
}

LogProbabilities::LogProbabilities(std::span<const float> logits) : logits_(logits) {
  const std::optional<TokenId> best_id = best_of(logits);
  const float best = best_id ? logits[static_cast<std::size_t>(*best_id)] : kNever;
  TokenWeights weights;
  weights.set(logits, best, 1.0F);
  log_sum_ = static_cast<double>(best) + std::log(weights.sum());
}

float LogProbabilities::of(TokenId id) const {
  return static_cast<float>(static_cast<double>(logits_[static_cast<std::size_t>(id)]) - log_sum_);
}

std::vector<TokenId> LogProbabilities::best(std::size_t count) const { return best_of(logits_, count); }

}  // namespace rondo::engine
