#include "tokenizer/encoding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/byte_level.h"

namespace rondo::tokenizer {
namespace {

std::uint32_t size_of(std::string_view text) { return static_cast<std::uint32_t>(text.size()); }

// How many pieces are fetched from memory at the same time.
constexpr std::size_t kTogether = 64;
// If this many of a group were new, the new ones of the next group are fetched together.
constexpr unsigned kManyNew = 2;
// A short piece that was evicted comes back once it is found this many times, counting other such pieces.
constexpr unsigned kComeback = 16;

// Takes tokens with their offsets.
class PieceSink {
 public:
  explicit PieceSink(std::vector<Piece>& out) : out_(out) {}

  void put(TokenId id, Range origin) { out_.push_back({id, origin.begin, origin.end}); }
  // Makes room for the tokens of `count` short pieces; `done` says where they end.
  [[nodiscard]] Piece* room(std::size_t count) {
    const std::size_t used = out_.size();
    out_.resize(used + count * PieceCache::kShortIds);
    return out_.data() + used;
  }
  void done(const Piece* end) { out_.resize(static_cast<std::size_t>(end - out_.data())); }
  // Writes the tokens of a piece at byte `at` of the input; returns the place after them.
  [[nodiscard]] static Piece* write(Piece* to, const PieceCache::Short& entry, std::uint32_t at) {
    for (std::size_t i = 0; i < PieceCache::kShortIds; ++i) {
      const std::uint32_t end = at + entry.sizes[i];
      to[i] = {entry.ids[i], at, end};
      at = end;
    }
    return to + entry.count;
  }
  void put(const PieceCache::Long& entry, std::uint32_t at) {
    for (std::size_t i = 0; i < entry.ids.size(); ++i) {
      out_.push_back({entry.ids[i], at, at + entry.sizes[i]});
      at += entry.sizes[i];
    }
  }

 private:
  std::vector<Piece>& out_;
};

// Takes tokens only.
class IdSink {
 public:
  explicit IdSink(std::vector<TokenId>& out) : out_(out) {}

  void put(TokenId id, Range /*origin*/) { out_.push_back(id); }
  [[nodiscard]] TokenId* room(std::size_t count) {
    const std::size_t used = out_.size();
    out_.resize(used + count * PieceCache::kShortIds);
    return out_.data() + used;
  }
  void done(const TokenId* end) { out_.resize(static_cast<std::size_t>(end - out_.data())); }
  [[nodiscard]] static TokenId* write(TokenId* to, const PieceCache::Short& entry, std::uint32_t /*at*/) {
    std::memcpy(to, entry.ids.data(), sizeof entry.ids);
    return to + entry.count;
  }
  void put(const PieceCache::Long& entry, std::uint32_t /*at*/) {
    out_.insert(out_.end(), entry.ids.begin(), entry.ids.end());
  }

 private:
  std::vector<TokenId>& out_;
};

// One encode() call.
template <typename Sink>
class Encoding {
 public:
  Encoding(const Tokenizer::State& state, const EncodeOptions& options, Workbench& bench, Sink out)
      : state_(state), options_(options), bench_(bench), out_(out) {
    if (bench_.scratch == nullptr) bench_.scratch = state_.model->make_scratch();
  }

  void run(std::string_view input) {
    const Aligned text = state_.takes_bytes ? Aligned(input, 0) : valid_text(input);
    split(text, state_.search.raw, bench_.matches, [this](Aligned part) { normalised(std::move(part)); });
  }

 private:
  // Ill-formed bytes become U+FFFD.
  static Aligned valid_text(std::string_view input) {
    Aligned text(input, 0);
    if (utf8::is_valid(input)) return text;
    AlignedBuilder out(text);
    std::string replacement;
    utf8::append(replacement, utf8::kReplacement);
    for (std::uint32_t at = 0; at < input.size();) {
      const utf8::Decoded decoded = utf8::decode(input, at);
      const Range range{at, at + decoded.size};
      if (decoded.valid) {
        out.copy(range);
      } else {
        out.put(replacement, range);
      }
      at = range.end;
    }
    return out.finish();
  }

  // Emits the added tokens in `text`, and passes the parts between them to `rest`.
  template <typename Rest>
  void split(const Aligned& text, const AddedMatcher& matcher, std::vector<AddedMatch>& matches, Rest rest) {
    matches.clear();
    if (options_.parse_special || options_.parse_added) matcher.find_all(text, options_, matches);
    std::uint32_t at = 0;
    for (const AddedMatch& match : matches) {
      if (at < match.range.begin) rest(text.part({at, match.range.begin}));
      const Range origin = text.origin(match.range);
      out_.put(match.token->id, origin);
      at = match.range.end;
    }
    if (at < size_of(text.text())) rest(text.part({at, size_of(text.text())}));
  }

