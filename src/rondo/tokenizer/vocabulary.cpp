#include "tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tokenizer/byte_level.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kTogether = 32;  // tokens whose memory is prefetched together
constexpr std::uint64_t kHigh = 0xFFFFFFFF00000000U;

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

template <typename Word>
std::uint64_t load(const char* from) {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Tokens are short, so this takes one multiplication for 16 bytes.  It is not for tables with foreign keys: whoever
// supplies a vocabulary can slow down its own loading with colliding tokens, but nobody else's.
std::uint64_t hash_of(std::string_view bytes) {
  constexpr std::uint64_t kFirst = 0xA0761D6478BD642FU;
  constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DBU;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = kFirst ^ left;
  for (; left > 16; left -= 16, at += 16)
    state = mix(load<std::uint64_t>(at) ^ state, load<std::uint64_t>(at + 8) ^ kSecond);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) {
    a = load<std::uint64_t>(at);
    b = load<std::uint64_t>(at + left - 8);
  } else if (left >= 4) {
    a = load<std::uint32_t>(at);
    b = load<std::uint32_t>(at + left - 4);
  } else if (left > 0) {
    a = load<std::uint8_t>(at) << 16U | load<std::uint8_t>(at + left / 2) << 8U | load<std::uint8_t>(at + left - 1);
  }
  return mix(a ^ state, b ^ kSecond);
}

}  // namespace

void Vocabulary::reserve(std::size_t count, std::size_t bytes) {
  entries_.reserve(count);
  pool_.reserve(bytes);
  std::size_t slots = 1024;
  while (slots * 2 < count * 3) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

Vocabulary::Entry& Vocabulary::make_entry(TokenId id) {
  if (at(id) >= entries_.size()) entries_.resize(at(id) + 1);
  Entry& entry = entries_[at(id)];
  entry.offset = static_cast<std::uint32_t>(pool_.size());
  entry.used = 1;
  ++count_;
  return entry;
}

void Vocabulary::add(std::string_view text, TokenId id, bool searchable) {
  Entry& entry = make_entry(id);
  if (!byte_level_ || !byte_level::append_bytes(text, pool_)) {
    pool_.append(text);
    entry.odd = byte_level_ ? 1U : 0U;
  }
  entry.size = static_cast<std::uint32_t>(pool_.size() - entry.offset) & 0x3FFFFFFFU;
  if (entry.odd == 0 && searchable) return index(id);
  if (last_counts_) {
    hidden_.insert_or_assign(std::string(text), id);
  } else {
    hidden_.emplace(text, id);
  }
}

void Vocabulary::add_bytes(std::string_view bytes, TokenId id, bool searchable) {
  Entry& entry = make_entry(id);
  pool_.append(bytes);
  entry.size = static_cast<std::uint32_t>(bytes.size()) & 0x3FFFFFFFU;
  if (searchable) return index(id);
  hidden_.emplace(byte_level::to_text(bytes), id);
}

void Vocabulary::grow(std::size_t slots) {
  const Pages old_memory = std::exchange(slots_memory_, Pages(slots * sizeof(std::uint64_t)));
  const auto old =
      std::exchange(slots_, std::span<std::uint64_t>(static_cast<std::uint64_t*>(slots_memory_.data()), slots));
  make_resident(slots_.data(), slots_.size_bytes());
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint64_t slot : old) {
    if (slot == 0) continue;
    std::size_t to = hash_of(bytes(static_cast<TokenId>((slot & ~kHigh) - 1))) & mask;
    while (slots_[to] != 0) to = (to + 1) & mask;
    slots_[to] = slot;
  }
}

std::size_t Vocabulary::slot_of(std::string_view wanted, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t to = hash & mask;
  for (; slots_[to] != 0; to = (to + 1) & mask) {
    if ((slots_[to] & kHigh) != (hash & kHigh)) continue;
    if (bytes(static_cast<TokenId>((slots_[to] & ~kHigh) - 1)) == wanted) break;
  }
  return to;
}

void Vocabulary::begin_bulk(std::size_t count, std::size_t bytes) {
  reserve(count, bytes);
  is_bulk_ = true;
}

void Vocabulary::end_bulk() {
  flush();
  is_bulk_ = false;
  pool_.shrink_to_fit();
}

