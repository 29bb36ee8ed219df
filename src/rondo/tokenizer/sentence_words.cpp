#include "tokenizer/sentence_words.h"

#include <algorithm>

namespace rondo::tokenizer {
namespace {

// The offset after the first word of `text`.
std::size_t end_of_word(std::string_view text) { return std::min(text.find(kSpaceMark, 1), text.size()); }

}  // namespace

SentenceWords::SentenceWords(const Vocabulary& vocabulary, SentenceWordsOptions options)
    : vocabulary_(vocabulary), options_(options), fallback_ids_(fallback_tokens(vocabulary)) {}

void SentenceWords::encode(std::string_view piece, Control control, Scratch& /*scratch*/,
                           std::vector<Unit>& out) const {
  bool after_unknown = false;
  for (std::size_t at = 0; at < piece.size();) {
    const std::string_view word = piece.substr(at, end_of_word(piece.substr(at)));
    at += word.size();
    const auto size = static_cast<std::uint32_t>(word.size());
    const auto id = vocabulary_.find(word);
    const bool is_known = id && (control == Control::kAllowed || !is_control(*id));
    if (is_known) {
      out.push_back({*id, size});
    } else if (options_.byte_fallback) {
      for (const char byte : word) out.push_back({fallback_ids_[static_cast<unsigned char>(byte)], 1});
    } else if (after_unknown) {
      out.back().size += size;
    } else if (options_.unknown) {
      out.push_back({*options_.unknown, size});
    }
    after_unknown = !is_known && !options_.byte_fallback && options_.unknown.has_value();
  }
}

}  // namespace rondo::tokenizer
