// A tokenizer for a template that comes without one: a token for each byte, and the template's stops as added tokens.
//
// With it everything that works on tokens can be asked of a bare template; prefixes of its ids are prefixes of the text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::audit {

// `more`: further control tokens, such as bos and eos; empty ones are passed over.
[[nodiscard]] Result<std::shared_ptr<const tokenizer::Tokenizer>> stand_in_vocabulary(
    const format::Format& format, const std::vector<std::string>& more);

}  // namespace rondo::audit
