// Finds added tokens in text: the leftmost, of those the longest, as the reference's automaton does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/aligned.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {

// A found token and the text it takes, white space that it strips included.
struct AddedMatch {
  Range range;
  const AddedToken* token = nullptr;
};

// Immutable.  Finding costs at most (bytes of text) x (bytes of the longest token).
class AddedMatcher {
 public:
  AddedMatcher() = default;
  // Adds `token`, searched for by `pattern` (its content, maybe normalised).  `token` must outlive this.
  void add(std::string_view pattern, const AddedToken* token);
  // Must be called once after the last add().
  void finish();
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

  // Appends the matches in `text`, in order.
  void find_all(const Aligned& text, const EncodeOptions& options, std::vector<AddedMatch>& out) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;  // sorted
    const AddedToken* token = nullptr;
  };
  [[nodiscard]] std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;           // the trie; node 0 is the root
  std::vector<std::uint32_t> roots_;  // by first byte: node or 0
  std::vector<bool> pairs_;           // by first two bytes: may a token start so
};

}  // namespace rondo::tokenizer
