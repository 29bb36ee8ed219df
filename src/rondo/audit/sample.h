// What a model would write for a message after a prompt, and how its spelling may differ.
//
// The text is the template's own form of the turn, if history shows it and continues where the prompt ends.  Otherwise
// it is put together from the format's markers and from what history does show.
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

// A sampled text, or the reason why there is none.
struct Sample {
  std::optional<Sampled> sampled;
  std::string why_not;  // a sentence
};

// `prompt` is the render of `history` with a generation prompt; `message` is said after it.
[[nodiscard]] Sample sample(const AuditContext& context, const json::Array& history, const jinja::Rendered& prompt,
                            const json::Value& message);

// Changes the spelling of `sampled` as the scenario says.  `calls` are the turn's calls.  Returns a sentence if the
// format has nothing that could be spelled so.
[[nodiscard]] std::optional<std::string> respell(const format::Format& format, const ScenarioTurn& turn,
                                                 Sampled& sampled);

}  // namespace rondo::audit
