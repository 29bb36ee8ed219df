// The embedded engine: llama.cpp in this process, one sequence, on the CPU.
//
// Reuse is proven, never assumed.  Before each reuse the engine's own positions are compared with the list of decoded
// ids.  Removing positions is trusted only where the memory still covers what the next position will look at: for a
// sliding window the library itself reports success and then computes with holes.  Recurrent and hybrid memories can't
// be rolled back; for them, and for windows, states are kept at the ends of prompts and turns (checkpoints).  Where
// nothing is provable, the memory is cleared and the prompt decoded afresh, and the report says why.
//
// Flash attention is off and batches always have the same sizes, so that equal prompts give equal logits.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"

namespace rondo::engine {

struct LlamaCppOptions {
  std::size_t context_tokens = 0;  // 0: what the model was trained for, at most kLlamaCppContext
  std::size_t batch_tokens = 512;  // prefill goes in pieces of this size
  int threads = 1;                 // more threads than free cores are slower: they wait spinning
  bool full_window = false;        // keep all positions of sliding-window layers: more memory, exact rollback
  std::size_t checkpoint_bytes = std::size_t{256} << 20U;  // for all checkpoints of a sequence together; 0: none
  // What only some builds of the library make faster (RONDO_LLAMA=system).
  int gpu_layers = 0;              // layers that are computed on a GPU; negative: all
  bool flash_attention = false;    // logits then depend on the number of threads and on batch sizes even more
  std::string cache_type = "f16";  // of keys and values: f32, f16, bf16, q8_0, q4_0
};

inline constexpr std::size_t kLlamaCppContext = 32768;
inline constexpr std::size_t kMaxSequences = 64;  // of one context

// Whether this build has the embedded engine; without it load() fails with kUnsupported.
[[nodiscard]] bool has_llama_cpp();

class LlamaCpp final : public Engine {
 public:
  // Loads a GGUF file.  The library asserts on some broken files, therefore
  // REQUIRES: the file at `path` has passed model::read_gguf.
  // Fails with kEngine (the library refuses the model; its own words are in the message), kUnsupported (an encoder or
  // diffusion model; a build without the engine) or kInvalidArgument (options out of range).
  [[nodiscard]] static Result<std::unique_ptr<LlamaCpp>> load(const std::string& path, const LlamaCppOptions& options);
  ~LlamaCpp() override;

  [[nodiscard]] const Description& describe() const override;
  [[nodiscard]] Result<PromptReport> prompt(std::span<const TokenId> ids, const CancelFlag* cancel = nullptr) override;
  [[nodiscard]] Result<Generation> generate(const GenerateOptions& options) override;
  [[nodiscard]] std::span<const float> logits() const override;
  [[nodiscard]] std::span<const TokenId> tokens() const override;
  void clear() override;

  // Sizes of the batches that decoded tokens(), in order; their sum is tokens().size().  Rounding in the logits depends
  // on them, so a comparison with a fresh run must use the same ones.
  [[nodiscard]] std::span<const std::uint32_t> batches() const;

  // Clears the memory and decodes `ids` in batches of exactly these sizes: the slow, certain way that reuse is checked
  // against.  REQUIRES: the sizes are positive and sum up to ids.size().  Fails as prompt().
  [[nodiscard]] Status replay(std::span<const TokenId> ids, std::span<const std::uint32_t> batches);

 private:
  class Memory;
  explicit LlamaCpp(std::unique_ptr<Memory> memory);
  std::unique_ptr<Memory> memory_;
};

}  // namespace rondo::engine