void Vocabulary::restore(std::string pool, std::vector<Entry> entries) {
  pool_ = std::move(pool);
  entries_ = std::move(entries);
  begin_bulk(entries_.size(), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].used == 0) continue;
    ++count_;
    const auto id = static_cast<TokenId>(i);
    if (entries_[i].odd == 0) {
      index(id);
    } else {
      hidden_.emplace(bytes(id), id);
    }
  }
  end_bulk();
}

void Vocabulary::index(TokenId id) {
  if ((indexed_ + pending_.size() + 1) * 3 > slots_.size() * 2) grow(slots_.empty() ? 1024 : slots_.size() * 2);
  const Pending token = {id, hash_of(bytes(id))};
  if (!is_bulk_) return enter(token);
  __builtin_prefetch(&slots_[token.hash & (slots_.size() - 1)], 1);
  pending_.push_back(token);
  if (pending_.size() == kTogether) flush();
}

void Vocabulary::flush() {
  for (const Pending& token : pending_) enter(token);
  pending_.clear();
}

void Vocabulary::enter(Pending token) {
  std::uint64_t& slot = slots_[slot_of(bytes(token.id), token.hash)];
  if (slot != 0 && !last_counts_) return;
  if (slot == 0) ++indexed_;
  slot = (token.hash & kHigh) | (static_cast<std::uint64_t>(token.id) + 1);
}

// The first token whose hash agrees is almost always the right one.
void Vocabulary::guess(std::span<const std::string_view> wanted, std::span<TokenId> ids) const {
  const std::size_t mask = slots_.size() - 1;
  std::array<std::uint64_t, kTogether> hashes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    hashes[i] = hash_of(wanted[i]);
    __builtin_prefetch(&slots_[hashes[i] & mask]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::size_t to = hashes[i] & mask;
    while (slots_[to] != 0 && (slots_[to] & kHigh) != (hashes[i] & kHigh)) to = (to + 1) & mask;
    ids[i] = static_cast<TokenId>(slots_[to] & ~kHigh) - 1;
    if (ids[i] >= 0) __builtin_prefetch(&entries_[at(ids[i])]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (ids[i] >= 0) __builtin_prefetch(pool_.data() + entries_[at(ids[i])].offset);
  }
}

void Vocabulary::find_many(std::span<const std::string_view> wanted, std::span<TokenId> ids) const {
  while (!wanted.empty() && !slots_.empty()) {
    const std::size_t count = std::min(wanted.size(), kTogether);
    guess(wanted.first(count), ids);
    for (std::size_t i = 0; i < count; ++i) {
      if (ids[i] >= 0 && bytes(ids[i]) != wanted[i]) ids[i] = find(wanted[i]).value_or(-1);
    }
    wanted = wanted.subspan(count);
    ids = ids.subspan(count);
  }
  std::fill(ids.begin(), ids.end(), -1);
}

void Vocabulary::ask_for(std::span<const std::string_view> wanted) const {
  std::array<TokenId, kTogether> ids;
  while (!wanted.empty() && !slots_.empty()) {
    const std::size_t count = std::min(wanted.size(), kTogether);
    guess(wanted.first(count), ids);
    wanted = wanted.subspan(count);
  }
}

std::optional<TokenId> Vocabulary::find(std::string_view wanted) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t slot = slots_[slot_of(wanted, hash_of(wanted))];
  if (slot == 0) return std::nullopt;
  return static_cast<TokenId>((slot & ~kHigh) - 1);
}

std::optional<TokenId> Vocabulary::find_text(std::string_view text) const {
  if (!hidden_.empty()) {
    if (const auto hidden = hidden_.find(std::string(text)); hidden != hidden_.end()) return hidden->second;
  }
  if (!byte_level_) return find(text);
  std::string bytes;
  if (!byte_level::append_bytes(text, bytes)) return std::nullopt;
  return find(bytes);
}

std::string_view Vocabulary::bytes(TokenId id) const {
  const Entry& entry = entries_[at(id)];
  return {pool_.data() + entry.offset, entry.size};
}

std::string Vocabulary::text(TokenId id) const {
  const Entry& entry = entries_[at(id)];
  return byte_level_ && entry.odd == 0 ? byte_level::to_text(bytes(id)) : std::string(bytes(id));
}

}  // namespace rondo::tokenizer
