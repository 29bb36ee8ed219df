#include "grammar/rest.h"

#include <unordered_map>
#include <vector>

#include "base/utf8.h"
#include "grammar/emptiness.h"
#include "grammar/lower.h"

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostDerivedParts = std::size_t{1} << 24U;  // parts of sequences and choices that are looked at

// Derives a grammar by one character after the other (Brzozowski): the derivative of a node by a character matches what
// may follow that character in the texts of the node.  Equal nodes are one node, so a text that only grows adds none.
class Deriving {
 public:
  explicit Deriving(const Grammar& grammar) : g_(lowered(grammar)), empty_(g_) {}

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
      if (work_ > kMostDerivedParts) return std::nullopt;
      at += next.size;
    }
    const RuleId root = g_.declare(g_.name(g_.root()));
    g_.define(root, rest);
    g_.set_root(root);
    return g_.pruned();
  }

 private:
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
      if (!empty_.of(children[i])) break;
    }
    return g_.choice(ways);
  }

  Grammar g_;
  Emptiness empty_;
  std::size_t work_ = 0;
  std::unordered_map<NodeId, NodeId> done_;
  char32_t character_ = 0;
};

}  // namespace

std::optional<Grammar> rest_behind(const Grammar& grammar, std::string_view begun) {
  return Deriving(grammar).run(begun);
}

}  // namespace rondo::grammar
