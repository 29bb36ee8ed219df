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
#include "render/turn.h"

namespace rondo::audit {

// Where the parts of a message stand in the text of its turn.
struct Regions {
  std::optional<render::Extent> reasoning;
  std::optional<render::Extent> content;
  std::vector<render::Extent> calls;  // from the first to the last byte of a call's own data
};

// Those of message `index` within bytes [begin, end) of `rendered`; offsets count from `begin`.
[[nodiscard]] Regions find_regions(const jinja::Rendered& rendered, const format::Format& format, std::int32_t index,
                                   render::Extent within);

struct Sampled {
  std::string text;  // with its stop
  Regions regions;
  std::size_t stop_begin = 0;  // text.size() if there is none
  bool is_cut = false;         // it ends in the middle
};

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
