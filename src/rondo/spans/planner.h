// The next prompt of a request: what of it is known stands as it was prompted and sampled, the rest is written by the template.
//
//   Planner planner(store, cache);
//   auto plan = planner.plan(*model, scope, {call, session});   // plan.value().ids go to the engine
//
// * The messages go on from a turn: its prompt and completion unchanged, and a bridge (docs/bridge.md).
// * Something was changed behind a turn: the same, and what of the later turns is unchanged stands as sampled.
// * Something was changed in front of all turns, system text or tools: the template writes it anew, turns stand as sampled.
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
  kRender,    // "render": the template wrote all of it
  kBridge,    // "bridge": a known turn's ids, and what follows
  kRawTurns,  // "raw-turns": turns as they were sampled, between what was written anew
};
inline constexpr json::Names<How, 3> kHowNames{{
    {How::kRender, "render"},
    {How::kBridge, "bridge"},
    {How::kRawTurns, "raw-turns"},
}};

// Why ids that the engine was given are not the beginning of the prompt.
struct Loss {
  std::string name;  // as in docs/replay.md and docs/check.md
  std::string path;
  std::string sentence;
  std::int32_t template_line = 0;  // 0: the template is not to blame
  std::size_t lost_tokens = 0;
};

struct PlanRequest {
  core::Call call;
  std::optional<Digest> session;  // that the client names
  render::Retention retention = render::Retention::kAll;
  std::vector<Echo> echoed = {};  // what the client sent back beside the messages
};

struct Plan {
  std::vector<TokenId> ids;
  std::vector<std::int32_t> owners;   // per id the message it belongs to, -1 for nobody's
  std::vector<std::uint8_t> sampled;  // per id 1 if it was sampled
  How how = How::kRender;
  std::size_t expected = 0;              // how many of the first ids the engine was given before
  std::size_t appended = 0;              // ids behind the last turn that stands as sampled
  std::size_t rendered = 0;              // ids before it that the template wrote anew
  std::size_t reattached_reasoning = 0;  // turns whose reasoning stands in the prompt though the messages have none
  std::optional<Loss> cause;
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // what of the messages was given to the template otherwise than it was sent

  // What keep() needs (spans/spans.h).
  std::shared_ptr<const Turn> parent;  // null without one
  std::optional<Digest> session;       // where the turn belongs; nullopt: in one of its own
  bool in_parents_session = false;
  std::size_t kept_messages = 0;  // of the parent's messages and reply
  std::vector<std::size_t> reasoned;
  std::size_t prefill = 0;               // how many of the last ids are the beginning of the reply
  json::Array messages;                  // of the prompt, without a message that is continued
  std::optional<json::Value> continued;  // that message
  std::string context;
  Visible seen;              // of the messages as the client shows them
  std::size_t seen_own = 0;  // of them, how many are in front of the one that is continued
};

// Turns that were put together a short while ago: a session's last turn is nearly always the next one's parent.
// Any thread may call any member.
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
  std::list<Entry> entries_;  // the latest first
  std::unordered_map<Digest, std::list<Entry>::iterator, DigestHash> by_turn_;
  std::size_t bytes_ = 0;
};

// The whole turn; null where the scope has none, or it is damaged.  Fails as the store does.
[[nodiscard]] Result<std::shared_ptr<const Turn>> load_turn(Store& store, TurnCache& cache, const Scope& scope,
                                                            const Digest& turn);

// The references must outlive it.  Any thread may call plan().
class Planner {
 public:
  Planner(Store& store, TurnCache& cache) : store_(store), cache_(cache) {}

  // Fails as the model does with a conversation of which nothing is known, and as the store does.
  [[nodiscard]] Result<Plan> plan(const core::Model& model, const Scope& scope, PlanRequest request) const;

 private:
  Store& store_;
  TurnCache& cache_;
};

}  // namespace rondo::spans
