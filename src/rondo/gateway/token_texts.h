// The bytes of tokens in their place in a text, for clients that ask for tokens.  Private to gateway/.
//
//   TokenTexts texts(tokenizer);
//   texts.at(id)     // what the token writes if it comes next
//   texts.take(id);  // it came
//
// The bytes of all tokens joined are the text, except that bytes which make no character become U+FFFD there.
#pragma once

#include <span>
#include <string>

#include "tokenizer/tokenizer.h"

namespace rondo::gateway {

class TokenTexts {
 public:
  // Without a tokenizer (null) no token has a text.
  explicit TokenTexts(const tokenizer::Tokenizer* tokenizer) : tokenizer_(tokenizer) {}
  // For the text that follows a prompt.
  TokenTexts(const tokenizer::Tokenizer* tokenizer, std::span<const tokenizer::TokenId> prompt);

  // Returns the bytes, which may be a part of a character; "" for an id outside the vocabulary.
  [[nodiscard]] std::string at(tokenizer::TokenId id) const;
  void take(tokenizer::TokenId id);

 private:
  [[nodiscard]] bool is_known(tokenizer::TokenId id) const;

  const tokenizer::Tokenizer* tokenizer_;
  bool has_begun_ = false;  // at its beginning a text may lack the blank that its first token has elsewhere
};

// Returns the last id of a prompt that writes text; nullptr if none does.
[[nodiscard]] const tokenizer::TokenId* last_text_in(const tokenizer::Tokenizer& tokenizer,
                                                     std::span<const tokenizer::TokenId> prompt);

}  // namespace rondo::gateway
