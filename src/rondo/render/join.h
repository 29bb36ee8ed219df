// Tokenizes text that follows existing tokens, which must stay as they are.
//
// If the last existing token is an added token, nothing merges across the join, and the text is tokenized after it.
// Otherwise the last few tokens are tokenized again together with the text.  The result is used if those tokens come
// out unchanged; otherwise the text is tokenized alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

// Returns the pieces of `text`, as offsets into it.  `allowed` are the ranges where added tokens may be recognised;
// nullptr means everywhere.  `before` are the existing tokens, of which only the last few are read.
[[nodiscard]] std::vector<tokenizer::Piece> encode_behind(const tokenizer::Tokenizer& tokenizer,
                                                          std::span<const tokenizer::TokenId> before,
                                                          std::string_view text,
                                                          const std::vector<tokenizer::ByteRange>* allowed);

[[nodiscard]] std::vector<tokenizer::TokenId> ids_of(const std::vector<tokenizer::Piece>& pieces);

// Returns the text of `ids` when they follow `before`.  Some tokenizers write the first id of a text differently.
// Fails as decode() does.
[[nodiscard]] Result<std::string> text_behind(const tokenizer::Tokenizer& tokenizer,
                                              std::span<const tokenizer::TokenId> before,
                                              std::span<const tokenizer::TokenId> ids);

}  // namespace rondo::render
