// Which parts of a grammar match the empty text.
#pragma once

#include <unordered_map>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

class Emptiness {
 public:
  // The grammar must outlive this object, and may grow.  Rules that are added later count as not empty.
  explicit Emptiness(const Grammar& grammar) : grammar_(grammar), rules_(grammar.empty_rules()) {}

  // REQUIRES: the node has no text up to a marker and no excepted words in it, as in a lowered grammar.
  bool of(NodeId id);

 private:
  [[nodiscard]] bool find(const Node& node);

  const Grammar& grammar_;
  std::vector<bool> rules_;
  std::unordered_map<NodeId, bool> known_;
};

}  // namespace rondo::grammar
