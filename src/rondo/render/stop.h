// Where generation ends: the stop tokens of a model, from its template and its tokenizer's files.
#pragma once

#include <string>
#include <vector>

#include "render/turn.h"

namespace rondo::render {

// What is the same for every turn of one template, tokenizer, tools and kwargs.  Made by probe_turns from a few small
// renders; keep it.
struct TurnProfile {
  PlainClose plain;
  std::vector<tokenizer::TokenId>
      stop_ids;                           // sorted: the stops of plain and tool turns, and the tokenizer's own end ids
  std::vector<std::string> stop_strings;  // endings that are no token; empty for most models

  [[nodiscard]] bool is_stop(tokenizer::TokenId id) const;
};

// Never fails: a template that raises on every probe leaves the tokenizer's own end ids.
[[nodiscard]] TurnProfile probe_turns(const TurnContext& context);

}  // namespace rondo::render
