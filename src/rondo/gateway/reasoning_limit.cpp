#include "gateway/reasoning_limit.h"

#include <algorithm>
#include <span>
#include <utility>

namespace rondo::gateway {
namespace {

using engine::Allowed;
using engine::TokenId;

bool ends_with(std::span<const TokenId> ids, const std::vector<TokenId>& end) {
  return !end.empty() && ids.size() >= end.size() && std::ranges::equal(ids.last(end.size()), end);
}

class LimitedReasoning final : public engine::TokenConstraint {
 public:
  explicit LimitedReasoning(ReasoningLimit limit) : limit_(std::move(limit)) {}

  [[nodiscard]] Allowed next(std::span<const TokenId> sampled) override {
    for (; seen_ < sampled.size(); ++seen_) look(sampled.first(seen_ + 1));
    const bool is_ending = forced_ > 0 && forced_ < limit_.ending.size();
    if (!is_ending && (is_done_ || !limit_.is_open || reasoned_ < limit_.most)) return {};
    if (forced_ == 0) forced_ = written(sampled);
    const TokenId* id = &limit_.ending[std::min(forced_, limit_.ending.size() - 1)];
    ++forced_;
    return {.kind = Allowed::Kind::kOnly, .ids = std::span(id, 1)};
  }

 private:
  // How much of the ending the model has already written by itself.
  [[nodiscard]] std::size_t written(std::span<const TokenId> sampled) const {
    std::size_t count = std::min({limit_.ending.size() - 1, reasoned_, sampled.size()});
    while (count > 0 && !std::ranges::equal(sampled.last(count), std::span(limit_.ending).first(count))) --count;
    return count;
  }

  void look(std::span<const TokenId> sampled) {
    if (is_done_) return;
    if (!limit_.is_open) {
      limit_.is_open = ends_with(sampled, limit_.open);
      return;
    }
    ++reasoned_;
    is_done_ = ends_with(sampled, limit_.close);
  }

  ReasoningLimit limit_;
  std::size_t seen_ = 0;
  std::size_t reasoned_ = 0;
  std::size_t forced_ = 0;
  bool is_done_ = false;
};

}  // namespace

std::unique_ptr<engine::TokenConstraint> limit_of_reasoning(ReasoningLimit limit) {
  return std::make_unique<LimitedReasoning>(std::move(limit));
}

}  // namespace rondo::gateway
