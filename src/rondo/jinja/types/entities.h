// The generated tables of HTML character references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rondo::jinja {

// `name` is what follows the ampersand, with its semicolon if it needs one.  Sorted by name.
struct NamedEntity {
  std::string_view name;
  std::string_view text;
};
// Replacements that browsers make for some numbers.  Sorted by number.
struct NumberedEntity {
  std::uint32_t number;
  std::string_view text;
};

extern const NamedEntity kNamedEntities[];
extern const NumberedEntity kNumberedEntities[];
extern const std::uint32_t kDroppedCodePoints[];  // sorted
extern const std::size_t kNamedEntityCount, kNumberedEntityCount, kDroppedCodePointCount;

}  // namespace rondo::jinja
