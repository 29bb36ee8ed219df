#include "cache/router.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace rondo::cache {
namespace {

constexpr std::size_t kOut = std::numeric_limits<std::size_t>::max();
// The capacity assumed for a replica that does not tell its own.
constexpr std::size_t kAssumedCapacity = std::size_t{1} << 20U;
// Excess counts in steps, so that small differences do not outweigh an affinity.  A step is a 64th of what a replica
// holds, but at most this many ids.
constexpr std::size_t kExcessSteps = 64;
constexpr std::size_t kLargestExcessStep = 4096;
constexpr std::size_t kExcessShare = 2;
// Up to this many ids less than expected do not prove that something was forgotten: engines recompute a few for reasons
// of their own.
constexpr std::size_t kSlack = 16;
// Units are scaled down before they outgrow a double.
constexpr double kLargestUnit = 1e100;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return mixed(hash);
}

// How strongly a key prefers a replica.  Each key has its own order, so a replica that leaves affects only the keys
// that preferred it.
std::uint64_t liking(std::uint64_t key, Router::Replica replica) { return mixed(key ^ mixed(replica + 1U)); }

std::uint64_t text_key(const Router::Ask& ask, std::size_t bytes) {
  if (!ask.text.empty()) return hash_of(ask.text.substr(0, bytes));
  const std::size_t ids = std::min(ask.ids.size(), bytes / sizeof(TokenId));
  std::uint64_t hash = 0;
  for (const TokenId id : ask.ids.first(ids)) hash = mixed(hash ^ static_cast<std::uint32_t>(id));
  return hash;
}

}  // namespace

std::string_view to_string(Routing routing) {
  switch (routing) {
    case Routing::kExact: return "exact";
    case Routing::kTextHash: return "text-hash";
    case Routing::kRoundRobin: return "round-robin";
    case Routing::kLeastLoad: return "least-load";
  }
  return "";
}

std::optional<Routing> routing_of(std::string_view name) {
  const auto found = std::ranges::find(kRoutings, name, [](Routing routing) { return to_string(routing); });
  return found == kRoutings.end() ? std::nullopt : std::optional(*found);
}

Router::Replica Router::add(const ReplicaFacts& facts) {
  assert(facts.block > 0);
  replicas_.push_back({.facts = facts});
  window_ += static_cast<double>(std::min(facts.capacity, kAssumedCapacity));
  return tree_.add(facts.capacity);
}

bool Router::is_out(Replica replica, std::int64_t now_ms) const {
  const Entry& entry = replicas_[replica];
  return entry.failures > 0 && now_ms < entry.until_ms;
}

Router::State Router::state(Replica replica) const {
  const Entry& entry = replicas_[replica];
  return {.running = entry.running,
          .waiting = entry.waiting,
          .excess = excess(entry),
          .held = tree_.size(replica),
          .failures = entry.failures,
          .left_out_until_ms = entry.failures > 0 ? entry.until_ms : 0};
}

// How much more the replica was recently given than the mean, as far as it counts.
std::size_t Router::excess(const Entry& entry) const {
  const double mean = recent_total_ / static_cast<double>(replicas_.size());
  if (entry.recent <= mean) return 0;
  const auto ids = static_cast<std::size_t>((entry.recent - mean) / unit_);
  const std::size_t holds = static_cast<std::size_t>(window_) / replicas_.size();
  const std::size_t step = std::clamp<std::size_t>(holds / kExcessSteps, 1, kLargestExcessStep);
  return ids / step * step / kExcessShare;
}

// Fills loads_.  False if no replica may be taken at all.
bool Router::note_loads(const Ask& ask) {
  loads_.assign(replicas_.size(), kOut);
  affinity_key_ = ask.affinity.empty() ? 0 : hash_of(ask.affinity);
  std::optional<Replica> soonest;
  bool is_any = false;
  for (Replica replica = 0; replica < replicas_.size(); ++replica) {
    const Entry& entry = replicas_[replica];
    if (!ask.without.empty() && std::ranges::find(ask.without, replica) != ask.without.end()) continue;
    if (is_out(replica, ask.now_ms)) {
      if (!soonest || entry.until_ms < replicas_[*soonest].until_ms) soonest = replica;
      continue;
    }
    loads_[replica] = entry.waiting + entry.running * options_.running_cost + excess(entry);
    is_any = true;
  }
  if (!is_any && soonest) loads_[*soonest] = 0;
  return is_any || soonest;
}

