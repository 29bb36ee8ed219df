// What of the reasoning of earlier turns stays when other messages follow, whatever the template does.
//
// A rollout cuts out what has to go (render/rollout.h).  Of messages alone nothing was sampled: what has to go is taken out of
// them, and a turn whose reasoning has to stay though the template drops it stands as the template writes it while it is the
// last one (encode_raw() of render/raw_turns.h, as WrittenTurn).
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

namespace rondo::render {

// Only reasoning is ever cut; everything else stays verbatim.
enum class Retention : std::uint8_t {
  kAll,        // all of it: the old ids stay as they are
  kTemplate,   // what the template still writes; the rest is cut
  kToolCycle,  // all of it until a user message comes, then as kTemplate
  // What templates cannot express:
  kThinkingBetweenToolCalls,  // that of the turns since the last user message; older is cut, whatever the template does
  kAllThinking,               // all of it, also where the template has a switch that drops it; the same ids as kAll
};
[[nodiscard]] std::string_view to_string(Retention retention);
// "all", "template", "tool_cycle", "preserve_thinking_between_tool_calls", "preserve_all_thinking"; nullopt for others.
[[nodiscard]] std::optional<Retention> retention_of(std::string_view name);

// Index behind the last user message.
[[nodiscard]] std::size_t begin_of_cycle(const json::Array& messages);

// Takes out of `messages` the reasoning that `retention` drops whatever the template does.  `own_field`: a field for
// reasoning that no other template has; "" if there is none.
void drop_reasoning(json::Array& messages, Retention retention, std::string_view own_field);

// The turns of a conversation whose reasoning stays by `retention`, and is dropped by its template.
struct KeptTurns {
  std::vector<RawTurn> turns;      // in order
  std::vector<std::string> notes;  // whose reasoning the template never writes
};
// Renders the conversation of `context`, and its beginning up to each such turn.  Fails as the template does with all of it.
[[nodiscard]] Result<KeptTurns> kept_turns(const TurnContext& context, const format::Format& format,
                                           Retention retention);

}  // namespace rondo::render
