// Responses that were kept: told again as events, and stood for by a compaction.
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

// The stream of a response that has ended: each part comes in one delta.
[[nodiscard]] std::vector<StreamEvent> replayed(const json::Value& body, bool open_responses);

// Whether the event is a stream's last but `[DONE]`.
[[nodiscard]] bool is_terminal(const StreamEvent& event);
// Whether a response with this status has ended.
[[nodiscard]] bool has_ended(std::string_view status);

// An item that holds what it stands for, so that no store is needed to read it again.
[[nodiscard]] json::Object compaction_item(std::string_view id, const json::Array& items);
// nullopt: it is none of ours.
[[nodiscard]] std::optional<json::Array> compacted(const json::Value& item);

// The request in which the model sums up a conversation, from the body of `/v1/responses/compact`, whose input is resolved.
[[nodiscard]] json::Value summary_request(const json::Value& body);
// The items that go on in place of the conversation: one compaction, of what the system said and the summary of the rest.
[[nodiscard]] json::Array compacted_items(std::string_view id, const json::Array& input, const std::string& summary);
[[nodiscard]] json::Value compaction_body(std::string_view id, std::int64_t created_s, json::Array output,
                                          const json::Value& usage);

}  // namespace rondo::apis
