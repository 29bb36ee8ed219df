#include "tokenizer/rank_model.h"

#include <algorithm>
#include <utility>

#include "tokenizer/bpe.h"

namespace rondo::tokenizer {
namespace {

// The limit on bytes hashed to find all ways to build tokens; real vocabularies need about 20 million.
constexpr std::size_t kMaxWork = std::size_t{1} << 30U;

// The offset after the set of characters that starts at `at`.  Sets may contain others, and a closing bracket as their
// first member.
std::size_t end_of_set(std::string_view pattern, std::size_t at) {
  std::size_t depth = 0;
  while (at < pattern.size()) {
    if (pattern[at] == '\\') {
      at += 2;
    } else if (pattern[at] == '[') {
      ++depth;
      at += pattern.substr(at + 1).starts_with('^') ? 2 : 1;
      if (pattern.substr(at).starts_with(']')) ++at;
    } else if (pattern[at++] == ']' && --depth == 0) {
      break;
    }
  }
  return std::min(at, pattern.size());
}

// Every way to build a token from two others is a merge.
Status add_merges(std::span<const model::RankedToken> tokens, TokenId first_id, const Vocabulary& vocabulary,
                  Bpe& bpe) {
  SplitWork work;
  for (const model::RankedToken& token : tokens) {
    if (Status status = work.add(token.bytes.size()); !status.ok()) return status;
  }
  bpe.reserve(tokens.size() * 4);
  for (const model::RankedToken& token : tokens) {
    const std::string_view bytes = token.bytes;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      const auto left = vocabulary.find(bytes.substr(0, cut));
      const auto right = left ? vocabulary.find(bytes.substr(cut)) : std::nullopt;
      if (!right) continue;
      bpe.add_merge(*left, *right, static_cast<std::uint32_t>(token.rank), token.rank + first_id, false);
    }
  }
  return Done{};
}

}  // namespace

Status SplitWork::add(std::size_t token_bytes) {
  bytes_ += std::min(token_bytes, kMaxWork) * std::min(token_bytes, kMaxWork);
  if (token_bytes <= kMaxWork && bytes_ <= kMaxWork) return Done{};
  return Error(ErrorCode::kLimit, "the tokens are too long to be split in all ways");
}

std::string from_rust_dialect(std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '\\'  ? std::min(at + 2, pattern.size())
                            : pattern[at] == '[' ? end_of_set(pattern, at)
                                                 : at + 1;
    const std::string_view part = pattern.substr(at, end - at);
    out += part == "$" ? "\\z" : part == "^" ? "\\A" : part;
    at = end;
  }
  return out;
}

Status load_ranks(std::span<const model::RankedToken> tokens, TokenId first_id, std::string_view pattern,
                  Tokenizer::State& state) {
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (const model::RankedToken& token : tokens) state.vocabulary.add_bytes(token.bytes, token.rank + first_id);
  BpeOptions options;
  options.ignore_merges = true;
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  if (Status status = add_merges(tokens, first_id, state.vocabulary, *bpe); !status.ok()) return status;
  state.model = std::move(bpe);
  state.decoder.add(Decoder::Bytes{});
  // The reference loses text that the pattern does not match, but no pattern in use leaves any.
  return state.pre_tokenizer.add_regex(from_rust_dialect(pattern), Behavior::kRemoved, true);
}

}  // namespace rondo::tokenizer
