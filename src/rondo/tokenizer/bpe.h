// Byte-pair encoding: applies the merges of a vocabulary to a piece of text.
//
// It serves three kinds of vocabularies: byte-level ones, whose first symbols are bytes; character vocabularies with
// byte fallback; and SentencePiece vocabularies, whose merges follow from scores.  It always merges the pair of lowest
// rank, the leftmost among equals.  Thread-safe after filling; callers provide the scratch memory.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/pages.h"
#include "tokenizer/merge_queue.h"
#include "tokenizer/piece_cache.h"
#include "tokenizer/token_model.h"
#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

struct BpeOptions {
  bool ignore_merges = false;      // a piece that is a token becomes that token, whatever the merges say
  bool whole_newlines = false;     // the same for pieces that consist of line feeds
  bool byte_fallback = false;      // unknown characters become the tokens <0xXX> of their bytes
  bool fuse_unknown = false;       // consecutive unknown characters become one unknown token
  std::optional<TokenId> unknown;  // without it, unknown characters are dropped
  // Written before every character of a piece but the first, and after the last.  Only for character vocabularies.
  std::string prefix;
  std::string suffix;
};

class Bpe final : public TokenModel {
 public:
  struct Scratch;

  // `vocabulary` must outlive this.
  Bpe(const Vocabulary& vocabulary, BpeOptions options);

  void reserve(std::size_t merges);
  // Merging `left` and `right` gives `result`.  Ids from vocabulary.size() on name pieces that are not tokens.
  void add_merge(TokenId left, TokenId right, std::uint32_t rank, TokenId result, bool replace);
  // Adds many merges: left, right and result, with ranks from `first` on.  Among equal merges the last counts.  It is
  // faster, because it prefetches memory.
  void add_merges(std::span<const std::array<TokenId, 3>> merges, std::uint32_t first);
  // For SentencePiece: adds a merge for every way to build a token from two others.  Tokens of higher score come first.
  void add_merges_by_score(const std::vector<double>& scores);
  // Adds a merge as GGUF files spell it.  Parts that are not tokens get ids of their own.  Among equal merges the first
  // counts.
  void add_merge_texts(std::string_view left, std::string_view right, std::uint32_t rank);

  [[nodiscard]] std::string_view name() const override { return "BPE"; }
  [[nodiscard]] std::unique_ptr<TokenModel::Scratch> make_scratch() const override;
  void encode(std::string_view piece, Control control, TokenModel::Scratch& scratch,
              std::vector<Unit>& out) const override;
  void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const;
  void ask_for(std::span<const std::string_view> pieces) const override;
  [[nodiscard]] std::optional<std::set<char32_t>> joined_before(std::string_view mark) const override;
  [[nodiscard]] const Bpe* as_bpe() const override { return this; }

 private:
  struct Merge {
    std::uint64_t pair = 0;
    std::uint32_t place = 0;  // rank + 1; 0 is free, so that fresh memory is an empty table
    TokenId result = 0;
  };
  [[nodiscard]] const Merge* find(TokenId left, TokenId right) const;
  [[nodiscard]] TokenId intern(std::string_view bytes);
  [[nodiscard]] TokenId char_symbol(std::string_view character) const;
  void grow(std::size_t size);
  void put(const Merge& merge);
  // Prefetches what find() will read.
  void ask_for(TokenId left, TokenId right) const;
  class Joints;
  // What keeps a character of several bytes from starting as one symbol; see start_bytes().
  struct Obstacles {
    using BytePairs = std::bitset<std::size_t{256} * 256>;
    // Pairs of bytes around the border between two characters at which some token contains only a part of one of them.
    // In the second set the token contains a part of both, so nothing more is known about them.
    BytePairs joints;
    BytePairs blind_joints;
    std::vector<std::uint32_t> first_use;  // by id of single characters: the lowest rank of a merge with the character
    // Bits for the neighbouring characters in all tokens, if one of them is not ASCII.  Several pairs may share a bit.
    std::vector<std::uint64_t> neighbours;
    // Bits for a whole character and one byte of its neighbour, for tokens that contain only that byte of the
    // neighbour.
    std::vector<std::uint64_t> halves;
    void add(std::string_view token, std::size_t wide);
    // Returns whether some token may contain a part of the character that ends or starts at byte `at` of a text,
    // together with a part of the other one.
    [[nodiscard]] bool is_joint(std::string_view text, std::size_t at) const;
    // Returns whether some token may contain parts of two characters.
    //
    // REQUIRES: both are valid, and one of them is not ASCII.
    [[nodiscard]] bool is_crossed(const Joints& characters) const;

