#include "tokenizer/sentence_normalizer.h"

#include "base/utf8.h"

namespace rondo::tokenizer {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

}  // namespace

// Collects the text, so that its end can be removed again.
class SentenceNormalizer::Writer {
 public:
  explicit Writer(bool escape) : space_(escape ? kSpaceMark : std::string_view(" ")) {}

  void put(std::string_view bytes, Range range) {
    text_ += bytes;
    origins_.insert(origins_.end(), bytes.size(), range);
  }
  void put_space(Range range) { put(space_, range); }
  // Puts `bytes` with its spaces escaped.  A character that is unchanged keeps its bytes separate.
  void put_escaped(std::string_view bytes, Range range) {
    for (const char c : bytes) {
      if (c == ' ') {
        put_space(range);
      } else {
        put({&c, 1}, range);
      }
    }
  }
  void drop_trailing_spaces() {
    while (text_.ends_with(space_)) text_.resize(text_.size() - space_.size());
    origins_.resize(text_.size());
  }
  [[nodiscard]] Aligned finish(const Aligned& from) const {
    AlignedBuilder out(from);
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = at + 1;
      while (end < text_.size() && origins_[end] == origins_[at]) ++end;
      out.put(std::string_view(text_).substr(at, end - at), origins_[at]);
      at = end;
    }
    return out.finish();
  }

 private:
  std::string_view space_;
  std::string text_;
  std::vector<Range> origins_;
};

SentenceNormalizer::Step SentenceNormalizer::next(std::string_view text) const {
  if (has_verbatim_) {
    std::size_t longest = 0;
    verbatim_.prefixes(text, [&longest](std::size_t size, TokenId /*id*/) { longest = size; });
    if (longest > 0) return {text.substr(0, longest), static_cast<std::uint32_t>(longest)};
  }
  if (const auto match = charsmap_.longest_prefix(text)) {
    return {match->replacement, static_cast<std::uint32_t>(match->size)};
  }
  const utf8::Decoded decoded = utf8::decode(text, 0);
  if (!decoded.valid) return {kReplacement, 1};
  return {text.substr(0, decoded.size), decoded.size};
}

// Like SentencePiece.
void SentenceNormalizer::strict(std::string_view text, Writer& out) const {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::uint32_t at = 0;
  while (options_.remove_extra_spaces && at < size) {
    const Step step = next(text.substr(at));
    if (step.text != " ") break;
    at += step.size;
  }
  if (at == size) return;
  if (!options_.at_end && options_.add_prefix) out.put_space({at, at});
  bool after_space = options_.remove_extra_spaces;
  while (at < size) {
    const Step step = next(text.substr(at));
    std::string_view bytes = step.text;
    while (after_space && bytes.starts_with(' ')) bytes.remove_prefix(1);
    out.put_escaped(bytes, {at, at + step.size});
    if (!bytes.empty()) after_space = bytes.ends_with(' ');
    after_space = after_space && options_.remove_extra_spaces;
    at += step.size;
  }
  if (options_.remove_extra_spaces) out.drop_trailing_spaces();
  if (options_.at_end && options_.add_prefix) out.put_space({size, size});
}

// Like llama.cpp.
void SentenceNormalizer::late(std::string_view text, Writer& out) const {
  const auto size = static_cast<std::uint32_t>(text.size());
  bool prepended = options_.at_end || !options_.add_prefix;
  bool in_word = false;
  for (std::uint32_t at = 0; at < size;) {
    const Step step = next(text.substr(at));
    const Range range{at, at + step.size};
    for (const char c : step.text) {
      if (c == ' ') {
        in_word = false;
        if (!options_.remove_extra_spaces) out.put_space(range);
        continue;
      }
      if (!in_word && (!prepended || options_.remove_extra_spaces)) {
        out.put_space({at, at});
        prepended = true;
      }
      in_word = true;
      out.put({&c, 1}, range);
    }
    at += step.size;
  }
  if (options_.at_end && options_.add_prefix) out.put_space({size, size});
}

Aligned SentenceNormalizer::apply(const Aligned& text) const {
  Writer out(options_.escape_spaces);
  if (options_.late_prefix) {
    late(text.text(), out);
  } else {
    strict(text.text(), out);
  }
  return out.finish(text);
}

}  // namespace rondo::tokenizer
