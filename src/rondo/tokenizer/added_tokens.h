// Finds added tokens in text: the leftmost, and among those the longest, as the reference's automaton does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/aligned.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {

// A found token, and the text that it takes, including white space that it strips.
struct AddedMatch {
  Range range;
  const AddedToken* token = nullptr;
};

// An Aho-Corasick automaton that reads text from its end to its beginning.  So at every place it knows the longest
// token that begins there, and the search takes time linear in the text whatever the tokens are.  Reading forwards,
// tokens such as `a` and a long `aa...ab` would make it read most of a text of `a` again and again.
//
// Immutable after finish(); thread-safe.
class AddedMatcher {
 public:
  AddedMatcher() = default;
  // Adds `token`.  It is searched for by `pattern`: its content, possibly normalised.  Among equal patterns the first
  // counts; an empty one never matches.  `token` must outlive this.
  void add(std::string_view pattern, const AddedToken* token);
  // Call this once, after the last add().
  void finish();
  [[nodiscard]] bool empty() const { return patterns_.empty(); }

  // Appends the matches in `text`, in the order in which they were found.  A token inside the white space that the
  // token before it has stripped also matches, as in the reference; only then do ranges overlap.
  void find_all(const Aligned& text, const EncodeOptions& options, std::vector<AddedMatch>& out) const;

 private:
  struct Pattern {
    std::string reversed;  // cleared by finish()
    std::uint32_t size = 0;
    const AddedToken* token = nullptr;
  };
  struct Node {
    std::uint32_t first_child = 0;  // children are neighbours, followed by those of the next node
    std::uint32_t fail = 0;         // the longest proper suffix that is a node
    std::uint32_t found = 0;        // 1 + the index of the longest pattern that ends the text read so far; 0: none
  };
  // The tokens `patterns_` [begin, end) begin with the `depth` bytes of a node.
  struct Group {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t depth = 0;
  };
  void grow(std::uint32_t node, std::vector<Group>& groups);
  void make_skips();
  [[nodiscard]] std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  [[nodiscard]] bool has_rare(const char* block) const;
  [[nodiscard]] bool can_end(std::string_view text, std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::size_t skip(std::string_view text, std::size_t begin, std::size_t end) const;
  void scan(std::string_view text, Range part, std::vector<AddedMatch>& out) const;

  std::vector<Pattern> patterns_;
  std::vector<Node> nodes_;                 // breadth first; node 0 is the root; there is one extra node at the end
  std::vector<unsigned char> labels_;       // by node: the byte that leads to it
  std::array<std::uint32_t, 256> roots_{};  // children of the root by byte; 0: none
  std::vector<std::uint64_t> pairs_;        // bit 256 * a + b: a token may end with the bytes a, b
  std::array<unsigned char, 4> rare_{};     // the last bytes of all tokens, if there are at most four
  bool is_rare_ = false;
};

}  // namespace rondo::tokenizer
