// Reads YAML as a JSON value, with the types of YAML 1.2's core schema: `no` and `12:30` are texts, `0x10` is 16.
//
//   Result<json::Value> value = yaml::read("name: no\nsizes: [1, 0x10]\n");
//   json::to_compact(value.value())      // {"name":"no","sizes":[1,16]}
//
// What JSON cannot express is an error.  So is everything that YAML readers disagree about: keys that are not scalars
// or are repeated, tags of other schemas, a second document.  `<<` is an ordinary key.
#pragma once

#include <cstddef>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::yaml {

struct Limits {
  // Nesting of mappings and lists.  The reader recurses; people write far less.
  std::size_t depth = 128;
  // The number of values and the bytes of their texts, each counted as often as aliases repeat it.  Otherwise a few
  // lines with aliases of aliases could fill any memory.
  std::size_t values = 1'000'000;
  std::size_t bytes = std::size_t{64} << 20U;
};

// Reads the one document in `text`.  Each value's source range begins where the value does and is otherwise empty.  The
// values of an alias keep the places of what it refers to.  Fails with kInvalidArgument and line, column and the line
// as a code frame, or with kLimit.
[[nodiscard]] Result<json::Value> read(std::string_view text, const Limits& limits = {});

}  // namespace rondo::yaml
