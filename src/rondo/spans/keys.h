// Keys of turns, and the ids with which clients echo them.
//
// A reply hands out ids that clients send back as they are: of calls, of items, as signature or encrypted content.  Each of
// ours holds the key of its turn.  An id proves nothing by itself: it is looked up in the scope of the request, and what the
// client shows of the turn is compared before the turn is used (spans/finder.h).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spans/hash.h"

namespace rondo::spans {

// Random bytes: nobody guesses the key of a turn.
struct TurnKey {
  std::array<std::uint8_t, 12> bytes = {};
  auto operator<=>(const TurnKey&) const = default;

  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// What ids of calls have to look like.
enum class CallIdShape : std::uint8_t {
  kAny,          // `call_` and the key
  kNineLetters,  // exactly nine letters and digits: too short for a key, so the store finds the turn
};

// What the store knows the turn by.
[[nodiscard]] Digest turn_digest(const Scope& scope, const TurnKey& key);

// `PREFIX_` and the key with `index`: "call_k3f...", "rs_...", "resp_...".  REQUIRES: index < 65536.
[[nodiscard]] std::string mint_id(std::string_view prefix, const TurnKey& key, std::size_t index);
// The id of the reply's call number `index`.
[[nodiscard]] std::string mint_call_id(const Scope& scope, const TurnKey& key, std::size_t index, CallIdShape shape);
// The key in a minted id; nullopt for anything else.
[[nodiscard]] std::optional<TurnKey> key_in(std::string_view id);
// The index in a minted id.
[[nodiscard]] std::optional<std::size_t> index_in(std::string_view id);
// What a turn is found by whose ids are too short for its key.
[[nodiscard]] Digest short_id_digest(const Scope& scope, std::string_view id);
[[nodiscard]] bool is_short_id(std::string_view id);

}  // namespace rondo::spans
