#include "tokenizer/wordpiece.h"

#include "base/utf8.h"

namespace rondo::tokenizer {

WordPiece::WordPiece(const Vocabulary& vocabulary, WordPieceOptions options)
    : vocabulary_(vocabulary), options_(std::move(options)) {
  trie_ = TokenTrie(vocabulary);
  const TokenTrie::Node inside = trie_.find(options_.prefix);
  if (options_.prefix.empty() || inside != TokenTrie::kNoNode) inside_ = inside;
}

bool WordPiece::find_parts(std::string_view word, Control control, std::vector<Unit>& out) const {
  for (std::size_t at = 0; at < word.size();) {
    if (at > 0 && !inside_) return false;
    Unit best;
    const auto take = [&](std::size_t size, TokenId id) {
      if (control == Control::kForbidden && is_control(id)) return;
      best = {id, static_cast<std::uint32_t>(size)};
    };
    trie_.prefixes(word.substr(at), take, at > 0 ? *inside_ : TokenTrie::kRoot);
    if (best.size == 0) return false;
    out.push_back(best);
    at += best.size;
  }
  return true;
}

void WordPiece::encode(std::string_view piece, Control control, Scratch& /*scratch*/, std::vector<Unit>& out) const {
  const std::size_t before = out.size();
  const std::size_t characters = vocabulary_.is_byte_level() ? piece.size() : utf8::length(piece);
  if (characters <= options_.max_characters && find_parts(piece, control, out)) return;
  out.resize(before);
  if (options_.unknown) out.push_back({*options_.unknown, static_cast<std::uint32_t>(piece.size())});
}

void WordLevel::encode(std::string_view piece, Control control, Scratch& /*scratch*/, std::vector<Unit>& out) const {
  const auto size = static_cast<std::uint32_t>(piece.size());
  const auto id = vocabulary_.find(piece);
  if (id && (control == Control::kAllowed || !is_control(*id))) {
    out.push_back({*id, size});
  } else if (unknown_) {
    out.push_back({*unknown_, size});
  }
}

}  // namespace rondo::tokenizer
