// Spans: stores each reply for a gateway, and makes the next prompt from what is stored.
//
//   Spans spans(store, secret);
//   const Scope scope = spans.scope(tenant, model_name);
//   auto plan = spans.plan(*model, scope, {call});             // plan.value().ids go to the engine
//   TurnKey key = spans.new_key(random_bytes);                 // before the reply begins: ids of calls contain it
//   ... ids = mint_call_id(scope, key, index, call_id_shape(*model, call)) ...
//   spans.keep(scope, plan.value(), reply, [](const Status&) { /* the last byte may be sent */ });
//
// docs/spans.md has the rules and the format of records.  Any thread may call any member.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "rondo/result.h"
#include "spans/keys.h"
#include "spans/planner.h"
#include "spans/span.h"
#include "spans/store.h"

namespace rondo::spans {

// The model's reply to a plan.
struct NewReply : Reply {
  // The caller sets `key`, `completion`, `logprobs`, `finish`, `inexact`, `notes`, `facts` and `time_ms`.  `message` is
  // what the client was sent; for a continued message, only the new part.  Everything else follows from the plan.
  bool reasoned = false;         // whether it was sampled with reasoning
  std::vector<std::string> ids;  // ids in the message that are too short to contain a key
  std::string session_name;      // for people
};

class Spans {
 public:
  static constexpr std::size_t kCacheBytes = std::size_t{64} << 20U;

  // `secret` is random, and the same for all that share the store.  The store must outlive this.
  Spans(Store& store, const HashKey& secret, std::size_t cache_bytes = kCacheBytes)
      : store_(store), secret_(secret), cache_(cache_bytes) {}

  [[nodiscard]] Scope scope(std::string_view tenant, std::string_view model) const { return {secret_, tenant, model}; }
  // Returns the session that a client names.
  [[nodiscard]] static Digest session(const Scope& scope, std::string_view name) { return scope.hash('S', name); }

  // Plans the next prompt; see Planner.
  [[nodiscard]] Result<Plan> plan(const core::Model& model, const Scope& scope, PlanRequest request) {
    return Planner(store_, cache_).plan(model, scope, std::move(request));
  }

  // Stores the reply to a plan and returns the turn's session.  `kept` is as in Store::put().  Fails with
  // kInvalidArgument or kJson if the message is not an object, or if the number of logprobs differs from the number of
  // ids.
  Result<Digest> keep(const Scope& scope, const Plan& plan, NewReply reply, Store::Kept kept);

  // Returns the turn; null if the scope does not have it.
  [[nodiscard]] Result<std::shared_ptr<const Turn>> turn(const Scope& scope, const TurnKey& key) {
    return load_turn(store_, cache_, scope, turn_digest(scope, key));
  }
  // Returns the turns of a session in the order in which they were stored.  Leaves damaged ones out.
  [[nodiscard]] Result<std::vector<Turn>> turns(const Scope& scope, const Digest& session) const;
  [[nodiscard]] Store& store() { return store_; }

 private:
  Store& store_;
  HashKey secret_;
  TurnCache cache_;
};

// Returns which ids of calls the template accepts.
[[nodiscard]] CallIdShape call_id_shape(const core::Model& model, core::Call& call);

}  // namespace rondo::spans
