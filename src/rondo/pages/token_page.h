// Tokens as a page for the browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::pages {

// A self-contained HTML document that shows `text` token by token.  `reply` is one of `tokenize` with `offsets`, or of
// `encode`, each with RunOptions::trace.  It loads nothing, runs nothing, and nothing in the text becomes markup.
[[nodiscard]] std::string token_page(const json::Value& reply, std::string_view text);

// A reply of `encode` with `loss_mask` and RunOptions::trace, and what stands above it.
struct Sample {
  std::string title;
  json::Value reply;
};

// The same of several prompts and their loss masks, one below the other.
[[nodiscard]] std::string samples_page(const std::vector<Sample>& samples);

// The bytes of one token for people: escaped where they are no whole characters, else as they are.
[[nodiscard]] std::string token_text(std::string_view bytes);

}  // namespace rondo::pages
