// YAML as the JSON value that it says, in the words of YAML 1.2's core schema: `no` and `12:30` are texts, `0x10` is 16.
//
//   Result<json::Value> value = yaml::read("name: no\nsizes: [1, 0x10]\n");
//   json::to_compact(value.value())      // {"name":"no","sizes":[1,16]}
//
// What JSON cannot say is an error, and so is what readers of YAML disagree about: keys that are no scalars or come twice, tags
// of other schemas, a second document.  `<<` is a key like any other.
#pragma once

#include <cstddef>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::yaml {

struct Limits {
  // Mappings and lists inside of each other.  The reader below recurses; far more than what people write.
  std::size_t depth = 128;
  // Values, each as often as aliases repeat it, and the bytes of their texts: a few lines of aliases of aliases could otherwise
  // stand for more than fits any memory.
  std::size_t values = 1'000'000;
  std::size_t bytes = std::size_t{64} << 20U;
};

// The one document in `text`.  Each value's source range begins where the value does and is otherwise empty; values of an alias
// keep the places of what it stands for.  Fails with kInvalidArgument and line, column and the line as code frame, and with
// kLimit.
[[nodiscard]] Result<json::Value> read(std::string_view text, const Limits& limits = {});

}  // namespace rondo::yaml
