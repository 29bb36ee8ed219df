// Keyed hashes of 128 bits: SipHash-2-4.  Who does not know the key can neither guess one nor make two texts collide.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rondo::spans {

using HashKey = std::array<std::uint8_t, 16>;

// A hash, and what a store knows turns, sessions and scopes by.
struct Digest {
  std::array<std::uint8_t, 16> bytes = {};
  auto operator<=>(const Digest&) const = default;

  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// For unordered containers; a digest is evenly spread already.
struct DigestHash {
  [[nodiscard]] std::size_t operator()(const Digest& digest) const {
    std::size_t out = 0;
    std::memcpy(&out, digest.bytes.data(), sizeof(out));
    return out;
  }
};

[[nodiscard]] Digest keyed_hash(const HashKey& key, std::string_view bytes);

// 16 bytes; REQUIRES: `bytes` has as many.
[[nodiscard]] Digest digest_of(std::string_view bytes);
[[nodiscard]] std::string to_hex(const Digest& digest);

// A tenant's turns with one model.  All that is looked up is hashed with a key of the scope's own, so that nothing of one
// scope can be found, or told to be there, from another.
class Scope {
 public:
  // `secret`: of the installation, the same in all gateways on one store.  `model` names the weights, the tokenizer and the
  // template: what makes ids mean the same.
  Scope(const HashKey& secret, std::string_view tenant, std::string_view model);

  // What a store knows the scope by.
  [[nodiscard]] const Digest& id() const { return id_; }
  // `purpose`: a letter for each kind of thing, so that hashes of two kinds never meet.
  [[nodiscard]] Digest hash(char purpose, std::string_view bytes) const;

 private:
  HashKey key_;
  Digest id_;
};

}  // namespace rondo::spans
