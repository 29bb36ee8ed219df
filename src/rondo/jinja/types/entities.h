// The generated tables of HTML's character references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rondo::jinja {

// `name` as it stands behind the ampersand, with its semicolon if it needs one.  Sorted by name.
struct NamedEntity {
  std::string_view name;
  std::string_view text;
};
// What browsers take some numbers for.  Sorted by number.
struct NumberedEntity {
  std::uint32_t number;
  std::string_view text;
};

extern const NamedEntity kNamedEntities[];
extern const NumberedEntity kNumberedEntities[];
extern const std::uint32_t kDroppedCodePoints[];  // sorted
extern const std::size_t kNamedEntityCount, kNumberedEntityCount, kDroppedCodePointCount;

}  // namespace rondo::jinja
