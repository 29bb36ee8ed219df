// Reads the files beside a vocabulary in a model folder, by transformers' rules: tokenizer_config.json and its older
// relatives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/model_files.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {

// Returns the content of the token that the files call `name` ("bos_token", ...).  special_tokens_map.json counts only
// if tokenizer_config.json lists no tokens.
[[nodiscard]] std::optional<std::string> named_token(const model::TokenizerSource& source, std::string_view name);

// Adds the tokens of `added_tokens_decoder` (otherwise of added_tokens.json) to state.added, with the ids in the files.
// If `fill`, ids without an entry between the vocabulary and the highest of them become <|reserved_token_ID|>.  Fails
// with kTokenizer if an id is out of range.
[[nodiscard]] Status add_config_tokens(const model::TokenizerSource& source, bool fill, Tokenizer::State& state);

// Sets bos, eos, end_ids, prefix and suffix.  `add_bos` is used if the files do not say.
void set_ends(const model::TokenizerSource& source, bool add_bos, Tokenizer::State& state);

}  // namespace rondo::tokenizer
