// llama.cpp's samplers, a peer of bench_sampling.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/sampling.h"

namespace rondo::bench {

// The chain of samplers that does what `sampling` says, in the same order; it takes no bias and no penalties.
class LlamaSampling {
 public:
  explicit LlamaSampling(const engine::Sampling& sampling);
  ~LlamaSampling();
  LlamaSampling(const LlamaSampling&) = delete;
  LlamaSampling& operator=(const LlamaSampling&) = delete;

  [[nodiscard]] engine::TokenId pick(std::span<const float> logits);

 private:
  struct Chain;
  std::unique_ptr<Chain> chain_;
};

}  // namespace rondo::bench
