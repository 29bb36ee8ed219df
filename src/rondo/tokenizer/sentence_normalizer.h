// What SentencePiece does to a whole text before it is cut: character map, white space, and a mark (U+2581) for each
// space.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/aligned.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/token_trie.h"

namespace rondo::tokenizer {

struct SentenceNormalizerOptions {
  bool add_prefix = true;           // add a space before the text, or after it
  bool at_end = false;              // spaces end words instead of starting them
  bool remove_extra_spaces = true;  // runs become one space, and those at both ends are dropped
  bool escape_spaces = true;        // write spaces as marks
  // Leave a text of only spaces without a prefix, and put the prefix before the first other character.  llama.cpp does
  // this; it differs from SentencePiece only in these cases.
  bool late_prefix = false;
};

// Immutable.
class SentenceNormalizer {
 public:
  // `verbatim` are the tokens that the character map leaves alone.
  SentenceNormalizer(SentenceNormalizerOptions options, Charsmap charsmap,
                     std::vector<std::pair<std::string_view, TokenId>> verbatim)
      : options_(options),
        charsmap_(std::move(charsmap)),
        has_verbatim_(!verbatim.empty()),
        verbatim_(std::move(verbatim)) {}

  // Every byte that is not part of a well-formed character becomes U+FFFD.
  [[nodiscard]] Aligned apply(const Aligned& text) const;

 private:
  struct Step {
    std::string_view text;  // the replacement of the bytes
    std::uint32_t size = 0;
  };
  class Writer;
  [[nodiscard]] Step next(std::string_view text) const;
  void strict(std::string_view text, Writer& out) const;
  void late(std::string_view text, Writer& out) const;

  SentenceNormalizerOptions options_;
  Charsmap charsmap_;
  bool has_verbatim_;
  TokenTrie verbatim_;
};

}  // namespace rondo::tokenizer
