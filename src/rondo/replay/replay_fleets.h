// The lanes of a replay that fleets of replicas serve: the prompts as sent and as bridged, with each rule of routing.
#pragma once

#include <span>
#include <vector>

#include "cache/fleet.h"
#include "replay/conversation_store.h"
#include "replay/replay.h"

namespace rondo::replay {

class ReplayFleets {
 public:
  explicit ReplayFleets(const ReplayOptions& options);

  // Serves `request`, whose prompts are in `next`, and notes there where it was served.  `parent` is the request that
  // it continues, or nullptr.
  void serve(ConversationState& next, const Incoming& request, const ConversationState* parent);
  // Registers the answer of a request.
  void add_answer(const ConversationState& state, bool is_late);

  [[nodiscard]] std::vector<ReplayFleet> report() const;

 private:
  struct Entry {
    cache::Fleet fleet;
    bool is_bridge = false;
    ReplayFleet out;
  };
  [[nodiscard]] static std::span<const tokenizer::TokenId> ids_of(const Entry& entry, const ConversationState& state);

  std::vector<Entry> entries_;
};

}  // namespace rondo::replay
