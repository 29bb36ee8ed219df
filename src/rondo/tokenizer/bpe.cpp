#include "tokenizer/bpe.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/bpe_joints.h"
#include "tokenizer/byte_level.h"

namespace rondo::tokenizer {
namespace {

using joints::byte_pair;
using joints::byte_size;
using joints::decode;
using joints::decode_before;
using joints::half_bit;
using joints::has_bit;
using joints::is_ascii;
using joints::kNone;
using joints::kNoRank;
using joints::mix;
using joints::neighbour_bit;

// Up to this many symbols, looking at all pairs beats a heap.
constexpr std::size_t kShort = 40;
constexpr unsigned kFilterBits = 3;  // places in the filter per place in the table: 8
constexpr std::size_t kUncut = 6;    // up to this many bytes, merging is no slower than searching for cuts
constexpr unsigned kPartBits = 16;   // entries for parts of pieces: 2 MB
constexpr std::size_t kParts = 32;   // of a piece that are fetched from memory at the same time
// How many characters beyond ASCII are merged byte by byte before it pays to find out which can start whole.  Finding
// that out takes a pass over the vocabulary and the merges.
constexpr unsigned kPatience = 2000;

constexpr std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) | static_cast<std::uint32_t>(right);
}

std::size_t char_size(std::string_view text, std::size_t at) { return utf8::decode(text, at).size; }

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, BpeOptions options) : vocabulary_(vocabulary), options_(std::move(options)) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary.find({&raw, 1}).value_or(kNone);
  }
  has_all_bytes_ = std::ranges::find(byte_ids_, kNone) == byte_ids_.end();
  fallback_ids_ = fallback_tokens(vocabulary);
  grow(1024);
}

void Bpe::reserve(std::size_t merges) {
  std::size_t size = merges_.size();
  while (size * 3 < merges * 4) size *= 2;
  if (size > merges_.size()) grow(size);
}

void Bpe::grow(std::size_t size) {
  const Pages old_memory = std::exchange(merges_memory_, Pages(size * sizeof(Merge)));
  const std::span<Merge> old = std::exchange(merges_, {static_cast<Merge*>(merges_memory_.data()), size});
  make_resident(merges_.data(), merges_.size_bytes());
  shift_ = 64;
  for (std::size_t n = size; n > 1; n /= 2) --shift_;
  filter_.assign((size << kFilterBits) / 64, 0);
  for (const Merge& merge : old) {
    if (merge.place != 0) put(merge);
  }
}

// REQUIRES: there is room and the pair has no merge yet.
void Bpe::put(const Merge& merge) {
  const std::uint64_t hash = mix(merge.pair);
  const std::uint64_t bit = hash >> (shift_ - kFilterBits);
  filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  std::size_t to = hash >> shift_;
  while (merges_[to].place != 0) to = (to + 1) & (merges_.size() - 1);
  merges_[to] = merge;
}

inline const Bpe::Merge* Bpe::find(TokenId left, TokenId right) const {
  const std::uint64_t key = pair_key(left, right);
  const std::uint64_t hash = mix(key);
  const std::uint64_t bit = hash >> (shift_ - kFilterBits);
  if ((filter_[bit / 64] >> (bit % 64) & 1U) == 0) return nullptr;
  for (std::size_t to = hash >> shift_;; to = (to + 1) & (merges_.size() - 1)) {
    const Merge& merge = merges_[to];
    if (merge.place == 0) return nullptr;
    if (merge.pair == key) return &merge;
  }
}

inline void Bpe::ask_for(TokenId left, TokenId right) const {
  const std::uint64_t hash = mix(pair_key(left, right));
  __builtin_prefetch(&filter_[(hash >> (shift_ - kFilterBits)) / 64]);
  __builtin_prefetch(&merges_[hash >> shift_]);
}

inline const Bpe::Merge* Bpe::find_allowed(TokenId left, TokenId right, Control control) const {
  const Merge* merge = find(left, right);
  return merge != nullptr && control == Control::kForbidden && is_control(merge->result) ? nullptr : merge;
}

