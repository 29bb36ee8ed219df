#include "spans/hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/hex.h"
#include "spans/bytes.h"

namespace rondo::spans {
namespace {

// Reads `count` bytes, the lowest one first.
std::uint64_t load_word(const char* bytes, std::size_t count = 8) {
  std::uint64_t out = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&out, bytes, count);
  } else {
    for (std::size_t i = 0; i < count; ++i)
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return out;
}

void store_word(std::uint64_t word, std::uint8_t* out) {
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

// SipHash-2-4 with a result of 128 bits, as its authors publish it.
struct State {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  [[nodiscard]] std::uint64_t sum() const { return v0 ^ v1 ^ v2 ^ v3; }
};

State begin(const HashKey& key) {
  const auto* key_bytes = reinterpret_cast<const char*>(key.data());
  const std::uint64_t k0 = load_word(key_bytes);
  const std::uint64_t k1 = load_word(key_bytes + 8);
  return {k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU ^ 0xeeU, k0 ^ 0x6c7967656e657261U,
          k1 ^ 0x7465646279746573U};
}

// Hashes the last bytes of a text.  `size` is that of the whole text.
Digest end(State state, std::string_view bytes, std::size_t size) {
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) state.take(load_word(bytes.data() + i));
  const std::uint64_t rest = bytes.size() == whole ? 0 : load_word(bytes.data() + whole, bytes.size() - whole);
  state.take(rest | static_cast<std::uint64_t>(size) << 56U);
  Digest out;
  state.v2 ^= 0xeeU;
  state.rounds(4);
  store_word(state.sum(), out.bytes.data());
  state.v1 ^= 0xddU;
  state.rounds(4);
  store_word(state.sum(), out.bytes.data() + 8);
  return out;
}

}  // namespace

Digest keyed_hash(const HashKey& key, std::string_view bytes) { return end(begin(key), bytes, bytes.size()); }

Digest digest_of(std::string_view bytes) {
  Digest out;
  assert(bytes.size() == out.bytes.size());
  std::ranges::copy(bytes, reinterpret_cast<char*>(out.bytes.data()));
  return out;
}

std::string to_hex(const Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest.bytes) hex::append(out, byte, 2);
  return out;
}

Scope::Scope(const HashKey& secret, std::string_view tenant, std::string_view model) {
  std::string name = "scope";
  put_text(name, tenant);
  put_text(name, model);
  // Each scope has a key of its own.  Equal texts of two tenants have different digests, and a look-up cannot leave its
  // scope.
  key_ = keyed_hash(secret, name).bytes;
  id_ = hash('i', "");
}

Digest Scope::hash(char purpose, std::string_view bytes) const {
  // The purpose stands before the bytes and separates kinds of keys: a hash of ids never equals one of messages.
  std::array<char, 8> first = {purpose};
  const std::size_t taken = std::min(bytes.size(), first.size() - 1);
  std::ranges::copy(bytes.substr(0, taken), first.begin() + 1);
  State state = begin(key_);
  const std::size_t size = bytes.size() + 1;
  if (size < first.size()) return end(state, {first.data(), size}, size);
  state.take(load_word(first.data()));
  return end(state, bytes.substr(taken), size);
}

}  // namespace rondo::spans
