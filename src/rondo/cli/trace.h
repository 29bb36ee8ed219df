// What a render did, for the terminal: the tables of `rondo render --spans` and `--trace`, and the coloured prompt.
#pragma once

#include <cstddef>
#include <string>

#include "cli/paint.h"
#include "json/value.h"

namespace rondo::cli {

// The width and colours of the output.
struct Look {
  Paint paint;
  std::size_t width = 0;  // in columns; 0: as wide as necessary
};

// Returns one line per part of the prompt: bytes, origin, text.  `reply` has `text` and `spans`.
[[nodiscard]] std::string spans_table(const json::Value& reply, const Look& look);

// Returns the template with what each line wrote, decided and cut off.  `reply` has `text` and `trace`
// (docs/render.md).
[[nodiscard]] std::string trace_report(const json::Value& reply, const Look& look);

// Returns the prompt coloured by owner, with everything escaped that a terminal would obey.  `reply` is as for
// trace_report.
[[nodiscard]] std::string coloured_prompt(const json::Value& reply, const Look& look);

}  // namespace rondo::cli
