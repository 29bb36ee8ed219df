#include "grammar/rest.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"
#include "grammar/lower.h"

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostParts = std::size_t{1} << 24U;  // parts of sequences and choices that are looked at

// Derives a grammar by one character after the other (Brzozowski): the derivative of a node by a character matches what
// may follow that character in the texts of the node.  Equal nodes are one node, so a text that only grows adds none.
class Deriving {
 public:
  explicit Deriving(const Grammar& grammar) : g_(lowered(grammar)) { find_empty_rules(); }

  std::optional<Grammar> run(std::string_view begun) {
    NodeId rest = g_.reference(g_.root());
    for (std::size_t at = 0; at < begun.size() && rest != g_.never();) {
      const utf8::Decoded next = utf8::decode(begun, at);
      if (!next.valid) {
        rest = g_.never();
        break;
      }
      done_.clear();
      character_ = next.code_point;
      rest = derived(rest);
      if (work_ > kMostParts) return std::nullopt;
      at += next.size;
    }
    const RuleId root = g_.declare(g_.name(g_.root()));
    g_.define(root, rest);
    g_.set_root(root);
    return g_.pruned();
  }

 private:
  // Settles which rules match the empty text.
  void find_empty_rules() {
    empty_rules_.assign(g_.rule_count(), false);
    for (bool grows = true; grows;) {
      grows = false;
      empty_.clear();
      for (std::size_t i = 0; i < empty_rules_.size(); ++i) {
        if (empty_rules_[i] || !may_be_empty(g_.body(RuleId{static_cast<std::uint32_t>(i)}))) continue;
        empty_rules_[i] = true;
        grows = true;
      }
    }
  }

  bool may_be_empty(NodeId id) {
    const auto known = empty_.find(id);
    if (known != empty_.end()) return known->second;
    const bool may = looks_empty(g_.node(id));
    empty_.emplace(id, may);
    return may;
  }

  bool looks_empty(const Node& node) {
    const auto may = [this](NodeId child) { return may_be_empty(child); };
    switch (node.kind) {
      case NodeKind::kSequence: return std::ranges::all_of(node.children, may);
      case NodeKind::kChoice: return std::ranges::any_of(node.children, may);
      case NodeKind::kRepeat: return node.least == 0 || may(node.children[0]);
      case NodeKind::kReference: return static_cast<bool>(empty_rules_[static_cast<std::size_t>(node.rule)]);
      default: return false;
    }
  }

  NodeId derived(NodeId id) {
    const auto [known, is_new] = done_.emplace(id, g_.never());  // also for a rule that is being derived
    if (!is_new) return known->second;
    const NodeId made = derive(Node(g_.node(id)));
    done_[id] = made;
    return made;
  }

  // Takes a copy, because new nodes move the others.
  NodeId derive(const Node& from) {
    switch (from.kind) {
      case NodeKind::kLiteral: {
        const utf8::Decoded first = utf8::decode(from.text, 0);
        const bool fits = first.code_point == character_;
        return fits ? g_.literal(std::string_view(from.text).substr(first.size)) : g_.never();
      }
      case NodeKind::kChars: return from.set.contains(character_) ? g_.empty() : g_.never();
      case NodeKind::kSequence: return derive_sequence(from.children);
      case NodeKind::kChoice: {
        std::vector<NodeId> ways;
        work_ += from.children.size();
        for (const NodeId child : from.children) ways.push_back(derived(child));
        return g_.choice(ways);
      }
      case NodeKind::kRepeat: {
        const std::uint32_t most = from.most == kUnbounded ? kUnbounded : from.most - 1;
        const NodeId more = g_.repeat(from.children[0], from.least == 0 ? 0 : from.least - 1, most);
        return g_.sequence({derived(from.children[0]), more});
      }
      case NodeKind::kReference: return derived(g_.body(from.rule));
      default: return g_.never();  // lowered() leaves no others
    }
  }

  NodeId derive_sequence(const std::vector<NodeId>& children) {
    std::vector<NodeId> ways;
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::vector<NodeId> parts = {derived(children[i])};
      parts.insert(parts.end(), children.begin() + static_cast<std::ptrdiff_t>(i) + 1, children.end());
      work_ += parts.size();
      ways.push_back(g_.sequence(parts));
      if (!may_be_empty(children[i])) break;
    }
    return g_.choice(ways);
  }

  Grammar g_;
  std::vector<bool> empty_rules_;
  std::unordered_map<NodeId, bool> empty_;  // which nodes match the empty text
  std::size_t work_ = 0;
  std::unordered_map<NodeId, NodeId> done_;
  char32_t character_ = 0;
};

}  // namespace

std::optional<Grammar> rest_behind(const Grammar& grammar, std::string_view begun) {
  return Deriving(grammar).run(begun);
}

}  // namespace rondo::grammar
