// Tokens as a page for the browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::pages {

// Returns a self-contained HTML document that shows `text` token by token.  `reply` is a reply of `tokenize` with
// `offsets`, or of `encode`, with RunOptions::trace.  It loads nothing and runs nothing, and nothing in the text
// becomes markup.
[[nodiscard]] std::string token_page(const json::Value& reply, std::string_view text);

// A reply of `encode` with `loss_mask` and RunOptions::trace, and the text above it.
struct Sample {
  std::string title;
  json::Value reply;
};

// Returns the same for several prompts with their loss masks, one below the other.
[[nodiscard]] std::string samples_page(const std::vector<Sample>& samples);

// Returns the bytes of one token for people: unchanged if they are whole characters, otherwise escaped.
[[nodiscard]] std::string token_text(std::string_view bytes);

}  // namespace rondo::pages
