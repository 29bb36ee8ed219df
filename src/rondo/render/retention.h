// Decides which reasoning of earlier turns stays when other messages follow, whatever the template does.
//
// A rollout cuts out the reasoning that has to go (render/rollout.h).  A conversation of messages has no sampled ids to
// cut.  There, the reasoning that has to go is removed from the messages.  Some reasoning has to stay although the
// template drops it.  Its turn is put into the prompt as the template writes it when it is the last turn (encode_raw()
// of render/raw_turns.h, as WrittenTurn).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "render/raw_turns.h"
#include "render/turn.h"
#include "rondo/result.h"
#include "template/shape.h"

namespace rondo::render {

// Only reasoning is ever cut; everything else stays verbatim.
enum class Retention : std::uint8_t {
  kAll,        // keep all: the old ids stay as they are
  kTemplate,   // keep what the template still writes; cut the rest
  kToolCycle,  // keep all until a user message comes, then as kTemplate
  // Templates cannot express these: keep the reasoning of the turns since the last user message; cut older reasoning,
  // whatever the template does
  kThinkingBetweenToolCalls,
  kAllThinking,  // keep all, even if the template has a switch that drops it; the same ids as kAll
};
[[nodiscard]] std::string_view to_string(Retention retention);
// Parses "all", "template", "tool_cycle", "preserve_thinking_between_tool_calls" or "preserve_all_thinking".  Returns
// nullopt for anything else.
[[nodiscard]] std::optional<Retention> retention_of(std::string_view name);

// Returns the index after the last user message.
[[nodiscard]] std::size_t begin_of_cycle(const json::Array& messages);

// Removes from `messages` the reasoning that `retention` drops whatever the template does.  `own_field` is a field for
// reasoning that only this template has; "" if there is none.
void drop_reasoning(json::Array& messages, Retention retention, std::string_view own_field);

// Returns a sentence for each message whose reasoning the template writes under no circumstances, because it has no
// reasoning in its format.  `rendered` is the prompt of `messages`, which `shaping` made.
[[nodiscard]] std::vector<std::string> unwritten_reasoning(const json::Array& messages, const tmpl::Shaping& shaping,
                                                           const jinja::Rendered& rendered,
                                                           const format::Format& format);

// The turns of a conversation whose reasoning `retention` keeps although the template drops it.
struct KeptTurns {
  std::vector<RawTurn> turns;      // in order
  std::vector<std::string> notes;  // sentences: whose reasoning the template never writes
};
// Renders the conversation of `context`, and for each such turn the conversation up to it.  Fails as the template does
// with the whole conversation.
[[nodiscard]] Result<KeptTurns> kept_turns(const TurnContext& context, const format::Format& format,
                                           Retention retention);

}  // namespace rondo::render
