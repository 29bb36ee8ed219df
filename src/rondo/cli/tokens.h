// Tokens on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/paint.h"
#include "json/value.h"

namespace rondo::cli {

// Returns what a reply of `tokenize` or `encode` with RunOptions::trace shows for `text`; ends with a newline.
//
// With colours, each token is painted so that its end is visible, in alternating colours or in the colour of its owner,
// followed by the number of tokens.  Without colours, or if the view asks for offsets, each token is a row: id, bytes,
// owner and masks if the reply has them, text.
[[nodiscard]] std::string shown_tokens(const json::Value& reply, std::string_view text, const TokenView& view);

// Returns what a reply of `encode` with `loss_mask` shows.  With colours it is the text, with the learned parts green
// and the rest faint.  Without colours it is a row for each part, with its ids, its text, and 1 if it is learned.  Then
// follow the number of learned ids, and the places where the template's own {% generation %} blocks differ.
[[nodiscard]] std::string shown_mask(const json::Value& reply, std::string_view text, const Paint& paint);

// Returns the notes of a reply, one line each.
[[nodiscard]] std::string note_lines(const json::Value& reply);

// Returns "1 2 3\n".
[[nodiscard]] std::string ids_line(const json::Value& reply);

}  // namespace rondo::cli