// Compares two replicas with the same cost.
bool Router::prefers(const Ask& ask, Replica a, Replica b) const {
  if (!ask.affinity.empty()) { return liking(affinity_key_, a) > liking(affinity_key_, b); }
  const Entry& one = replicas_[a];
  const Entry& other = replicas_[b];
  if (loads_[a] != loads_[b]) return loads_[a] < loads_[b];
  if (one.recent != other.recent) return one.recent < other.recent;
  return a < b;
}

std::optional<Router::Choice> Router::choose(const Ask& ask) {
  if (!note_loads(ask)) return std::nullopt;
  if (options_.routing == Routing::kExact) return choose_exact(ask);
  Choice out;
  switch (options_.routing) {
    case Routing::kTextHash: out = choose_hash(ask); break;
    case Routing::kRoundRobin: out = choose_next(); break;
    default: out = choose_least(ask);
  }
  out.expected = expected(out.replica, ask.tenant, ask.ids);
  return out;
}

Router::Choice Router::choose_exact(const Ask& ask) {
  const std::size_t size = ask.ids.size();
  Candidate best;
  std::size_t least = kOut;
  const auto consider = [&](Replica replica, std::size_t expected) {
    const std::size_t load = loads_[replica];
    if (load == kOut) return;
    const std::size_t cost = load + size - expected;
    if (best.replica && (cost > best.cost || *best.replica == replica)) return;
    if (best.replica && cost == best.cost && !prefers(ask, replica, *best.replica)) return;
    best = {replica, expected, cost};
  };
  for (const std::size_t load : loads_) least = std::min(least, load);
  tree_.find(ask.tenant, ask.ids, path_);
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    // A replica that holds only this much cannot be cheaper.
    if (best.replica && least + size - (step->before + step->used) > best.cost) break;
    for (const FleetTree::Holder& holder : tree_.holders(step->node))
      consider(holder.replica, tree_.held(*step, holder));
  }
  if (!best.replica || least + size <= best.cost) {
    for (Replica replica = 0; replica < loads_.size(); ++replica) consider(replica, 0);
  }
  return {*best.replica, best.expected};
}

Router::Choice Router::choose_least(const Ask& ask) const {
  std::optional<Replica> best;
  for (Replica replica = 0; replica < loads_.size(); ++replica) {
    if (loads_[replica] == kOut) continue;
    if (!best || loads_[replica] < loads_[*best] || (loads_[replica] == loads_[*best] && prefers(ask, replica, *best)))
      best = replica;
  }
  return {*best, 0};
}

Router::Choice Router::choose_hash(const Ask& ask) const {
  std::size_t running = 1;
  std::size_t count = 0;
  for (Replica replica = 0; replica < loads_.size(); ++replica) {
    if (loads_[replica] == kOut) continue;
    running += replicas_[replica].running;
    ++count;
  }
  const double share = std::ceil(options_.largest_share * static_cast<double>(running) / static_cast<double>(count));
  const std::uint64_t key = text_key(ask, options_.hash_bytes);
  std::optional<Replica> best;
  for (Replica replica = 0; replica < loads_.size(); ++replica) {
    if (loads_[replica] == kOut || static_cast<double>(replicas_[replica].running + 1) > share) continue;
    if (!best || liking(key, replica) > liking(key, *best)) best = replica;
  }
  return {*best, 0};  // the least loaded one is always within its share
}

Router::Choice Router::choose_next() const {
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const auto replica = static_cast<Replica>((turn_ + i) % loads_.size());
    if (loads_[replica] != kOut) return {replica, 0};
  }
  return {};
}

