// Formats (how a template writes an assistant turn), inferred once per template, tokenizer and template variables.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/explain.h"
#include "api/cache.h"
#include "api/requests.h"
#include "format/format.h"

namespace rondo::api {

// The field `corrections`: parts of a format's JSON (docs/format.md) that count instead of what was inferred.
[[nodiscard]] std::optional<json::Object> read_corrections(Fields& fields);

// Fails with kLimit when the template runs out of its limits, and as format::from_json() when the corrections do not fit.
[[nodiscard]] Memo<format::Format>::Made inferred_format(Memo<format::Format>& formats, const Prepared& prepared,
                                                         const chat::Conversation& conversation,
                                                         const std::optional<json::Object>& corrections);

// The same with its grounds, made anew each time.
[[nodiscard]] Result<analysis::Explanation> explained_format(const Prepared& prepared,
                                                             const chat::Conversation& conversation,
                                                             const std::optional<json::Object>& corrections);

// The end of the prompt that `conversation` makes, from behind the data of the messages that the model answers: it says
// whether reasoning or content is already open, and holds the text of a continued message.  Without messages one plain
// user message is meant.  Where the template refuses the conversation, what the format says of the prompt counts; fails
// only with kLimit, and for a continued message.
[[nodiscard]] Result<std::string> prompt_tail(const Prepared& prepared, chat::Conversation conversation,
                                              bool has_messages, const format::Format& format);

}  // namespace rondo::api
