// What consecutive bytes of a text are, and where they came from.
#pragma once

#include <cstdint>

#include "text/origins.h"

namespace rondo::text {

enum class RunKind : std::uint8_t {
  kLiteral,     // template text or a string constant of the template; origin: LiteralId, source: bytes of the literal
  kData,        // copied from a string of the input, byte for byte; origin: PathId, source: bytes of that string
  kEscaped,     // stands for `source_size` bytes of an input string that a transformation rewrote; origin: PathId
  kScalar,      // a number, bool or null of the input, printed; origin: PathId
  kSerialiser,  // structure that a serialiser wrote around input values: braces, quotes, commas; origin: PathId
  // made by the template: a length, a date, indentation; origin: PathId of the value it stands for, or kNone
  kComputed,
  // An object or array of the input as JSON, in one run; origin: PathId.  Lasts until somebody asks for its parts; see
  // dumps.h.
  kDump,
};

// Consecutive bytes with one origin.
struct Run {
  std::uint32_t size = 0;           // bytes in the text; never 0 inside a Text
  std::uint32_t origin = 0;         // LiteralId for kLiteral, else PathId
  std::uint32_t source_offset = 0;  // kLiteral, kData, kEscaped: first byte in the literal or input string
  // kLiteral, kData: equal to `size`.  kEscaped: how many bytes it stands for.  kDump: the number of its parts.
  // Otherwise 0
  std::uint32_t source_size = 0;
  ContextId context = ContextId::kNone;
  ChainId chain = ChainId::kNone;
  RunKind kind = RunKind::kComputed;
  // The output expression of the template that wrote the run, counted from 1 (jinja::Template::expressions).  If
  // expressions are nested (a macro inside an expression), the innermost one.  0 for unknown, and for literals, whose
  // place is in LiteralId.
  std::uint16_t expression = 0;

  [[nodiscard]] bool is_input() const { return kind != RunKind::kLiteral; }
  // Returns the path of an input run; kNone for literals.
  [[nodiscard]] PathId path() const { return kind == RunKind::kLiteral ? PathId::kNone : static_cast<PathId>(origin); }
  // REQUIRES: kind == kLiteral.
  [[nodiscard]] LiteralId literal() const { return static_cast<LiteralId>(origin); }
  bool operator==(const Run&) const = default;
};

// Returns whether each byte of such a run is a byte of its source: true for template text and data.
[[nodiscard]] inline bool has_source(RunKind kind) { return kind == RunKind::kLiteral || kind == RunKind::kData; }

}  // namespace rondo::text