void Bpe::add_merge(TokenId left, TokenId right, std::uint32_t rank, TokenId result, bool replace) {
  if (const Merge* found = find(left, right); found != nullptr) {
    if (!replace) return;
    merges_[static_cast<std::size_t>(found - merges_.data())] = {pair_key(left, right), rank + 1, result};
    return;
  }
  if ((merge_count_ + 1) * 4 > merges_.size() * 3) grow(merges_.size() * 2);
  ++merge_count_;
  put({pair_key(left, right), rank + 1, result});
}

void Bpe::add_merges(std::span<const std::array<TokenId, 3>> merges, std::uint32_t first) {
  constexpr std::size_t kAhead = 24;
  for (std::size_t i = 0; i < std::min(kAhead, merges.size()); ++i) ask_for(merges[i][0], merges[i][1]);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    if (i + kAhead < merges.size()) ask_for(merges[i + kAhead][0], merges[i + kAhead][1]);
    add_merge(merges[i][0], merges[i][1], first++, merges[i][2], true);
  }
}

// The id of a piece, which may not be a token.
TokenId Bpe::intern(std::string_view bytes) {
  if (const auto id = vocabulary_.find(bytes)) return *id;
  const auto next = static_cast<TokenId>(vocabulary_.size() + static_cast<TokenId>(parts_.size()));
  return parts_.emplace(std::string(bytes), next).first->second;
}

void Bpe::add_merge_texts(std::string_view left, std::string_view right, std::uint32_t rank) {
  std::string parts[2] = {std::string(left), std::string(right)};
  for (std::string& part : parts) {
    if (!vocabulary_.is_byte_level()) continue;
    if (auto bytes = byte_level::to_bytes(part)) part = std::move(*bytes);
  }
  add_merge(intern(parts[0]), intern(parts[1]), rank, intern(parts[0] + parts[1]), false);
}

void Bpe::add_merges_by_score(const std::vector<double>& scores) {
  // Equal scores share a rank, so that the leftmost of them merges first.
  std::vector<double> order(scores);
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    if (!vocabulary_.contains(id)) continue;
    const std::string_view token = vocabulary_.bytes(id);
    if (vocabulary_.find(token) != id || static_cast<std::size_t>(id) >= scores.size()) continue;
    const auto place =
        std::lower_bound(order.begin(), order.end(), scores[static_cast<std::size_t>(id)], std::greater<>());
    const auto rank = static_cast<std::uint32_t>(place - order.begin());
    for (std::size_t cut = char_size(token, 0); cut < token.size(); cut += char_size(token, cut)) {
      const std::string_view parts[2] = {token.substr(0, cut), token.substr(cut)};
      // A part must be a token or a single character, otherwise nothing can have built it.
      const auto is_possible = [this](std::string_view part) {
        return vocabulary_.find(part).has_value() || char_size(part, 0) == part.size();
      };
      if (is_possible(parts[0]) && is_possible(parts[1]))
        add_merge(intern(parts[0]), intern(parts[1]), rank, id, false);
    }
  }
}

TokenId Bpe::char_symbol(std::string_view character) const {
  if (character.size() == 1) {
    const TokenId id = byte_ids_[static_cast<unsigned char>(character[0])];
    if (id != kNone) return id;
  } else if (const auto id = vocabulary_.find(character)) {
    return *id;
  }
  if (parts_.empty()) return kNone;
  const auto part = parts_.find(std::string(character));
  return part == parts_.end() ? kNone : part->second;
}

// A character as the vocabulary spells it at its position in a piece.
std::string_view Bpe::spelled(std::string_view character, bool first, bool last, std::string& buffer) const {
  const bool prefixed = !first && !options_.prefix.empty();
  if (!prefixed && (!last || options_.suffix.empty())) return character;
  buffer.assign(prefixed ? options_.prefix : "").append(character).append(last ? options_.suffix : "");
  return buffer;
}

bool Bpe::Obstacles::is_joint(std::string_view text, std::size_t at) const {
  if (!joints[byte_pair(text, at)]) return false;
  const utf8::Decoded before = decode_before(text, at);
  const utf8::Decoded behind = decode(text, at);
  if (!before.valid || !behind.valid || blind_joints[byte_pair(text, at)]) return true;
  return has_bit(halves, half_bit(before.code_point, text[at], true)) ||
         has_bit(halves, half_bit(behind.code_point, text[at - 1], false));
}

