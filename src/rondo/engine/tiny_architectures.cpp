#include <array>

#include "engine/tiny_model.h"

namespace rondo::engine {

// The architecture names are values of the GGUF format.
std::span<const TinyArchitecture> tiny_architectures() {
  static constexpr std::array kArchitectures = {
      TinyArchitecture{"qwen3", MemoryKind::kAttention},      TinyArchitecture{"gemma3", MemoryKind::kSlidingWindow},
      TinyArchitecture{"mamba2", MemoryKind::kRecurrent},     TinyArchitecture{"rwkv7", MemoryKind::kRecurrent},
      TinyArchitecture{"granitehybrid", MemoryKind::kHybrid}, TinyArchitecture{"lfm2", MemoryKind::kHybrid},
      TinyArchitecture{"qwen35", MemoryKind::kHybrid},
  };
  return kArchitectures;
}

}  // namespace rondo::engine
