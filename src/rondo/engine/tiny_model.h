// Makes small models with random weights.  They write nonsense, but every token, template, logit and memory cell is
// real.  For demonstrations and tests without a download or a licence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "rondo/result.h"

namespace rondo::engine {

// A vocabulary entry that replaces an unused one, or is appended if there is none.
struct ExtraToken {
  std::string content;
  bool special = true;
};

struct TinyModel {
  MemoryKind memory = MemoryKind::kAttention;
  std::string architecture;  // a GGUF name from tiny_architectures(); "": the first one with this memory
  std::uint64_t seed = 1;    // equal options give equal files
  bool half = true;          // store the two vocabulary-sized tensors as 16-bit floats
  std::uint32_t context_tokens = 8192;
  std::uint32_t window_tokens = 64;  // size of a sliding window
  std::uint32_t width = 64;          // size of an embedding; a multiple of 32, at most 4096
  std::uint32_t layers = 2;          // at most 64
  // A GGUF file whose tokenizer is copied; "": `vocab_size` ids without text.
  //
  // REQUIRES: the file has passed model::read_gguf.
  std::string vocabulary;
  std::uint32_t vocab_size = 512;
  std::vector<ExtraToken> extra_tokens;
  std::string chat_template;  // "": no template
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
