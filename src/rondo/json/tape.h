// JSON values as numbers and text, for callers in languages whose strings are not UTF-8.  A tape is faster to write and
// to read than JSON text.  js/tape.mjs writes it.
//
// A tape is one block of memory:
//
//   byte 0        0xFF, which begins no JSON text
//   byte 1        1 or 2: bytes for each unit of the text, as base/units.h
//   bytes 2, 3    0
//   bytes 4..7    how many items there are
//   items         numbers of 32 bits, in the machine's order of bytes
//   text          units to the end of the block: what the items take, in their order
//
// | items            | value |
// |------------------|-------|
// | n, from 0 on     | a string: the next n units |
// | -1, -2, -3       | null, false, true |
// | -4, n            | a number, which the next n units spell as JSON does |
// | -5, n            | an array of the n values that follow |
// | -6, n            | an object of the n members that follow, each a key and a value |
//
// A key is -7, n (the next n units), or a number k from 0 on: the same key as the k-th one that was written as -7, n.
#pragma once

#include <string_view>

#include "json/parse.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::json {

[[nodiscard]] inline bool is_tape(std::string_view block) { return block.starts_with('\xFF'); }

// Reads the one value of a tape.  Fails with kJson if the bytes are not a tape, or with kLimit beyond `max_depth`.
// Values have no source.
[[nodiscard]] Result<Value> parse_tape(std::string_view block, const ParseOptions& options = {});

}  // namespace rondo::json
