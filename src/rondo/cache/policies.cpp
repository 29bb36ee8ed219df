#include "cache/policies.h"

#include <algorithm>

namespace rondo::cache {
namespace {

constexpr std::size_t kStep = 128;
constexpr std::size_t kStepMinimum = 1024;

}  // namespace

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::kBlocks: return "blocks";
    case Policy::kRadix: return "radix";
    case Policy::kSteps: return "steps";
  }
  return "";
}

Policies::Policies(const PolicyOptions& options) : block_(options.block), tree_(options.capacity) {}

Hits Policies::serve(std::span<const TokenId> prompt) {
  Hits out;
  const std::size_t known = tree_.insert(prompt);
  const std::size_t reusable = std::min(known, prompt.empty() ? 0 : prompt.size() - 1);
  out.tokens[static_cast<std::size_t>(Policy::kBlocks)] = reusable - reusable % block_;
  out.tokens[static_cast<std::size_t>(Policy::kRadix)] = reusable;
  out.tokens[static_cast<std::size_t>(Policy::kSteps)] = known >= kStepMinimum ? known - known % kStep : 0;
  return out;
}

void Policies::add(std::span<const TokenId> ids) { tree_.insert(ids); }

void Policies::add_late(std::span<const TokenId> ids, std::size_t known) {
  if (tree_.match(ids) >= known) tree_.insert(ids);
}

}  // namespace rondo::cache
