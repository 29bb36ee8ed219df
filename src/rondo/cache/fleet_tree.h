// What each of many replicas holds, in one radix tree over token ids: the least recently used of a replica is forgotten
// first.
//
//   FleetTree tree;
//   FleetTree::Replica replica = tree.add(400'000);
//   tree.insert(replica, tenant, prompt);       // what that replica has computed
//   tree.match(replica, tenant, next_prompt);   // how many leading ids of it are there
//
// To a caller it is one PrefixTree for each replica (cache/prefix_tree.h), and a property test holds it to that.  A
// tree of trees would compare a prompt with each of them; here it is compared once, and each node knows who holds it.
// A replica that holds a node holds all above it.
//
// Tenants share nothing but the capacity of a replica.
//
// Finding a path takes time linear in the ids and one look into a hash table for each node; keeping it, the logarithm
// of the number of holders for each node besides.  A node that is split costs time linear in its holders, which happens
// once for each place at which sequences part.  Memory: 4 bytes for each id that somebody holds, some 100 for each
// node, 60 for each holder of each node.  Not thread-safe; a const tree may be shared.
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
  using Replica = std::uint32_t;  // from 0, in the order of add()
  using Index = std::uint32_t;
  using Stamp = std::uint64_t;  // of a use: later ones are larger; 0 is before all

  // Leading ids of a sequence that lie in one node.
  struct Step {
    Index node = 0;
    std::size_t before = 0;  // ids above the node
    std::size_t used = 0;    // ids of the node that the sequence has; less than the node has for the last step at most
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

  // What was known when a sequence came.
  struct Insertion {
    std::size_t known = 0;    // leading ids that the replica held
    std::size_t settled = 0;  // and of which it was said that they are there (settle())
    std::vector<Use> uses;    // of the known ids, before this use; ends ascend, stamps descend
    Stamp stamp = 0;          // of this use
  };

  FleetTree();

  // A replica that holds at most `capacity` ids.
  Replica add(std::size_t capacity = kUnlimited);
  [[nodiscard]] std::size_t replicas() const { return replicas_.size(); }

  // Where the sequence leads, as far as anybody holds it.  Valid until the next change.
  void find(std::string_view tenant, std::span<const TokenId> ids, Path& path) const;
  // Who holds something of a node, by ascending replica.
  [[nodiscard]] std::span<const Holder> holders(Index node) const { return nodes_[node].holders; }
  // How many leading ids of the sequence a holder has of which `step` is part.
  [[nodiscard]] std::size_t held(const Step& step, const Holder& holder) const;

  // How many leading ids of `ids` the replica holds.  Nothing counts as used.
  [[nodiscard]] std::size_t match(Replica replica, std::string_view tenant, std::span<const TokenId> ids) const;

  // The replica holds `ids`, as many of the first as its capacity allows; all of them count as just used.  To make
  // room, the end of what it used longest ago is forgotten, then that of the next.
  Insertion insert(Replica replica, std::string_view tenant, std::span<const TokenId> ids);

  // What the replica holds of `ids` was seen to be there; until then it is a promise.
  void settle(Replica replica, std::string_view tenant, std::span<const TokenId> ids);

  // The replica holds nothing that was last used at `stamp` or before.
  void forget_until(Replica replica, Stamp stamp);

  [[nodiscard]] std::size_t size(Replica replica) const { return replicas_[replica].size; }  // ids
  [[nodiscard]] std::size_t node_count() const { return nodes_.size() - free_nodes_.size() - tenants_.size() - 1; }
  [[nodiscard]] std::size_t stored_ids() const { return stored_ids_; }

  // What is broken in the structure, "" if nothing; for tests.
  [[nodiscard]] std::string verify() const;

 private:
  static constexpr Index kNone = 0;  // no node: node 0 is never used

  // `ids` lead from the parent to this node; a root, one for each tenant, has none.
  struct Node {
    std::vector<TokenId> ids;
    Index parent = kNone;
    std::uint32_t children = 0;
    std::vector<Holder> holders;
  };

  // One holder of one node.  `newer` and `older` are the replica's list of use; no record is older than one of the same
  // replica below it, so the oldest of all has nothing below it.
  struct Record {
    Index node = kNone;
    Replica replica = 0;
    std::uint32_t held = 0;     // leading ids of the node; all of them where the replica holds a child
    std::uint32_t settled = 0;  // of these
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
    std::uint32_t children = 0;  // that the replica holds
    Stamp stamp = 0;
  };

  struct ReplicaState {
    std::size_t capacity = kUnlimited;
    std::size_t size = 0;
    std::uint32_t ring = 0;  // record that closes the list of use: its `older` is the newest, its `newer` the oldest
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
  std::unordered_map<std::string, Index> tenants_;     // their roots
  std::unordered_map<Index, std::string> tenant_names_;
  std::size_t stored_ids_ = 0;
  Stamp clock_ = 0;
};

}  // namespace rondo::cache
