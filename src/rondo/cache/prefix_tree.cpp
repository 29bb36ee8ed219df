#include "cache/prefix_tree.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace rondo::cache {
namespace {

constexpr std::uint64_t mix_key(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

PrefixTree::PrefixTree(const PrefixTreeOptions& options) : options_(options), nodes_(1) { assert(options.block > 0); }

std::uint64_t PrefixTree::key_of(Index parent, std::span<const TokenId> ids) const {
  std::uint64_t key = mix_key(parent + 0x9E3779B97F4A7C15U);
  for (const TokenId id : ids.first(options_.block)) key = mix_key(key ^ static_cast<std::uint32_t>(id));
  return key;
}

// REQUIRES: `ids` has a whole block.
PrefixTree::Index PrefixTree::child(Index parent, std::span<const TokenId> ids) const {
  const auto [begin, end] = children_.equal_range(key_of(parent, ids));
  for (auto it = begin; it != end; ++it) {
    const Node& node = nodes_[it->second];
    if (node.parent == parent &&
        std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(options_.block), node.ids.begin())) {
      return it->second;
    }
  }
  return kRoot;
}

std::size_t PrefixTree::common(const std::vector<TokenId>& known, std::span<const TokenId> ids) const {
  constexpr std::size_t kStride = 32;
  const std::size_t length = std::min(known.size(), ids.size());
  std::size_t same = 0;
  while (same + kStride <= length && std::memcmp(&known[same], &ids[same], kStride * sizeof(TokenId)) == 0)
    same += kStride;
  while (same < length && known[same] == ids[same]) ++same;
  return same - same % options_.block;
}

PrefixTree::Place PrefixTree::find(std::span<const TokenId> ids) const {
  Place place;
  while (ids.size() - place.matched >= options_.block) {
    const std::span<const TokenId> rest = ids.subspan(place.matched);
    const Index next = child(place.node, rest);
    if (next == kRoot) break;
    place.node = next;
    place.used = common(nodes_[next].ids, rest);
    place.matched += place.used;
    if (place.used < nodes_[next].ids.size()) break;
  }
  return place;
}

std::size_t PrefixTree::match(std::span<const TokenId> ids) const { return find(ids).matched; }

std::size_t PrefixTree::use(std::span<const TokenId> ids) {
  const Place place = find(ids);
  if (place.node == kRoot) return 0;
  // What was not matched of the last node must not become younger than it is.
  touch(place.used < nodes_[place.node].ids.size() ? split(place.node, place.used) : place.node);
  return place.matched;
}

PrefixTree::Inserted PrefixTree::insert(std::span<const TokenId> ids) {
  const std::size_t room = std::min(ids.size(), options_.capacity);
  ids = ids.first(room - room % options_.block);
  Place place = find(ids);
  Inserted out{place.matched, ids.size() - place.matched, 0};
  const std::span<const TokenId> rest = ids.subspan(place.matched);
  if (place.node != kRoot && place.used < nodes_[place.node].ids.size()) place.node = split(place.node, place.used);
  if (place.node != kRoot) touch(place.node);
  if (rest.empty()) return out;
  size_ += rest.size();
  Node& last = nodes_[place.node];
  if (place.node != kRoot && last.children == 0) {
    last.ids.insert(last.ids.end(), rest.begin(), rest.end());
  } else {
    touch(make(place.node, rest));
  }
  if (size_ > options_.capacity) out.evicted = evict(size_ - options_.capacity);
  return out;
}

std::size_t PrefixTree::evict(std::size_t count) {
  std::size_t gone = 0;
  while (gone < count && nodes_[kRoot].newer != kRoot) {
    const Index oldest = nodes_[kRoot].newer;  // the list is a ring through the root
    std::vector<TokenId>& ids = nodes_[oldest].ids;
    const std::size_t blocks = (count - gone + options_.block - 1) / options_.block;
    const std::size_t cut = std::min(ids.size(), blocks * options_.block);
    gone += cut;
    size_ -= cut;
    if (cut == ids.size()) {
      remove_leaf(oldest);
    } else {
      ids.resize(ids.size() - cut);
    }
  }
  return gone;
}

void PrefixTree::clear() {
  nodes_.assign(1, Node{});
  free_.clear();
  children_.clear();
  size_ = 0;
}

PrefixTree::Index PrefixTree::make(Index parent, std::span<const TokenId> ids) {
  Index index = 0;
  if (free_.empty()) {
    index = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Node& node = nodes_[index];
  node.ids.assign(ids.begin(), ids.end());
  node.parent = parent;
  node.children = 0;
  ++nodes_[parent].children;
  enter(index);
  link_before(index, nodes_[kRoot].older);
  return index;
}

void PrefixTree::enter(Index node) { children_.emplace(key_of(nodes_[node].parent, nodes_[node].ids), node); }

void PrefixTree::leave(Index node) {
  const auto [begin, end] = children_.equal_range(key_of(nodes_[node].parent, nodes_[node].ids));
  for (auto it = begin; it != end; ++it) {
    if (it->second != node) continue;
    children_.erase(it);
    return;
  }
}

// Puts the first `at` ids of `node` into a node of their own above it, and returns that.
PrefixTree::Index PrefixTree::split(Index node, std::size_t at) {
  leave(node);
  const Index parent = nodes_[node].parent;
  const std::vector<TokenId> upper(nodes_[node].ids.begin(),
                                   nodes_[node].ids.begin() + static_cast<std::ptrdiff_t>(at));
  const Index above = make(parent, upper);
  --nodes_[parent].children;  // one came, one went below
  Node& below = nodes_[node];
  below.ids.erase(below.ids.begin(), below.ids.begin() + static_cast<std::ptrdiff_t>(at));
  below.parent = above;
  nodes_[above].children = 1;
  enter(node);
  unlink(above);
  link_before(above, node);
  return above;
}

void PrefixTree::remove_leaf(Index node) {
  assert(nodes_[node].children == 0);
  leave(node);
  unlink(node);
  --nodes_[nodes_[node].parent].children;
  nodes_[node] = Node{};
  free_.push_back(node);
}

// The ring: root.older is the newest, root.newer the oldest.
void PrefixTree::link_before(Index node, Index older) {
  const Index newer = nodes_[older].newer;
  nodes_[node].older = older;
  nodes_[node].newer = newer;
  nodes_[newer].older = node;
  nodes_[older].newer = node;
}

void PrefixTree::unlink(Index node) {
  nodes_[nodes_[node].newer].older = nodes_[node].older;
  nodes_[nodes_[node].older].newer = nodes_[node].newer;
}

void PrefixTree::touch(Index node) {
  for (; node != kRoot; node = nodes_[node].parent) {
    unlink(node);
    link_before(node, nodes_[kRoot].older);
  }
}

std::string PrefixTree::verify() const {
  std::size_t ids = 0;
  std::size_t nodes = 0;
  std::vector<std::uint8_t> seen(nodes_.size(), 0);
  for (Index node = nodes_[kRoot].older; node != kRoot; node = nodes_[node].older) {
    if (seen[node] != 0) return "the list of use has a loop";
    seen[node] = 1;
    ++nodes;
    ids += nodes_[node].ids.size();
    if (nodes_[node].ids.empty() || nodes_[node].ids.size() % options_.block != 0) return "a node without whole blocks";
    if (nodes_[node].parent != kRoot && seen[nodes_[node].parent] == 0) return "a node is younger than its parent";
    if (child(nodes_[node].parent, nodes_[node].ids) != node) return "a node is not found below its parent";
  }
  if (nodes != node_count() || nodes != children_.size()) return "nodes are lost";
  if (ids != size_) return "the number of ids is wrong";
  return size_ <= options_.capacity ? "" : "more ids than the capacity";
}

}  // namespace rondo::cache
