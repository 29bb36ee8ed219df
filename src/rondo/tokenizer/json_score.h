// The number that a JSON text stands for to the reference.
#pragma once

#include <string_view>

namespace rondo::tokenizer {

// The reference's JSON library is fast and not always right in the last bit: it takes the digits as one integer, drops
// those that do not fit 64 bits, and scales by a power of ten.  Sums of scores decide between equal paths, so the bit
// counts.  REQUIRES: `text` is a JSON number.
[[nodiscard]] double json_score(std::string_view text);

}  // namespace rondo::tokenizer
