// Dicts and namespaces: their members by key, in Python's order.  A dict of the input stays in the input until the
// template iterates over it or changes it.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Members of a dict or namespace.  For a key of an input dict, key_of gives the key with its origin.
[[nodiscard]] std::pmr::vector<Dict::Entry>& entries_of(Runtime& runtime, const Value& dict);
[[nodiscard]] Value key_of(Runtime& runtime, const Dict& dict, const Dict::Entry& entry);
// Returns the value of member `i` of a dict that is still in the input.
//
// REQUIRES: dict.source != nullptr.
[[nodiscard]] const Value& source_member(Runtime& runtime, Dict& dict, std::size_t i);
// Returns whether a list or dict certainly equals the input.  False once it, or a container in it, has left the input,
// which happens when the template iterates over it or changes it (Dict::source).
[[nodiscard]] bool is_as_in_input(Runtime& runtime, const Value& container);
// Returns nullptr if there is no such key or the key is not hashable.
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, const Value& key);
[[nodiscard]] Value* find_item(Runtime& runtime, Dict& dict, std::string_view key);
// Fails if the key cannot be hashed.
void set_item(Runtime& runtime, Dict& dict, const Value& key, const Value& value);
// Does {% set ns.name = value %}; fails if `target` is not a namespace.
void set_attr(Runtime& runtime, const Value& target, std::string_view name, const Value& value);
// Returns a copy of a dict with the same values; its keys get their origins.
[[nodiscard]] Value copy_dict(Runtime& runtime, const Value& dict);
// Returns true if the key existed.
bool erase_item(Runtime& runtime, Dict& dict, const Value& key);
// Fails with Python's error for a value that cannot be hashed: it names the part that cannot.
[[noreturn]] void fail_unhashable(Runtime& runtime, const Value& value);
// Returns nullopt if the value cannot be hashed.
[[nodiscard]] std::optional<std::size_t> hash_of(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
