// The response object of the Responses API and its items, shared by its stream and its whole reply.
#pragma once

#include <string>
#include <string_view>

#include "apis/writer.h"

namespace rondo::apis {

enum class ItemState : std::uint8_t { kBegun, kEnded };

[[nodiscard]] ReasoningEvents shape_of(const GenerateRequest& request, const ReplyMeta& meta);

// Returns "completed", "incomplete" or "cancelled".
[[nodiscard]] std::string response_status(Finish finish);

// Returns the item of a part, without its text if it has just begun.
[[nodiscard]] json::Object item_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part,
                                   ItemState state);
// Returns the content part of an item that is not a call.
[[nodiscard]] json::Object part_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part,
                                   ItemState state);
[[nodiscard]] json::Array output_of(const GenerateRequest& request, ReasoningEvents shape, const Choice& choice);

// Returns a response with what the reply repeats of the request.  Also for a response that waits ("queued") or was
// stopped ("cancelled").
[[nodiscard]] json::Object response_object(const GenerateRequest& request, const ReplyMeta& meta,
                                           std::string_view status, json::Array output);

[[nodiscard]] json::Value responses_usage(const Usage& usage);

}  // namespace rondo::apis
