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

// The ranges of `text` in `lead` + `text`, where all of `lead` is allowed.
std::vector<ByteRange> behind_lead(std::size_t lead, std::size_t size, const std::vector<ByteRange>* allowed) {
  if (allowed == nullptr) return {{0, lead + size}};
  std::vector<ByteRange> ranges = {{0, lead}};
  for (const ByteRange& range : *allowed) {
    if (range.begin == 0) {
      ranges.front().end = lead + range.end;
    } else {
      ranges.push_back({lead + range.begin, lead + range.end});
    }
  }
  return ranges;
}

// The pieces of `text` behind `window`, whose text is `lead`; nothing if the window's tokens would come out otherwise.
std::optional<std::vector<Piece>> encode_with(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> window,
                                              std::string_view lead, std::string_view text,
                                              const std::vector<ByteRange>* allowed) {
  const std::vector<ByteRange> ranges = behind_lead(lead.size(), text.size(), allowed);
  tokenizer::EncodeOptions options;
  options.allowed = &ranges;
  std::string joined(lead);
  joined += text;
  std::vector<Piece> pieces = tokenizer.encode(joined, options);
  if (pieces.size() < window.size()) return std::nullopt;
  const bool same = std::equal(window.begin(), window.end(), pieces.begin(),
                               [](TokenId id, const Piece& piece) { return id == piece.id; });
  if (!same || (pieces.size() > window.size() && pieces[window.size()].begin < lead.size())) return std::nullopt;
  // White space that the last token of the window takes is no part of the text's own tokens.
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(window.size()));
  for (Piece& piece : pieces) {
    piece.begin -= static_cast<std::uint32_t>(lead.size());
    piece.end -= static_cast<std::uint32_t>(lead.size());
  }
  return pieces;
}

// The last tokens, from an added token on where one is near.
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
  // By itself, but as text in the middle: some tokenizers write the beginning of a text differently.
  if (const auto end = tokenizer.eos(); end && tokenizer.is_added(*end)) {
    const std::vector<TokenId> lead = {*end};
    if (auto pieces = encode_with(tokenizer, lead, tokenizer.token_bytes(*end), text, allowed))
      return *std::move(pieces);
  }
  tokenizer::EncodeOptions options;
  options.allowed = allowed;
  return tokenizer.encode(text, options);
}

}  // namespace rondo::render