   private:
    void add_joint(std::string_view token, std::size_t at);
  };
  [[nodiscard]] const Obstacles& obstacles() const;
  [[nodiscard]] Obstacles find_obstacles() const;
  [[nodiscard]] TokenId wide_symbol(std::string_view character, Scratch& scratch) const;
  [[nodiscard]] TokenId wide_symbol(std::string_view piece, std::size_t at, Scratch& scratch) const;
  [[nodiscard]] TokenId made_of(std::string_view character) const;
  [[nodiscard]] std::string_view spelled(std::string_view character, bool first, bool last, std::string& buffer) const;
  [[nodiscard]] bool can_cut(std::string_view piece, Control control) const;
  [[nodiscard]] bool encode_cut(std::string_view piece, Scratch& scratch, std::vector<Unit>& out) const;
  void encode_parts(std::string_view piece, std::size_t begin, std::span<const std::size_t> ends, Scratch& scratch,
                    std::vector<Unit>& out) const;
  void encode_part(std::string_view part, PieceCache::Key key, PieceCache::Short& place, Scratch& scratch,
                   std::vector<Unit>& out) const;
  void merge(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const;
  void start_bytes(std::string_view piece, Control control, Scratch& scratch) const;
  void start_characters(std::string_view piece, Scratch& scratch) const;
  [[nodiscard]] const Merge* find_allowed(TokenId left, TokenId right, Control control) const;
  void merge_short(Control control, Scratch& scratch) const;
  void merge_long(Control control, Scratch& scratch) const;
  void emit(std::string_view piece, const Scratch& scratch, std::vector<Unit>& out) const;

  const Vocabulary& vocabulary_;
  BpeOptions options_;
  Pages merges_memory_;
  std::span<Merge> merges_;  // open addressing
  // Eight bits for each place in `merges_`, set if a merge has such a hash.  Most pairs do not merge, and this filter
  // recognises most of them.  It is small enough for the processor's cache.
  std::vector<std::uint64_t> filter_;
  std::size_t merge_count_ = 0;
  unsigned shift_ = 64;
  mutable std::once_flag obstacles_found_;
  mutable Obstacles obstacles_;
  std::array<TokenId, 256> byte_ids_{};  // by single byte; -1: none
  bool has_all_bytes_ = false;
  std::array<TokenId, 256> fallback_ids_{};         // for <0xXX>; -1: none
  std::unordered_map<std::string, TokenId> parts_;  // pieces that are not tokens
};

struct Bpe::Scratch final : TokenModel::Scratch {
  struct Symbol {
    TokenId id = 0;
    std::uint32_t size = 0;  // 0: was merged into another
    std::int32_t previous = -1;
    std::int32_t next = -1;
  };
  std::vector<Symbol> symbols;
  MergeQueue queue;
  const Obstacles* obstacles = nullptr;  // set once enough non-ASCII characters were merged
  unsigned wide_count = 0;               // how many were merged
  static constexpr TokenId kNotAsked = -2;
  std::vector<TokenId> wide;             // by code point below U+10000: its symbol; -1: none; or kNotAsked
  std::vector<PieceCache::Short> parts;  // of pieces that were cut, by hash
};

}  // namespace rondo::tokenizer
