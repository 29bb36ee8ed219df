// Where generation ends: the stop tokens of a model, from its template and from its tokenizer's files.
#pragma once

#include <string>
#include <vector>

#include "format/format.h"
#include "render/turn.h"

namespace rondo::render {

// What is the same for every turn with one template, tokenizer, tools and kwargs.  probe_turns() makes it with a few
// small renders; keep the result.
struct TurnProfile {
  PlainClose plain;
  std::vector<tokenizer::TokenId>
      stop_ids;  // sorted: the stops of plain turns and tool turns, and the tokenizer's own end ids
  std::vector<std::string> stop_strings;  // endings that are not tokens; empty for most models

  [[nodiscard]] bool is_stop(tokenizer::TokenId id) const;
};

// Probes the template.  Never fails: if the template raises on every probe, the result has the tokenizer's own end ids.
[[nodiscard]] TurnProfile probe_turns(const TurnContext& context);

// The same, with the tokens at which a turn with calls ends by the format: what a result begins with may be one.  The
// stop strings also have words that begin the next turn, and then no white space alone.
[[nodiscard]] TurnProfile probe_turns(const TurnContext& context, const format::Format& format);

}  // namespace rondo::render
