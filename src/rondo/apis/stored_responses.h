// Stored responses: replaying one as events, and compactions that stand for several items.
//
//   for (const StreamEvent& event : replayed(body, false)) send(event);
//   json::Object item = compaction_item(id, items);        // opaque to the client, which sends it back
//   std::optional<json::Array> items = compacted(item);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/errors.h"
#include "apis/request.h"
#include "apis/stream_event.h"
#include "apis/turn.h"
#include "json/value.h"

namespace rondo::apis {

// Returns the stream of a response that has ended; each part comes in one delta.
[[nodiscard]] std::vector<StreamEvent> replayed(const json::Value& body, bool open_responses);

// Returns whether the event is the last one of a stream, not counting `[DONE]`.
[[nodiscard]] bool is_terminal(const StreamEvent& event);
// Whether a response with this status has ended.
[[nodiscard]] bool has_ended(std::string_view status);

// Returns an item that contains the items it stands for, so that reading it back needs no store.
[[nodiscard]] json::Object compaction_item(std::string_view id, const json::Array& items);
// Returns nullopt if the item is not one of ours.
[[nodiscard]] std::optional<json::Array> compacted(const json::Value& item);

// Returns a fault for a body of `/v1/responses/compact` that names nothing to sum up, or items that are not valid.
[[nodiscard]] std::optional<Fault> check_compaction(const json::Value& body);
// Returns the request with which the model summarises a conversation.  `body` is that of `/v1/responses/compact`, with
// its input resolved.
[[nodiscard]] json::Value summary_request(const json::Value& body);
// Returns the items that replace the conversation: one compaction, made of the system text and the summary of
// everything else.
[[nodiscard]] json::Array compacted_items(std::string_view id, const json::Array& input, const std::string& summary);
[[nodiscard]] json::Value compaction_body(std::string_view id, std::int64_t created_s, json::Array output,
                                          const json::Value& usage);

}  // namespace rondo::apis
