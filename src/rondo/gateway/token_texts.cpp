#include "gateway/token_texts.h"

#include <algorithm>

#include "base/utf8.h"

namespace rondo::gateway {

using tokenizer::TokenId;
using tokenizer::Tokenizer;

TokenTexts::TokenTexts(const Tokenizer* tokenizer, std::span<const TokenId> prompt) : TokenTexts(tokenizer) {
  has_begun_ = tokenizer != nullptr && last_text_in(*tokenizer, prompt) != nullptr;
}

bool TokenTexts::is_known(TokenId id) const {
  return tokenizer_ != nullptr && id >= 0 && id < tokenizer_->vocab_size();
}

std::string TokenTexts::at(TokenId id) const {
  if (!is_known(id)) return "";
  const std::string_view inside = tokenizer_->token_bytes(id);
  if (has_begun_) return std::string(inside);
  const auto alone = tokenizer_->decode(std::span(&id, 1), {});
  for (std::size_t begin = 0; alone.ok() && begin <= inside.size(); ++begin) {
    if (utf8::to_valid(inside.substr(begin)) == alone.value()) return std::string(inside.substr(begin));
  }
  return std::string(inside);
}

void TokenTexts::take(TokenId id) { has_begun_ = has_begun_ || (is_known(id) && !tokenizer_->token_bytes(id).empty()); }

const TokenId* last_text_in(const Tokenizer& tokenizer, std::span<const TokenId> prompt) {
  const auto writes = [&](TokenId id) { return !tokenizer.is_special(id) && !tokenizer.token_bytes(id).empty(); };
  const auto last = std::find_if(prompt.rbegin(), prompt.rend(), writes);
  return last == prompt.rend() ? nullptr : &*last;
}

}  // namespace rondo::gateway