inline bool Bpe::Obstacles::is_crossed(const Joints& characters) const {
  const bool whole = has_bit(neighbours, neighbour_bit(characters.before(), characters.behind()));
  const bool half = has_bit(halves, half_bit(characters.before(), characters.byte_behind(), true));
  const bool other_half = has_bit(halves, half_bit(characters.behind(), characters.byte_before(), false));
  const bool blind = blind_joints[byte_pair(characters.byte_before(), characters.byte_behind())];
  // Each condition is often true and often false, so a branch would be mispredicted.
  return (unsigned{whole} | unsigned{half} | unsigned{other_half} | unsigned{blind}) != 0;
}

// The token that a character's bytes alone become; -1 if there is none, or it may merge further before its own merges
// are done.
TokenId Bpe::made_of(std::string_view character) const {
  std::vector<TokenId> ids;
  for (const char byte : character) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
  if (std::ranges::find(ids, kNone) != ids.end()) return kNone;
  // The highest rank + 1 along the way: in some files the parts of a token rank higher than the token itself.
  std::uint32_t last = 0;
  while (ids.size() > 1) {
    const Merge* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merge* merge = find(ids[i], ids[i + 1]);
      if (merge == nullptr || (best != nullptr && merge->place >= best->place)) continue;
      best = merge;
      place = i;
    }
    if (best == nullptr) return kNone;
    last = std::max(last, best->place);
    ids[place] = best->result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  const TokenId made = ids[0];
  return made < vocabulary_.size() && obstacles().first_use[static_cast<std::size_t>(made)] >= last ? made : kNone;
}

// The token that an isolated character becomes; -1 if there is none or it is uncertain.  REQUIRES: `scratch` has
// obstacles.
TokenId Bpe::wide_symbol(std::string_view character, Scratch& scratch) const {
  const utf8::Decoded decoded = decode(character, 0);
  if (!decoded.valid || decoded.size != character.size() || decoded.code_point >= scratch.wide.size()) return kNone;
  TokenId& symbol = scratch.wide[decoded.code_point];
  if (symbol == Scratch::kNotAsked) symbol = made_of(character);
  return symbol;
}

// The token that the character at `at` becomes before anything else can happen to its bytes; -1 if that is uncertain.
TokenId Bpe::wide_symbol(std::string_view piece, std::size_t at, Scratch& scratch) const {
  if (!parts_.empty()) return kNone;
  if (scratch.obstacles == nullptr) {
    if (++scratch.wide_count < kPatience) return kNone;
    scratch.obstacles = &obstacles();
    scratch.wide.assign(0x10000, Scratch::kNotAsked);
  }
  const std::size_t end = at + byte_size(piece[at]);
  if (end > piece.size()) return kNone;
  if (at > 0 && scratch.obstacles->is_joint(piece, at)) return kNone;
  if (end < piece.size() && scratch.obstacles->is_joint(piece, end)) return kNone;
  return wide_symbol(piece.substr(at, end - at), scratch);
}

// Starts with the bytes of a piece.  The bytes of a character beyond ASCII usually merge with each other before
// anything else can happen to them.  Such a character starts as the symbol that it becomes.  (If bytes vanish,
// neighbouring symbols are not neighbours in the text.)
void Bpe::start_bytes(std::string_view piece, Control control, Scratch& scratch) const {
  std::uint32_t size = 0;  // bytes without a token vanish; the next one takes their place
  bool after_unknown = false;
  for (std::size_t at = 0; at < piece.size(); ++at) {
    const char byte = piece[at];
    if (static_cast<unsigned char>(byte) >= 0xC2 && control == Control::kAllowed && has_all_bytes_) {
      if (const TokenId id = wide_symbol(piece, at, scratch); id != kNone) {
        const unsigned bytes = byte_size(byte);
        scratch.symbols.push_back({id, size + bytes, -1, -1});
        at += bytes - 1;
        size = 0;
        after_unknown = false;
        continue;
      }
    }
    ++size;
    TokenId id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id != kNone) {
      scratch.symbols.push_back({id, size, -1, -1});
      size = 0;
      after_unknown = false;
      continue;
    }
    id = char_symbol({&byte, 1});
    const bool unknown = id == kNone && options_.unknown;
    if (unknown && after_unknown && options_.fuse_unknown) {
      scratch.symbols.back().size += size;
      size = 0;
      continue;
    }
    after_unknown = unknown;
    if (unknown) id = *options_.unknown;
    if (id == kNone) continue;
    scratch.symbols.push_back({id, size, -1, -1});
    size = 0;
  }
}

