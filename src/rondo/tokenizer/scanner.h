// Hand-written splitting for the regular expressions that most tokenizers share: the same pieces, several times as fast.
//
// Recognised by the text of the expression.  Every character belongs to some match of these expressions, so the pieces are
// simply the matches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/aligned.h"

namespace rondo::tokenizer {

class Scanner {
 public:
  // The scanner that does what `pattern` does, if there is one.
  [[nodiscard]] static std::optional<Scanner> find(std::string_view pattern);

  // Appends the pieces of text[piece].  REQUIRES: valid UTF-8.
  void split(std::string_view text, Range piece, std::vector<Range>& out) const;

 private:
  enum class Kind : std::uint8_t {
    kSpaced,  // ` ?\p{L}+| ?\p{N}+|...`: only a space may stand before a word
    kPlain,   // `[^\r\n\p{L}\p{N}]?\p{L}+|...`: any one character may
    kCased,   // the same, cut where lower case is followed by upper case
  };
  class Cursor;

  Kind kind_ = Kind::kPlain;
  std::uint32_t digits_ = 0;        // at most so many in a piece; 0: any number
  bool marks_are_letters_ = false;  // \p{M} beside \p{L}
  bool contractions_ = true;        // 's, 'll and so on; behind a word for kCased
  bool slashes_ = false;            // `[\r\n/]*` behind punctuation instead of `[\r\n]*`
};

}  // namespace rondo::tokenizer