// Older work decays by a factor of e with each window that the fleet computes.
void Router::note_work(Entry& entry, std::size_t ids) {
  const auto work = static_cast<double>(ids);
  unit_ *= std::exp(std::min(work / window_, 1.0));
  entry.recent += work * unit_;
  recent_total_ += work * unit_;
  if (unit_ < kLargestUnit) return;
  for (Entry& other : replicas_) other.recent /= unit_;
  recent_total_ /= unit_;
  unit_ = 1;
}

Router::Ticket Router::begin(Replica replica, const Ask& ask) {
  Entry& entry = replicas_[replica];
  turn_ = replica + std::size_t{1};
  Ticket out{.replica = replica, .tenant = std::string(ask.tenant), .prompt = ask.ids.size()};
  out.is_trial = entry.failures > 0 && ask.now_ms >= entry.until_ms;
  if (out.is_trial) entry.until_ms = ask.now_ms + pause_after(entry.failures);
  out.before = tree_.insert(replica, ask.tenant, ask.ids);
  out.expected = out.before.known;
  ++entry.running;
  entry.waiting += out.prompt - out.expected;
  note_work(entry, out.prompt - out.expected);
  return out;
}

void Router::progress(Ticket& ticket, std::span<const TokenId> prompt) {
  if (ticket.is_computed) return;
  ticket.is_computed = true;
  replicas_[ticket.replica].waiting -= ticket.prompt - ticket.expected;
  tree_.settle(ticket.replica, ticket.tenant, prompt.first(std::min(prompt.size(), ticket.prompt)));
}

void Router::end(Ticket ticket, std::span<const TokenId> ids, std::optional<std::size_t> cached) {
  progress(ticket, ids);
  leave(ticket);
  replicas_[ticket.replica].failures = 0;
  const std::size_t block = replicas_[ticket.replica].facts.block;
  // The last id is always computed, because the engine samples from its result.
  const std::size_t there = std::min(ticket.before.settled, ticket.prompt == 0 ? 0 : ticket.prompt - 1);
  if (cached && *cached + kSlack < there - there % block) {
    const auto missing = std::ranges::upper_bound(ticket.before.uses, *cached, {}, &FleetTree::Use::end);
    if (missing != ticket.before.uses.end()) tree_.forget_until(ticket.replica, missing->stamp);
  }
  note(ticket.replica, ticket.tenant, ids.first(ids.size() > ticket.prompt ? ids.size() - 1 : ids.size()));
}

void Router::note(Replica replica, std::string_view tenant, std::span<const TokenId> ids) {
  tree_.insert(replica, tenant, ids);
  tree_.settle(replica, tenant, ids);
}

std::int64_t Router::pause_after(std::size_t failures) const {
  std::int64_t pause = options_.first_pause_ms;
  for (std::size_t i = 1; i < failures && pause < options_.longest_pause_ms; ++i) pause *= 2;
  return std::min(pause, options_.longest_pause_ms);
}

void Router::fail(const Ticket& ticket, std::int64_t now_ms) {
  leave(ticket);
  // Requests that were running when the replica failed fail with it.  Together they count as one failure.
  if (ticket.is_trial || !is_out(ticket.replica, now_ms)) fail(ticket.replica, now_ms);
}

void Router::fail(Replica replica, std::int64_t now_ms) {
  Entry& entry = replicas_[replica];
  ++entry.failures;
  entry.until_ms = now_ms + pause_after(entry.failures);
}

void Router::drop(const Ticket& ticket) { leave(ticket); }

void Router::leave(const Ticket& ticket) {
  Entry& entry = replicas_[ticket.replica];
  --entry.running;
  if (!ticket.is_computed) entry.waiting -= ticket.prompt - ticket.expected;
}

void Router::readmit(Replica replica, std::int64_t now_ms) {
  Entry& entry = replicas_[replica];
  entry.until_ms = std::min(entry.until_ms, now_ms);
}

void Router::forget(Replica replica) { tree_.forget_until(replica, std::numeric_limits<FleetTree::Stamp>::max()); }

}  // namespace rondo::cache
