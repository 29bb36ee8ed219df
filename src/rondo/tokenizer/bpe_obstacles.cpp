// Finds what prevents characters from being merged alone, in passes over the vocabulary and the merges that are made
// once.
#include <algorithm>

#include "tokenizer/bpe_joints.h"

namespace rondo::tokenizer {
namespace {

using joints::byte_pair;
using joints::byte_size;
using joints::decode;
using joints::decode_before;
using joints::half_bit;
using joints::kHalfBits;
using joints::kNeighbourBits;
using joints::kNone;
using joints::kNoRank;
using joints::neighbour_bit;
using joints::set_bit;

// Where the first byte beyond ASCII is in a token, which is short; its size if there is none.
std::size_t first_wide(std::string_view token) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t words[2];
  if (token.size() >= sizeof words[0] && token.size() <= sizeof words) {
    std::memcpy(&words[0], token.data(), sizeof words[0]);
    std::memcpy(&words[1], token.data() + token.size() - sizeof words[1], sizeof words[1]);
    if (((words[0] | words[1]) & kHighBits) == 0) return token.size();
  }
  return utf8::skip_ascii(token, 0);
}

}  // namespace

// REQUIRES: at most one of the characters that meet at `at` is entirely in the token.
void Bpe::Obstacles::add_joint(std::string_view token, std::size_t at) {
  joints.set(byte_pair(token, at));
  const utf8::Decoded before = decode_before(token, at);
  const utf8::Decoded behind = decode(token, at);
  if (before.valid) set_bit(halves, half_bit(before.code_point, token[at], true));
  if (behind.valid) set_bit(halves, half_bit(behind.code_point, token[at - 1], false));
  if (!before.valid && !behind.valid) blind_joints.set(byte_pair(token, at));
}

// Adds the joints of one token, and its neighbours.  `wide` is the offset of its first byte beyond ASCII.
void Bpe::Obstacles::add(std::string_view token, std::size_t wide) {
  std::size_t whole = 0;  // where the first whole character starts
  while (whole < token.size() && utf8::is_continuation(token[whole])) ++whole;
  if (whole > 0 && whole < token.size()) add_joint(token, whole);
  if (whole < token.size()) {
    Joints joints_of(token, std::max(whole, wide == 0 ? 0 : wide - 1));
    while (joints_of.next()) {
      if (joints_of.is_wide()) set_bit(neighbours, neighbour_bit(joints_of.before(), joints_of.behind()));
    }
  }
  for (std::size_t at = token.size() - std::min<std::size_t>(token.size() - wide, 3); at < token.size(); ++at) {
    if (at > 0 && !utf8::is_continuation(token[at]) && !utf8::decode(token, at).valid) add_joint(token, at);
  }
}

Bpe::Obstacles Bpe::find_obstacles() const {
  Obstacles found;
  found.neighbours.assign((std::size_t{1} << kNeighbourBits) / 64, 0);
  found.halves.assign((std::size_t{1} << kHalfBits) / 64, 0);
  const auto count = static_cast<std::size_t>(vocabulary_.size());
  std::vector<bool> characters(count);  // tokens of one character beyond ASCII
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view token = vocabulary_.bytes(id);
    const std::size_t wide = first_wide(token);
    if (wide == token.size()) continue;
    found.add(token, wide);
    characters[static_cast<std::size_t>(id)] = wide == 0 && byte_size(token[0]) == token.size();
  }
  found.first_use.assign(count, kNoRank);
  for (const Merge& merge : merges_) {
    const std::uint32_t rank = merge.place - 1;  // for a free place the highest of all
    for (const std::uint64_t part : {merge.pair >> 32U, merge.pair & 0xFFFFFFFFU}) {
      if (part < count && characters[part]) found.first_use[part] = std::min(found.first_use[part], rank);
    }
  }
  return found;
}

const Bpe::Obstacles& Bpe::obstacles() const {
  std::call_once(obstacles_found_, [this] { obstacles_ = find_obstacles(); });
  return obstacles_;
}

std::optional<std::set<char32_t>> Bpe::joined_before(std::string_view mark) const {
  // A piece that is looked up whole, a mark that is not a token, or merges of byte tokens could join across the place.
  if (options_.ignore_merges || vocabulary_.is_byte_level() || !vocabulary_.find(mark)) return std::nullopt;
  if (!options_.prefix.empty() || !options_.suffix.empty()) return std::nullopt;
  // When characters vanish, those around them become adjacent.
  const bool falls_back = options_.byte_fallback && std::ranges::find(fallback_ids_, kNone) == fallback_ids_.end();
  if (!options_.unknown && !falls_back) return std::nullopt;
  std::set<TokenId> opaque(fallback_ids_.begin(), fallback_ids_.end());
  if (options_.unknown) opaque.insert(*options_.unknown);
  opaque.erase(kNone);
  for (const Merge& merge : merges_) {
    if (merge.place == 0) continue;
    const auto left = static_cast<TokenId>(merge.pair >> 32U);
    const auto right = static_cast<TokenId>(merge.pair & 0xFFFFFFFFU);
    if (opaque.contains(left) || opaque.contains(right)) return std::nullopt;
  }
  std::set<char32_t> joined;
  const auto collect = [&](std::string_view token) {
    for (std::size_t at = token.find(mark, 1); at != std::string_view::npos; at = token.find(mark, at + 1)) {
      std::size_t before = at - 1;
      while (before > 0 && utf8::is_continuation(token[before])) --before;
      joined.insert(utf8::decode(token, before).code_point);
    }
  };
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    if (vocabulary_.contains(id)) collect(vocabulary_.bytes(id));
  }
  for (const auto& part : parts_) collect(part.first);
  // Runs of marks stay together, because whether they join depends on more than the previous character.
  joined.insert(utf8::decode(mark, 0).code_point);
  return joined;
}

}  // namespace rondo::tokenizer
