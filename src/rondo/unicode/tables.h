// The generated tables of classes.h and normalise.h; no other file includes this.  See tools/tables/make_unicode_tables.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::unicode::tables {

// Two-stage tables: block = index[code point / 256], entry = data[block * 256 + code point % 256].
extern const std::uint16_t kCategoryIndex[];
extern const std::uint8_t kCategory[];  // general category; 0x80: Unicode 14 classifies it differently

struct Substitution {
  char32_t first;
  char32_t last;
  char32_t target;
};
extern const Substitution kSubstitutions[];
extern const std::size_t kSubstitutionCount;

// Low byte: canonical combining class.  0x100 / 0x200: has a canonical / compatibility decomposition.  0x400 / 0x800: a
// text that contains it may have to be changed by NFC / NFKC.
extern const std::uint16_t kNormalIndex[];
extern const std::uint16_t kNormal[];

struct Decomposition {
  char32_t from;
  std::uint16_t offset;  // in the pool
  std::uint16_t size;
};
extern const Decomposition kCanonical[];
extern const std::size_t kCanonicalCount;
extern const char32_t kCanonicalPool[];
extern const Decomposition kCompatible[];
extern const std::size_t kCompatibleCount;
extern const char32_t kCompatiblePool[];

struct Composition {
  char32_t first;
  char32_t second;
  char32_t composite;
};
extern const Composition kCompositions[];  // sorted by first, second
extern const std::size_t kCompositionCount;

}  // namespace rondo::unicode::tables
