// Reads and checks the keys tokenizer.ggml.* of a GGUF file, and builds the kinds of tokenizers that they describe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {

// Values of tokenizer.ggml.token_type.
enum class GgufToken : std::int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

struct GgufFields {
  const model::Gguf* gguf = nullptr;
  const std::vector<std::string>* tokens = nullptr;
  const std::vector<std::int64_t>* types = nullptr;
  std::vector<double> scores;  // one for each token

  [[nodiscard]] GgufToken type(std::size_t id) const {
    return types == nullptr ? GgufToken::kNormal : static_cast<GgufToken>((*types)[id]);
  }
  // Returns the id in tokenizer.ggml.NAME_token_id, or `otherwise` if the key is missing; nullopt if the id is not a
  // token.
  [[nodiscard]] std::optional<TokenId> special(std::string_view name, std::optional<TokenId> otherwise = {}) const;
  // Returns tokenizer.ggml.NAME.
  [[nodiscard]] bool flag(std::string_view name, bool otherwise) const;
};

// Fails with kTokenizer.
[[nodiscard]] Result<GgufFields> read_gguf_fields(const model::Gguf& gguf);

// Control tokens and similar ones are found in text before it is cut, like added tokens.
void add_gguf_token(GgufToken type, TokenId id, std::string content, Tokenizer::State& state);

// Fill the vocabulary, model and steps of `state`, and what it adds to a text.  Fail with kTokenizer.
[[nodiscard]] Status load_gguf_word_piece(const GgufFields& fields, Tokenizer::State& state);
[[nodiscard]] Status load_gguf_unigram(const GgufFields& fields, Tokenizer::State& state);
[[nodiscard]] Status load_gguf_longest_match(const GgufFields& fields, Tokenizer::State& state);
[[nodiscard]] Status load_gguf_backward_unigram(const GgufFields& fields, Tokenizer::State& state);

}  // namespace rondo::tokenizer
