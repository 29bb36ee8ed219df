// Tiny models for engine tests: written once per test program into a folder of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"

namespace rondo::testing {

constexpr engine::TokenId kVocabulary = 512;
constexpr double kTolerance = 1e-3;  // of the logits of 32-bit models, whose rounding depends on the batch sizes

// The first architecture with this memory.
[[nodiscard]] const engine::TinyArchitecture& first_with(engine::MemoryKind memory);

// The file of this architecture with a vocabulary of 512 ids and a window of 64.
[[nodiscard]] std::string tiny_model_path(const engine::TinyArchitecture& architecture);

// A fresh engine on it, one thread.  Fails the test if it can't be made.
[[nodiscard]] std::unique_ptr<engine::LlamaCpp> tiny_engine(const engine::TinyArchitecture& architecture,
                                                            engine::LlamaCppOptions options = {});

// Batches of 32, so that the library's window cache is small enough to forget.
[[nodiscard]] engine::LlamaCppOptions small_batches();

// REQUIRES: as many in `a` as in `b`.
[[nodiscard]] double largest_difference(std::span<const float> a, std::span<const float> b);

[[nodiscard]] std::vector<engine::TokenId> random_ids(std::size_t size, engine::TokenId vocab_size, std::uint64_t seed);

}  // namespace rondo::testing
