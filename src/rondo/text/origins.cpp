#include "text/origins.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace rondo::text {
namespace {

constexpr std::string_view kMessagesVariable = "messages";
constexpr std::uint64_t kMixing = 0x9E3779B97F4A7C15;

std::size_t combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + static_cast<std::size_t>(kMixing) + (seed << 6U) + (seed >> 2U));
}

}  // namespace

PathTable::PathTable(const Sizes& sizes) {
  nodes_.reserve(sizes.paths);
  groups_.reserve(sizes.groups);
  names_.reserve(sizes.names);
  spellings_.reserve(sizes.spellings);
  nodes_.emplace_back();
  groups_.emplace_back();
  names_.emplace_back();
}

std::size_t PathTable::hash(PathId parent, StepKind kind, std::size_t index, std::string_view name) {
  const std::size_t step = combine(static_cast<std::size_t>(parent), index * 4 + static_cast<std::size_t>(kind));
  if (name.empty()) return step;
  // Keys are short, so their ends distinguish them.
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, name.data(), std::min(name.size(), kWord));
  if (name.size() > kWord) std::memcpy(&last, name.data() + name.size() - kWord, kWord);
  std::uint64_t out = (step ^ first ^ name.size()) * kMixing;
  out = (out ^ last) * kMixing;
  return static_cast<std::size_t>(out ^ (out >> 29U));
}

// The entries that are about to be appended.
void PathTable::add_group(PathId parent, StepKind kind, std::size_t step, std::size_t count) {
  Group made;
  made.parent = parent;
  made.first = static_cast<std::uint32_t>(nodes_.size());
  made.count = static_cast<std::uint32_t>(count);
  made.step = static_cast<std::uint32_t>(step);
  made.depth = static_cast<std::uint16_t>(group(parent).depth + 1);
  made.kind = kind;
  append_to(groups_, made);
}

PathId PathTable::enumerate(PathId parent, StepKind kind, std::size_t step, std::size_t count) {
  const auto first = static_cast<PathId>(nodes_.size());
  const auto made = static_cast<std::uint32_t>(groups_.size());
  add_group(parent, kind, step, count);
  nodes_[entry(parent)].parts = made;
  if (nodes_.capacity() - nodes_.size() < count) nodes_.reserve(std::max(nodes_.capacity() * 2, nodes_.size() + count));
  const std::int32_t message = node(parent).message;
  for (std::size_t i = 0; i < count; ++i) append_to(nodes_, {made, message, 0});
  return first;
}

bool PathTable::is_messages(PathId path) const {
  return group(path).depth == 1 && name(entry(path)) == kMessagesVariable;
}

PathId PathTable::indices(PathId parent, std::size_t count) {
  if (!can_enumerate(parent, StepKind::kIndex, count)) return PathId::kNone;
  if (const std::uint32_t known = node(parent).parts; known != 0) return static_cast<PathId>(groups_[known].first);
  const PathId first = enumerate(parent, StepKind::kIndex, 0, count);
  if (is_messages(parent)) {
    for (std::size_t i = 0; i < count; ++i) nodes_[entry(first) + i].message = static_cast<std::int32_t>(i);
  }
  return first;
}

PathId PathTable::find_member(PathId parent, std::string_view key) const {
  if (is_key(parent)) return PathId::kNone;
  const Group& parts = groups_[node(parent).parts];
  if (parts.kind != StepKind::kMember) return PathId::kNone;
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    if (same_bytes(text(names_[parts.step + i]), key)) return static_cast<PathId>(parts.first + i);
  }
  return PathId::kNone;
}

PathId PathTable::member(PathId parent, std::string_view key) {
  const PathId found = find_member(parent, key);
  return found != PathId::kNone ? found : intern(parent, StepKind::kMember, 0, key);
}

PathId PathTable::key_of(PathId dict, std::string_view key) {
  const PathId member = find_member(dict, key);
  return member != PathId::kNone ? key_of_member(member) : intern(dict, StepKind::kKey, 0, key);
}

// A key that was made on its own may belong to an object that was enumerated later.
PathId PathTable::find_key(PathId member) const {
  const std::uint32_t known = slots_[find_slot(parent(member), StepKind::kKey, 0, name(entry(member)))];
  return known != 0 ? static_cast<PathId>(known) : static_cast<PathId>(static_cast<std::uint32_t>(member) | kKeyBit);
}

PathId PathTable::index(PathId parent, std::size_t index) {
  const Group& parts = groups_[node(parent).parts];
  if (!is_key(parent) && index < parts.count && parts.kind == StepKind::kIndex)
    return static_cast<PathId>(parts.first + index);
  return intern(parent, StepKind::kIndex, index, {});
}

std::size_t PathTable::find_slot(PathId parent, StepKind kind, std::size_t index, std::string_view key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(parent, kind, index, key) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t other = slots_[slot];
    const Group& made = groups_[nodes_[other].group];
    if (made.parent != parent || made.kind != kind) continue;
    if (kind == StepKind::kIndex ? made.step == index : same_bytes(name(other), key)) break;
  }
  return slot;
}

