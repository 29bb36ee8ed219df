// The generated tables of reference.h and graphemes.h; no other file includes this.  See
// tools/tables/make_reference_tables.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::unicode::tables {

// Two-stage tables: block = index[code point / 256], entry = data[block * 256 + code point % 256].
extern const std::uint16_t kClassIndex[];
extern const std::uint8_t kClass[];  // one bit for each function of reference.h, in their order
extern const std::uint16_t kClusterIndex[];
extern const std::uint8_t kCluster[];  // graphemes.cpp: Cluster; 0x20: InCB=Extend, 0x40: InCB=Linker
extern const std::uint16_t kScriptIndex[];
extern const std::uint8_t kScript[];

struct LowerCase {
  char32_t from;
  char32_t to[2];  // the second may be 0
};
extern const LowerCase kLower[];  // sorted
extern const std::size_t kLowerCount;

}  // namespace rondo::unicode::tables
