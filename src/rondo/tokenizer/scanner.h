// Hand-written splitting for the regular expressions that most tokenizers share: the same pieces, several times as fast.
//
// Recognised by the text of the expression.  Every character belongs to some match of these expressions, so the pieces are
// simply the matches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/aligned.h"
#include "tokenizer/byte_masks.h"

namespace rondo::tokenizer {

class Scanner {
 public:
  // Families of expressions.
  enum class Kind : std::uint8_t {
    kSpaced,  // ` ?\p{L}+| ?\p{N}+|...`: only a space may stand before a word
    kPlain,   // `[^\r\n\p{L}\p{N}]?\p{L}+|...`: any one character may
    kCased,   // the same, cut where lower case is followed by upper case
  };

  // The scanner that does what `pattern` does, if there is one.
  [[nodiscard]] static std::optional<Scanner> find(std::string_view pattern);

  // Appends the pieces of text[piece].  REQUIRES: valid UTF-8.
  void split(std::string_view text, Range piece, std::vector<Range>& out) const;

  // Where pieces end, some of them at a time.
  struct Ends {
    static constexpr std::size_t kRoom = 512;
    std::array<std::uint32_t, kRoom> at;
    std::size_t count = 0;
  };
  // Puts the ends of the first pieces of text[piece] into `out`: as many as there is room for.  The next call starts at the
  // last of them.  REQUIRES: valid UTF-8; `piece` is not empty.
  void next(std::string_view text, Range piece, Ends& out) const;
  // The same without looking at more than a character at a time; for tests.
  void next_slowly(std::string_view text, Range piece, Ends& out) const;

 private:
  class Cursor;
  template <Kind kKind>
  class Block;
  template <Kind kKind>
  void next_of(std::string_view text, Range piece, MaskFunction masks, Ends& out) const;
  void next_with(std::string_view text, Range piece, MaskFunction masks, Ends& out) const;

  MaskFunction masks_ = best_mask_function();
  Kind kind_ = Kind::kPlain;
  std::uint32_t digits_ = 0;        // at most so many in a piece; 0: any number
  bool marks_are_letters_ = false;  // \p{M} beside \p{L}
  bool contractions_ = true;        // 's, 'll and so on; behind a word for kCased
  bool slashes_ = false;            // `[\r\n/]*` behind punctuation instead of `[\r\n]*`
};

}  // namespace rondo::tokenizer
