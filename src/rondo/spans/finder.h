// The earlier turns of a request: which turn it goes on from, and which later ones it shows unchanged.
//
// Three ways, in this order.  A key of ours that the client echoes names the turn.  The hash of all that is visible up to a reply,
// chained from the start, is that of a turn that was kept.  And where something before it was changed, a reply is found together
// with the message before it.  Whatever way, the reply that is shown has to be the one that was: nothing of a turn is used whose
// reply was edited.
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
  // Everything up to its reply is as it was.
  std::optional<Match> parent;
  // Behind it, or, without one, anywhere: replies that stand as they were, in order.
  std::vector<Match> later;
  // A turn that was asked the same messages: its prompt is known to the engine.
  std::optional<Match> twin;
  // Replies with the key of a turn that said something else: they were edited.
  std::vector<Match> edited;
  // Replies with a key of which the scope knows nothing, or nothing any more.
  std::vector<std::size_t> unknown;
};

// What the client sent back beside the messages: the id of an item, a signature.
struct Echo {
  std::size_t message = 0;
  std::string id;
};

struct FindOptions {
  // Of several turns that fit, those of this session come first; then the earliest, so that the same request finds the same
  // turn again.
  std::optional<Digest> session = {};
  std::vector<Digest> without = {};  // turns that are not to be found
  std::vector<Echo> echoed = {};     // besides what the messages carry; in the order of these
};

// What a turn is put with to be found by all this.  `before`: how many of the messages that are seen are its prompt's; its
// reply is the next.
[[nodiscard]] std::vector<Digest> hashes_of(const Scope& scope, const Visible& seen, std::size_t before);

// Fails as the store does.  Damaged records are not found.  REQUIRES: `seen` is of the messages.
[[nodiscard]] Result<Findings> find_turns(Store& store, const Scope& scope, const json::Array& messages,
                                          const Visible& seen, const FindOptions& options);

}  // namespace rondo::spans
