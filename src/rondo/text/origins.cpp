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
    constexpr std::size_t kUsualBytes = 512;
    if (names_.empty()) names_.reserve(kUsualBytes);
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

PathTable::Node PathTable::enumerate(PathId parent, StepKind kind, std::size_t count) {
  const Node made = part_of(parent, kind);
  Node& up = nodes_[entry(parent)];
  up.first_part = static_cast<std::uint32_t>(nodes_.size());
  up.part_count = static_cast<std::uint32_t>(count);
  if (nodes_.capacity() - nodes_.size() < count) nodes_.reserve(std::max(nodes_.capacity() * 2, nodes_.size() + count));
  return made;
}

PathId PathTable::indices(PathId parent, std::size_t count) {
  if (!can_enumerate(parent, StepKind::kIndex, count)) return PathId::kNone;
  if (node(parent).first_part != 0) return static_cast<PathId>(node(parent).first_part);
  const bool are_messages = node(parent).depth == 1 && name(node(parent)) == kMessagesVariable;
  const Node made = enumerate(parent, StepKind::kIndex, count);
  const auto first = static_cast<PathId>(nodes_.size());
  for (std::size_t i = 0; i < count; ++i) {
    append_to(nodes_, made);
    nodes_.back().step = static_cast<std::uint32_t>(i);
    if (are_messages) nodes_.back().message = static_cast<std::int32_t>(i);
  }
  return first;
}

PathId PathTable::find_member(PathId parent, std::string_view key) const {
  if (is_key(parent)) return PathId::kNone;
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

// One that was made by itself may be that of an object that was enumerated later.
PathId PathTable::find_key(PathId member) const {
  const Node& value = node(member);
  const std::uint32_t known = slots_[find_slot(value.parent, StepKind::kKey, 0, name(value))];
  return known != 0 ? static_cast<PathId>(known) : static_cast<PathId>(static_cast<std::uint32_t>(member) | kKeyBit);
}

PathId PathTable::index(PathId parent, std::size_t index) {
  const Node& up = node(parent);
  if (!is_key(parent) && index < up.part_count && nodes_[up.first_part].kind == StepKind::kIndex)
    return static_cast<PathId>(up.first_part + index);
  return intern(parent, StepKind::kIndex, index, {});
}

std::size_t PathTable::find_slot(PathId parent, StepKind kind, std::size_t index, std::string_view key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(parent, kind, index, key) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Node& other = nodes_[slots_[slot]];
    if (other.parent != parent || other.kind != kind) continue;
    if (kind == StepKind::kIndex ? other.step == index : same_bytes(name(other), key)) break;
  }
  return slot;
}

PathId PathTable::intern(PathId parent, StepKind kind, std::size_t index, std::string_view key) {
  if (slots_.size() < 2 * (slots_used_ + 1)) grow_slots();
  const std::size_t slot = find_slot(parent, kind, index, key);
  if (slots_[slot] != 0) return static_cast<PathId>(slots_[slot]);
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
  switch (step_kind(path)) {
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
  const auto key_of = [](const Node& node) {
    return std::to_string(static_cast<std::size_t>(node.parent)) + ":" + node.step;
  };
  const auto id = static_cast<ChainId>(nodes_.size());
  Node made = {chain, std::string(step)};
  constexpr std::size_t kFewNodes = 16;  // most renders have a handful, which are looked through
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
  contexts_.reserve(slots_.size() / 2);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    std::size_t slot = hash(contexts_[i]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace rondo::text
