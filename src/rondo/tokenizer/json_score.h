// Parses a number of a JSON text exactly as the reference does.
#pragma once

#include <string_view>

namespace rondo::tokenizer {

// The reference's JSON library is fast and sometimes wrong in the last bit.  It reads the digits as one integer, drops
// those that do not fit 64 bits, and scales by a power of ten.  Sums of scores decide between equal paths, so this bit
// matters.
//
// REQUIRES: `text` is a JSON number.
[[nodiscard]] double json_score(std::string_view text);

}  // namespace rondo::tokenizer
