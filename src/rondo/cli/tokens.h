// Tokens on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "cli/paint.h"
#include "json/value.h"

namespace rondo::cli {

// What a reply of `tokenize` or `encode` with RunOptions::trace says, for `text`.  Both end with a newline.
//
// Every token painted so that one sees where it ends: by turns, or in the colour of its owner.
[[nodiscard]] std::string painted_tokens(const json::Value& reply, std::string_view text, const Paint& paint);
// A row for every token: id, its bytes if `offsets`, owner and masks if the reply has them, the text.
[[nodiscard]] std::string token_table(const json::Value& reply, std::string_view text, bool offsets,
                                      const Paint& paint);

// "17 tokens, 64 bytes" in words.
[[nodiscard]] std::string token_summary(const json::Value& reply, std::string_view text);

// "1 2 3\n".
[[nodiscard]] std::string ids_line(const json::Value& reply);

// Writes `page` to `file`, or to standard output for "" and "-", unless that is a terminal.  Returns the exit status.
[[nodiscard]] int put_page(const std::string& page, const std::string& file);

}  // namespace rondo::cli
