#include "tokenizer/token_model.h"

#include <cstdio>

namespace rondo::tokenizer {

std::array<TokenId, 256> fallback_tokens(const Vocabulary& vocabulary) {
  std::array<TokenId, 256> ids{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    char spelled[8];
    std::snprintf(spelled, sizeof spelled, "<0x%02X>", byte);
    ids[byte] = vocabulary.find_text(spelled).value_or(-1);
  }
  return ids;
}

std::optional<std::set<char32_t>> TokenModel::joined_before(std::string_view /*mark*/) const { return std::nullopt; }

void TokenModel::set_control(TokenId id) {
  if (static_cast<std::size_t>(id) >= control_.size()) control_.resize(static_cast<std::size_t>(id) + 1);
  control_[static_cast<std::size_t>(id)] = true;
}

}  // namespace rondo::tokenizer
