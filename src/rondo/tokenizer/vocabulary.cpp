#include "tokenizer/vocabulary.h"

#include <functional>

#include "tokenizer/byte_level.h"

namespace rondo::tokenizer {
namespace {

std::uint64_t hash_of(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

constexpr std::uint64_t kHigh = 0xFFFFFFFF00000000U;

}  // namespace

void Vocabulary::reserve(std::size_t count, std::size_t bytes) {
  entries_.reserve(count);
  pool_.reserve(bytes);
}

void Vocabulary::add(std::string_view text, TokenId id, bool searchable) {
  if (at(id) >= entries_.size()) entries_.resize(at(id) + 1);
  Entry& entry = entries_[at(id)];
  std::optional<std::string> decoded;
  if (byte_level_) decoded = byte_level::to_bytes(text);
  const std::string_view bytes = decoded ? std::string_view(*decoded) : text;
  entry.offset = static_cast<std::uint32_t>(pool_.size());
  entry.size = static_cast<std::uint32_t>(bytes.size()) & 0x3FFFFFFFU;
  entry.used = 1;
  entry.odd = byte_level_ && !decoded ? 1U : 0U;
  pool_.append(bytes);
  ++count_;
  if (entry.odd != 0 || !searchable) {
    hidden_.emplace(text, id);
  } else {
    index(id);
  }
}

void Vocabulary::add_bytes(std::string_view bytes, TokenId id) {
  if (at(id) >= entries_.size()) entries_.resize(at(id) + 1);
  Entry& entry = entries_[at(id)];
  entry.offset = static_cast<std::uint32_t>(pool_.size());
  entry.size = static_cast<std::uint32_t>(bytes.size()) & 0x3FFFFFFFU;
  entry.used = 1;
  pool_.append(bytes);
  ++count_;
  index(id);
}

void Vocabulary::grow() {
  std::vector<std::uint64_t> old(slots_.empty() ? 1024 : slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint64_t slot : old) {
    if (slot == 0) continue;
    const auto id = static_cast<TokenId>((slot & ~kHigh) - 1);
    std::size_t to = hash_of(bytes(id)) & mask;
    while (slots_[to] != 0) to = (to + 1) & mask;
    slots_[to] = slot;
  }
}

void Vocabulary::index(TokenId id) {
  if (find(bytes(id))) return;
  if ((indexed_ + 1) * 2 > slots_.size()) grow();
  ++indexed_;
  const std::uint64_t hash = hash_of(bytes(id));
  const std::size_t mask = slots_.size() - 1;
  std::size_t to = hash & mask;
  while (slots_[to] != 0) to = (to + 1) & mask;
  slots_[to] = (hash & kHigh) | (static_cast<std::uint64_t>(id) + 1);
}

std::optional<TokenId> Vocabulary::find(std::string_view bytes_wanted) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t hash = hash_of(bytes_wanted);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t to = hash & mask; slots_[to] != 0; to = (to + 1) & mask) {
    if ((slots_[to] & kHigh) != (hash & kHigh)) continue;
    const auto id = static_cast<TokenId>((slots_[to] & ~kHigh) - 1);
    if (bytes(id) == bytes_wanted) return id;
  }
  return std::nullopt;
}

std::optional<TokenId> Vocabulary::find_text(std::string_view text) const {
  if (const auto hidden = hidden_.find(std::string(text)); hidden != hidden_.end()) return hidden->second;
  if (!byte_level_) return find(text);
  const auto decoded = byte_level::to_bytes(text);
  return decoded ? find(*decoded) : std::nullopt;
}

std::string_view Vocabulary::bytes(TokenId id) const {
  const Entry& entry = entries_[at(id)];
  return std::string_view(pool_).substr(entry.offset, entry.size);
}

std::string Vocabulary::text(TokenId id) const {
  const Entry& entry = entries_[at(id)];
  return byte_level_ && entry.odd == 0 ? byte_level::to_text(bytes(id)) : std::string(bytes(id));
}

}  // namespace rondo::tokenizer
