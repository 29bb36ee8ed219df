#include "tokenizer/longest_match.h"

namespace rondo::tokenizer {

std::vector<std::pair<std::string_view, TokenId>> searchable_tokens(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, TokenId>> entries;
  entries.reserve(vocabulary.count());
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.contains(id) || vocabulary.bytes(id).empty()) continue;
    if (vocabulary.find(vocabulary.bytes(id)) == id) entries.emplace_back(vocabulary.bytes(id), id);
  }
  return entries;
}

LongestMatch::LongestMatch(const Vocabulary& vocabulary, std::optional<TokenId> unknown)
    : unknown_(unknown), trie_(searchable_tokens(vocabulary)) {}

void LongestMatch::encode(std::string_view piece, Control control, Scratch& /*scratch*/, std::vector<Unit>& out) const {
  std::uint32_t lost = 0;  // bytes that vanish; the next token takes their place
  for (std::size_t at = 0; at < piece.size();) {
    Unit longest;
    trie_.prefixes(piece.substr(at), [&](std::size_t size, TokenId id) {
      if (control == Control::kForbidden && is_control(id)) return;
      longest = {id, static_cast<std::uint32_t>(size)};
    });
    if (longest.size == 0 && unknown_) longest = {*unknown_, 1};
    if (longest.size == 0) {
      ++lost;
      ++at;
      continue;
    }
    at += longest.size;
    longest.size += lost;
    lost = 0;
    out.push_back(longest);
  }
}

}  // namespace rondo::tokenizer
