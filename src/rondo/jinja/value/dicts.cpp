#include "jinja/value/dicts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "base/bytes.h"
#include "jinja/value/equality.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

using text::PathId;

// Dicts with at most this many entries are searched linearly.
constexpr std::size_t kLinearEntries = 8;

// Prepares a dict of the input for member look-ups.
void open(Runtime& runtime, Dict& dict) {
  const std::size_t count = dict.source->size();
  dict.members = runtime.heap.allocate_array<Value>(count);
  std::uninitialized_fill_n(dict.members, count, Value());
  dict.first_member = PartPaths(runtime, dict.path, *dict.source).first();
}

// Member `i` of a dict whose values are still in the input.
Value& member_at(Runtime& runtime, Dict& dict, std::size_t i) {
  if (dict.members == nullptr) open(runtime, dict);
  Value& member = dict.members[i];
  if (!member.is_undefined()) return member;
  const PartPaths paths(runtime, dict.path, *dict.source, dict.first_member);
  member = wrap(runtime, dict.source->begin()[i].value, paths.at(i));
  return member;
}

std::size_t hash_bytes(std::string_view bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (bytes.size() > 2 * kWord || bytes.size() < sizeof(std::uint32_t)) return std::hash<std::string_view>{}(bytes);
  // Two overlapping words cover all bytes of most keys.
  std::uint64_t words[2] = {0, 0};
  if (bytes.size() >= kWord) {
    std::memcpy(&words[0], bytes.data(), kWord);
    std::memcpy(&words[1], bytes.data() + bytes.size() - kWord, kWord);
  } else {
    std::memcpy(&words[0], bytes.data(), kWord / 2);
    std::memcpy(&words[1], bytes.data() + bytes.size() - kWord / 2, kWord / 2);
  }
  std::uint64_t hash = (words[0] ^ bytes.size()) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ (hash >> 29U) ^ words[1]) * 0xC2B2AE3D27D4EB4FULL;
  return hash ^ (hash >> 32U);
}

void add_slot(Dict& dict, std::size_t entry) {
  const std::size_t mask = dict.slots.size() - 1;
  std::size_t slot = dict.entries[entry].hash & mask;
  while (dict.slots[slot] != 0) slot = (slot + 1) & mask;
  dict.slots[slot] = static_cast<std::uint32_t>(entry + 1);
}

void build_slots(Dict& dict) {
  dict.slots.clear();
  if (dict.entries.size() <= kLinearEntries) return;
  dict.slots.assign(std::bit_ceil(dict.entries.size() * 4), 0);
  for (std::size_t i = 0; i < dict.entries.size(); ++i) add_slot(dict, i);
}

// REQUIRES: the key is not there yet.
void add_entry(Dict& dict, const Value& key, const Value& value, std::size_t hash) {
  dict.entries.push_back({key, value, hash});
  if (dict.entries.size() > kLinearEntries) {
    if (dict.slots.size() < dict.entries.size() * 2) {
      build_slots(dict);
    } else {
      add_slot(dict, dict.entries.size() - 1);
    }
  }
}

void fill(Runtime& runtime, Dict& dict) {
  const json::Object& source = *dict.source;
  dict.entries.reserve(source.size());
  const bool is_input = dict.path != PathId::kNone || !runtime.tracing;
  std::size_t i = 0;
  for (const json::Member& member : source) {
    const Value key = is_input ? input_string(runtime, member.key, PathId::kNone) : make_computed(runtime, member.key);
    add_entry(dict, key, member_at(runtime, dict, i++), hash_bytes(member.key));
  }
  dict.source = nullptr;
}

