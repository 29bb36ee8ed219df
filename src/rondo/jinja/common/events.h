// What a render notes on its way: conditions, cuts and searches.  Their texts and paths are those of its Rendered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/origins.h"

namespace rondo::jinja {

// A condition that was evaluated (if, elif, inline if, loop filter, and / or are part of their condition).
struct Decision {
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::uint32_t node = 0;                            // the same condition of the template has the same number
  text::ContextId context = text::ContextId::kNone;  // of the place where it was evaluated
  std::uint32_t reads_begin = 0;                     // see Rendered::reads_of
  std::uint32_t reads_end = 0;
  bool outcome = false;
};

// Characters that the template cut off input text (strip, trim, ...).
struct Strip {
  std::int32_t line = 0;
  std::int32_t column = 0;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin = 0;  // bytes of the input string at `path`
  std::uint32_t end = 0;
};

// A constant that the template searched in input text, or split it by.
struct Probe {
  std::int32_t line = 0;
  std::string_view operation;  // "in", "split", "startswith", "replace", ...: static
  std::string constant;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin =
      0;                  // the bytes of the input string at `path` that were searched, from the first to the last one
  std::uint32_t end = 0;  // 0: all of the value there
};

}  // namespace rondo::jinja
