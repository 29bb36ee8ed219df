#include "cache/fleet_tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/common_prefix.h"
#include "cache/ids.h"

namespace rondo::cache {

FleetTree::FleetTree() : nodes_(1) {}

FleetTree::Replica FleetTree::add(std::size_t capacity) {
  const auto replica = static_cast<Replica>(replicas_.size());
  const std::uint32_t ring = new_record();
  records_[ring] = {.replica = replica, .newer = ring, .older = ring};
  replicas_.push_back({capacity, 0, ring});
  return replica;
}

FleetTree::Index FleetTree::root_of(std::string_view tenant) const {
  const auto found = tenants_.find(std::string(tenant));
  return found == tenants_.end() ? kNone : found->second;
}

FleetTree::Index FleetTree::child(Index parent, TokenId first) const {
  const auto found = children_.find(edge_key(parent, first));
  return found == children_.end() ? kNone : found->second;
}

const FleetTree::Holder* FleetTree::holder_of(Index node, Replica replica) const {
  const std::vector<Holder>& holders = nodes_[node].holders;
  const auto found = std::ranges::lower_bound(holders, replica, {}, &Holder::replica);
  return found != holders.end() && found->replica == replica ? &*found : nullptr;
}

void FleetTree::find(std::string_view tenant, std::span<const TokenId> ids, Path& path) const {
  path.clear();
  Index node = root_of(tenant);
  if (node == kNone) return;
  std::size_t matched = 0;
  while (matched < ids.size()) {
    const std::span<const TokenId> rest = ids.subspan(matched);
    node = child(node, rest.front());
    if (node == kNone) return;
    const std::size_t used = common_prefix(nodes_[node].ids, rest);
    path.push_back({node, matched, used});
    matched += used;
    if (used < nodes_[node].ids.size()) return;
  }
}

std::size_t FleetTree::held(const Step& step, const Holder& holder) const {
  return step.before + std::min<std::size_t>(step.used, records_[holder.record].held);
}

std::size_t FleetTree::match(Replica replica, std::string_view tenant, std::span<const TokenId> ids) const {
  Path path;
  find(tenant, ids, path);
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    if (const Holder* holder = holder_of(step->node, replica)) return held(*step, *holder);
  }
  return 0;
}

FleetTree::Insertion FleetTree::insert(Replica replica, std::string_view tenant, std::span<const TokenId> ids) {
  ReplicaState& state = replicas_[replica];
  Insertion out;
  out.stamp = ++clock_;
  ids = ids.first(std::min(ids.size(), state.capacity));
  if (ids.empty()) return out;
  Path path;
  find(tenant, ids, path);
  grow_path(tenant, ids, replica, path);
  std::vector<std::uint32_t> records;
  for (const Step& step : path) {
    const std::uint32_t index = hold(step.node, replica);
    records.push_back(index);
    Record& record = records_[index];
    if (record.held > 0) {
      out.known = step.before + record.held;
      if (record.settled > 0) out.settled = step.before + record.settled;
      out.uses.push_back({out.known, record.stamp});
    }
    state.size += step.used - record.held;
    record.held = static_cast<std::uint32_t>(step.used);
    record.stamp = clock_;
  }
  // Goes from the last to the first, so that the first becomes the newest.
  for (auto index = records.rbegin(); index != records.rend(); ++index) {
    unlink(*index);
    link_before(*index, records_[state.ring].older);
  }
  if (state.size > state.capacity) evict(replica, state.size - state.capacity);
  return out;
}

// Makes `path` lead to the end of `ids`.  Nodes of which the replica holds more than that are split.
void FleetTree::grow_path(std::string_view tenant, std::span<const TokenId> ids, Replica replica, Path& path) {
  const std::size_t matched = path.empty() ? 0 : path.back().before + path.back().used;
  const std::span<const TokenId> rest = ids.subspan(matched);
  if (path.empty()) {
    const Index root = root_of(tenant);
    path.push_back({make_node(root == kNone ? make_root(tenant) : root, rest), 0, rest.size()});
    return;
  }
  Step& last = path.back();
  const bool is_whole = last.used == nodes_[last.node].ids.size();
  if (!is_whole) {
    const Holder* holder = holder_of(last.node, replica);
    const bool holds_more = holder != nullptr && records_[holder->record].held > last.used;
    if (rest.empty() && !holds_more) return;
    last.node = split(last.node, last.used);
  }
  if (rest.empty()) return;
  if (nodes_[last.node].children == 0) {
    extend(last.node, rest);
    last.used += rest.size();
  } else {
    path.push_back({make_node(last.node, rest), matched, rest.size()});
  }
}