  void normalised(Aligned part) {
    if (options_.added_only && state_.search.normalized.empty()) return;
    const Aligned text = state_.normalizer.apply(std::move(part));
    if (state_.search.normalized.empty()) return pre_tokenised(text.part({0, size_of(text.text())}));
    split(text, state_.search.normalized, bench_.inner_matches,
          [this](Aligned rest) { pre_tokenised(std::move(rest)); });
  }

  void pre_tokenised(Aligned part) {
    if (options_.added_only) return;
    const Scanner* scanner = part.is_original() ? state_.pre_tokenizer.only_scanner() : nullptr;
    if (scanner != nullptr && !checks_control_) return scanned(*scanner, part.text(), part.origin({0, 0}).begin);
    const Pieces pieces = state_.pre_tokenizer.apply(std::move(part));
    if (pieces.byte_spelled) return spelled(pieces);
    for (const Range range : pieces.ranges) {
      if (state_.joined_before_mark) {
        words(pieces.text, range);
      } else {
        piece(pieces.text, range);
      }
    }
  }

  // Cuts before the marks if that changes nothing; see State::joined_before_mark.
  void words(const Aligned& text, Range range) {
    const std::string_view view = text.text().substr(0, range.end);
    std::uint32_t begin = range.begin;
    for (std::size_t at = range.begin; (at = view.find(kSpaceMark, at)) != std::string_view::npos;
         at += kSpaceMark.size()) {
      if (at <= begin) continue;
      std::size_t before = at - 1;
      while (before > begin && utf8::is_continuation(view[before])) --before;
      if (state_.joined_before_mark->contains(utf8::decode(view, before).code_point)) continue;
      piece(text, {begin, static_cast<std::uint32_t>(at)});
      begin = static_cast<std::uint32_t>(at);
    }
    if (begin < range.end) piece(text, {begin, range.end});
  }

  // The steps after the byte-level spelling cut in the middle of it, but the model wants the bytes.
  void spelled(const Pieces& pieces) {
    for (const Range range : pieces.ranges) {
      AlignedBuilder bytes(pieces.text);
      const std::string_view view = pieces.text.text();
      for (std::uint32_t at = range.begin; at < range.end;) {
        const utf8::Decoded decoded = utf8::decode(view, at);
        const char byte = static_cast<char>(byte_level::to_byte(decoded.code_point).value_or(0));
        bytes.put({&byte, 1}, {at, at + decoded.size});
        at += decoded.size;
      }
      const Aligned text = bytes.finish();
      piece(text, {0, size_of(text.text())});
    }
  }

  // The fast path for unchanged text: pieces are found, looked up and emitted without intermediate steps.  `base` is
  // where `text` begins in the input.
  void scanned(const Scanner& scanner, std::string_view text, std::uint32_t base) {
    Scanner::Ends ends;
    const std::uint32_t size = size_of(text);
    for (std::uint32_t at = 0; at < size; at = ends.at[ends.count - 1]) {
      scanner.next(text, {at, size}, ends);
      looked_up(text, at, ends, base);
    }
  }

  void looked_up(std::string_view text, std::uint32_t at, const Scanner::Ends& ends, std::uint32_t base) {
    for (std::size_t i = 0; i < ends.count; i += kTogether) {
      const std::size_t count = std::min(kTogether, ends.count - i);
      looked_up(text, at, {ends.at.data() + i, count}, base);
      at = ends.at[i + count - 1];
    }
  }

  void looked_up(std::string_view text, std::uint32_t first, std::span<const std::uint32_t> ends, std::uint32_t base) {
    std::array<PieceCache::Key, kTogether> keys;
    std::array<const PieceCache::Short*, kTogether> places;
    std::uint32_t at = first;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::uint32_t size = ends[i] - at;
      if (size <= PieceCache::kShortBytes) {
        const bool is_readable = at + sizeof(PieceCache::Key) <= text.size();
        keys[i] = is_readable ? PieceCache::key_of(text.data() + at, size) : PieceCache::key_of(text.substr(at, size));
        places[i] = bench_.cache.place_of(keys[i]);
      } else {
        // No short piece has such a key, so the lookup finds nothing.
        keys[i] = {PieceCache::hash_of(text.substr(at, size)), 0};
        places[i] = bench_.cache.place_of(PieceCache::Key{});
        bench_.cache.ask_for(keys[i].low);
      }
      at = ends[i];
    }
    if (bench_.new_pieces >= kManyNew) ask_for_new(text, first, ends, keys, places);
    bench_.new_pieces = 0;
    at = first;
    auto* to = out_.room(ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (const PieceCache::Short* found = PieceCache::find_at(places[i], keys[i]); found != nullptr) {
        to = Sink::write(to, *found, base + at);
      } else {
        out_.done(to);
        const std::string_view piece = text.substr(at, ends[i] - at);
        const bool is_long = keys[i].high == 0;
        if (!is_long) {
          put_all(units_of(piece), base + at);
        } else if (const auto known = bench_.cache.find_long(piece, keys[i].low)) {
          out_.put(*known, base + at);
        } else {
          put_all(new_units_of(piece, keys[i].low), base + at);
        }
        to = out_.room(ends.size() - i);
      }
      at = ends[i];
    }
    out_.done(to);
  }

