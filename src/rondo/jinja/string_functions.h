// The methods of str, by Python's names.
#pragma once

#include "jinja/runtime.h"

namespace rondo::jinja {

// The value if it is a string, else a TypeError.
Value require_string(Runtime& runtime, const Value& value);

// Every string in a row, without copying their bytes.
[[nodiscard]] Value join_parts(Runtime& runtime, std::span<const Value> strings);

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
Value str_upper(Runtime& runtime, const Value& self, const Args& args);
Value str_lower(Runtime& runtime, const Value& self, const Args& args);
Value str_title(Runtime& runtime, const Value& self, const Args& args);
Value str_capitalize(Runtime& runtime, const Value& self, const Args& args);
Value str_swapcase(Runtime& runtime, const Value& self, const Args& args);
Value str_casefold(Runtime& runtime, const Value& self, const Args& args);
Value str_isalnum(Runtime& runtime, const Value& self, const Args& args);
Value str_isalpha(Runtime& runtime, const Value& self, const Args& args);
Value str_isascii(Runtime& runtime, const Value& self, const Args& args);
Value str_isdecimal(Runtime& runtime, const Value& self, const Args& args);
Value str_isdigit(Runtime& runtime, const Value& self, const Args& args);
Value str_isidentifier(Runtime& runtime, const Value& self, const Args& args);
Value str_islower(Runtime& runtime, const Value& self, const Args& args);
Value str_isnumeric(Runtime& runtime, const Value& self, const Args& args);
Value str_isprintable(Runtime& runtime, const Value& self, const Args& args);
Value str_isspace(Runtime& runtime, const Value& self, const Args& args);
Value str_istitle(Runtime& runtime, const Value& self, const Args& args);
Value str_isupper(Runtime& runtime, const Value& self, const Args& args);

}  // namespace rondo::jinja