void FleetTree::settle(Replica replica, std::string_view tenant, std::span<const TokenId> ids) {
  Path path;
  find(tenant, ids, path);
  for (const Step& step : path) {
    const Holder* holder = holder_of(step.node, replica);
    if (holder == nullptr) return;
    Record& record = records_[holder->record];
    const auto seen = std::min<std::size_t>(step.used, record.held);
    record.settled = std::max(record.settled, static_cast<std::uint32_t>(seen));
  }
}

void FleetTree::forget_until(Replica replica, Stamp stamp) {
  const std::uint32_t ring = replicas_[replica].ring;
  while (records_[ring].newer != ring && records_[records_[ring].newer].stamp <= stamp) {
    const std::uint32_t oldest = records_[ring].newer;
    cut_record(oldest, records_[oldest].held);
  }
}

void FleetTree::evict(Replica replica, std::size_t count) {
  while (count > 0) {
    const std::uint32_t oldest = records_[replicas_[replica].ring].newer;
    const std::size_t cut = std::min<std::size_t>(records_[oldest].held, count);
    count -= cut;
    cut_record(oldest, cut);
  }
}

// The replica forgets the last `count` ids that it holds of a node.  REQUIRES: it holds no child.
void FleetTree::cut_record(std::uint32_t index, std::size_t count) {
  Record& record = records_[index];
  assert(record.children == 0 && count <= record.held);
  replicas_[record.replica].size -= count;
  record.held -= static_cast<std::uint32_t>(count);
  record.settled = std::min(record.settled, record.held);
  const Index node = record.node;
  if (record.held == 0) release(index);
  trim(node);
}

// Forgets the ids at the end of a node that nobody holds.
void FleetTree::trim(Index node) {
  Node& here = nodes_[node];
  std::size_t most = 0;
  for (const Holder& holder : here.holders) {
    most = std::max<std::size_t>(most, records_[holder.record].held);
    if (most == here.ids.size()) return;
  }
  if (most == 0) return remove_node(node);
  stored_ids_ -= here.ids.size() - most;
  here.ids.resize(most);
}

FleetTree::Index FleetTree::make_root(std::string_view tenant) {
  const Index root = make_node(kNone, {});
  tenants_.emplace(tenant, root);
  tenant_names_.emplace(root, tenant);
  return root;
}

FleetTree::Index FleetTree::make_node(Index parent, std::span<const TokenId> ids) {
  Index index = 0;
  if (free_nodes_.empty()) {
    index = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
  } else {
    index = free_nodes_.back();
    free_nodes_.pop_back();
  }
  Node& node = nodes_[index];
  node.ids.assign(ids.begin(), ids.end());
  node.parent = parent;
  node.children = 0;
  stored_ids_ += ids.size();
  if (parent == kNone) return index;
  ++nodes_[parent].children;
  children_[edge_key(parent, ids.front())] = index;
  return index;
}

void FleetTree::extend(Index node, std::span<const TokenId> ids) {
  std::vector<TokenId>& own = nodes_[node].ids;
  own.insert(own.end(), ids.begin(), ids.end());
  stored_ids_ += ids.size();
}

// Moves the first `at` ids of `node` into a new node above it, and returns the new node.
FleetTree::Index FleetTree::split(Index node, std::size_t at) {
  const std::vector<TokenId> first(nodes_[node].ids.begin(),
                                   nodes_[node].ids.begin() + static_cast<std::ptrdiff_t>(at));
  const Index above = make_node(nodes_[node].parent, first);
  --nodes_[nodes_[node].parent].children;  // one child came and one moved down
  Node& lower = nodes_[node];
  lower.ids.erase(lower.ids.begin(), lower.ids.begin() + static_cast<std::ptrdiff_t>(at));
  stored_ids_ -= at;
  lower.parent = above;
  nodes_[above].children = 1;
  children_[edge_key(above, lower.ids.front())] = node;
  const std::vector<Holder> holders = std::exchange(lower.holders, {});
  for (const Holder& holder : holders) {
    if (records_[holder.record].held <= at) {
      records_[holder.record].node = above;
      nodes_[above].holders.push_back(holder);
      continue;
    }
    const std::uint32_t index = new_record();
    Record& below = records_[holder.record];
    const auto length = static_cast<std::uint32_t>(at);
    records_[index] = {.node = above,
                       .replica = holder.replica,
                       .held = length,
                       .settled = std::min(below.settled, length),
                       .children = 1,
                       .stamp = below.stamp};
    below.held -= length;
    below.settled -= std::min(below.settled, length);
    link_before(index, holder.record);
    nodes_[above].holders.push_back({holder.replica, index});
    nodes_[node].holders.push_back(holder);
  }
  return above;
}