void Bpe::start_characters(std::string_view piece, Scratch& scratch) const {
  std::uint32_t unknown = 0;  // bytes of the unknown token being collected
  std::uint32_t lost = 0;     // bytes of characters that vanish; the next symbol takes their place
  const auto put = [&](TokenId id, std::size_t bytes) {
    scratch.symbols.push_back({id, static_cast<std::uint32_t>(bytes) + lost, -1, -1});
    lost = 0;
  };
  const auto flush = [&] {
    if (unknown != 0) put(*options_.unknown, unknown);
    unknown = 0;
  };
  std::string buffer;
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t size = char_size(piece, at);
    const bool last = at + size == piece.size();
    const std::string_view character = spelled(piece.substr(at, size), at == 0, last, buffer);
    at += size;
    if (const TokenId id = char_symbol(character); id != kNone) {
      flush();
      put(id, size);
      continue;
    }
    const bool in_bytes = options_.byte_fallback && std::all_of(character.begin(), character.end(), [this](char byte) {
                            return fallback_ids_[static_cast<unsigned char>(byte)] != kNone;
                          });
    if (in_bytes) {
      // The unknown character before them comes after them, as in the reference.
      for (const char byte : character) put(fallback_ids_[static_cast<unsigned char>(byte)], 1);
    } else if (options_.unknown) {
      if (!options_.fuse_unknown) flush();
      unknown += static_cast<std::uint32_t>(size);
    } else {
      lost += static_cast<std::uint32_t>(size);
    }
  }
  flush();
}

// For few symbols: keeps the rank of every adjacent pair, and searches for the lowest each time.
void Bpe::merge_short(Control control, Scratch& scratch) const {
  struct Pair {
    std::uint32_t rank;
    TokenId result;
  };
  std::array<Pair, kShort> pairs;
  std::array<TokenId, kShort> ids;
  std::array<std::uint32_t, kShort> sizes;
  std::size_t count = scratch.symbols.size();
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = scratch.symbols[i].id;
    sizes[i] = scratch.symbols[i].size;
  }
  pairs[count - 1] = {kNoRank, kNone};  // the last symbol has no neighbour; this entry moves along with the others
  const auto rate = [&](std::size_t left) {
    const Merge* merge = find_allowed(ids[left], ids[left + 1], control);
    pairs[left] = merge == nullptr ? Pair{kNoRank, kNone} : Pair{merge->place, merge->result};
  };
  for (std::size_t i = 0; i + 1 < count; ++i) ask_for(ids[i], ids[i + 1]);
  std::size_t best = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    rate(i);
    if (pairs[i].rank < pairs[best].rank) best = i;
  }
  while (count > 1 && pairs[best].result != kNone) {
    ids[best] = pairs[best].result;
    sizes[best] += sizes[best + 1];
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      ids[i] = ids[i + 1];
      sizes[i] = sizes[i + 1];
      pairs[i] = pairs[i + 1];
    }
    if (best > 0) ask_for(ids[best - 1], ids[best]);
    if (best + 1 < count) rate(best);
    if (best > 0) rate(best - 1);
    best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
  }
  scratch.symbols.resize(count);
  for (std::size_t i = 0; i < count; ++i) scratch.symbols[i] = {ids[i], sizes[i], -1, -1};
}