PathId PathTable::intern(PathId parent, StepKind kind, std::size_t index, std::string_view key) {
  if (slots_.size() < 2 * (slots_used_ + 1)) grow_slots();
  const std::size_t slot = find_slot(parent, kind, index, key);
  if (slots_[slot] != 0) return static_cast<PathId>(slots_[slot]);
  Node made;
  made.group = static_cast<std::uint32_t>(groups_.size());
  made.message = node(parent).message;
  if (kind == StepKind::kIndex) {
    if (is_messages(parent)) made.message = static_cast<std::int32_t>(index);
    add_group(parent, kind, index, 1);
  } else {
    add_group(parent, kind, names_.size(), 1);
    add_name(key);
  }
  slots_[slot] = static_cast<std::uint32_t>(nodes_.size());
  ++slots_used_;
  if (kind == StepKind::kKey) ++single_keys_;
  append_to(nodes_, made);
  return static_cast<PathId>(slots_[slot]);
}

void PathTable::grow_slots() {
  std::vector<std::uint32_t> old(std::max<std::size_t>(64, slots_.size() * 4), 0);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint32_t id : old) {
    if (id == 0) continue;
    const Group& made = groups_[nodes_[id].group];
    const bool is_index = made.kind == StepKind::kIndex;
    std::size_t slot = hash(made.parent, made.kind, is_index ? made.step : 0, name(id));
    slot &= mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

PathId PathTable::prefix(PathId path, std::size_t depth) const {
  while (group(path).depth > depth) path = group(path).parent;
  return path;
}

std::string_view PathTable::root(PathId path) const {
  return path == PathId::kNone ? std::string_view() : name(entry(prefix(path, 1)));
}

std::string PathTable::to_string(PathId path) const {
  if (path == PathId::kNone) return "";
  std::string out = to_string(parent(path));
  switch (step_kind(path)) {
    case StepKind::kVariable: return out + std::string(step_name(path));
    case StepKind::kMember: return out + (out.empty() ? "" : ".") + std::string(step_name(path));
    case StepKind::kIndex: return out + "[" + std::to_string(step_index(path)) + "]";
    case StepKind::kKey: return out + (out.empty() ? "#" : ".#") + std::string(step_name(path));
  }
  return out;
}

ChainTable::ChainTable() {
  constexpr std::size_t kUsualChains = 4;
  nodes_.reserve(kUsualChains);
  nodes_.emplace_back();
}

ChainId ChainTable::extend(ChainId chain, std::string_view step) {
  const Node& last = nodes_[static_cast<std::size_t>(chain)];
  if (chain != ChainId::kNone && last.step == step) return chain;
  const auto key_of = [](const Node& node) {
    return std::to_string(static_cast<std::size_t>(node.parent)) + ":" + node.step;
  };
  const auto id = static_cast<ChainId>(nodes_.size());
  Node made = {chain, std::string(step)};
  constexpr std::size_t kFewNodes = 16;  // most renders have a handful, which are searched linearly
  if (nodes_.size() < kFewNodes) {
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].parent == chain && nodes_[i].step == step) return static_cast<ChainId>(i);
    }
  } else {
    for (std::size_t i = ids_.size() + 1; i < nodes_.size(); ++i) {
      ids_.emplace(key_of(nodes_[i]), static_cast<ChainId>(i));
    }
    if (const auto found = ids_.find(key_of(made)); found != ids_.end()) return found->second;
  }
  nodes_.push_back(std::move(made));
  return id;
}

std::vector<std::string> ChainTable::steps(ChainId chain) const {
  std::vector<std::string> out;
  for (; chain != ChainId::kNone; chain = nodes_[static_cast<std::size_t>(chain)].parent) {
    out.insert(out.begin(), nodes_[static_cast<std::size_t>(chain)].step);
  }
  return out;
}

bool ChainTable::contains(ChainId chain, std::string_view step) const {
  for (; chain != ChainId::kNone; chain = nodes_[static_cast<std::size_t>(chain)].parent) {
    if (nodes_[static_cast<std::size_t>(chain)].step == step) return true;
  }
  return false;
}

std::string ChainTable::to_string(ChainId chain) const {
  std::string out;
  for (const std::string& step : steps(chain)) out += (out.empty() ? "" : ", ") + step;
  return out;
}

namespace {

std::uint64_t two(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }

std::size_t hash(const Context& context) {
  const std::uint32_t flags = (context.generation_prompt ? 1U : 0U) + (context.generation_block ? 2U : 0U);
  const std::uint64_t bound =
      two(static_cast<std::uint32_t>(context.element), static_cast<std::uint32_t>(context.message));
  const std::uint64_t rest = two(flags, static_cast<std::uint32_t>(context.guard));
  return (bound * kMixing ^ rest * 0xC2B2AE3D27D4EB4FULL) >> 40U;
}

}  // namespace

ContextTable::ContextTable() {
  constexpr std::size_t kUsualContexts = 32;
  contexts_.reserve(kUsualContexts);
  contexts_.emplace_back();
}

ContextId ContextTable::intern(const Context& context) {
  constexpr std::size_t kFewContexts = 12;  // searched linearly: the wanted one was usually made recently
  if (contexts_.size() < kFewContexts) {
    for (std::size_t i = contexts_.size(); i-- > 0;) {
      if (contexts_[i] == context) return static_cast<ContextId>(i);
    }
    contexts_.push_back(context);
    return static_cast<ContextId>(contexts_.size() - 1);
  }
  if (slots_.size() < 2 * contexts_.size()) grow_slots();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(context) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (contexts_[slots_[slot] - 1] == context) return static_cast<ContextId>(slots_[slot] - 1);
  }
  contexts_.push_back(context);
  slots_[slot] = static_cast<std::uint32_t>(contexts_.size());
  return static_cast<ContextId>(contexts_.size() - 1);
}

void ContextTable::grow_slots() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 4), 0);
  contexts_.reserve(slots_.size() / 2);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    std::size_t slot = hash(contexts_[i]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace rondo::text