void FleetTree::remove_node(Index node) {
  Node& gone = nodes_[node];
  assert(gone.children == 0 && gone.holders.empty());
  const Index parent = gone.parent;
  stored_ids_ -= gone.ids.size();
  if (parent == kNone) {
    const auto name = tenant_names_.find(node);
    tenants_.erase(name->second);
    tenant_names_.erase(name);
  } else {
    children_.erase(edge_key(parent, gone.ids.front()));
    --nodes_[parent].children;
  }
  gone = Node{};
  free_nodes_.push_back(node);
  if (parent != kNone && nodes_[parent].parent == kNone && nodes_[parent].children == 0) remove_node(parent);
}

std::uint32_t FleetTree::new_record() {
  if (free_records_.empty()) {
    records_.emplace_back();
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  const std::uint32_t index = free_records_.back();
  free_records_.pop_back();
  return index;
}

// The replica's record of the node.  A new record holds nothing.
std::uint32_t FleetTree::hold(Index node, Replica replica) {
  std::vector<Holder>& holders = nodes_[node].holders;
  const auto place = std::ranges::lower_bound(holders, replica, {}, &Holder::replica);
  if (place != holders.end() && place->replica == replica) return place->record;
  const std::uint32_t index = new_record();
  records_[index] = {.node = node, .replica = replica, .newer = index, .older = index};
  holders.insert(place, {replica, index});
  if (const Holder* above = holder_of(nodes_[node].parent, replica)) ++records_[above->record].children;
  return index;
}

void FleetTree::release(std::uint32_t index) {
  const Record& record = records_[index];
  std::vector<Holder>& holders = nodes_[record.node].holders;
  holders.erase(std::ranges::lower_bound(holders, record.replica, {}, &Holder::replica));
  if (const Holder* above = holder_of(nodes_[record.node].parent, record.replica)) --records_[above->record].children;
  unlink(index);
  free_records_.push_back(index);
}

void FleetTree::link_before(std::uint32_t index, std::uint32_t older) {
  const std::uint32_t newer = records_[older].newer;
  records_[index].older = older;
  records_[index].newer = newer;
  records_[newer].older = index;
  records_[older].newer = index;
}

void FleetTree::unlink(std::uint32_t index) {
  records_[records_[index].newer].older = records_[index].older;
  records_[records_[index].older].newer = records_[index].newer;
}

std::string FleetTree::verify_replica(Replica replica) const {
  const ReplicaState& state = replicas_[replica];
  std::size_t ids = 0;
  std::size_t steps = 0;
  Stamp last = clock_;
  for (std::uint32_t index = records_[state.ring].older; index != state.ring; index = records_[index].older) {
    if (++steps > records_.size()) return "the list of use has a loop";
    const Record& record = records_[index];
    const Node& node = nodes_[record.node];
    const Holder* holder = holder_of(record.node, replica);
    if (record.replica != replica || holder == nullptr || holder->record != index) return "a record is lost";
    if (record.stamp > last) return "the list of use is out of order";
    last = record.stamp;
    if (record.held == 0 || record.held > node.ids.size() || record.settled > record.held)
      return "a record holds what is not there";
    if (record.children > 0 && record.held < node.ids.size()) return "a child without the whole of its parent";
    if (nodes_[node.parent].parent != kNone) {
      const Holder* above = holder_of(node.parent, replica);
      if (above == nullptr) return "a node is held without its parent";
      if (records_[above->record].stamp < record.stamp) return "a node is younger than its parent";
    }
    ids += record.held;
  }
  if (ids != state.size) return "the number of ids of a replica is wrong";
  return state.size <= state.capacity ? "" : "more ids than the capacity";
}

std::string FleetTree::verify() const {
  std::size_t ids = 0;
  std::size_t nodes = 0;
  std::size_t records = replicas_.size();
  for (const auto& [key, index] : children_) {
    const Node& node = nodes_[index];
    ++nodes;
    ids += node.ids.size();
    records += node.holders.size();
    if (node.ids.empty() || edge_key(node.parent, node.ids.front()) != key) return "a node is not below its parent";
    if (node.holders.empty()) return "a node that nobody holds";
    std::size_t most = 0;
    for (const Holder& holder : node.holders) most = std::max<std::size_t>(most, records_[holder.record].held);
    if (most != node.ids.size()) return "ids that nobody holds";
    if (!std::ranges::is_sorted(node.holders, {}, &Holder::replica)) return "holders are out of order";
  }
  if (nodes != node_count() || ids != stored_ids_) return "nodes are lost";
  if (records + free_records_.size() != records_.size()) return "records are lost";
  for (Replica replica = 0; replica < replicas_.size(); ++replica) {
    if (std::string broken = verify_replica(replica); !broken.empty()) return broken;
  }
  return "";
}

}  // namespace rondo::cache
