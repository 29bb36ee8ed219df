// What prefix caches would have saved on a log of requests, what they lost, and why.
//
//   Replay replay(parts, {});
//   while (auto entry = reader.next()) replay.feed(std::move(*entry));
//   ReplayReport report = replay.report();
//
// Every request is rendered and tokenized as the model's engine would do it, and served from simulated caches
// (cache/policies.h).  Requests are grouped into conversations; where a prompt does not begin with the tokens of the
// last one and its answer, the cause is looked for in the request, and else in the template.  The same requests are
// served again with each remedy (rewrites.h) from caches of their own, and by the bridge, which keeps the ids.
//
// What a model sampled is not in a log: it is taken to be what the template writes for the answer as last message, with
// the arguments in their own spelling.  Answers are taken from the log's replies where it has them, else from the
// request that follows.
//
// Memory is bounded by the options, whatever the log.  Not thread-safe.
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
  // Ids that each simulated cache holds.
  std::size_t capacity = std::size_t{1} << 22U;
  std::size_t block = 16;
  // For conversations, that is their messages, prompts and ids.  Beyond it the one used longest ago is forgotten.
  std::size_t memory_bytes = std::size_t{1} << 30U;
  // A fleet is served the log by each of these rules, if any, as sent and by the bridge.  What it holds counts as
  // memory of its own, up to four bytes for each id of each replica.
  std::vector<cache::Routing> routings = {};
  cache::FleetOptions fleet = {};
};

// One way of sending and serving the log.
struct ReplayLane {
  std::string name;           // "as-sent", "bridge", "stable-header", ..., "all-remedies", "all-remedies-bridge"
  std::string sentence;       // what is done
  std::uint64_t changed = 0;  // requests that differ from those sent, or are bridged where the prompt breaks
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
  std::uint64_t moved = 0;   // requests that went on from one that another replica had served
  double busiest_share = 0;  // of the tokens that were computed, those of the replica with most of them

  [[nodiscard]] double hit_rate() const {
    return prompt_tokens == 0 ? 0.0 : static_cast<double>(hit_tokens) / static_cast<double>(prompt_tokens);
  }
};

// The requests in which the client marks what to keep (cache_control), served by a cache that keeps that
// (cache/breakpoints.h).
struct ReplayMarks {
  std::uint64_t requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t read_tokens = 0;
  std::uint64_t written_tokens = 0;
  std::uint64_t expired_tokens = 0;  // that would have been read in time
};

// One request that missed.
struct ReplayExample {
  std::uint64_t line = 0;  // of the log
  std::string path;        // "messages[0].content"
  std::string sentence;
  std::string before;
  std::string after;
  std::uint64_t lost_tokens = 0;
};

// Why prompts did not begin as the last ones.
struct ReplayCause {
  // to_string(ChangeKind), or "template" (with what it does: "template: reasoning-dropped", "template: json-respelled",
  // ...), "retokenized", "clock" or "eviction".
  std::string name;
  std::uint64_t requests = 0;
  std::uint64_t lost_tokens = 0;  // that were in a cache, or would have been with room, and had to be computed again
  std::int32_t line = 0;          // of the template
  std::vector<ReplayExample> examples;  // the first few
};

struct ReplayReport {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::vector<SkippedLines> skipped;  // also requests that the template refuses
  std::uint64_t requests = 0;
  std::uint64_t conversations = 0;
  std::uint64_t branches = 0;
  std::uint64_t answers_from_log = 0;       // answers that the log holds as replies
  std::uint64_t answers_from_requests = 0;  // that were seen in the next request only
  std::map<std::string, std::uint64_t> apis;
  std::map<std::string, std::uint64_t> models;  // as the requests name them; at most 32
  std::map<std::string, std::uint64_t> notes;   // what could not be translated; at most 32
  std::uint64_t forgotten = 0;                  // conversations that memory had no room for
  std::uint64_t measured_prompt_tokens = 0;     // by the server, where replies say it
  std::uint64_t measured_cached_tokens = 0;
  ReplayMarks marks;
  std::vector<ReplayLane> lanes;    // as sent first
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

  // The next request, in the order of time.
  void feed(LogEntry entry);
  // What the reader passed over, and how much it read.
  void note_log(const LogReader& reader);

  // So far; may be asked at any time.
  [[nodiscard]] ReplayReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::replay
