// Byte-pair vocabularies that are given by ranks alone: a token's rank is its id and its turn in merging, and any two
// neighbours merge whose bytes together are a token.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/rank_file.h"
#include "rondo/result.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {

// Fills vocabulary, model, pre-tokenizer and decoder of `state` as tiktoken encodes: the matches of `pattern` (in the
// dialect of Rust's regex crate) are the pieces, a piece that is a token becomes that token.  The id of a token is its rank
// + `first_id`.  Fails with kTokenizer, or kLimit when the tokens are too long to be split in all ways.
// REQUIRES: `state` is byte-level and empty; neither bytes nor ranks stand twice.
[[nodiscard]] Status load_ranks(std::span<const model::RankedToken> tokens, TokenId first_id, std::string_view pattern,
                                Tokenizer::State& state);

// Whether finding the ways to build tokens of these sizes out of two others ends soon; fails with kLimit.
class SplitWork {
 public:
  [[nodiscard]] Status add(std::size_t token_bytes);

 private:
  std::size_t bytes_ = 0;
};

// `pattern` as Regex takes it: ^ and $ match at the ends of the text only.
[[nodiscard]] std::string from_rust_dialect(std::string_view pattern);

}  // namespace rondo::tokenizer
