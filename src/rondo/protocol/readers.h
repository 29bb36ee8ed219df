// What single ops read beside a template and a conversation, and what their replies hold beside ids: for the ops, and for
// faces that have functions of their own for them.
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

// The field `content_specials`.
[[nodiscard]] render::ContentSpecials read_specials(Fields& fields);

// Of `encode`.
struct EncodeFields {
  render::ContentSpecials specials = render::ContentSpecials::kText;
  std::optional<render::MaskOptions> mask;  // nullopt: no mask is asked for
  bool raw_turns = false;
  std::optional<render::Retention> retention;
  bool inline_reasoning = true;
};
[[nodiscard]] EncodeFields read_encode(Fields& fields);
// Into the call; takes the raw turns out of its messages, and fails where they are none.
[[nodiscard]] Status enter(const EncodeFields& fields, core::Call& call);

// Of `parse` and `parse_stream`, but for what was written.
struct ParseFields {
  std::optional<json::Object> corrections;
  core::ParseCall call;
};
[[nodiscard]] ParseFields read_parse(Fields& fields, bool has_tools);

// Of `bridge`, but for ids and messages.  `lossy`: where the field is absent.
struct BridgeFields {
  render::ContentSpecials specials = render::ContentSpecials::kText;
  bool lossy = false;
  std::optional<json::Object> corrections;
  render::Retention retention = render::Retention::kAll;
  std::vector<std::pair<std::size_t, std::size_t>> sampled;  // of the prompt's ids, one range for each sampled turn
};
[[nodiscard]] BridgeFields read_bridge(Fields& fields, bool lossy);

// The messages that the paths of a render refer to, as they were sent.
[[nodiscard]] const json::Array& sent_messages(const chat::Conversation& conversation);

// The reply of `parse`.
[[nodiscard]] json::Object message_to_json(const chat::AssistantMessage& message);
// What the reply of `bridge` has beside ids and owners.
[[nodiscard]] json::Object bridged_to_json(const render::Bridged& bridged, const BridgeFields& request);
// {"begin", "kept", "cuts", "lossy", "notes"?, "shaped"?, "media"?}
[[nodiscard]] json::Object extension_to_json(const render::Extension& extension);

}  // namespace rondo::protocol
