#include "text/origins.h"

#include <functional>

namespace rondo::text {
namespace {

constexpr std::string_view kMessagesVariable = "messages";

std::size_t combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9E3779B97F4A7C15ULL + (seed << 6U) + (seed >> 2U));
}

}  // namespace

PathTable::PathTable() { nodes_.emplace_back(); }

std::size_t PathTable::KeyHash::operator()(const Key& key) const {
  std::size_t hash = std::hash<std::string_view>{}(key.name);
  hash = combine(hash, static_cast<std::size_t>(key.parent));
  return combine(hash, key.index * 4 + static_cast<std::size_t>(key.kind));
}

PathId PathTable::intern(Key key) {
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<PathId>(nodes_.size());
  const Node& up = node(key.parent);
  Node made;
  made.parent = key.parent;
  made.kind = key.kind;
  made.depth = up.depth + 1;
  made.index = key.index;
  made.name = key.name;
  made.message = up.message;
  if (key.kind == StepKind::kIndex && up.depth == 1 && up.name == kMessagesVariable)
    made.message = static_cast<std::int32_t>(key.index);
  nodes_.push_back(std::move(made));
  ids_.emplace(std::move(key), id);
  return id;
}

PathId PathTable::variable(std::string_view name) {
  return intern({PathId::kNone, StepKind::kVariable, 0, std::string(name)});
}
PathId PathTable::member(PathId parent, std::string_view key) {
  return intern({parent, StepKind::kMember, 0, std::string(key)});
}
PathId PathTable::index(PathId parent, std::size_t index) { return intern({parent, StepKind::kIndex, index, {}}); }
PathId PathTable::key_of(PathId dict, std::string_view key) {
  return intern({dict, StepKind::kKey, 0, std::string(key)});
}

PathId PathTable::prefix(PathId path, std::size_t depth) const {
  while (node(path).depth > depth) path = node(path).parent;
  return path;
}

std::string_view PathTable::root(PathId path) const {
  return path == PathId::kNone ? std::string_view() : std::string_view(node(prefix(path, 1)).name);
}

std::string PathTable::to_string(PathId path) const {
  if (path == PathId::kNone) return "";
  const Node& last = node(path);
  std::string out = to_string(last.parent);
  switch (last.kind) {
    case StepKind::kVariable: return out + last.name;
    case StepKind::kMember: return out + (out.empty() ? "" : ".") + last.name;
    case StepKind::kIndex: return out + "[" + std::to_string(last.index) + "]";
    case StepKind::kKey: return out + (out.empty() ? "#" : ".#") + last.name;
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

ContextTable::ContextTable() { ids_.emplace(contexts_.emplace_back(), ContextId::kNone); }

std::size_t ContextTable::Hash::operator()(const Context& context) const {
  std::size_t hash = static_cast<std::size_t>(context.element);
  hash = combine(hash, static_cast<std::size_t>(static_cast<std::uint32_t>(context.message)));
  hash = combine(hash, static_cast<std::size_t>(static_cast<std::uint32_t>(context.guard)));
  return combine(hash, (context.generation_prompt ? 1U : 0U) + (context.generation_block ? 2U : 0U));
}

ContextId ContextTable::intern(const Context& context) {
  const auto [found, is_new] = ids_.emplace(context, static_cast<ContextId>(contexts_.size()));
  if (is_new) contexts_.push_back(context);
  return found->second;
}

}  // namespace rondo::text
