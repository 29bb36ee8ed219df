#include "tokenizer/token_trie.h"

#include <algorithm>

namespace rondo::tokenizer {
namespace {

std::vector<std::pair<std::string_view, TokenId>> entries_of(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, TokenId>> out;
  out.reserve(static_cast<std::size_t>(vocabulary.size()));
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.contains(id) || vocabulary.bytes(id).empty()) continue;
    if (vocabulary.find(vocabulary.bytes(id)) == id) out.emplace_back(vocabulary.bytes(id), id);
  }
  return out;
}

}  // namespace

TokenTrie::TokenTrie(const Vocabulary& vocabulary) : TokenTrie(entries_of(vocabulary)) {}

TokenTrie::TokenTrie(std::vector<std::pair<std::string_view, TokenId>> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  struct Span {
    std::size_t begin = 0;  // the entries below a node
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  std::vector<Span> spans = {{0, entries.size(), 0}};
  nodes_.emplace_back();
  labels_.push_back(0);
  for (std::size_t at = 0; at < spans.size(); ++at) {
    Span span = spans[at];
    for (; span.begin < span.end && entries[span.begin].first.size() == span.depth; ++span.begin) {
      if (nodes_[at].token == kNoToken) nodes_[at].token = entries[span.begin].second;
    }
    nodes_[at].first = static_cast<Node>(nodes_.size());
    while (span.begin < span.end) {
      const char label = entries[span.begin].first[span.depth];
      std::size_t end = span.begin + 1;
      while (end < span.end && entries[end].first[span.depth] == label) ++end;
      spans.push_back({span.begin, end, span.depth + 1});
      if (at == kRoot) roots_[static_cast<unsigned char>(label)] = static_cast<Node>(nodes_.size());
      nodes_.emplace_back();
      labels_.push_back(static_cast<unsigned char>(label));
      ++nodes_[at].count;
      span.begin = end;
    }
  }
}

TokenTrie::Node TokenTrie::find(std::string_view bytes) const {
  Node node = kRoot;
  for (const char byte : bytes) {
    if (nodes_.empty()) return kNoNode;
    node = child(node, static_cast<unsigned char>(byte));
    if (node == kNoNode) return kNoNode;
  }
  return node;
}

}  // namespace rondo::tokenizer
