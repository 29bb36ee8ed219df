// Tokens on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/paint.h"
#include "json/value.h"

namespace rondo::cli {

// What a reply of `tokenize` or `encode` with RunOptions::trace says, for `text`; ends with a newline.
//
// With colours every token painted so that one sees where it ends, by turns or in the colour of its owner, and how many there
// are.  Without, or if the view asks for offsets, a row for every token: id, its bytes, owner and masks if the reply has
// them, the text.
[[nodiscard]] std::string shown_tokens(const json::Value& reply, std::string_view text, const TokenView& view);

// What a reply of `encode` with `loss_mask` says: with colours the text, what is learned green and the rest faint; without,
// a row for each part with its ids, its text and 1 where it is learned.  Then how many ids are learned, and where the
// template's own {% generation %} blocks say otherwise.
[[nodiscard]] std::string shown_mask(const json::Value& reply, std::string_view text, const Paint& paint);

// The notes of a reply, a line each.
[[nodiscard]] std::string note_lines(const json::Value& reply);

// "1 2 3\n".
[[nodiscard]] std::string ids_line(const json::Value& reply);

}  // namespace rondo::cli
