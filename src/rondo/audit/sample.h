// What a model would write for a message behind a prompt, and how it may differ in spelling from that.
//
// The text is the template's own form of the turn, as far as history shows it and goes on where the prompt ends; else it is
// put together from the format's markers and what history does show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/context.h"
#include "audit/scenarios.h"
#include "causes/sampled.h"
#include "render/turn.h"

namespace rondo::audit {

using causes::find_regions;
using causes::Regions;
using causes::Sampled;

// A sampled text, or why there is none.
struct Sample {
  std::optional<Sampled> sampled;
  std::string why_not;  // a sentence
};

// `prompt`: the render of `history` with generation prompt, text that `message` is said behind.
[[nodiscard]] Sample sample(const AuditContext& context, const json::Array& history, const jinja::Rendered& prompt,
                            const json::Value& message);

// Spells `sampled` as the scenario says.  `calls` are the turn's.  Fails with a sentence where the format has nothing that
// could be spelled so.
[[nodiscard]] std::optional<std::string> respell(const format::Format& format, const ScenarioTurn& turn,
                                                 Sampled& sampled);

}  // namespace rondo::audit
