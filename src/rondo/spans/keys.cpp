#include "spans/keys.h"

#include <algorithm>
#include <cassert>

#include "spans/bytes.h"

namespace rondo::spans {
namespace {

constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kShortId = 9;
// A key and two bytes of index, in letters of five bits.
constexpr std::size_t kCodeBytes = sizeof(TurnKey) + 2;
constexpr std::size_t kCodeLetters = (kCodeBytes * 8 + 4) / 5;

std::string base32(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 5; count -= 5) out += kBase32[(bits >> (count - 5)) & 31U];
    bits &= 31U;
  }
  if (count > 0) out += kBase32[(bits << (5 - count)) & 31U];
  return out;
}

std::optional<std::string> from_base32(std::string_view letters) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : letters) {
    const std::size_t value = kBase32.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 5U) | static_cast<std::uint32_t>(value);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 255U);
    bits &= (1U << count) - 1;
  }
  if (bits != 0) return std::nullopt;  // each key has exactly one id
  return out;
}

std::string with_index(const TurnKey& key, std::size_t index) {
  assert(index < 65536);
  std::string out(key.view());
  out += static_cast<char>(index & 255U);
  out += static_cast<char>(index >> 8U);
  return out;
}

}  // namespace

Digest turn_digest(const Scope& scope, const TurnKey& key) { return scope.hash('t', key.view()); }

std::string mint_id(std::string_view prefix, const TurnKey& key, std::size_t index) {
  return std::string(prefix) + (prefix.ends_with('-') ? "" : "_") + base32(with_index(key, index));
}

std::string mint_call_id(const Scope& scope, const TurnKey& key, std::size_t index, CallIdShape shape) {
  if (shape == CallIdShape::kAny) return mint_id("call", key, index);
  const Digest random = scope.hash('n', with_index(key, index));
  std::string out;
  for (std::size_t i = 0; i < kShortId; ++i) out += kBase62[random.bytes[i] % kBase62.size()];
  return out;
}

namespace {

// Decodes a key and an index.
std::optional<std::string> code_in(std::string_view id) {
  if (id.size() <= kCodeLetters) return std::nullopt;
  const char before = id[id.size() - kCodeLetters - 1];
  if (before != '_' && before != '-') return std::nullopt;
  return from_base32(id.substr(id.size() - kCodeLetters));
}

}  // namespace

std::optional<std::size_t> index_in(std::string_view id) {
  const auto bytes = code_in(id);
  if (!bytes) return std::nullopt;
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>((*bytes)[at])}; };
  return byte(sizeof(TurnKey)) | byte(sizeof(TurnKey) + 1) << 8U;
}

std::optional<TurnKey> key_in(std::string_view id) {
  const auto bytes = code_in(id);
  if (!bytes) return std::nullopt;
  TurnKey out;
  std::copy_n(bytes->begin(), out.bytes.size(), reinterpret_cast<char*>(out.bytes.data()));
  return out;
}

Digest short_id_digest(const Scope& scope, std::string_view id) { return scope.hash('s', id); }

bool is_short_id(std::string_view id) {
  return id.size() == kShortId &&
         std::ranges::all_of(id, [](char letter) { return kBase62.find(letter) != std::string_view::npos; });
}

}  // namespace rondo::spans
