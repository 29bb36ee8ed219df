// Keys of turns, and the ids with which clients echo them.
//
// A reply contains ids that clients send back unchanged: of calls, of items, in signatures or encrypted content.  Each
// of our ids contains the key of its turn.  An id alone proves nothing: it is looked up in the scope of the request,
// and what the client shows of the turn is compared before the turn is used (spans/finder.h).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spans/hash.h"

namespace rondo::spans {

// Random bytes, so that nobody can guess the key of a turn.
struct TurnKey {
  std::array<std::uint8_t, 12> bytes = {};
  auto operator<=>(const TurnKey&) const = default;

  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// The form that ids of calls must have.
enum class CallIdShape : std::uint8_t {
  kAny,          // `call_` followed by the key
  kNineLetters,  // exactly nine letters and digits: too short for a key, so the turn is found in the store
};

// Returns the name by which the store knows the turn.
[[nodiscard]] Digest turn_digest(const Scope& scope, const TurnKey& key);

// Makes `PREFIX_` followed by the key and `index`: "call_k3f...", "rs_...", "resp_...".  A prefix that ends with a hyphen
// stands before the key as it is: "chatcmpl-k3f...".
//
// REQUIRES: index < 65536.
[[nodiscard]] std::string mint_id(std::string_view prefix, const TurnKey& key, std::size_t index);
// Makes the id of call `index` of the reply.
[[nodiscard]] std::string mint_call_id(const Scope& scope, const TurnKey& key, std::size_t index, CallIdShape shape);
// Returns the key in an id made by mint_id(); nullopt for anything else.
[[nodiscard]] std::optional<TurnKey> key_in(std::string_view id);
// Returns the index in such an id.
[[nodiscard]] std::optional<std::size_t> index_in(std::string_view id);
// Returns the hash that finds a turn whose ids are too short for its key.
[[nodiscard]] Digest short_id_digest(const Scope& scope, std::string_view id);
[[nodiscard]] bool is_short_id(std::string_view id);

}  // namespace rondo::spans
