#include "tokenizer/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace rondo::tokenizer {
namespace {

constexpr TokenId kNone = -1;
constexpr double kLargestSum = 100000.0;

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary, std::vector<double> scores, UnigramOptions options)
    : vocabulary_(vocabulary), scores_(std::move(scores)), options_(options) {
  scores_.resize(static_cast<std::size_t>(vocabulary.size()));
  double lowest = std::numeric_limits<double>::infinity();
  for (const double score : scores_) lowest = std::min(lowest, score);
  unknown_score_ = options.unknown_score.value_or(lowest - kUnknownPenalty);
  trie_ = TokenTrie(vocabulary);
  fallback_ids_ = fallback_tokens(vocabulary);
}

std::unique_ptr<TokenModel::Scratch> Unigram::make_scratch() const { return std::make_unique<Scratch>(); }

// A sum in single precision loses its fraction as it grows.  SentencePiece therefore counts from zero again once a path
// has become long, and does so for all paths that end after that place.
void Unigram::count_from_zero(std::vector<Place>& places, std::size_t at, std::size_t furthest) {
  const double sum = places[at].score;
  if (std::abs(sum) <= kLargestSum) return;
  for (std::size_t to = at; to <= furthest; ++to) {
    if (to != at && places[to].start < 0) continue;
    places[to].score = static_cast<double>(static_cast<float>(places[to].score - sum));
  }
}

void Unigram::find_paths(std::string_view piece, Control control, std::vector<Place>& places) const {
  places.assign(piece.size() + 1, Place{});
  std::size_t furthest = 0;
  const auto offer = [&](std::size_t from, std::size_t to, double score, TokenId id) {
    double sum = score + places[from].score;
    if (options_.single_precision) sum = static_cast<double>(static_cast<float>(sum));
    furthest = std::max(furthest, to);
    Place& place = places[to];
    if (place.start >= 0 && !(sum > place.score)) return;
    place = {sum, static_cast<std::int32_t>(from), id};
  };
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t width = vocabulary_.is_byte_level() ? 1 : utf8::decode(piece, at).size;
    if (options_.single_precision) count_from_zero(places, at, furthest);
    bool has_single = false;
    trie_.prefixes(piece.substr(at), [&](std::size_t size, TokenId id) {
      if (control == Control::kForbidden && is_control(id)) return;
      offer(at, at + size, scores_[static_cast<std::size_t>(id)], id);
      has_single = has_single || size == width;
    });
    if (!has_single) offer(at, at + width, unknown_score_, options_.unknown.value_or(kNone));
    at += width;
  }
}

// Adjacent unknown characters are one text, and so is the unknown token if it is spelled out among them.
void Unigram::emit_unknown(std::string_view text, Control control, std::vector<Unit>& out) const {
  const auto size = static_cast<std::uint32_t>(text.size());
  const auto whole = vocabulary_.find(text);
  if (whole && (control == Control::kAllowed || !is_control(*whole))) return out.push_back({*whole, size});
  const auto falls_back = [this](char byte) { return fallback_ids_[static_cast<unsigned char>(byte)] != kNone; };
  if (options_.byte_fallback && std::all_of(text.begin(), text.end(), falls_back)) {
    for (const char byte : text) out.push_back({fallback_ids_[static_cast<unsigned char>(byte)], 1});
    return;
  }
  if (options_.unknown) {
    out.push_back({*options_.unknown, size});
  } else if (!out.empty()) {
    out.back().size += size;
  }
}

void Unigram::encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
                     std::vector<Unit>& out) const {
  auto& [places, units] = static_cast<Scratch&>(scratch);
  find_paths(piece, control, places);
  units.clear();
  const TokenId unknown = options_.unknown.value_or(kNone);
  for (std::size_t end = piece.size(); end > 0;) {
    const auto start = static_cast<std::size_t>(places[end].start);
    const TokenId id = places[end].id;
    const auto size = static_cast<std::uint32_t>(end - start);
    if (id == unknown && !units.empty() && units.back().id == unknown) {
      units.back().size += size;
    } else {
      units.push_back({id, size});
    }
    end = start;
  }
  std::size_t at = 0;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (unit->id == unknown) {
      emit_unknown(piece.substr(at, unit->size), control, out);
    } else {
      out.push_back(*unit);
    }
    at += unit->size;
  }
}

}  // namespace rondo::tokenizer
