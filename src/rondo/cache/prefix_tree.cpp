#include "cache/prefix_tree.h"

#include <algorithm>
#include <cassert>

#include "base/common_prefix.h"

namespace rondo::cache {

PrefixTree::Index PrefixTree::child(Index parent, TokenId first) const {
  const auto found = children_.find(edge_key(parent, first));
  return found == children_.end() ? kRoot : found->second;
}

PrefixTree::Place PrefixTree::find(std::span<const TokenId> ids) const {
  Place place;
  while (place.matched < ids.size()) {
    const std::span<const TokenId> rest = ids.subspan(place.matched);
    const Index next = child(place.node, rest.front());
    if (next == kRoot) break;
    place.node = next;
    place.used = common_prefix(nodes_[next].ids, rest);
    place.matched += place.used;
    if (place.used < nodes_[next].ids.size()) break;
  }
  return place;
}

std::size_t PrefixTree::insert(std::span<const TokenId> ids) {
  ids = ids.first(std::min(ids.size(), capacity_));
  Place place = find(ids);
  const std::span<const TokenId> rest = ids.subspan(place.matched);
  if (place.node != kRoot && place.used < nodes_[place.node].ids.size()) place.node = split(place.node, place.used);
  if (place.node != kRoot) touch(place.node);
  if (rest.empty()) return place.matched;
  size_ += rest.size();
  Node& last = nodes_[place.node];
  if (place.node != kRoot && last.children == 0) {
    last.ids.insert(last.ids.end(), rest.begin(), rest.end());
  } else {
    touch(make(place.node, rest));
  }
  if (size_ > capacity_) evict(size_ - capacity_);
  return place.matched;
}

void PrefixTree::evict(std::size_t count) {
  while (count > 0) {
    const Index oldest = nodes_[kRoot].newer;  // the list is a ring through the root
    std::vector<TokenId>& ids = nodes_[oldest].ids;
    const std::size_t cut = std::min(ids.size(), count);
    count -= cut;
    size_ -= cut;
    if (cut == ids.size()) {
      remove_leaf(oldest);
    } else {
      ids.resize(ids.size() - cut);
    }
  }
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

void PrefixTree::enter(Index node) { children_[edge_key(nodes_[node].parent, nodes_[node].ids.front())] = node; }

// Moves the first `at` ids of `node` into a new node above it, and returns the new node.
PrefixTree::Index PrefixTree::split(Index node, std::size_t at) {
  const Index parent = nodes_[node].parent;
  const std::vector<TokenId> upper(nodes_[node].ids.begin(),
                                   nodes_[node].ids.begin() + static_cast<std::ptrdiff_t>(at));
  const Index above = make(parent, upper);
  --nodes_[parent].children;  // one child came and one moved down
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
  children_.erase(edge_key(nodes_[node].parent, nodes_[node].ids.front()));
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
    if (nodes_[node].ids.empty()) return "a node without ids";
    if (nodes_[node].parent != kRoot && seen[nodes_[node].parent] == 0) return "a node is younger than its parent";
    if (child(nodes_[node].parent, nodes_[node].ids.front()) != node) return "a node is not found below its parent";
  }
  if (nodes != node_count() || nodes != children_.size()) return "nodes are lost";
  if (ids != size_) return "the number of ids is wrong";
  return size_ <= capacity_ ? "" : "more ids than the capacity";
}

}  // namespace rondo::cache
