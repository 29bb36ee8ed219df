// Byte-pair vocabularies that consist of ranks alone.  A token's rank is its id and its order in merging.  Two
// neighbours merge if their bytes together are a token.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/rank_file.h"
#include "rondo/result.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {

// Fills the vocabulary, model, pre-tokenizer and decoder of `state` to encode as tiktoken does.  The matches of
// `pattern` (in the dialect of Rust's regex crate) are the pieces, and a piece that is a token becomes that token.  The
// id of a token is its rank + `first_id`.  Fails with kTokenizer, or with kLimit if the tokens are too long to be split
// in all ways.
//
// REQUIRES: `state` is byte-level and empty; no bytes and no rank occurs twice.
[[nodiscard]] Status load_ranks(std::span<const model::RankedToken> tokens, TokenId first_id, std::string_view pattern,
                                Tokenizer::State& state);

// Checks that finding all ways to build tokens of these sizes from two others ends soon; fails with kLimit.
class SplitWork {
 public:
  [[nodiscard]] Status add(std::size_t token_bytes);

 private:
  std::size_t bytes_ = 0;
};

// Returns `pattern` as Regex takes it: ^ and $ match only at the ends of the text.
[[nodiscard]] std::string from_rust_dialect(std::string_view pattern);

}  // namespace rondo::tokenizer
