#include "cache/policies.h"

#include <algorithm>

namespace rondo::cache {
namespace {

std::size_t blocks_of(std::size_t capacity, std::size_t block) {
  return capacity == kUnlimited ? kUnlimited : std::max<std::size_t>(capacity / block, 1);
}

}  // namespace

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::kBlocks: return "blocks";
    case Policy::kRadix: return "radix";
    case Policy::kSteps: return "steps";
  }
  return "";
}

Policies::Policies(const PolicyOptions& options)
    : block_(options.block),
      blocks_(blocks_of(options.capacity, options.block)),
      radix_({.capacity = options.capacity, .block = 1}),
      steps_(blocks_of(options.capacity, kStep)) {}

Hits Policies::serve(std::span<const TokenId> prompt) {
  Hits out;
  if (prompt.empty()) return out;
  const std::span<const TokenId> reusable = prompt.first(prompt.size() - 1);
  const auto set = [&out](Policy policy, std::size_t hits) { out.tokens[static_cast<std::size_t>(policy)] = hits; };

  const std::vector<std::uint64_t> blocks = hash_chain(prompt, block_);
  set(Policy::kBlocks, blocks_.match(std::span(blocks).first(reusable.size() / block_)) * block_);
  blocks_.insert(blocks);

  const PrefixTree::Inserted inserted = radix_.insert(prompt);
  set(Policy::kRadix, std::min(inserted.matched, reusable.size()));

  const std::vector<std::uint64_t> steps = hash_chain(prompt, kStep);
  const std::size_t found = steps_.match(steps) * kStep;
  set(Policy::kSteps, found >= kStepMinimum ? found : 0);
  steps_.insert(steps);
  return out;
}

void Policies::add(std::span<const TokenId> ids) {
  blocks_.insert(hash_chain(ids, block_));
  radix_.insert(ids);
  steps_.insert(hash_chain(ids, kStep));
}

void Policies::add_late(std::span<const TokenId> ids, std::size_t known) {
  const auto add_blocks = [&](BlockCache& cache, std::size_t block) {
    const std::vector<std::uint64_t> chain = hash_chain(ids, block);
    if (cache.match(chain) >= known / block) cache.insert(chain);
  };
  add_blocks(blocks_, block_);
  if (radix_.match(ids) >= known) radix_.insert(ids);
  add_blocks(steps_, kStep);
}

}  // namespace rondo::cache
