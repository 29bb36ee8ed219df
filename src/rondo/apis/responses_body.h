// The response object of the Responses API and its items: what its stream and its whole reply share.
#pragma once

#include <string>
#include <string_view>

#include "apis/writer.h"

namespace rondo::apis {

enum class ItemState : std::uint8_t { kBegun, kEnded };

[[nodiscard]] ReasoningEvents shape_of(const GenerateRequest& request, const ReplyMeta& meta);

// "completed", "incomplete", "cancelled".
[[nodiscard]] std::string response_status(Finish finish);

// The item of a part; without its text while it has just begun.
[[nodiscard]] json::Object item_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part,
                                   ItemState state);
// The content part of an item that is no call.
[[nodiscard]] json::Object part_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part,
                                   ItemState state);
[[nodiscard]] json::Array output_of(const GenerateRequest& request, ReasoningEvents shape, const Choice& choice);

// A response with what the reply repeats of the request; also for one that waits ("queued") or was stopped ("cancelled").
[[nodiscard]] json::Object response_object(const GenerateRequest& request, const ReplyMeta& meta,
                                           std::string_view status, json::Array output);

[[nodiscard]] json::Value responses_usage(const Usage& usage);

}  // namespace rondo::apis
