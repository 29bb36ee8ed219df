#include "grammar/emptiness.h"

#include <algorithm>

namespace rondo::grammar {

bool Emptiness::of(NodeId id) {
  const auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  const bool is_empty = find(grammar_.node(id));
  known_.emplace(id, is_empty);
  return is_empty;
}

bool Emptiness::find(const Node& node) {
  const auto is_empty = [this](NodeId child) { return of(child); };
  switch (node.kind) {
    case NodeKind::kSequence: return std::ranges::all_of(node.children, is_empty);
    case NodeKind::kChoice: return std::ranges::any_of(node.children, is_empty);
    case NodeKind::kRepeat: return node.least == 0 || is_empty(node.children[0]);
    case NodeKind::kReference: {
      const auto rule = static_cast<std::size_t>(node.rule);
      return rule < rules_.size() && rules_[rule];
    }
    default: return false;
  }
}

}  // namespace rondo::grammar
