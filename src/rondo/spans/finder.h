// Finds the earlier turns of a request: the turn that it continues, and later turns that it shows unchanged.
//
// There are three ways, tried in this order.  A key of ours that the client echoes names the turn.  The hash of
// everything visible up to a reply, chained from the start, is that of a stored turn.  If something before it was
// changed, a reply is found together with the message before it.  In all cases the reply that the request shows must
// equal the stored one: a turn whose reply was edited is never used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"
#include "spans/store.h"
#include "spans/visible.h"

namespace rondo::spans {

// A turn whose reply is a message of the request.
struct Match {
  std::size_t message = 0;
  Digest turn;
  Digest session;
};

struct Findings {
  // The turn up to whose reply everything is unchanged.
  std::optional<Match> parent;
  // The parent's reply was cut off, and the request shows only its beginning, because a client that leaves does not get
  // everything that was sent.
  bool parent_is_cut = false;
  // Unchanged replies in order: after the parent's, or anywhere if there is no parent.
  std::vector<Match> later;
  // A turn with the same prompt messages: the engine knows its prompt.
  std::optional<Match> twin;
  // Replies that say something else than the turn whose key they have, or that answered the same messages: they were
  // edited.
  std::vector<Match> edited;
  // A turn whose prompt begins with the same messages: all but the last one, or, if there is no parent, the system text.
  std::optional<Match> head;
  // The hashes of this conversation's beginnings under which no turn is found yet.
  std::vector<Digest> new_heads;
  // Replies whose key is not, or no longer, known in the scope.
  std::vector<std::size_t> unknown;
};

// What the client sent back besides the messages: the id of an item, or a signature.
struct Echo {
  std::size_t message = 0;
  std::string id;
};

struct FindOptions {
  // If several turns fit, those of this session come first, then the earliest.  So the same request finds the same turn
  // again.
  std::optional<Digest> session = {};
  std::vector<Digest> without = {};                          // turns that must not be found
  std::size_t parent_before = static_cast<std::size_t>(-1);  // the parent's reply must come before this message
  std::vector<Echo> echoed = {};  // in addition to what the messages carry; in the order of the messages
};

// Returns the hashes under which a turn is stored so that it can be found.  `before` is how many of the seen messages
// are in its prompt; the next message is its reply.
[[nodiscard]] std::vector<Digest> hashes_of(const Scope& scope, const Visible& seen, std::size_t before);

// Finds the turns.  Fails as the store does.  Damaged records are not found.
//
// REQUIRES: `seen` was made from `messages`.
[[nodiscard]] Result<Findings> find_turns(Store& store, const Scope& scope, const json::Array& messages,
                                          const Visible& seen, const FindOptions& options);

}  // namespace rondo::spans
