// API keys: secrets that are shown once, and the file that says whose they are.
//
//   auto made = keys::make_key("ann");          // made.value().secret goes to ann, made.value().line into the file
//   auto ring = keys::KeyRing::read(text, "keys.txt");
//   ring.value().tenant_of(secret);             // "ann"
//
// The file has lines `NAME HASH`, empty lines, and comments after `#`.  A name may have several keys.  The hash is
// BLAKE2b with 256 bits.  A deliberately slow hash would protect words that people invent.  A secret of 256 random bits
// cannot be guessed however fast its hash is, and every request is hashed once.  A hash cannot be used in place of its
// secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::keys {

inline constexpr std::size_t kMostNameBytes = 64;
inline constexpr std::size_t kMostSecretBytes = 512;  // longer ones belong to nobody and are not hashed

struct NewKey {
  std::string secret;  // "rk-" and 43 letters, digits, `-` and `_`
  std::string line;    // for the file, with its line end
};

// Makes a key.  Fails with kInvalidArgument if the name is too long or has characters other than letters, digits, `.`,
// `_` and `-`.
[[nodiscard]] Result<NewKey> make_key(std::string_view name);

// The keys of a file.  Immutable.
class KeyRing {
 public:
  KeyRing() = default;

  // Reads a file.  Fails with kInvalidArgument, `source`, line and column.  No error quotes the file, because its text
  // may be a secret.
  [[nodiscard]] static Result<KeyRing> read(std::string_view text, const std::string& source);

  // Returns the name of the key's owner.  Takes the same time for every key, and for an unknown one.
  [[nodiscard]] std::optional<std::string> tenant_of(std::string_view secret) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Hash = std::array<std::uint8_t, 32>;
  struct Entry {
    std::string name;
    Hash hash;
  };
  std::vector<Entry> entries_;
};

}  // namespace rondo::keys
