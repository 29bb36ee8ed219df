// Events that a render records: conditions, strips and searches.  Their texts and paths belong to its Rendered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/origins.h"

namespace rondo::jinja {

// An evaluated condition (if, elif, inline if, loop filter).  An `and` or `or` is part of its condition.
struct Decision {
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::uint32_t node = 0;                            // the number of the condition in the template
  text::ContextId context = text::ContextId::kNone;  // where it was evaluated
  std::uint32_t reads_begin = 0;                     // see Rendered::reads_of
  std::uint32_t reads_end = 0;
  bool outcome = false;
};

// Characters that the template removed from input text (strip, trim, ...).
struct Strip {
  std::int32_t line = 0;
  std::int32_t column = 0;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin = 0;  // a byte of the input string at `path`
  std::uint32_t end = 0;
};

// A constant that the template searched for in input text, or by which it split input text.
struct Probe {
  std::int32_t line = 0;
  std::string_view operation;  // "in", "split", "startswith", "replace", ...; a static string
  std::string constant;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin = 0;  // the searched bytes of the input string at `path`, from the first to the last one
  std::uint32_t end = 0;    // 0: the whole value at `path`
};

}  // namespace rondo::jinja
