// Reads rank files (.tiktoken, and some files named tokenizer.model).  Each line is a token: its bytes in base64, a
// space, its rank.  The rank is both the token's id and its order in merging.  The pattern that splits text and the
// special tokens are in other files.
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
  std::vector<RankedToken> tokens;  // in file order; no bytes and no rank occurs twice
};

// Larger ids belong to no vocabulary.  The limit keeps tables by id small.
inline constexpr std::int64_t kMaxTokenId = std::int64_t{1} << 22U;

// Fails with kTokenizer and the line at fault.
[[nodiscard]] Result<RankFile> parse_rank_file(std::string_view text);

// Returns whether the first line of `text` is a line of a rank file.
[[nodiscard]] bool is_rank_file(std::string_view text);

}  // namespace rondo::model
