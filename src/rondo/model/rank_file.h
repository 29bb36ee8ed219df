// Rank files (.tiktoken, and some files named tokenizer.model): a line per token, its bytes in base64, a space, its rank.
// The rank is the token's id and its turn in merging.  What splits text, and special tokens, stand elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::model {

struct RankedToken {
  std::string bytes;
  std::int32_t rank = 0;
};

struct RankFile {
  std::vector<RankedToken> tokens;  // in the order of the file; neither bytes nor ranks stand twice
};

// Ids above this are no token of any vocabulary; tables by id stay small.
inline constexpr std::int64_t kMaxTokenId = std::int64_t{1} << 22U;

// Fails with kTokenizer and the line at fault.
[[nodiscard]] Result<RankFile> parse_rank_file(std::string_view text);

// Whether the first line of `text` is one of a rank file.
[[nodiscard]] bool is_rank_file(std::string_view text);

}  // namespace rondo::model
