// The tokens of a model: bytes to id and id to bytes.
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

// What vocabularies of characters write for a space.
inline constexpr std::string_view kSpaceMark = "\u2581";

// Filled by add(), then const.  Tokens are kept as the bytes that the model merges: for byte-level vocabularies the bytes
// themselves, not their spelling.
class Vocabulary {
 public:
  // Where a token's bytes are in the pool of all bytes.
  struct Entry {
    std::uint32_t offset = 0;
    std::uint32_t size : 30 = 0;
    std::uint32_t used : 1 = 0;
    std::uint32_t odd : 1 = 0;  // byte-level vocabulary, but not spelled in its alphabet: kept as spelled
  };

  explicit Vocabulary(bool byte_level) : byte_level_(byte_level) {}

  // Room for so many tokens with so many bytes in all.
  void reserve(std::size_t count, std::size_t bytes);
  // Of what is added from now on nothing is found before end_bulk(), and adding is faster.  Also reserves.
  void begin_bulk(std::size_t count, std::size_t bytes);
  void end_bulk();
  // Of two tokens with the same text the last one is found, not the first.
  void let_last_count() { last_counts_ = true; }
  // Adds the token that the file spells `text`.  `searchable`: text can become this token by merging.
  // REQUIRES: 0 <= id, id is new.
  void add(std::string_view text, TokenId id, bool searchable = true);

  // The same for a token whose bytes are known.  REQUIRES: is_byte_level().
  void add_bytes(std::string_view bytes, TokenId id, bool searchable = true);

  // The token that text with these bytes can become.
  [[nodiscard]] std::optional<TokenId> find(std::string_view bytes) const;
  // The same for many at once, which is faster: memory is asked for them together.  -1 for what is no token.
  // REQUIRES: ids.size() == wanted.size().
  void find_many(std::span<const std::string_view> wanted, std::span<TokenId> ids) const;
  // Has the memory brought in that find() will read for these.
  void ask_for(std::span<const std::string_view> wanted) const;
  // The token that the file spells `text`.
  [[nodiscard]] std::optional<TokenId> find_text(std::string_view text) const;

  [[nodiscard]] bool is_byte_level() const { return byte_level_; }
  [[nodiscard]] TokenId size() const { return static_cast<TokenId>(entries_.size()); }
  [[nodiscard]] std::size_t count() const { return count_; }  // without holes
  [[nodiscard]] bool contains(TokenId id) const { return id >= 0 && id < size() && entries_[at(id)].used; }
  [[nodiscard]] std::string_view bytes(TokenId id) const;
  [[nodiscard]] const std::string& pool() const { return pool_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }  // by id
  // Makes the vocabulary that had this pool and these entries, if all its tokens were searchable and no two had the same
  // text.  REQUIRES: this is empty; every entry lies within the pool.
  void restore(std::string pool, std::vector<Entry> entries);
  [[nodiscard]] bool can_be_restored() const { return indexed_ + hidden_.size() == count_; }
  // As the file spells it.
  [[nodiscard]] std::string text(TokenId id) const;

 private:
  static std::size_t at(TokenId id) { return static_cast<std::size_t>(id); }
  Entry& make_entry(TokenId id);
  struct Pending {
    TokenId id = 0;
    std::uint64_t hash = 0;
  };
  // For each the only token it can be, or most likely is; -1: it is none.  Asks for what tells.  REQUIRES: there are slots; few
  // enough are wanted.
  void guess(std::span<const std::string_view> wanted, std::span<TokenId> ids) const;
  void index(TokenId id);
  void enter(Pending token);
  void flush();
  void grow(std::size_t slots);
  // Where the token with these bytes is, or would be.  REQUIRES: there is a free slot.
  [[nodiscard]] std::size_t slot_of(std::string_view bytes, std::uint64_t hash) const;

  bool byte_level_;
  bool last_counts_ = false;
  std::size_t count_ = 0;
  std::string pool_;
  std::vector<Entry> entries_;
  Pages slots_memory_;
  std::span<std::uint64_t> slots_;  // open addressing: high half of the hash, then id + 1; 0 is free
  std::size_t indexed_ = 0;
  std::vector<Pending> pending_;  // added in bulk and not yet in a slot
  bool is_bulk_ = false;
  std::unordered_map<std::string, TokenId> hidden_;  // tokens that find() must not see, by their text
};

}  // namespace rondo::tokenizer