// For many symbols: uses a queue of candidates.  The sizes of symbols show which are outdated, and those are dropped.
void Bpe::merge_long(Control control, Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  MergeQueue& queue = scratch.queue;
  queue.clear();
  const auto add = [&](std::int32_t left) {
    if (left < 0) return;
    const Scratch::Symbol& first = symbols[static_cast<std::size_t>(left)];
    if (first.next < 0) return;
    const Scratch::Symbol& second = symbols[static_cast<std::size_t>(first.next)];
    const Merge* merge = find_allowed(first.id, second.id, control);
    if (merge != nullptr) queue.push({merge->place, left, merge->result, first.size + second.size});
  };
  const auto count = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)].previous = i - 1;
    symbols[static_cast<std::size_t>(i)].next = i + 1 < count ? i + 1 : -1;
  }
  for (std::int32_t i = 0; i + 1 < count; ++i) add(i);
  MergeQueue::Candidate top;
  while (queue.pop(top)) {
    Scratch::Symbol& left = symbols[static_cast<std::size_t>(top.left)];
    if (left.size == 0 || left.next < 0) continue;
    Scratch::Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    if (left.size + right.size != top.size) continue;
    const Merge* merge = find(left.id, right.id);
    if (merge == nullptr || merge->result != top.result) continue;
    left.id = top.result;
    left.size = top.size;
    right.size = 0;
    left.next = right.next;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].previous = top.left;
    add(left.previous);
    add(top.left);
  }
  std::erase_if(symbols, [](const Scratch::Symbol& symbol) { return symbol.size == 0; });
}

// Symbols that are not tokens are split into bytes.
void Bpe::emit(std::string_view piece, const Scratch& scratch, std::vector<Unit>& out) const {
  std::size_t at = 0;
  for (const Scratch::Symbol& symbol : scratch.symbols) {
    // The bytes of a prefix or suffix that fell back are not part of the piece.
    const std::string_view bytes = piece.substr(at, symbol.size);
    at += bytes.size();
    if (symbol.id < vocabulary_.size()) {
      out.push_back({symbol.id, static_cast<std::uint32_t>(bytes.size())});
      continue;
    }
    std::uint32_t lost = 0;
    for (const char byte : bytes) {
      const auto index = static_cast<unsigned char>(byte);
      const TokenId id =
          vocabulary_.is_byte_level() || fallback_ids_[index] == kNone ? byte_ids_[index] : fallback_ids_[index];
      ++lost;
      if (id == kNone) continue;
      out.push_back({id, lost});
      lost = 0;
    }
    if (lost == 0) continue;
    if (options_.unknown) {
      out.push_back({*options_.unknown, lost});
    } else if (!out.empty()) {
      out.back().size += lost;
    }
  }
}

std::unique_ptr<TokenModel::Scratch> Bpe::make_scratch() const { return std::make_unique<Scratch>(); }

void Bpe::encode(std::string_view piece, Control control, TokenModel::Scratch& scratch, std::vector<Unit>& out) const {
  encode(piece, control, static_cast<Scratch&>(scratch), out);
}

void Bpe::encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const {
  if (piece.empty() || (scratch.obstacles != nullptr && can_cut(piece, control) && encode_cut(piece, scratch, out)))
    return;
  const auto whole = [&]() -> std::optional<TokenId> {
    if (options_.ignore_merges ||
        (options_.whole_newlines && piece.find_first_not_of('\n') == std::string_view::npos)) {
      return vocabulary_.find(piece);
    }
    return std::nullopt;
  }();
  if (whole && (control == Control::kAllowed || !is_control(*whole))) {
    out.push_back({*whole, static_cast<std::uint32_t>(piece.size())});
    return;
  }
  merge(piece, control, scratch, out);
}

void Bpe::ask_for(std::span<const std::string_view> pieces) const {
  if (!options_.ignore_merges) return;
  std::array<std::string_view, 64> wanted;
  std::size_t count = 0;
  for (const std::string_view piece : pieces) {
    // A long piece that ends beyond ASCII is usually cut.
    const bool is_cut = piece.size() > kUncut && !is_ascii(static_cast<unsigned char>(piece.back()));
    if (count < wanted.size() && !is_cut) wanted[count++] = piece;
  }
  vocabulary_.ask_for({wanted.data(), count});
}

