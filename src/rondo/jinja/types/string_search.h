// Methods of str that search, cut, split and replace, under their Python names.
#pragma once

#include <cstdint>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Returns the value if it is a string; otherwise fails with a TypeError.
Value require_string(Runtime& runtime, const Value& value);

// Returns `subject` with each `old` replaced; at most `count` of them, unless `count` is negative.
[[nodiscard]] Value replace_text(Runtime& runtime, const Value& subject, const Value& old, const Value& with,
                                 std::int64_t count);
// The ends from which strip_text cuts.
enum class Side : std::uint8_t { kLeft = 1, kRight = 2, kBoth = 3 };
// strip(); `characters` is None for white space.
[[nodiscard]] Value strip_text(Runtime& runtime, const Value& subject, Side side, const Value& characters);

Value str_find(Runtime& runtime, const Value& self, const Args& args);
Value str_rfind(Runtime& runtime, const Value& self, const Args& args);
Value str_index(Runtime& runtime, const Value& self, const Args& args);
Value str_rindex(Runtime& runtime, const Value& self, const Args& args);
Value str_count(Runtime& runtime, const Value& self, const Args& args);
Value str_startswith(Runtime& runtime, const Value& self, const Args& args);
Value str_endswith(Runtime& runtime, const Value& self, const Args& args);
Value str_split(Runtime& runtime, const Value& self, const Args& args);
Value str_rsplit(Runtime& runtime, const Value& self, const Args& args);
Value str_splitlines(Runtime& runtime, const Value& self, const Args& args);
Value str_partition(Runtime& runtime, const Value& self, const Args& args);
Value str_rpartition(Runtime& runtime, const Value& self, const Args& args);
Value str_removeprefix(Runtime& runtime, const Value& self, const Args& args);
Value str_removesuffix(Runtime& runtime, const Value& self, const Args& args);
Value str_strip(Runtime& runtime, const Value& self, const Args& args);
Value str_lstrip(Runtime& runtime, const Value& self, const Args& args);
Value str_rstrip(Runtime& runtime, const Value& self, const Args& args);
Value str_replace(Runtime& runtime, const Value& self, const Args& args);

}  // namespace rondo::jinja
