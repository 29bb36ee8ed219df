// What a prompt would have to write in place of what it writes, to go on as the model has seen it: found in the two texts.
//
//   seen   <turn>(think)ok(done)It is sunny.<end>        Splice: at "It is", nothing goes,
//   again  <turn>It is sunny.<end><turn>...              "(think)" ~ reasoning ~ "(done)" comes
//
// Which edits of the template do that: splice_candidates.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/play.h"

namespace rondo::mend {

// Text, or a field of the assistant's message.
struct SplicePiece {
  enum class Kind : std::uint8_t { kText, kReasoning, kContent };
  Kind kind = Kind::kText;
  std::string text;  // of kText
};

// Bytes [begin, end) of the next prompt go, and the pieces come.
struct Splice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<SplicePiece> pieces;
  std::size_t prompt_bytes = 0;  // of the first piece: what the generation prompt wrote
  bool is_close = false;         // the pieces go up to the end of the turn
};

// Those that may let the next prompt of `step` go on further than its first difference from what was seen; the smallest
// first.  REQUIRES: step.again.
[[nodiscard]] std::vector<Splice> splices_of(const audit::Step& step, const format::Format& format);

// The bytes that the next prompt keeps of what was seen.
[[nodiscard]] std::size_t common_bytes(const std::string& seen, const std::string& again);

}  // namespace rondo::mend
