// Passes a text through the parts of a tokenizer.  Only for the files of this folder.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/state.h"

namespace rondo::tokenizer {

// Appends the tokens of `text`, without those that `options.add_special` asks for.
//
// REQUIRES: nobody else uses `bench`.
void encode_to(const Tokenizer::State& state, std::string_view text, const EncodeOptions& options, Workbench& bench,
               std::vector<Piece>& out);
void encode_to(const Tokenizer::State& state, std::string_view text, const EncodeOptions& options, Workbench& bench,
               std::vector<TokenId>& out);

}  // namespace rondo::tokenizer
