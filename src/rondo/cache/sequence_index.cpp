#include "cache/sequence_index.h"

#include <algorithm>
#include <utility>

#include "base/common_prefix.h"

namespace rondo::cache {

// `ids` lead from the parent to this node.  Every node but the root has an end or two children.
struct SequenceIndex::Node {
  std::vector<TokenId> ids;
  std::set<Holder> ends;
  std::map<TokenId, std::unique_ptr<Node>> children;  // by their first id
};

SequenceIndex::SequenceIndex() : root_(std::make_unique<Node>()) {}
SequenceIndex::~SequenceIndex() = default;

void SequenceIndex::add(Holder holder, std::span<const TokenId> ids) {
  Node* node = root_.get();
  while (!ids.empty()) {
    std::unique_ptr<Node>& place = node->children[ids.front()];
    if (!place) {
      place = std::make_unique<Node>();
      place->ids.assign(ids.begin(), ids.end());
      ids = {};
    } else {
      const std::size_t length = common_prefix(place->ids, ids);
      if (length < place->ids.size()) {  // adds a node where the two sequences part
        auto upper = std::make_unique<Node>();
        upper->ids.assign(place->ids.begin(), place->ids.begin() + static_cast<std::ptrdiff_t>(length));
        place->ids.erase(place->ids.begin(), place->ids.begin() + static_cast<std::ptrdiff_t>(length));
        const TokenId first = place->ids.front();
        upper->children.emplace(first, std::move(place));
        place = std::move(upper);
      }
      ids = ids.subspan(length);
    }
    node = place.get();
  }
  size_ += node->ends.insert(holder).second ? 1 : 0;
}

void SequenceIndex::remove(Holder holder, std::span<const TokenId> ids) {
  std::vector<Node*> path = {root_.get()};
  while (!ids.empty()) {
    const auto child = path.back()->children.find(ids.front());
    if (child == path.back()->children.end()) return;
    Node* node = child->second.get();
    if (common_prefix(node->ids, ids) < node->ids.size()) return;
    ids = ids.subspan(node->ids.size());
    path.push_back(node);
  }
  if (path.back()->ends.erase(holder) == 0) return;
  --size_;
  // A node is removed if nothing ends in it and nothing is below it.  A node with a single child is joined with it,
  // which may apply to the node above too.
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    Node* node = path[i];
    if (!node->ends.empty() || node->children.size() > 1) return;
    std::unique_ptr<Node>& place = path[i - 1]->children.at(node->ids.front());
    if (node->children.empty()) {
      path[i - 1]->children.erase(node->ids.front());
      continue;
    }
    std::unique_ptr<Node> child = std::move(node->children.begin()->second);
    child->ids.insert(child->ids.begin(), node->ids.begin(), node->ids.end());
    place = std::move(child);
    return;
  }
}

std::optional<SequenceIndex::Match> SequenceIndex::longest_common(std::span<const TokenId> ids) const {
  const Node* node = root_.get();
  std::size_t length = 0;
  while (length < ids.size()) {
    const auto child = node->children.find(ids[length]);
    if (child == node->children.end()) break;
    node = child->second.get();
    const std::size_t agreeing = common_prefix(node->ids, ids.subspan(length));
    length += agreeing;
    if (agreeing < node->ids.size()) break;
  }
  if (length == 0) return std::nullopt;
  while (node->ends.empty()) node = node->children.begin()->second.get();
  return Match{.holder = *node->ends.begin(), .length = length};
}

std::optional<SequenceIndex::Match> SequenceIndex::longest_end(std::span<const TokenId> ids) const {
  const Node* node = root_.get();
  std::optional<Match> best;
  std::size_t length = 0;
  while (length < ids.size()) {
    const auto child = node->children.find(ids[length]);
    if (child == node->children.end()) break;
    node = child->second.get();
    if (common_prefix(node->ids, ids.subspan(length)) < node->ids.size()) break;
    length += node->ids.size();
    if (!node->ends.empty()) best = Match{.holder = *node->ends.begin(), .length = length};
  }
  return best;
}

std::string SequenceIndex::verify(const Node& node, bool is_root) {
  if (!is_root && node.ids.empty()) return "a node without ids";
  if (!is_root && node.ends.empty() && node.children.size() < 2) return "a node that nothing needs";
  for (const auto& [first, child] : node.children) {
    if (child->ids.empty() || child->ids.front() != first) return "a child under another id than its first";
    if (std::string problem = verify(*child, false); !problem.empty()) return problem;
  }
  return "";
}

std::string SequenceIndex::verify() const { return verify(*root_, true); }

}  // namespace rondo::cache
