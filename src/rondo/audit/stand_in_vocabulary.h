// A byte tokenizer for a template that comes without a tokenizer: a token for each byte, and the template's stops as
// added tokens.
//
// With it, a template alone can be used for everything that works on tokens.  Prefixes of its ids are prefixes of the
// text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::audit {

// `more` are further control tokens, such as bos and eos; empty ones are ignored.
[[nodiscard]] Result<std::shared_ptr<const tokenizer::Tokenizer>> stand_in_vocabulary(
    const format::Format& format, const std::vector<std::string>& more);

}  // namespace rondo::audit
