// Plans the next prompt of a request: known turns as they were prompted and sampled, everything else as the template
// writes it.
//
//   Planner planner(store, cache);
//   auto plan = planner.plan(*model, scope, {call, session});   // plan.value().ids go to the engine
//
// * The messages continue a turn: its prompt and completion unchanged, then a bridge (docs/bridge.md).
// * Something changed after a turn: its prompt and completion stay unchanged too, and later turns that are unchanged
//   are used as sampled.
// * Something changed before all turns (system text, tools): the template writes it anew, turns are used as sampled.
// * Nothing is known: the template writes everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shared_row.h"
#include "core/model.h"
#include "json/members.h"
#include "render/retention.h"
#include "rondo/result.h"
#include "spans/finder.h"
#include "spans/span.h"
#include "spans/store.h"
#include "spans/visible.h"

namespace rondo::spans {

enum class How : std::uint8_t {
  kRender,    // "render": the template wrote everything
  kBridge,    // "bridge": the ids of a known turn, and what follows it
  kRawTurns,  // "raw-turns": turns as they were sampled, between newly written text
};
inline constexpr json::Names<How, 3> kHowNames{{
    {How::kRender, "render"},
    {How::kBridge, "bridge"},
    {How::kRawTurns, "raw-turns"},
}};

// Why the prompt does not begin with ids that the engine was given before.
struct Loss {
  std::string name;  // a name from docs/replay.md or docs/check.md
  std::string path;
  std::string sentence;
  std::int32_t template_line = 0;  // 0: the template is not to blame
  std::size_t lost_tokens = 0;
  std::optional<std::size_t> byte = {};  // where the text of the field at `path` differs
};

struct PlanRequest {
  core::Call call;
  std::optional<Digest> session;  // the session that the client names
  render::Retention retention = render::Retention::kAll;
  std::vector<Echo> echoed = {};  // what the client sent back besides the messages
};

// The conversation that a plan is for.
struct PlannedMessages {
  json::Array messages;                  // of the prompt, without a message that is continued
  std::optional<json::Value> continued;  // the message that is continued
  bool continues_reply = false;          // it is a known reply, and stands as it was sampled
  Visible seen;                          // of the messages as the client shows them
  std::size_t seen_own = 0;              // how many of them come before the continued message
};

// Where the turn of a plan belongs in the store.
struct Filing {
  std::optional<Digest> session;  // nullopt: a new one
  bool in_parents_session = false;
  std::vector<Digest> new_heads = {};  // hashes that find the turn by the beginning of its prompt
};

struct Plan {
  SharedRow<TokenId> ids;
  SharedRow<std::int32_t> owners;   // per id: the index of the message that owns it; -1: none
  SharedRow<std::uint8_t> sampled;  // per id: 1 if it was sampled
  How how = How::kRender;
  std::size_t expected = 0;              // how many of the first ids the engine was given before
  bool is_shared = false;                // only other conversations gave it these ids
  std::size_t appended = 0;              // how many ids follow the last turn that is used as sampled
  std::size_t rendered = 0;              // how many ids before that turn's end the template wrote anew
  std::size_t reattached_reasoning = 0;  // turns whose reasoning is in the prompt although the messages lack it
  std::optional<Loss> cause;
  // The time that the template shows: that of the conversation's first request, so that no prompt breaks at midnight.
  std::optional<core::LocalTime> now;
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than it was sent

  // Values that keep() needs (spans/spans.h).
  std::shared_ptr<const Turn> parent;  // null if there is none
  std::size_t kept_messages = 0;       // how many of the parent's messages, including its reply, are unchanged
  std::vector<std::size_t> reasoned;
  std::size_t prefill = 0;  // how many of the last ids are the beginning of the reply
  std::string context;
  Filing filing;
  PlannedMessages asked;
};

// Turns that were assembled recently.  A session's last turn is nearly always the parent of its next one.  Any thread
// may call any member.
class TurnCache {
 public:
  explicit TurnCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  [[nodiscard]] std::shared_ptr<const Turn> find(const Digest& turn);
  void add(const Digest& turn, std::shared_ptr<const Turn> whole);
  void clear();

 private:
  struct Entry {
    Digest turn;
    std::shared_ptr<const Turn> whole;
    std::size_t bytes = 0;
  };

  std::size_t max_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // latest first
  std::unordered_map<Digest, std::list<Entry>::iterator, DigestHash> by_turn_;
  std::size_t bytes_ = 0;
};

// Loads a whole turn.  Returns null if the scope does not have it or it is damaged.  Fails as the store does.
[[nodiscard]] Result<std::shared_ptr<const Turn>> load_turn(Store& store, TurnCache& cache, const Scope& scope,
                                                            const Digest& turn);

// The references must outlive it.  Any thread may call plan().
class Planner {
 public:
  Planner(Store& store, TurnCache& cache) : store_(store), cache_(cache) {}

  // Plans the prompt.  Fails as the store does, or as the model does when it renders an unknown conversation.
  [[nodiscard]] Result<Plan> plan(const core::Model& model, const Scope& scope, PlanRequest request) const;

 private:
  Store& store_;
  TurnCache& cache_;
};

}  // namespace rondo::spans
