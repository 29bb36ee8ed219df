// Tokens of text that follows tokens which are already there, and stay.
//
// Where the last of those is an added token, nothing merges across the join, and the text is tokenized behind that token.
// Elsewhere a window of the last tokens is tokenized again together with the text; what follows them counts only if
// they came out as they were, else the text is tokenized by itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

// The pieces of `text`, offsets into it.  `allowed`: where added tokens may be recognised in it, nullptr: anywhere.
// `before`: the tokens that it follows; the last few count.
[[nodiscard]] std::vector<tokenizer::Piece> encode_behind(const tokenizer::Tokenizer& tokenizer,
                                                          std::span<const tokenizer::TokenId> before,
                                                          std::string_view text,
                                                          const std::vector<tokenizer::ByteRange>* allowed);

[[nodiscard]] std::vector<tokenizer::TokenId> ids_of(const std::vector<tokenizer::Piece>& pieces);

// The text of `ids` where they follow `before`; alone, some tokenizers write the first one differently.  Fails as decode().
[[nodiscard]] Result<std::string> text_behind(const tokenizer::Tokenizer& tokenizer,
                                              std::span<const tokenizer::TokenId> before,
                                              std::span<const tokenizer::TokenId> ids);

}  // namespace rondo::render