// The entry for which `same(key)` holds, among those with `hash`; -1 if there is none.
template <typename Same>
std::ptrdiff_t find_entry(const Dict& dict, std::size_t hash, Same same) {
  if (dict.slots.empty()) {
    for (std::size_t i = 0; i < dict.entries.size(); ++i) {
      if (dict.entries[i].hash == hash && same(dict.entries[i].key)) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
  }
  const std::size_t mask = dict.slots.size() - 1;
  for (std::size_t slot = hash & mask; dict.slots[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t i = dict.slots[slot] - 1;
    if (dict.entries[i].hash == hash && same(dict.entries[i].key)) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

std::ptrdiff_t find_entry(Runtime& runtime, Dict& dict, const Value& key, std::size_t hash) {
  if (dict.source != nullptr) fill(runtime, dict);
  return find_entry(dict, hash, [&](const Value& other) { return other.is_same(key) || equals(runtime, other, key); });
}

std::size_t require_hash(Runtime& runtime, const Value& key) {
  const std::optional<std::size_t> hash = hash_of(runtime, key);
  if (!hash) fail_unhashable(runtime, key);
  return *hash;
}

}  // namespace

void fail_unhashable(Runtime& runtime, const Value& value) {
  if (value.is_tuple()) {
    for (const Value& item : items_of(runtime, value)) {
      if (!hash_of(runtime, item)) fail_unhashable(runtime, item);
    }
  }
  runtime.fail("unhashable type: '" + type_name(value) + "'");
}

std::pmr::vector<Dict::Entry>& entries_of(Runtime& runtime, const Value& value) {
  Dict& dict = value.as_dict();
  if (dict.source != nullptr) fill(runtime, dict);
  return dict.entries;
}

const Value& source_member(Runtime& runtime, Dict& dict, std::size_t i) { return member_at(runtime, dict, i); }

bool is_as_in_input(Runtime& runtime, const Value& container) {
  if (container.is_sequence()) return container.as_list().source != nullptr;
  const Dict& dict = container.as_dict();
  if (dict.source == nullptr || dict.members == nullptr) return dict.source != nullptr;
  const DepthGuard guard(runtime);
  runtime.spend(dict.source->size());
  return std::all_of(dict.members, dict.members + dict.source->size(), [&](const Value& member) {
    return !(member.is_list() || member.is_dict()) || is_as_in_input(runtime, member);
  });
}

Value key_of(Runtime& runtime, const Dict& dict, const Dict::Entry& entry) {
  // Keys of input dicts are stored without a place.  A path is made only for keys that the template looks at.
  if (dict.path == PathId::kNone || !entry.key.is_string()) return entry.key;
  const String& key = entry.key.as_string();
  const bool is_single = key.run_count == 1 && !key.has_dumps;
  if (is_single && (key.single.kind != text::RunKind::kData || key.single.origin != 0)) return entry.key;
  const std::string_view bytes(key.data, key.size);
  return input_string(runtime, bytes, runtime.origins.paths.key_of(dict.path, bytes));
}

std::optional<std::size_t> hash_of(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return 1;
    case Kind::kNone: return 2;
    case Kind::kBigInt: runtime.spend(value.as_big().bit_length() / 128); [[fallthrough]];
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat: return std::hash<double>{}(to_double(value));  // equal numbers are equal as doubles
    case Kind::kString: runtime.spend_bytes(value.as_string().size); return hash_bytes(bytes_of(runtime, value));
    case Kind::kTuple: {
      const DepthGuard guard(runtime);
      std::size_t hash = 3;
      for (const Value& item : items_of(runtime, value)) {
        runtime.spend();
        const std::optional<std::size_t> part = hash_of(runtime, item);
        if (!part) return std::nullopt;
        hash = hash * 1000003 + *part;
      }
      return hash;
    }
    case Kind::kList:
    case Kind::kDict: return std::nullopt;
    case Kind::kNamespace: return std::hash<const void*>{}(&value.as_dict());
    case Kind::kObject: {
      const std::string_view type = value.as_object().type_name();
      if (type == "dict_keys" || type == "dict_items" || type == "set") return std::nullopt;  // they compare like sets
      return std::hash<const void*>{}(&value.as_object());
    }
  }
  return std::nullopt;
}

Value* find_item(Runtime& runtime, Dict& dict, const Value& key) {
  if (key.is_string() && (dict.source != nullptr || dict.slots.empty())) {
    runtime.spend_bytes(key.as_string().size);
    return find_item(runtime, dict, bytes_of(runtime, key));
  }
  const std::optional<std::size_t> hash = hash_of(runtime, key);
  if (!hash) return nullptr;
  const std::ptrdiff_t entry = find_entry(runtime, dict, key, *hash);
  return entry < 0 ? nullptr : &dict.entries[static_cast<std::size_t>(entry)].value;
}

Value* find_item(Runtime& runtime, Dict& dict, std::string_view key) {
  if (dict.source != nullptr) {
    const std::size_t index = dict.source->position(key);
    return index < dict.source->size() ? &member_at(runtime, dict, index) : nullptr;
  }
  const auto same = [&](const Value& other) {
    if (!other.is_string()) return false;
    const String& string = joined(runtime, other);
    return same_bytes({string.data, string.size}, key);
  };
  if (dict.slots.empty()) {
    for (Dict::Entry& entry : dict.entries) {
      if (same(entry.key)) return &entry.value;
    }
    return nullptr;
  }
  const std::ptrdiff_t entry = find_entry(dict, hash_bytes(key), same);
  return entry < 0 ? nullptr : &dict.entries[static_cast<std::size_t>(entry)].value;
}

void set_item(Runtime& runtime, Dict& dict, const Value& key, const Value& value) {
  runtime.spend();
  const std::size_t hash = require_hash(runtime, key);
  if (dict.source != nullptr) fill(runtime, dict);
  const std::ptrdiff_t entry = find_entry(runtime, dict, key, hash);
  if (entry >= 0) {
    dict.entries[static_cast<std::size_t>(entry)].value = value;
  } else {
    add_entry(dict, key, value, hash);
  }
}

bool erase_item(Runtime& runtime, Dict& dict, const Value& key) {
  const std::ptrdiff_t entry = find_entry(runtime, dict, key, require_hash(runtime, key));
  if (entry < 0) return false;
  runtime.spend(dict.entries.size() / 2);
  dict.entries.erase(dict.entries.begin() + entry);
  build_slots(dict);
  return true;
}

void set_attr(Runtime& runtime, const Value& target, std::string_view name, const Value& value) {
  if (target.kind() != Kind::kNamespace) runtime.fail("cannot assign attribute on non-namespace object");
  Dict& dict = target.as_dict();
  if (Value* old = find_item(runtime, dict, name)) {
    *old = value;
    return;
  }
  add_entry(dict, make_computed(runtime, name), value, hash_bytes(name));
}

Value copy_dict(Runtime& runtime, const Value& dict) {
  const Value out = make_dict(runtime);
  runtime.spend(entries_of(runtime, dict).size());
  for (const Dict::Entry& entry : entries_of(runtime, dict)) {
    add_entry(out.as_dict(), key_of(runtime, dict.as_dict(), entry), entry.value, entry.hash);
  }
  return out;
}

}  // namespace rondo::jinja
