// What stands beside a vocabulary in a model folder: tokenizer_config.json and its older relatives.  transformers' rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/model_files.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {

// The content of the token that the files call `name` ("bos_token", ...).  special_tokens_map.json counts only where
// tokenizer_config.json lists no tokens.
[[nodiscard]] std::optional<std::string> named_token(const model::TokenizerSource& source, std::string_view name);

// Adds the tokens of `added_tokens_decoder` (else added_tokens.json) to state.added, with the ids the files give them.  Ids
// between the vocabulary and the highest of them that no entry names become <|reserved_token_ID|>, if `fill`.
// Fails with kTokenizer on ids out of range.
[[nodiscard]] Status add_config_tokens(const model::TokenizerSource& source, bool fill, Tokenizer::State& state);

// Sets bos, eos, end_ids, prefix and suffix.  `add_bos` holds where the files do not say.
void set_ends(const model::TokenizerSource& source, bool add_bos, Tokenizer::State& state);

}  // namespace rondo::tokenizer
