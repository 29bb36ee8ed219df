#include "bench/llama_sampling_peer.h"

#include <llama-cpp.h>

#include <vector>

namespace rondo::bench {

struct LlamaSampling::Chain {
  llama_sampler_ptr samplers{llama_sampler_chain_init(llama_sampler_chain_default_params())};
  std::vector<llama_token_data> candidates;
};

LlamaSampling::LlamaSampling(const engine::Sampling& sampling) : chain_(std::make_unique<Chain>()) {
  const auto add = [&](llama_sampler* one) { llama_sampler_chain_add(chain_->samplers.get(), one); };
  if (sampling.temperature <= 0.0F) {
    add(llama_sampler_init_greedy());
    return;
  }
  if (sampling.top_k > 0) add(llama_sampler_init_top_k(static_cast<std::int32_t>(sampling.top_k)));
  add(llama_sampler_init_temp(sampling.temperature));
  if (sampling.top_p < 1.0F) add(llama_sampler_init_top_p(sampling.top_p, 1));
  if (sampling.min_p > 0.0F) add(llama_sampler_init_min_p(sampling.min_p, 1));
  add(llama_sampler_init_dist(static_cast<std::uint32_t>(sampling.seed)));
}

LlamaSampling::~LlamaSampling() = default;

engine::TokenId LlamaSampling::pick(std::span<const float> logits) {
  std::vector<llama_token_data>& candidates = chain_->candidates;
  candidates.resize(logits.size());
  for (std::size_t id = 0; id < logits.size(); ++id) candidates[id] = {static_cast<llama_token>(id), logits[id], 0.0F};
  llama_token_data_array all = {candidates.data(), candidates.size(), -1, false};
  llama_sampler_apply(chain_->samplers.get(), &all);
  return all.data[all.selected].id;
}

}  // namespace rondo::bench
