// What single operations read besides a template and a conversation, and what their replies contain besides ids.  Used
// by the operations, and by interfaces that have functions of their own.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "chat/conversation.h"
#include "core/fields.h"
#include "core/model.h"
#include "json/value.h"
#include "render/bridge.h"
#include "render/rollout.h"
#include "render/training.h"
#include "rondo/result.h"

namespace rondo::protocol {

using core::Fields;

// Reads the field `content_specials`.
[[nodiscard]] render::ContentSpecials read_specials(Fields& fields);

// The fields of `encode`.
struct EncodeFields {
  render::ContentSpecials specials = render::ContentSpecials::kText;
  std::optional<render::MaskOptions> mask;  // nullopt: no mask is requested
  bool raw_turns = false;
  std::optional<render::Retention> retention;
  bool inline_reasoning = true;
};
[[nodiscard]] EncodeFields read_encode(Fields& fields);
// Puts the fields into the call.  Takes the raw turns out of its messages, and fails if they are not valid.
[[nodiscard]] Status enter(const EncodeFields& fields, core::Call& call);

// The fields of `parse` and `parse_stream`, except the text.
struct ParseFields {
  std::optional<json::Object> corrections;
  core::ParseCall call;
};
[[nodiscard]] ParseFields read_parse(Fields& fields, const std::optional<json::Value>& tools);

// The fields of `bridge`, except ids and messages.  `lossy` is the value of an absent field.
struct BridgeFields {
  render::ContentSpecials specials = render::ContentSpecials::kText;
  bool lossy = false;
  std::optional<json::Object> corrections;
  render::Retention retention = render::Retention::kAll;
  std::vector<std::pair<std::size_t, std::size_t>> sampled;  // ranges of the prompt's ids, one for each sampled turn
};
[[nodiscard]] BridgeFields read_bridge(Fields& fields, bool lossy);

// Returns the messages that the paths of a render refer to, as they were sent.
[[nodiscard]] const json::Array& sent_messages(const chat::Conversation& conversation);

// Returns the reply of `parse`.
[[nodiscard]] json::Object message_to_json(const chat::AssistantMessage& message);
// Returns what the reply of `bridge` has besides ids and owners.
[[nodiscard]] json::Object bridged_to_json(const render::Bridged& bridged, const BridgeFields& request);
// Returns {"begin", "kept", "cuts", "lossy", "notes"?, "shaped"?, "media"?}.
[[nodiscard]] json::Object extension_to_json(const render::Extension& extension);

}  // namespace rondo::protocol
