// The literals around calls and their parameters, and how they are cut into markers.  Internal to analysis/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/parts.h"

namespace rondo::analysis {

// The literals around one call, as seen in a turn with one call and in a turn with two.
struct CallText {
  Written before;                  // from the end of the text that precedes the calls to the first slot, or to the JSON
  std::optional<Written> between;  // from the first call's last slot to the second call's first one
  Written after;                   // after the last slot
  std::vector<std::string> atoms;
};

// Returns `part` with the markers that `text` is cut into, and with the stops of its turn.  `stop` is the stop of a
// plain turn; "" if it has none.
[[nodiscard]] CallPart with_markers(CallPart part, const CallText& text, const std::string& stop);

// A call inside a JSON value, and the literals around that value.
struct JsonCall {
  format::Envelope envelope = format::Envelope::kJsonObject;
  format::JsonRoles roles;
  CallText text;
  std::vector<format::CallPiece> pieces = {};  // for an id beside the object
  // The literals around the only call of `lead_turn`, if the template writes several calls as a list but a single one
  // without it.  Then `text.before` belongs to the single call; the text before the list ends `before_slot` bytes
  // before the first slot of `turn`.
  std::optional<CallText> lone = {};
  std::size_t before_slot = 0;
};
// Finds a call in JSON; nullopt if there is none.  `turn` has one or two calls.  `around.before` is the text of
// `lead_turn` before the first slot of its first call.
[[nodiscard]] std::optional<JsonCall> find_json_call(const Turn& turn, const Turn& lead_turn, std::size_t calls_in_turn,
                                                     const CallText& around);

// Returns the literals and counters of `text` as pieces of a call.
[[nodiscard]] std::vector<format::CallPiece> text_pieces(std::string_view text);

// Returns the path of the reasoning in the JSON of the turn's first call; empty if it is not there.
[[nodiscard]] std::vector<std::string> reasoning_role(const Turn& turn);

// How tagged parameters are written, and the literals after the last value.
struct ParameterPart {
  format::Parameters parameters;
  std::optional<Written> between;  // up to the first slot of the next call, if there is one
  Written after;                   // up to the end
};
// Infers the parameters of the calls in the variant of `parts`; nullopt if they cannot be understood.  Adds what is
// lost to `remarks`.
[[nodiscard]] std::optional<ParameterPart> infer_parameters(const Evidence& evidence, const Parts& parts,
                                                            Remarks& remarks);

}  // namespace rondo::analysis
