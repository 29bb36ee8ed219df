// The embedded engine: llama.cpp in this process, one sequence, on the CPU.
//
// Reuse is proven, never assumed.  Before each reuse the engine's own positions are compared with the list of decoded
// ids.  Removing positions is trusted only if the memory still covers everything that the next position will look at:
// for a sliding window the library reports success and then computes with holes.  Recurrent and hybrid memories cannot
// be rolled back.  For them, and for windows, states are kept at the ends of prompts and turns (checkpoints).  If
// nothing can be proven, the memory is cleared, the whole prompt is decoded, and the report says why.
//
// Flash attention is off and batches always have the same sizes, so equal prompts give equal logits.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"

namespace rondo::engine {

struct LlamaCppOptions {
  std::size_t context_tokens = 0;  // 0: the context that the model was trained for, at most kLlamaCppContext
  std::size_t batch_tokens = 512;  // a prompt is decoded in pieces of this size
  int threads = 1;                 // more threads than free cores are slower, because they wait in a busy loop
  bool full_window = false;  // keep all positions of sliding-window layers: takes more memory, makes rollback exact
  // Memory for all checkpoints of a sequence; 0: no checkpoints.
  std::size_t checkpoint_bytes = std::size_t{256} << 20U;
  // Options that only some builds of the library make use of (RONDO_LLAMA=system).
  int gpu_layers = 0;              // how many layers a GPU computes; negative: all
  bool flash_attention = false;    // makes logits depend even more on the number of threads and the sizes of batches
  std::string cache_type = "f16";  // type of keys and values: f32, f16, bf16, q8_0 or q4_0
};

inline constexpr std::size_t kLlamaCppContext = 32768;
inline constexpr std::size_t kMaxSequences = 64;  // of one context

// Returns whether this build has the embedded engine.  Without it load() fails with kUnsupported.
[[nodiscard]] bool has_llama_cpp();

class LlamaCpp final : public Engine {
 public:
  // Loads a GGUF file.  Fails with kEngine (the library refuses the model; the error quotes it), kUnsupported (an
  // encoder or diffusion model, or a build without the engine) or kInvalidArgument (options out of range).
  //
  // REQUIRES: the file at `path` has passed model::read_gguf, because the library asserts on some broken files.
  [[nodiscard]] static Result<std::unique_ptr<LlamaCpp>> load(const std::string& path, const LlamaCppOptions& options);
  ~LlamaCpp() override;

  [[nodiscard]] const Description& describe() const override;
  [[nodiscard]] Result<PromptReport> prompt(std::span<const TokenId> ids, const CancelFlag* cancel = nullptr) override;
  [[nodiscard]] Result<Generation> generate(const GenerateOptions& options) override;
  [[nodiscard]] std::span<const float> logits() const override;
  [[nodiscard]] std::span<const TokenId> tokens() const override;
  void clear() override;

  // Returns the sizes of the batches that decoded tokens(), in order; their sum is tokens().size().  The rounding of
  // logits depends on these sizes, so a comparison with a fresh run must use the same ones.
  [[nodiscard]] std::span<const std::uint32_t> batches() const;

  // Clears the memory and decodes `ids` in batches of exactly these sizes.  This is the slow and certain way that reuse
  // is compared with.  Fails as prompt() does.
  //
  // REQUIRES: the sizes are positive and their sum is ids.size().
  [[nodiscard]] Status replay(std::span<const TokenId> ids, std::span<const std::uint32_t> batches);

 private:
  class Memory;
  explicit LlamaCpp(std::unique_ptr<Memory> memory);
  std::unique_ptr<Memory> memory_;
};

}  // namespace rondo::engine
