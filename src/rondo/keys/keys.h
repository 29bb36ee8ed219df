// API keys: secrets that are shown once, and the file that says whose they are.
//
//   auto made = keys::make_key("ann");          // made.value().secret goes to ann, made.value().line into the file
//   auto ring = keys::KeyRing::read(text, "keys.txt");
//   ring.value().tenant_of(secret);             // "ann"
//
// The file has lines `NAME HASH`, empty lines, and comments behind `#`; a name may have several keys.  The hash is BLAKE2b of
// 256 bits.  A hash that is made slow on purpose would protect words that people think of; a secret of 256 random bits cannot
// be guessed however fast its hash is, and each request is hashed once.  Nobody can use a hash in place of its secret.
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
inline constexpr std::size_t kMostSecretBytes = 512;  // longer ones are nobody's, and not hashed

struct NewKey {
  std::string secret;  // "rk-" and 43 letters, digits, `-` and `_`
  std::string line;    // for the file, with its end
};

// kInvalidArgument for a name with other characters than letters, digits, `.`, `_` and `-`, or too long a one.
[[nodiscard]] Result<NewKey> make_key(std::string_view name);

// The keys of a file.  Immutable.
class KeyRing {
 public:
  KeyRing() = default;

  // kInvalidArgument with `source`, line and column.  No error repeats what the file says: it may be a secret.
  [[nodiscard]] static Result<KeyRing> read(std::string_view text, const std::string& source);

  // Takes the same time whichever key it is, and for none.
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