  // Prefetches what will be read about pieces that are not among the short ones.
  void ask_for_new(std::string_view text, std::uint32_t at, std::span<const std::uint32_t> ends,
                   std::span<const PieceCache::Key> keys, std::span<const PieceCache::Short* const> places) {
    std::array<std::string_view, kTogether> pieces;
    std::size_t count = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::string_view piece = text.substr(at, ends[i] - at);
      at = ends[i];
      if (keys[i].high != 0 && PieceCache::find_at(places[i], keys[i]) != nullptr) continue;
      if (keys[i].high != 0) bench_.cache.ask_for(PieceCache::hash_of(piece));
      pieces[count++] = piece;
    }
    state_.model->ask_for({pieces.data(), count});
  }

  void put_all(const std::vector<Unit>& units, std::uint32_t begin) {
    for (const Unit& unit : units) {
      out_.put(unit.id, {begin, begin + unit.size});
      begin += unit.size;
    }
  }

  // The tokens of a piece, from the cache or the model.
  const std::vector<Unit>& units_of(std::string_view bytes) {
    std::vector<Unit>& units = bench_.units;
    units.clear();
    const bool is_short = bytes.size() <= PieceCache::kShortBytes;
    const PieceCache::Key key = is_short ? PieceCache::key_of(bytes) : PieceCache::Key{};
    if (is_short) {
      if (const PieceCache::Short* found = bench_.cache.find(key)) {
        for (std::size_t i = 0; i < found->count; ++i) units.push_back({found->ids[i], found->sizes[i]});
        return units;
      }
    }
    const std::uint64_t hash = PieceCache::hash_of(bytes);
    const auto known = bench_.cache.find_long(bytes, hash);
    if (!known) return new_units_of(bytes, hash);
    for (std::size_t i = 0; i < known->ids.size(); ++i) units.push_back({known->ids[i], known->sizes[i]});
    const bool fits = is_short && units.size() <= PieceCache::kShortIds;
    if (fits && ++bench_.comebacks % kComeback == 0) bench_.cache.keep(key, units);
    return units;
  }

  // The same for a piece that is not in the cache; `hash` is PieceCache::hash_of(bytes).
  const std::vector<Unit>& new_units_of(std::string_view bytes, std::uint64_t hash) {
    std::vector<Unit>& units = bench_.units;
    units.clear();
    ++bench_.new_pieces;
    state_.model->encode(bytes, Control::kAllowed, *bench_.scratch, units);
    if (bytes.size() <= PieceCache::kShortBytes && units.size() <= PieceCache::kShortIds) {
      bench_.cache.keep(PieceCache::key_of(bytes), units);
    } else {
      bench_.cache.keep_long(bytes, hash, units);
    }
    return units;
  }

  void piece(const Aligned& text, Range range) {
    if (range.begin == range.end) return;
    const std::string_view bytes = text.text().substr(range.begin, range.end - range.begin);
    const std::vector<Unit>* units = &units_of(bytes);
    // If only some bytes may be control tokens, the rest must not spell one by merging either.
    const auto is_control = [this](const Unit& unit) { return state_.model->is_control(unit.id); };
    if (checks_control_ && std::any_of(units->begin(), units->end(), is_control)) {
      bench_.units.clear();
      state_.model->encode(bytes, Control::kForbidden, *bench_.scratch, bench_.units);
    }
    std::uint32_t at = range.begin;
    for (const Unit& unit : *units) {
      out_.put(unit.id, text.origin({at, at + unit.size}));
      at += unit.size;
    }
  }

  const Tokenizer::State& state_;
  const EncodeOptions& options_;
  Workbench& bench_;
  Sink out_;
  const bool checks_control_ = options_.allowed != nullptr && state_.text_can_be_control;
};

}  // namespace

void encode_to(const Tokenizer::State& state, std::string_view text, const EncodeOptions& options, Workbench& bench,
               std::vector<Piece>& out) {
  Encoding(state, options, bench, PieceSink(out)).run(text);
}

void encode_to(const Tokenizer::State& state, std::string_view text, const EncodeOptions& options, Workbench& bench,
               std::vector<TokenId>& out) {
  Encoding(state, options, bench, IdSink(out)).run(text);
}

}  // namespace rondo::tokenizer
