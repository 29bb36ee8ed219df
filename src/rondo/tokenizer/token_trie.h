// Finds the tokens that a text starts with, in one pass along its bytes.
//
//   TokenTrie trie(entries);                            // pairs of bytes and id
//   trie.prefixes(text, [](std::size_t size, TokenId id) { ... });
//
// Nodes are in breadth-first order.  So the children of a node are neighbours, and a child is found by the position of
// its byte among theirs.  Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

class TokenTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNoNode = 0;  // no child is the root
  static constexpr TokenId kNoToken = -1;

  TokenTrie() = default;
  // Among entries with the same bytes the first counts.
  explicit TokenTrie(std::vector<std::pair<std::string_view, TokenId>> entries);
  // Contains the tokens that text can become.
  explicit TokenTrie(const Vocabulary& vocabulary);

  // Returns the node after `byte`, or kNoNode.
  [[nodiscard]] Node child(Node node, unsigned char byte) const {
    if (node == kRoot) return roots_[byte];
    const Entry& entry = nodes_[node];
    if (entry.count == 0) return kNoNode;
    const unsigned char* labels = labels_.data() + entry.first;
    const void* found = std::memchr(labels, byte, entry.count);
    return found == nullptr ? kNoNode
                            : entry.first + static_cast<Node>(static_cast<const unsigned char*>(found) - labels);
  }
  // Returns the token that ends at the node, or kNoToken.
  [[nodiscard]] TokenId token(Node node) const { return nodes_[node].token; }
  // Returns the node after `bytes`; kNoNode if no token starts with them; the root for "".
  [[nodiscard]] Node find(std::string_view bytes) const;

  // Calls visit(size, id) for every token that `text` starts with when the walk begins at `from`; shortest first.
  template <typename Visit>
  void prefixes(std::string_view text, Visit visit, Node from = kRoot) const {
    if (nodes_.empty()) return;
    Node node = from;
    for (std::size_t at = 0; at < text.size(); ++at) {
      node = child(node, static_cast<unsigned char>(text[at]));
      if (node == kNoNode) return;
      if (const TokenId id = nodes_[node].token; id != kNoToken) visit(at + 1, id);
    }
  }

 private:
  struct Entry {
    Node first = 0;  // the first child
    std::uint16_t count = 0;
    TokenId token = kNoToken;
  };
  std::vector<Entry> nodes_;
  std::vector<unsigned char> labels_;  // by node: the byte that leads to it
  std::array<Node, 256> roots_{};
};

}  // namespace rondo::tokenizer
