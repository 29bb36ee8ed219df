// Hand-written splitters for the regular expressions that most tokenizers share.  They give the same pieces several
// times as fast.
//
// An expression is recognised by its text.  With these expressions every character belongs to a match, so the pieces
// are simply the matches.
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
    kSpaced,  // ` ?\p{L}+| ?\p{N}+|...`: only a space may come before a word
    kPlain,   // `[^\r\n\p{L}\p{N}]?\p{L}+|...`: any one character may
    kCased,   // the same, but cut between lower case and upper case
  };

  // Returns the scanner that does what `pattern` does, if there is one.
  [[nodiscard]] static std::optional<Scanner> find(std::string_view pattern);

  // Appends the pieces of text[piece].
  //
  // REQUIRES: valid UTF-8.
  void split(std::string_view text, Range piece, std::vector<Range>& out) const;

  // A batch of the places where pieces end.
  struct Ends {
    static constexpr std::size_t kRoom = 512;
    std::array<std::uint32_t, kRoom> at;
    std::size_t count = 0;
  };
  // Puts the ends of the first pieces of text[piece] into `out`, as many as fit.  The next call must start at the last
  // of them.
  //
  // REQUIRES: valid UTF-8; `piece` is not empty.
  void next(std::string_view text, Range piece, Ends& out) const;
  // Does the same while looking at only one character at a time; for tests.
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
  std::uint32_t digits_ = 0;        // the most digits in a piece; 0: no limit
  bool marks_are_letters_ = false;  // \p{M} counts like \p{L}
  bool contractions_ = true;        // 's, 'll and so on; for kCased after a word
  bool slashes_ = false;            // `[\r\n/]*` after punctuation instead of `[\r\n]*`
};

}  // namespace rondo::tokenizer
