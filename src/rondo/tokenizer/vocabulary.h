// The tokens of a model: from bytes to ids, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/pages.h"

namespace rondo::tokenizer {

using TokenId = std::int32_t;

// What character vocabularies write for a space.
inline constexpr std::string_view kSpaceMark = "\u2581";

// Filled by add(), then const.  A token is kept as the bytes that the model merges: in a byte-level vocabulary the
// bytes themselves, not their spelling.
class Vocabulary {
 public:
  // The place of a token's bytes in the pool of all bytes.
  struct Entry {
    std::uint32_t offset = 0;
    std::uint32_t size : 30 = 0;
    std::uint32_t used : 1 = 0;
    std::uint32_t odd : 1 = 0;  // in a byte-level vocabulary: not spelled in its alphabet, and kept as spelled
  };

  explicit Vocabulary(bool byte_level) : byte_level_(byte_level) {}

  // Reserves memory for `count` tokens with `bytes` bytes in total.
  void reserve(std::size_t count, std::size_t bytes);
  // Makes adding faster: tokens that are added from now on cannot be found before end_bulk().  Also reserves memory.
  void begin_bulk(std::size_t count, std::size_t bytes);
  void end_bulk();
  // Of two tokens with the same text, finds the last one instead of the first.
  void let_last_count() { last_counts_ = true; }
  // Adds the token that the file spells `text`.  `searchable`: text can become this token by merging.
  //
  // REQUIRES: 0 <= id, and id is new.
  void add(std::string_view text, TokenId id, bool searchable = true);

  // Adds a token whose bytes are known.
  //
  // REQUIRES: is_byte_level().
  void add_bytes(std::string_view bytes, TokenId id, bool searchable = true);

  // Returns the token that text with these bytes can become.
  [[nodiscard]] std::optional<TokenId> find(std::string_view bytes) const;
  // Finds many at once, which is faster because it prefetches memory.  -1 means not a token.
  //
  // REQUIRES: ids.size() == wanted.size().
  void find_many(std::span<const std::string_view> wanted, std::span<TokenId> ids) const;
  // Prefetches the memory that find() will read for these.
  void ask_for(std::span<const std::string_view> wanted) const;
  // Returns the token that the file spells `text`.
  [[nodiscard]] std::optional<TokenId> find_text(std::string_view text) const;

  [[nodiscard]] bool is_byte_level() const { return byte_level_; }
  [[nodiscard]] TokenId size() const { return static_cast<TokenId>(entries_.size()); }
  [[nodiscard]] std::size_t count() const { return count_; }  // without holes
  [[nodiscard]] bool contains(TokenId id) const { return id >= 0 && id < size() && entries_[at(id)].used; }
  [[nodiscard]] std::string_view bytes(TokenId id) const;
  [[nodiscard]] const std::string& pool() const { return pool_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }  // by id
  // Restores the vocabulary that had this pool and these entries, if all its tokens were searchable and no two had the
  // same text.
  //
  // REQUIRES: this is empty; every entry lies in the pool.
  void restore(std::string pool, std::vector<Entry> entries);
  [[nodiscard]] bool can_be_restored() const { return indexed_ + hidden_.size() == count_; }
  // Returns the token as the file spells it.
  [[nodiscard]] std::string text(TokenId id) const;

 private:
  static std::size_t at(TokenId id) { return static_cast<std::size_t>(id); }
  Entry& make_entry(TokenId id);
  struct Pending {
    TokenId id = 0;
    std::uint64_t hash = 0;
  };
  // Sets for each the only token that it can be, or most likely is; -1: none.  Prefetches what decides it.
  //
  // REQUIRES: there are slots, and `wanted` is small enough.
  void guess(std::span<const std::string_view> wanted, std::span<TokenId> ids) const;
  void index(TokenId id);
  void enter(Pending token);
  void flush();
  void grow(std::size_t slots);
  // Returns where the token with these bytes is, or belongs.
  //
  // REQUIRES: there is a free slot.
  [[nodiscard]] std::size_t slot_of(std::string_view bytes, std::uint64_t hash) const;

  bool byte_level_;
  bool last_counts_ = false;
  std::size_t count_ = 0;
  std::string pool_;
  std::vector<Entry> entries_;
  Pages slots_memory_;
  std::span<std::uint64_t> slots_;  // open addressing: high half of the hash, then id + 1; 0 is free
  std::size_t indexed_ = 0;
  std::vector<Pending> pending_;  // added in bulk, without a slot yet
  bool is_bulk_ = false;
  std::unordered_map<std::string, TokenId> hidden_;  // tokens that find() must not find, by their text
};

}  // namespace rondo::tokenizer
