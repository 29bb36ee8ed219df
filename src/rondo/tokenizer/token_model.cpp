#include "tokenizer/token_model.h"

namespace rondo::tokenizer {

std::optional<std::set<char32_t>> TokenModel::joined_before(std::string_view /*mark*/) const { return std::nullopt; }

void TokenModel::set_control(TokenId id) {
  if (static_cast<std::size_t>(id) >= control_.size()) control_.resize(static_cast<std::size_t>(id) + 1);
  control_[static_cast<std::size_t>(id)] = true;
}

}  // namespace rondo::tokenizer
