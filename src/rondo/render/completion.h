// Reading a completion: from sampled ids to the message that they say.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "format/format.h"
#include "render/bridge.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

// Parses `completion_ids` up to their first stop token.  The end of `prompt_ids` says what the prompt has already
// opened.  `tools` (definitions as for a template) give names and types.  Fails with kTokenizer on ids out of range.
[[nodiscard]] Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                                 const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                                 const std::optional<json::Value>& tools,
                                                 std::span<const tokenizer::TokenId> prompt_ids,
                                                 std::span<const tokenizer::TokenId> completion_ids);

}  // namespace rondo::render
