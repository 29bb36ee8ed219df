#include "text/origins.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace rondo::text {
namespace {

constexpr std::string_view kMessagesVariable = "messages";

std::size_t combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9E3779B97F4A7C15ULL + (seed << 6U) + (seed >> 2U));
}

}  // namespace

PathTable::PathTable() { nodes_.emplace_back(); }

std::size_t PathTable::hash(PathId parent, StepKind kind, std::size_t index, std::string_view name) {
  std::size_t out = combine(static_cast<std::size_t>(parent), index * 4 + static_cast<std::size_t>(kind));
  if (name.empty()) return out;
  // Keys are short: their ends tell them apart.
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, name.data(), std::min(name.size(), kWord));
  if (name.size() > kWord) std::memcpy(&last, name.data() + name.size() - kWord, kWord);
  out = (out ^ first ^ name.size()) * 0x9E3779B97F4A7C15ULL;
  out = (out ^ last) * 0x9E3779B97F4A7C15ULL;
  return out ^ (out >> 29U);
}

PathTable::Name PathTable::keep_name(std::string_view name) {
  if (name.empty()) return {};
  std::size_t slot = name.size() * 5 + static_cast<unsigned char>(name.front());
  slot += 3U * static_cast<unsigned char>(name[name.size() / 2]) + 7U * static_cast<unsigned char>(name.back());
  Name& known = lately_[slot % lately_.size()];
  if (!same_bytes({names_.data() + known.begin, known.size}, name)) {
    known = {static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(name.size())};
    names_ += name;
  }
  return known;
}

PathTable::Node PathTable::part_of(PathId parent, StepKind kind) const {
  const Node& up = node(parent);
  Node made;
  made.parent = parent;
  made.kind = kind;
  made.depth = static_cast<std::uint16_t>(up.depth + 1);
  made.message = up.message;
  return made;
}

std::optional<PathId> PathTable::enumerated(PathId parent, StepKind kind, std::size_t count) const {
  constexpr std::size_t kMostMembers = 64;  // member() looks through them
  if (parent == PathId::kNone || count == 0 || (kind == StepKind::kMember && count > kMostMembers))
    return PathId::kNone;
  const Node& up = node(parent);
  if (up.first_part == 0) return std::nullopt;
  const bool is_same = up.part_count == count && nodes_[up.first_part].kind == kind;
  return is_same ? static_cast<PathId>(up.first_part) : PathId::kNone;
}

PathId PathTable::enumerate(PathId parent, StepKind kind, std::size_t count) {
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  const Node made = part_of(parent, kind);
  Node& up = nodes_[static_cast<std::size_t>(parent)];
  up.first_part = first;
  up.part_count = static_cast<std::uint32_t>(count);
  if (nodes_.capacity() - nodes_.size() < count) nodes_.reserve(std::max(nodes_.capacity() * 2, nodes_.size() + count));
  nodes_.insert(nodes_.end(), count, made);
  return static_cast<PathId>(first);
}

PathId PathTable::indices(PathId parent, std::size_t count) {
  if (const std::optional<PathId> known = enumerated(parent, StepKind::kIndex, count)) return *known;
  const PathId first = enumerate(parent, StepKind::kIndex, count);
  const bool are_messages = node(parent).depth == 1 && name(node(parent)) == kMessagesVariable;
  Node* nodes = nodes_.data() + static_cast<std::size_t>(first);
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i].step = static_cast<std::uint32_t>(i);
    if (are_messages) nodes[i].message = static_cast<std::int32_t>(i);
  }
  return first;
}

