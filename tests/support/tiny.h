// Tiny models for engine tests: written once per test program into a folder of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"

namespace rondo::testing {

// The file of this architecture with a vocabulary of 512 ids and a window of 64.
[[nodiscard]] std::string tiny_model_path(const engine::TinyArchitecture& architecture);

// A fresh engine on it, one thread.  Fails the test if it can't be made.
[[nodiscard]] std::unique_ptr<engine::LlamaCpp> tiny_engine(const engine::TinyArchitecture& architecture,
                                                            engine::LlamaCppOptions options = {});

[[nodiscard]] std::vector<engine::TokenId> random_ids(std::size_t size, engine::TokenId vocab_size, std::uint64_t seed);

}  // namespace rondo::testing
