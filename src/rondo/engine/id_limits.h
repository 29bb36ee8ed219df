// Which ids a request lets its choices sample: `allowed_ids`, `bad_ids`, and the stop ids that wait for `min_tokens`.
//
//   IdLimits limits(request, vocab_size);
//   auto id = sampler.pick(logits, limits.next(sampled, steered));
//
// Knows no grammar: the caller asks takes() about the ids that a grammar accepts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/serving.h"

namespace rondo::engine {

class IdLimits {
 public:
  IdLimits() = default;  // every id may follow
  IdLimits(const Request& request, TokenId vocab_size);

  // Returns which of the ids that a choice's constraint allows may follow the ids that the choice has sampled.  Without
  // a constraint no stop id comes before `min_tokens`.  Valid until the next call.
  [[nodiscard]] Allowed next(std::span<const TokenId> sampled, const Allowed& steered);
  // Returns whether `allowed_ids` and `bad_ids` let `id` follow the ids of the last call of next().
  [[nodiscard]] bool takes(TokenId id) const;

 private:
  [[nodiscard]] Allowed without_barred(std::span<const std::uint64_t> mask);

  std::vector<std::uint64_t> always_;      // a mask of the allowed ids, without rows of one id; empty: no limits
  std::vector<std::uint64_t> before_end_;  // the same without the stop ids; empty: these need not wait
  bool is_limited_ = false;                // `always_` lacks ids
  std::size_t min_tokens_ = 0;
  std::vector<std::vector<TokenId>> rows_;  // of several ids
  std::vector<TokenId> barred_;             // the last ids of those rows whose other ids were sampled just now
  std::vector<std::uint64_t> mask_;         // the mask of the last call, unless it was one of the two above
  std::vector<TokenId> ids_;                // of the last call
};

}  // namespace rondo::engine