// Pieces with characters beyond ASCII are often whole sentences in a script without spaces.
bool Bpe::can_cut(std::string_view piece, Control control) const {
  return piece.size() > kUncut && control == Control::kAllowed && vocabulary_.is_byte_level() && has_all_bytes_ &&
         parts_.empty() && utf8::skip_ascii(piece, 0) < piece.size();
}

// Cuts between characters that no token contains side by side, whole or in part.  Nothing merges across such a place,
// and the part between two cuts occurs again in other pieces.  False if there is no such place.
bool Bpe::encode_cut(std::string_view piece, Scratch& scratch, std::vector<Unit>& out) const {
  const Obstacles& known = *scratch.obstacles;
  std::array<std::size_t, kParts> ends;
  std::size_t count = 0;
  std::size_t begin = 0;
  Joints joints(piece, 0);
  while (joints.next()) {
    const std::size_t at = joints.at();
    ends[count] = at;
    count += unsigned{joints.is_wide()} & unsigned{!known.is_crossed(joints)};
    if (count < kParts) continue;
    encode_parts(piece, begin, ends, scratch, out);
    begin = at;
    count = 0;
  }
  if (count == 0 && begin == 0) return false;
  ends[count++] = piece.size();
  encode_parts(piece, begin, std::span(ends).first(count), scratch, out);
  return true;
}

// Encodes parts of a piece from `begin` on, each up to one of `ends`.
void Bpe::encode_parts(std::string_view piece, std::size_t begin, std::span<const std::size_t> ends, Scratch& scratch,
                       std::vector<Unit>& out) const {
  if (scratch.parts.empty()) scratch.parts.resize(std::size_t{1} << kPartBits);
  std::array<PieceCache::Key, kParts> keys;
  std::array<PieceCache::Short*, kParts> places;
  std::size_t at = begin;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t size = ends[i] - at;
    if (size <= PieceCache::kShortBytes) {
      const bool is_readable = at + sizeof(PieceCache::Key) <= piece.size();
      keys[i] = is_readable ? PieceCache::key_of(piece.data() + at, size) : PieceCache::key_of(piece.substr(at, size));
      places[i] = &scratch.parts[static_cast<std::size_t>(mix(keys[i].low ^ mix(keys[i].high)) >> (64 - kPartBits))];
      __builtin_prefetch(places[i]);
    }
    at = ends[i];
  }
  at = begin;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string_view part = piece.substr(at, ends[i] - at);
    at = ends[i];
    if (static_cast<unsigned char>(part[0]) >= 0xC2 && byte_size(part[0]) == part.size()) {
      if (const TokenId id = wide_symbol(part, scratch); id != kNone) {
        out.push_back({id, static_cast<std::uint32_t>(part.size())});
        continue;
      }
    }
    if (part.size() > PieceCache::kShortBytes) {
      merge(part, Control::kAllowed, scratch, out);
    } else {
      encode_part(part, keys[i], *places[i], scratch, out);
    }
  }
}

// `place` is where the tokens of a part with this key would be, if they are known.
void Bpe::encode_part(std::string_view part, PieceCache::Key key, PieceCache::Short& place, Scratch& scratch,
                      std::vector<Unit>& out) const {
  if (PieceCache::is_of(place, key)) {
    for (std::size_t i = 0; i < place.count; ++i) out.push_back({place.ids[i], place.sizes[i]});
    return;
  }
  const std::size_t first = out.size();
  merge(part, Control::kAllowed, scratch, out);
  const std::span<const Unit> units = std::span(out).subspan(first);
  if (units.size() <= PieceCache::kShortIds) place = PieceCache::entry_of(key, units);
}

// Encodes by merging only.
void Bpe::merge(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const {
  scratch.symbols.clear();
  if (vocabulary_.is_byte_level()) {
    start_bytes(piece, control, scratch);
  } else {
    start_characters(piece, scratch);
  }
  if (scratch.symbols.size() > kShort) {
    merge_long(control, scratch);
  } else if (scratch.symbols.size() > 1) {
    merge_short(control, scratch);
  }
  emit(piece, scratch, out);
}

}  // namespace rondo::tokenizer