PathId PathTable::find_member(PathId parent, std::string_view key) const {
  const Node& up = node(parent);
  for (std::uint32_t i = up.first_part; i < up.first_part + up.part_count; ++i) {
    if (nodes_[i].kind == StepKind::kMember && same_bytes(name(nodes_[i]), key)) return static_cast<PathId>(i);
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

PathId PathTable::key_of_member(PathId member) {
  const Node& value = node(member);
  if (value.key != PathId::kNone) return value.key;
  if (single_keys_ != 0) {
    const PathId key = intern(value.parent, StepKind::kKey, 0, std::string(name(value)));
    return nodes_[static_cast<std::size_t>(member)].key = key;
  }
  Node made = part_of(value.parent, StepKind::kKey);
  made.step = value.step;
  made.name_size = value.name_size;
  const auto key = static_cast<PathId>(nodes_.size());
  nodes_[static_cast<std::size_t>(member)].key = key;
  nodes_.push_back(made);
  return key;
}

PathId PathTable::index(PathId parent, std::size_t index) {
  const Node& up = node(parent);
  if (index < up.part_count && nodes_[up.first_part].kind == StepKind::kIndex)
    return static_cast<PathId>(up.first_part + index);
  return intern(parent, StepKind::kIndex, index, {});
}

PathId PathTable::intern(PathId parent, StepKind kind, std::size_t index, std::string_view key) {
  if (slots_.size() < 2 * (slots_used_ + 1)) grow_slots();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(parent, kind, index, key) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Node& other = nodes_[slots_[slot]];
    if (other.parent != parent || other.kind != kind) continue;
    if (kind == StepKind::kIndex ? other.step == index : same_bytes(name(other), key))
      return static_cast<PathId>(slots_[slot]);
  }
  Node made = part_of(parent, kind);
  if (kind == StepKind::kIndex) {
    made.step = static_cast<std::uint32_t>(index);
    const Node& up = node(parent);
    if (up.depth == 1 && name(up) == kMessagesVariable) made.message = static_cast<std::int32_t>(index);
  } else {
    const Name kept = keep_name(key);
    made.step = kept.begin;
    made.name_size = kept.size;
  }
  slots_[slot] = static_cast<std::uint32_t>(nodes_.size());
  ++slots_used_;
  if (kind == StepKind::kKey) ++single_keys_;
  nodes_.push_back(made);
  return static_cast<PathId>(slots_[slot]);
}

void PathTable::grow_slots() {
  std::vector<std::uint32_t> old(std::max<std::size_t>(64, slots_.size() * 4), 0);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint32_t id : old) {
    if (id == 0) continue;
    const Node& made = nodes_[id];
    std::size_t slot = made.kind == StepKind::kIndex ? hash(made.parent, made.kind, made.step, {})
                                                     : hash(made.parent, made.kind, 0, name(made));
    slot &= mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

PathId PathTable::prefix(PathId path, std::size_t depth) const {
  while (node(path).depth > depth) path = node(path).parent;
  return path;
}

std::string_view PathTable::root(PathId path) const {
  return path == PathId::kNone ? std::string_view() : name(node(prefix(path, 1)));
}

std::string PathTable::to_string(PathId path) const {
  if (path == PathId::kNone) return "";
  const Node& last = node(path);
  std::string out = to_string(last.parent);
  switch (last.kind) {
    case StepKind::kVariable: return out + std::string(name(last));
    case StepKind::kMember: return out + (out.empty() ? "" : ".") + std::string(name(last));
    case StepKind::kIndex: return out + "[" + std::to_string(last.step) + "]";
    case StepKind::kKey: return out + (out.empty() ? "#" : ".#") + std::string(name(last));
  }
  return out;
}

ChainTable::ChainTable() { nodes_.emplace_back(); }

ChainId ChainTable::extend(ChainId chain, std::string_view step) {
  const Node& last = nodes_[static_cast<std::size_t>(chain)];
  if (chain != ChainId::kNone && last.step == step) return chain;
  std::string key = std::to_string(static_cast<std::size_t>(chain)) + ":" + std::string(step);
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<ChainId>(nodes_.size());
  nodes_.push_back({chain, std::string(step)});
  ids_.emplace(std::move(key), id);
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
  return (bound * 0x9E3779B97F4A7C15ULL ^ rest * 0xC2B2AE3D27D4EB4FULL) >> 40U;
}

}  // namespace

ContextTable::ContextTable() { contexts_.emplace_back(); }

ContextId ContextTable::intern(const Context& context) {
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
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    std::size_t slot = hash(contexts_[i]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace rondo::text
