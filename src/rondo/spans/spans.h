// Spans: what a gateway keeps of each reply, and how the next prompt is made of it.
//
//   Spans spans(store, secret);
//   const Scope scope = spans.scope(tenant, model_name);
//   auto plan = spans.plan(*model, scope, {call});             // plan.value().ids go to the engine
//   TurnKey key = spans.new_key(random_bytes);                 // before the reply begins: ids of calls hold it
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

// What the model said to a plan.
struct NewReply : Reply {
  // `key`, `completion`, `logprobs`, `finish`, `inexact`, `notes`, `facts` and `time_ms` are the caller's.  `message` is what
  // the client was sent: of a message that was continued, what is new.  The rest follows from the plan.
  bool reasoned = false;         // it was sampled with reasoning
  std::vector<std::string> ids;  // that the message hands out and that are too short for a key
  std::string session_name;      // for people
};

class Spans {
 public:
  static constexpr std::size_t kCacheBytes = std::size_t{64} << 20U;

  // `secret`: random; the same for all that share the store.  The store must outlive it.
  Spans(Store& store, const HashKey& secret, std::size_t cache_bytes = kCacheBytes)
      : store_(store), secret_(secret), cache_(cache_bytes) {}

  [[nodiscard]] Scope scope(std::string_view tenant, std::string_view model) const { return {secret_, tenant, model}; }
  // The session that a client names.
  [[nodiscard]] static Digest session(const Scope& scope, std::string_view name) { return scope.hash('S', name); }

  // See Planner.
  [[nodiscard]] Result<Plan> plan(const core::Model& model, const Scope& scope, PlanRequest request) {
    return Planner(store_, cache_).plan(model, scope, std::move(request));
  }

  // Keeps the reply to a plan; `kept` as for Store::put().  The turn's session; fails with
  // kInvalidArgument or kJson where the message is no object, or there are more or fewer logprobs than ids.
  Result<Digest> keep(const Scope& scope, const Plan& plan, NewReply reply, Store::Kept kept);

  // Null where the scope has no such turn.
  [[nodiscard]] Result<std::shared_ptr<const Turn>> turn(const Scope& scope, const TurnKey& key) {
    return load_turn(store_, cache_, scope, turn_digest(scope, key));
  }
  // The turns of a session, in the order in which they were kept; damaged ones are left out.
  [[nodiscard]] Result<std::vector<Turn>> turns(const Scope& scope, const Digest& session) const;
  [[nodiscard]] Store& store() { return store_; }

 private:
  Store& store_;
  HashKey secret_;
  TurnCache cache_;
};

// What ids of calls the template takes.
[[nodiscard]] CallIdShape call_id_shape(const core::Model& model, core::Call call);

}  // namespace rondo::spans
