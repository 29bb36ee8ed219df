#include "render/join.h"

#include <algorithm>
#include <optional>
#include <string>

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;
using tokenizer::TokenId;

// No merge, and no piece of a splitting pattern that matters, reaches further back than this.
constexpr std::size_t kWindowTokens = 32;
constexpr std::size_t kComparedTokens = 8;

// The ranges of added tokens in `text` after a lead, whose first `added` bytes are an added token.  Anything else in
// the lead that reads like one was tokenized as text.
std::vector<ByteRange> behind_lead(std::size_t added, std::size_t lead, std::size_t text,
                                   const std::vector<ByteRange>* allowed) {
  std::vector<ByteRange> ranges;
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  };
  add(0, added);
  if (allowed == nullptr) add(lead, lead + text);
  if (allowed != nullptr) {
    for (const ByteRange& range : *allowed) add(lead + range.begin, lead + range.end);
  }
  return ranges;
}

// The pieces of `text` after `window`, whose text is `lead`; nothing if the window's tokens would come out differently.
std::optional<std::vector<Piece>> encode_with(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> window,
                                              std::string_view lead, std::string_view text,
                                              const std::vector<ByteRange>* allowed) {
  const std::string_view first_text = tokenizer.is_added(window.front()) ? tokenizer.token_bytes(window.front()) : "";
  const std::size_t added = lead.starts_with(first_text) ? first_text.size() : 0;
  const std::vector<ByteRange> ranges = behind_lead(added, lead.size(), text.size(), allowed);
  tokenizer::EncodeOptions options;
  options.allowed = &ranges;
  std::string joined(lead);
  joined += text;
  std::vector<Piece> pieces = tokenizer.encode(joined, options);
  const auto first = std::ranges::find_if(pieces, [&](const Piece& piece) { return piece.begin >= lead.size(); });
  const auto count = static_cast<std::size_t>(first - pieces.begin());
  // The window may begin inside a word, so its first tokens may differ.  Its last ones must not.
  const std::size_t compared = std::min(window.size(), kComparedTokens);
  if (count < compared) return std::nullopt;
  const auto last = window.last(compared);
  const bool same = std::equal(last.begin(), last.end(), first - static_cast<std::ptrdiff_t>(compared),
                               [](TokenId id, const Piece& piece) { return id == piece.id; });
  // White space that an added token at the end of the window absorbs is not part of the text's own tokens.
  if (!same || (pieces[count - 1].end > lead.size() && !tokenizer.is_added(window.back()))) return std::nullopt;
  pieces.erase(pieces.begin(), first);
  for (Piece& piece : pieces) {
    piece.begin -= static_cast<std::uint32_t>(lead.size());
    piece.end -= static_cast<std::uint32_t>(lead.size());
  }
  return pieces;
}

// The last tokens, starting at an added token if one is near.
std::span<const TokenId> window_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> before) {
  const std::span<const TokenId> last = before.last(std::min(before.size(), kWindowTokens));
  for (std::size_t i = last.size(); i > 0; --i) {
    if (tokenizer.is_added(last[i - 1])) return last.subspan(i - 1);
  }
  return last;
}

}  // namespace

std::vector<Piece> encode_behind(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> before,
                                 std::string_view text, const std::vector<ByteRange>* allowed) {
  if (text.empty()) return {};
  const std::span<const TokenId> window = window_of(tokenizer, before);
  if (!window.empty()) {
    const Result<std::string> lead = tokenizer.decode(window, {});
    if (lead.ok()) {
      if (auto pieces = encode_with(tokenizer, window, lead.value(), text, allowed)) return *std::move(pieces);
    }
  }
  // Encodes the text by itself, but as text in the middle: some tokenizers write the beginning of a text differently.
  if (const auto end = tokenizer.eos(); end && tokenizer.is_added(*end)) {
    const std::vector<TokenId> lead = {*end};
    if (auto pieces = encode_with(tokenizer, lead, tokenizer.token_bytes(*end), text, allowed))
      return *std::move(pieces);
  }
  tokenizer::EncodeOptions options;
  options.allowed = allowed;
  return tokenizer.encode(text, options);
}

std::vector<tokenizer::TokenId> ids_of(const std::vector<tokenizer::Piece>& pieces) {
  std::vector<tokenizer::TokenId> ids;
  ids.reserve(pieces.size());
  for (const tokenizer::Piece& piece : pieces) ids.push_back(piece.id);
  return ids;
}

Result<std::string> text_behind(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> before,
                                std::span<const TokenId> ids) {
  const std::span<const TokenId> window = window_of(tokenizer, before);
  std::vector<TokenId> all(window.begin(), window.end());
  const Result<std::string> lead = tokenizer.decode(all, {});
  if (!lead.ok()) return lead.error();
  all.insert(all.end(), ids.begin(), ids.end());
  Result<std::string> joined = tokenizer.decode(all, {});
  if (!joined.ok() || !joined.value().starts_with(lead.value())) return tokenizer.decode(ids, {});
  return joined.value().substr(lead.value().size());
}

}  // namespace rondo::render
