#include "tokenizer/backward_unigram.h"

#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "tokenizer/longest_match.h"

namespace rondo::tokenizer {
namespace {

// The model's own constants: a score below kLowest takes no part, and a character spelled in bytes costs kBytesCost.
constexpr std::int32_t kLowest = -20'000'000;
constexpr std::int64_t kBytesCost = 10'000'000;

std::int32_t to_score(double score) {
  const double scaled = std::round(static_cast<double>(static_cast<float>(score)) * 1e4);
  constexpr auto kMax = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  if (!std::isfinite(scaled) || scaled <= static_cast<double>(kLowest)) return kLowest;
  return static_cast<std::int32_t>(std::min(scaled, kMax));
}

}  // namespace

BackwardUnigram::BackwardUnigram(const Vocabulary& vocabulary, const std::vector<double>& scores,
                                 std::array<TokenId, 256> bytes)
    : bytes_(bytes), trie_(searchable_tokens(vocabulary)) {
  scores_.reserve(scores.size());
  for (const double score : scores) scores_.push_back(to_score(score));
  scores_.resize(static_cast<std::size_t>(vocabulary.size()));
}

std::unique_ptr<TokenModel::Scratch> BackwardUnigram::make_scratch() const { return std::make_unique<Scratch>(); }

void BackwardUnigram::encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
                             std::vector<Unit>& out) const {
  std::vector<Place>& places = static_cast<Scratch&>(scratch).places;
  places.assign(piece.size() + 1, Place{});
  for (std::size_t end = piece.size(); end > 0;) {
    std::size_t at = end - 1;
    while (at > 0 && utf8::is_continuation(piece[at])) --at;
    Place best;
    best.size = static_cast<std::uint32_t>(end - at);
    best.cost = kBytesCost + places[end].cost;
    // Visits the shortest first, so that the longest of equal ones wins.
    trie_.prefixes(piece.substr(at), [&](std::size_t size, TokenId id) {
      const std::int32_t score = scores_[static_cast<std::size_t>(id)];
      if (score <= kLowest || (control == Control::kForbidden && is_control(id))) return;
      const std::int64_t cost = places[at + size].cost - score;
      if (cost <= best.cost) best = {cost, static_cast<std::uint32_t>(size), id};
    });
    places[at] = best;
    end = at;
  }
  for (std::size_t at = 0; at < piece.size();) {
    const Place& place = places[at];
    if (place.id >= 0) {
      out.push_back({place.id, place.size});
    } else {
      for (const char byte : piece.substr(at, place.size)) {
        out.push_back({bytes_[static_cast<unsigned char>(byte)], 1});
      }
    }
    at += place.size;
  }
}

}  // namespace rondo::tokenizer
