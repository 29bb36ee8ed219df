// Text without certain markers, cut into lexemes for a lexer that takes the longest one.
#pragma once

#include <string>
#include <vector>

#include "grammar/char_set.h"

namespace rondo::grammar {

// A part of a text that ends where one of its markers begins: `begun`, the beginning of a marker, then a character of
// `next`, with which no marker begins or continues.  After a beginning that character may be missing.
struct TextPiece {
  std::u32string begun;
  CharSet next;
};
// Returns the pieces of a text without `markers`, as lexemes that no marker can run into.  The first has no beginning.
// Returns none if a marker is long, as no template writes it: then the text is one lexeme.
[[nodiscard]] std::vector<TextPiece> text_pieces(const std::vector<std::string>& markers);

}  // namespace rondo::grammar
