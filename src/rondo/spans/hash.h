// Keyed hashes of 128 bits: SipHash-2-4.  Without the key, nobody can guess a hash or make two texts collide.
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

// A hash.  A store knows turns, sessions and scopes only by their hashes.
struct Digest {
  std::array<std::uint8_t, 16> bytes = {};
  auto operator<=>(const Digest&) const = default;

  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// For unordered containers.  A digest is already evenly distributed.
struct DigestHash {
  [[nodiscard]] std::size_t operator()(const Digest& digest) const {
    std::size_t out = 0;
    std::memcpy(&out, digest.bytes.data(), sizeof(out));
    return out;
  }
};

[[nodiscard]] Digest keyed_hash(const HashKey& key, std::string_view bytes);

// Makes a digest of 16 bytes.
//
// REQUIRES: bytes.size() == 16.
[[nodiscard]] Digest digest_of(std::string_view bytes);
[[nodiscard]] std::string to_hex(const Digest& digest);

// A tenant's turns with one model.  Everything is looked up by a hash with a key of the scope, so nothing of one scope
// can be found, or be known to exist, from another scope.
class Scope {
 public:
  // `secret` belongs to the installation: all gateways on one store use the same.  `model` names the weights, the
  // tokenizer and the template, which together give ids their meaning.
  Scope(const HashKey& secret, std::string_view tenant, std::string_view model);

  // Returns the name by which a store knows the scope.
  [[nodiscard]] const Digest& id() const { return id_; }
  // Hashes `bytes`.  `purpose` is a letter for each kind of value, so that hashes of different kinds never meet.
  [[nodiscard]] Digest hash(char purpose, std::string_view bytes) const;

 private:
  HashKey key_;
  Digest id_;
};

}  // namespace rondo::spans
