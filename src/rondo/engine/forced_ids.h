// A constraint that allows exactly these ids, and then the end.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace rondo::engine {

class ForcedIds final : public TokenConstraint {
 public:
  explicit ForcedIds(std::vector<TokenId> ids) : ids_(std::move(ids)) {}
  [[nodiscard]] Allowed next(std::span<const TokenId> sampled) override {
    if (sampled.size() >= ids_.size()) return {.kind = Allowed::Kind::kDone};
    return {.kind = Allowed::Kind::kOnly, .ids = std::span(ids_).subspan(sampled.size(), 1)};
  }

 private:
  std::vector<TokenId> ids_;
};

}  // namespace rondo::engine
