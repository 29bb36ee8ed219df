// What each of many replicas holds, in one radix tree over token ids.  A replica drops what it used least recently.
//
//   FleetTree tree;
//   FleetTree::Replica replica = tree.add(400'000);
//   tree.insert(replica, tenant, prompt);       // what that replica has computed
//   tree.match(replica, tenant, next_prompt);   // how many leading ids of it are there
//
// To a caller it behaves like one PrefixTree per replica (cache/prefix_tree.h), which a property test checks.  Separate
// trees would have to compare a prompt with each of them.  Here it is compared once, and each node knows which replicas
// hold it.  A replica that holds a node holds all nodes above it.
//
// Tenants share only the capacity of a replica.
//
// Finding a path takes time linear in the ids, and one look into a hash table per node.  Keeping a path adds the
// logarithm of the number of holders per node.  Splitting a node takes time linear in its holders, and happens once for
// each place at which sequences part.  Memory: 4 bytes for each id that somebody holds, some 100 for each node, 60 for
// each holder of each node.  Not thread-safe; threads may share a const tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/prefix_tree.h"

namespace rondo::cache {

class FleetTree {
 public:
  using Replica = std::uint32_t;  // numbered from 0 in the order of add()
  using Index = std::uint32_t;
  using Stamp = std::uint64_t;  // the time of a use: later ones are larger, 0 is before all

  // The ids of a sequence that are in one node.
  struct Step {
    Index node = 0;
    std::size_t before = 0;  // how many ids are above the node
    std::size_t used = 0;    // how many ids of the node the sequence has; only in the last step fewer than the node has
  };
  using Path = std::vector<Step>;

  // What a replica holds of a node.
  struct Holder {
    Replica replica = 0;
    std::uint32_t record = 0;
  };

  // When the ids up to `end` were last used.
  struct Use {
    std::size_t end = 0;
    Stamp stamp = 0;
  };

  // What was known when a sequence was inserted.
  struct Insertion {
    std::size_t known = 0;    // how many leading ids the replica held
    std::size_t settled = 0;  // how many of these were confirmed (settle())
    std::vector<Use> uses;    // of the known ids, before this use; ends ascend, stamps descend
    Stamp stamp = 0;          // of this use
  };

  FleetTree();

  // Adds a replica that holds at most `capacity` ids.
  Replica add(std::size_t capacity = kUnlimited);
  [[nodiscard]] std::size_t replicas() const { return replicas_.size(); }

  // Finds where the sequence leads, as far as any replica holds it.  `path` is valid until the next change.
  void find(std::string_view tenant, std::span<const TokenId> ids, Path& path) const;
  // Returns the replicas that hold some of a node, in ascending order.
  [[nodiscard]] std::span<const Holder> holders(Index node) const { return nodes_[node].holders; }
  // Returns how many leading ids of the sequence a holder has.  `step` is a step of its path.
  [[nodiscard]] std::size_t held(const Step& step, const Holder& holder) const;

  // Returns how many leading ids of `ids` the replica holds.  Does not count as a use.
  [[nodiscard]] std::size_t match(Replica replica, std::string_view tenant, std::span<const TokenId> ids) const;

  // Makes the replica hold `ids`, as many of the first as its capacity allows.  All of them count as just used.  To
  // make room, it drops the end of what it used longest ago, then the end of the next.
  Insertion insert(Replica replica, std::string_view tenant, std::span<const TokenId> ids);

  // Confirms that the replica holds what it is thought to hold of `ids`.  Until then this is only expected.
  void settle(Replica replica, std::string_view tenant, std::span<const TokenId> ids);

  // Makes the replica drop everything that was last used at `stamp` or before.
  void forget_until(Replica replica, Stamp stamp);

  [[nodiscard]] std::size_t size(Replica replica) const { return replicas_[replica].size; }  // ids
  [[nodiscard]] std::size_t node_count() const { return nodes_.size() - free_nodes_.size() - tenants_.size() - 1; }
  [[nodiscard]] std::size_t stored_ids() const { return stored_ids_; }

  // Returns what is wrong in the structure; "" if nothing is.  For tests.
  [[nodiscard]] std::string verify() const;

 private:
  static constexpr Index kNone = 0;  // no node: node 0 is never used

  // `ids` lead from the parent to this node.  Each tenant has a root, which has no ids.
  struct Node {
    std::vector<TokenId> ids;
    Index parent = kNone;
    std::uint32_t children = 0;
    std::vector<Holder> holders;
  };

  // One holder of one node.  `newer` and `older` form the replica's list of uses.  A replica uses a node whenever it
  // uses a node below it.  So the replica's oldest record has no record of the same replica below it.
  struct Record {
    Index node = kNone;
    Replica replica = 0;
    std::uint32_t held = 0;     // how many leading ids of the node; all of them if the replica holds a child
    std::uint32_t settled = 0;  // how many of these are confirmed
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
    std::uint32_t children = 0;  // how many children the replica holds
    Stamp stamp = 0;
  };

  struct ReplicaState {
    std::size_t capacity = kUnlimited;
    std::size_t size = 0;
    // The record that makes the list of uses a ring: its `older` is the newest record, its `newer` the oldest.
    std::uint32_t ring = 0;
  };

  [[nodiscard]] Index root_of(std::string_view tenant) const;
  [[nodiscard]] Index child(Index parent, TokenId first) const;
  [[nodiscard]] const Holder* holder_of(Index node, Replica replica) const;
  Index make_root(std::string_view tenant);
  Index make_node(Index parent, std::span<const TokenId> ids);
  void extend(Index node, std::span<const TokenId> ids);
  Index split(Index node, std::size_t at);
  void trim(Index node);
  void remove_node(Index node);
  void grow_path(std::string_view tenant, std::span<const TokenId> ids, Replica replica, Path& path);

  std::uint32_t new_record();
  std::uint32_t hold(Index node, Replica replica);
  void release(std::uint32_t record);
  void cut_record(std::uint32_t record, std::size_t count);
  void evict(Replica replica, std::size_t count);
  void link_before(std::uint32_t record, std::uint32_t older);
  void unlink(std::uint32_t record);

  [[nodiscard]] std::string verify_replica(Replica replica) const;

  std::vector<Node> nodes_;
  std::vector<Index> free_nodes_;
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_records_;
  std::vector<ReplicaState> replicas_;
  std::unordered_map<std::uint64_t, Index> children_;  // by parent and first id
  std::unordered_map<std::string, Index> tenants_;     // to their roots
  std::unordered_map<Index, std::string> tenant_names_;
  std::size_t stored_ids_ = 0;
  Stamp clock_ = 0;
};

}  // namespace rondo::cache
