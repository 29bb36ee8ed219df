// Replays a log of requests: what prefix caches would have saved, what they lost, and why.
//
//   Replay replay(parts, {});
//   while (auto entry = reader.next()) replay.feed(std::move(*entry));
//   ReplayReport report = replay.report();
//
// Every request is rendered and tokenized as the model's engine would do it, and served from simulated caches
// (cache/policies.h).  Requests are grouped into conversations.  If a prompt does not begin with the tokens of the last
// one and its answer, the cause is looked for in the request and then in the template.  The same requests are served
// again with each remedy (rewrites.h) and with the bridge, which keeps the ids; each has caches of its own.
//
// A log does not contain what the model sampled.  It is assumed to be what the template writes for the answer as the
// last message, with arguments in their own spelling.  Answers come from the replies in the log or, if there are none,
// from the next request.
//
// The options limit the memory, whatever the log.  Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/fleet.h"
#include "cache/policies.h"
#include "json/value.h"
#include "replay/conversation_store.h"
#include "replay/log_reader.h"
#include "replay/prompt_maker.h"
#include "replay/request_changes.h"
#include "replay/rewrites.h"

namespace rondo::replay {

struct ReplayOptions {
  // How many ids each simulated cache holds.
  std::size_t capacity = std::size_t{1} << 22U;
  std::size_t block = 16;
  // For conversations: their messages, prompts and ids.  Beyond this limit the least recently used conversation is
  // dropped.
  std::size_t memory_bytes = std::size_t{1} << 30U;
  // Serve the log with a fleet, once for each of these rules, as sent and with the bridge.  A fleet needs memory of its
  // own, up to four bytes for each id of each replica.
  std::vector<cache::Routing> routings = {};
  cache::FleetOptions fleet = {};
};

// One way of sending and serving the log.
struct ReplayLane {
  std::string name;           // "as-sent", "bridge", "stable-header", ..., "all-remedies", "all-remedies-bridge"
  std::string sentence;       // describes the way
  std::uint64_t changed = 0;  // how many requests differ from those sent, or are bridged because the prompt breaks
  std::uint64_t prompt_tokens = 0;
  std::array<std::uint64_t, cache::kPolicies.size()> hits{};  // by Policy

  [[nodiscard]] double hit_rate(cache::Policy policy) const {
    return prompt_tokens == 0
               ? 0.0
               : static_cast<double>(hits[static_cast<std::size_t>(policy)]) / static_cast<double>(prompt_tokens);
  }
};

// The log served by a fleet of replicas.
struct ReplayFleet {
  cache::Routing routing = cache::Routing::kExact;
  std::string lane;  // "as-sent" or "bridge"
  std::uint64_t prompt_tokens = 0;
  std::uint64_t hit_tokens = 0;
  std::uint64_t moved = 0;   // requests that continue one which another replica had served
  double busiest_share = 0;  // the share of the computed tokens that the busiest replica computed

  [[nodiscard]] double hit_rate() const {
    return prompt_tokens == 0 ? 0.0 : static_cast<double>(hit_tokens) / static_cast<double>(prompt_tokens);
  }
};

// The requests in which the client marks what to keep (cache_control), served by a cache that keeps it
// (cache/breakpoints.h).
struct ReplayMarks {
  std::uint64_t requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t read_tokens = 0;
  std::uint64_t written_tokens = 0;
  std::uint64_t expired_tokens = 0;  // tokens that would have been read in time
};

// One request that missed the cache.
struct ReplayExample {
  std::uint64_t line = 0;  // of the log
  std::string path;        // "messages[0].content"
  std::string sentence;
  std::string before;
  std::string after;
  std::uint64_t lost_tokens = 0;
};

// Why prompts did not begin like the previous ones.
struct ReplayCause {
  // A name in to_string(ChangeKind), or "template" with what it does ("template: reasoning-dropped", "template:
  // json-respelled", ...), "retokenized", "clock" or "eviction".
  std::string name;
  std::uint64_t requests = 0;
  // Tokens that were in a cache, or would have been with more room, and had to be computed again.
  std::uint64_t lost_tokens = 0;
  std::int32_t line = 0;                // of the template
  std::vector<ReplayExample> examples;  // the first few
};

struct ReplayReport {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::vector<SkippedLines> skipped;  // includes requests that the template refuses
  std::uint64_t requests = 0;
  std::uint64_t conversations = 0;
  std::uint64_t branches = 0;
  std::uint64_t answers_from_log = 0;       // answers that the log contains as replies
  std::uint64_t answers_from_requests = 0;  // answers that only the next request contains
  std::map<std::string, std::uint64_t> apis;
  std::map<std::string, std::uint64_t> models;  // as the requests name them; at most 32
  std::map<std::string, std::uint64_t> notes;   // what could not be translated; at most 32
  std::uint64_t forgotten = 0;                  // how many conversations were dropped because the memory was full
  std::uint64_t measured_prompt_tokens = 0;     // as counted by the server, if replies say so
  std::uint64_t measured_cached_tokens = 0;
  ReplayMarks marks;
  std::vector<ReplayLane> lanes;    // the one as sent is first
  std::vector<ReplayFleet> fleets;  // in the order of the options
  std::vector<ReplayCause> causes;  // most lost tokens first
  ReplayOptions options;
};
[[nodiscard]] json::Value to_json(const ReplayReport& report);

class Replay {
 public:
  // REQUIRES: no part is null.
  Replay(PromptMaker::Parts parts, const ReplayOptions& options);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Takes the next request, in order of time.
  void feed(LogEntry entry);
  // Takes over what the reader skipped and how much it read.
  void note_log(const LogReader& reader);

  // Returns the report so far; may be called at any time.
  [[nodiscard]] ReplayReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::replay
