// Small models with random weights, made on the spot: they write nonsense, but every token, template, logit and memory
// cell is real.  For demonstrations and tests without a download or a licence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "rondo/result.h"

namespace rondo::engine {

// An entry of the vocabulary that is written over an unused one, or appended when there is none.
struct ExtraToken {
  std::string content;
  bool special = true;
};

struct TinyModel {
  MemoryKind memory = MemoryKind::kAttention;
  std::string architecture;  // GGUF name, one of tiny_architectures(); "": the first with this memory
  std::uint64_t seed = 1;    // equal options give equal files
  bool half = true;          // the two vocabulary-sized tensors as 16-bit floats
  std::uint32_t context_tokens = 8192;
  std::uint32_t window_tokens = 64;  // of a sliding window
  std::uint32_t width = 64;          // of an embedding; a multiple of 32, at most 4096
  std::uint32_t layers = 2;          // at most 64
  // A GGUF file whose tokenizer is copied; "": `vocab_size` ids without text.
  // REQUIRES: the file has passed model::read_gguf.
  std::string vocabulary;
  std::uint32_t vocab_size = 512;
  std::vector<ExtraToken> extra_tokens;
  std::string chat_template;  // "": none
};

struct TinyArchitecture {
  std::string_view name;
  MemoryKind memory = MemoryKind::kAttention;
};
[[nodiscard]] std::span<const TinyArchitecture> tiny_architectures();

// Writes the model as a GGUF file, through a temporary file beside it.  Takes seconds for a vocabulary of 150,000.
// Fails with kInvalidArgument (unknown architecture), kTokenizer (no vocabulary in that file), kEngine (the library
// refuses), kIo, or kUnsupported (a build without the embedded engine).
[[nodiscard]] Status write_tiny_model(const TinyModel& model, const std::string& path);

}  // namespace rondo::engine
