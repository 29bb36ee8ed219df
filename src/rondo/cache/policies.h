// Simulates the prefix caches of engines: three ways of counting, all given the same ids.
//
//   Policies policies({.capacity = 4'000'000});
//   Hits hits = policies.serve(prompt);       // what was found; then the prompt is kept
//   policies.add(prompt_and_completion);      // keeps what was sampled after it
//
// The rules are those of the engines' own documentation and sources:
//   blocks  full blocks of 16 ids, each known by a hash of everything up to its end; the last id is always computed, so
//           that there is something to sample from (vLLM)
//   radix   any common prefix, without the last id (SGLang with pages of 1)
//   steps   steps of 128 ids, from 1,024 on (OpenAI)
//
// A prefix of full blocks is known by its hashes exactly if it is a known prefix, so one tree answers for all three.
// Capacity and dropping are counted per id.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/prefix_tree.h"

namespace rondo::cache {

enum class Policy : std::uint8_t { kBlocks, kRadix, kSteps };
inline constexpr std::array<Policy, 3> kPolicies = {Policy::kBlocks, Policy::kRadix, Policy::kSteps};
[[nodiscard]] std::string_view to_string(Policy policy);  // "blocks", "radix", "steps"

struct PolicyOptions {
  std::size_t capacity = kUnlimited;  // ids
  std::size_t block = 16;             // for kBlocks; REQUIRES: not 0
};

// How many ids were found, by Policy.
struct Hits {
  std::array<std::size_t, kPolicies.size()> tokens{};
  [[nodiscard]] std::size_t operator[](Policy policy) const { return tokens[static_cast<std::size_t>(policy)]; }
};

// Copying copies everything.  Not thread-safe.
class Policies {
 public:
  explicit Policies(const PolicyOptions& options);

  // Looks up `prompt`, then keeps all of it.
  Hits serve(std::span<const TokenId> prompt);
  // Keeps a prompt and what was sampled after it.
  void add(std::span<const TokenId> ids);
  // Does the same late: if some of the first `known` ids are no longer there, nothing is kept.
  void add_late(std::span<const TokenId> ids, std::size_t known);

  [[nodiscard]] std::size_t size() const { return tree_.size(); }  // ids

 private:
  std::size_t block_;
  PrefixTree tree_;
};

}  // namespace rondo::cache
