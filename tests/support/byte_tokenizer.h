// A tokenizer for tests: one token per byte, plus the added tokens that a test names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "json/value.h"
#include "tokenizer/tokenizer.h"

namespace rondo::test {

// The tokenizer.json of a byte-level BPE without merges; the added tokens follow the 256 bytes, all special but `ordinary`.
json::Value byte_tokenizer_json(const std::vector<std::string>& added_tokens,
                                const std::vector<std::string>& ordinary = {});

// The same, loaded; `eos` (one of the added tokens, or "") ends generation.
std::shared_ptr<const tokenizer::Tokenizer> byte_tokenizer(const std::vector<std::string>& added_tokens,
                                                           const std::string& eos,
                                                           const std::vector<std::string>& ordinary = {});

}  // namespace rondo::test
