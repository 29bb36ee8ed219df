// Loads a GGUF file with llama.cpp and makes a context for one or more sequences.  Private to engine/.
#pragma once

#include <llama-cpp.h>

#include <cstddef>
#include <string>

#include "engine/llama_cpp.h"

namespace rondo::engine {

struct LoadedLlama {
  llama_model_ptr model;
  llama_context_ptr context;  // destroyed before the model
  Description description;    // `context_tokens` counts for one sequence
};

// REQUIRES: as LlamaCpp::load; 1 <= sequences <= kMaxSequences.
[[nodiscard]] Result<LoadedLlama> load_llama(const std::string& path, const LlamaCppOptions& options,
                                             std::size_t sequences);

// Returns a token that ends texts; a negative number if the vocabulary has none.
[[nodiscard]] TokenId end_token(const llama_vocab* vocab);

}  // namespace rondo::engine
