// What a prompt would have to write instead, to continue as the model has seen it; found by comparing the two texts.
//
//   seen   <turn>(think)ok(done)It is sunny.<end>        Splice: at "It is", nothing is removed,
//   again  <turn>It is sunny.<end><turn>...              "(think)" ~ reasoning ~ "(done)" is inserted
//
// splice_candidates.h finds the edits of the template that do this.
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
  std::string text;  // for kText
};

// Replaces bytes [begin, end) of the next prompt by the pieces.
struct Splice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<SplicePiece> pieces;
  std::size_t prompt_bytes = 0;  // how much of the first piece the generation prompt wrote
  bool is_close = false;         // the pieces reach to the end of the turn
};

// Returns the splices with which the next prompt of `step` may continue past its first difference from what was seen;
// smallest first.
//
// REQUIRES: step.again is set.
[[nodiscard]] std::vector<Splice> splices_of(const audit::Step& step, const format::Format& format);

// Returns how many bytes the next prompt keeps of what was seen.
[[nodiscard]] std::size_t common_bytes(const std::string& seen, const std::string& again);

}  // namespace rondo::mend
