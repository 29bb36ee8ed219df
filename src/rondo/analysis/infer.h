// From turns to a Format: what the literals between the slots of several probes have in common.  Internal to analysis/.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/probe.h"
#include "analysis/written.h"
#include "format/format.h"

namespace rondo::analysis {

// Which parts a probe had: reasoning, content, number of calls.
using VariantKey = std::tuple<bool, bool, std::size_t>;

struct Variant {
  Turn turn;
  ProbeSetting setting;
};

using Variants = std::map<VariantKey, Variant>;

// The literals around one call, in a turn with that call alone and in a turn with two.
struct CallText {
  Written before;   // between what precedes the calls and the first slot (or the JSON)
  Written between;  // from the first call's last slot to the second call's first one; "" if one call is all
  Written after;    // behind the last slot
  bool has_between = false;
  std::span<const std::string> atoms;
};

// `</x>` to `<x>`: how markup writes pairs; "" if `close` is no closing tag.
[[nodiscard]] std::string opening_of(const std::string& close);
// `<x>` to `</x>`, `[X]` to `[/X]`; "" if `open` is no such tag of one word.
[[nodiscard]] std::string closing_of(const std::string& open);

// Splits CallText into the markers of `calls`; `stop` is what ends a plain turn.
void split_call_text(const CallText& text, const std::string& stop, format::Calls& calls, format::Stops& stops);

// If the call stands inside a JSON value: fills envelope, roles and `text`; false otherwise.  `turn` has two calls or
// one; text.before is what `lead_turn` writes before its first call's first slot, and is cut to what stands before the
// JSON.
[[nodiscard]] bool find_json_envelope(const Turn& turn, const Turn& lead_turn, std::size_t calls_in_turn,
                                      format::Calls& calls, CallText& text);

// The literals and forms of tagged parameters.
struct ParameterText {
  Written between;  // from the last value of a call to the next call's first slot
  Written after;    // behind the last value of the last call
  bool has_between = false;
};
// The call that the parameter probes vary.  The references must outlive it.
struct ParameterProbe {
  Prober& prober;
  const Shape& shape;
  const ProbeMessage& base;
  const ProbeSetting& setting;
  bool single_call = false;
  std::span<const std::string> atoms;
};
// What was noticed on the way is added to the notes and losses of `findings`.
[[nodiscard]] bool infer_parameters(const ParameterProbe& probe, format::Parameters& parameters, ParameterText& text,
                                    format::Format& findings);

}  // namespace rondo::analysis
