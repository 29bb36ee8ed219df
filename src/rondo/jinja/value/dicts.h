// Dicts and namespaces: their members by key, in the order of Python.  A dict of the input stays there until somebody
// goes through it or changes it.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Members of a dict or namespace.  Keys of input dicts: use key_of for the one with its origin.
[[nodiscard]] std::pmr::vector<Dict::Entry>& entries_of(Runtime& runtime, const Value& dict);
[[nodiscard]] Value key_of(Runtime& runtime, const Dict& dict, const Dict::Entry& entry);
// The value of member `i` of a dict that is still in the input.  REQUIRES: dict.source != nullptr.
[[nodiscard]] const Value& source_member(Runtime& runtime, Dict& dict, std::size_t i);
// nullptr if there is no such key or it is not hashable.
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, const Value& key);
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, std::string_view key);
// Fails for keys that cannot be hashed.
void set_item(Runtime& runtime, Dict& dict, const Value& key, const Value& value);
// {% set ns.name = value %}; fails if `target` is no namespace.
void set_attr(Runtime& runtime, const Value& target, std::string_view name, const Value& value);
// A copy of a dict with the same values; keys get their origins.
[[nodiscard]] Value copy_dict(Runtime& runtime, const Value& dict);
// True if there was such a key.
bool erase_item(Runtime& runtime, Dict& dict, const Value& key);
// Nothing if the value cannot be hashed.
[[nodiscard]] std::optional<std::size_t> hash_of(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
