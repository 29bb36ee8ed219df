// Where generation ends: the stop tokens of a model, from its template and from its tokenizer's files.
#pragma once

#include <string>
#include <vector>

#include "format/format.h"
#include "render/turn.h"

namespace rondo::render {

// The facts that hold for every turn with one template, tokenizer, tools and kwargs.  probe_turns() finds them with a
// few small renders; keep the result.
struct TurnProfile {
  PlainClose plain;
  std::vector<tokenizer::TokenId>
      stop_ids;  // sorted: the stops of plain turns and tool turns, and the tokenizer's own end ids
  std::vector<std::string> stop_strings;  // endings that are not tokens; empty for most models

  [[nodiscard]] bool is_stop(tokenizer::TokenId id) const;
};

// Probes the template.  Never fails: if the template raises on every probe, the result has the tokenizer's own end ids.
[[nodiscard]] TurnProfile probe_turns(const TurnContext& context);

// Does the same, and adds the stops of the format.  Of a turn with calls, that may be the token with which a result
// begins.  If there are stop strings with words, those of white space alone are left out.
[[nodiscard]] TurnProfile probe_turns(const TurnContext& context, const format::Format& format);

}  // namespace rondo::render
