#include "engine/id_limits.h"

#include <algorithm>
#include <iterator>

namespace rondo::engine {
namespace {

using Mask = std::vector<std::uint64_t>;

constexpr std::uint64_t bit_of(TokenId id) { return std::uint64_t{1} << (static_cast<std::uint32_t>(id) % 64U); }

// Ids that the mask does not know are left out.
void set(Mask& mask, TokenId id, bool is_in) {
  const auto at = static_cast<std::size_t>(id) / 64;
  if (id < 0 || at >= mask.size()) return;
  mask[at] = is_in ? mask[at] | bit_of(id) : mask[at] & ~bit_of(id);
}

}  // namespace

IdLimits::IdLimits(const Request& request, TokenId vocab_size) : min_tokens_(request.min_tokens) {
  const auto all_or_none = [vocab_size](bool all) {
    return Mask(static_cast<std::size_t>(vocab_size) / 64 + 1, all ? ~std::uint64_t{0} : 0);
  };
  is_limited_ = !request.allowed_ids.empty();
  if (is_limited_ || !request.bad_ids.empty()) always_ = all_or_none(!is_limited_);
  for (const TokenId id : request.allowed_ids) set(always_, id, true);
  for (const std::vector<TokenId>& row : request.bad_ids) {
    if (row.size() > 1) {
      rows_.push_back(row);
    } else {
      set(always_, row.front(), false);
      is_limited_ = true;
    }
  }
  if (min_tokens_ == 0) return;
  before_end_ = always_.empty() ? all_or_none(true) : always_;
  for (const TokenId id : request.stop_ids) set(before_end_, id, false);
}

bool IdLimits::takes(TokenId id) const {
  const auto at = static_cast<std::size_t>(id) / 64;
  if (!always_.empty() && (at >= always_.size() || (always_[at] & bit_of(id)) == 0)) return false;
  return std::ranges::find(barred_, id) == barred_.end();
}

Allowed IdLimits::next(std::span<const TokenId> sampled, const Allowed& steered) {
  barred_.clear();
  for (const std::vector<TokenId>& row : rows_) {
    const auto before = std::span(row).first(row.size() - 1);
    if (before.size() <= sampled.size() && std::ranges::equal(before, sampled.last(before.size())))
      barred_.push_back(row.back());
  }
  const bool is_free = steered.kind == Allowed::Kind::kAny;
  if (is_free && sampled.size() < min_tokens_) return without_barred(before_end_);
  if (!is_limited_ && barred_.empty()) return steered;
  if (is_free) return without_barred(always_);
  if (steered.kind == Allowed::Kind::kMask) {
    mask_.assign(steered.mask.begin(), steered.mask.end());
    mask_.resize(std::min(mask_.size(), always_.size()));
    for (std::size_t i = 0; i < mask_.size(); ++i) mask_[i] &= always_[i];
    for (const TokenId id : barred_) set(mask_, id, false);
    return {.kind = Allowed::Kind::kMask, .mask = mask_};
  }
  ids_.clear();
  std::ranges::copy_if(steered.ids, std::back_inserter(ids_), [this](TokenId id) { return takes(id); });
  return {.kind = steered.kind, .ids = ids_};
}

// What the mask allows now.
Allowed IdLimits::without_barred(std::span<const std::uint64_t> mask) {
  if (barred_.empty()) return {.kind = Allowed::Kind::kMask, .mask = mask};
  mask_.assign(mask.begin(), mask.end());
  for (const TokenId id : barred_) set(mask_, id, false);
  return {.kind = Allowed::Kind::kMask, .mask = mask_};
}

}  // namespace rondo::engine
