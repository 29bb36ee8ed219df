#include "spans/finder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "json/parse.h"
#include "spans/keys.h"
#include "spans/span.h"

namespace rondo::spans {
namespace {

// How many replies one round looks for.  Nearly always the last one is known.
constexpr std::size_t kRound = 8;

Digest reply_digest(const Scope& scope, const Digest& chain) { return scope.hash('v', chain.view()); }
Digest asked_digest(const Scope& scope, const Digest& chain) { return scope.hash('a', chain.view()); }
Digest head_digest(const Scope& scope, const Digest& chain) { return scope.hash('h', chain.view()); }

bool is_system(const json::Value& message) {
  const auto role = message.find_string("role");
  return role == "system" || role == "developer";
}

// A turn that may belong to a message.
struct Candidate {
  std::size_t message = 0;
  Digest turn;
};

class Search {
 public:
  Search(Store& store, const Scope& scope, const json::Array& messages, const Visible& seen, const FindOptions& options)
      : store_(store), scope_(scope), messages_(messages), seen_(seen), options_(options) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].find_string("role") == "assistant") replies_.push_back(i);
    }
  }

  Result<Findings> run() {
    for (Status (Search::* const step)() :
         {&Search::find_twin, &Search::find_parent, &Search::find_later, &Search::find_head}) {
      if (const Status done = (this->*step)(); !done.ok()) return done.error();
    }
    std::ranges::sort(out_.edited, {}, &Match::message);
    std::ranges::sort(out_.unknown);
    return std::move(out_);
  }

 private:
  Result<std::vector<Hit>> find(std::span<const Digest> hashes) {
    auto hits = store_.find(scope_.id(), hashes);
    if (hits.ok()) std::erase_if(hits.value(), [this](const Hit& hit) { return is_left_out(hit.turn); });
    return hits;
  }
  [[nodiscard]] bool is_left_out(const Digest& turn) const { return std::ranges::count(options_.without, turn) > 0; }

  // Finds a turn that was asked the same, and one that was asked the same but for the last message.
  Status find_twin() {
    std::vector<Digest> asked = {asked_digest(scope_, seen_.chain.back())};
    if (!messages_.empty()) asked.push_back(head_digest(scope_, seen_.chain[messages_.size() - 1]));
    const auto hits = find(asked);
    if (!hits.ok()) return hits.error();
    if (const auto same = best(hits.value(), 0)) out_.twin = match(messages_.size(), *same);
    if (asked.size() > 1) take_head(best(hits.value(), 1), asked[1]);
    return Done{};
  }

  void take_head(const std::optional<Hit>& found, const Digest& head) {
    if (!found) out_.new_heads.push_back(head);
    if (found && !out_.head) out_.head = match(0, *found);
  }

  // Finds the turns whose keys are in the replies [begin, end), if the replies show what those turns said.
  Status read_keys(std::size_t begin, std::size_t end) {
    std::vector<Candidate> candidates;
    std::vector<Digest> short_ids;
    std::vector<std::size_t> short_of;
    for (std::size_t at = begin; at < end; ++at) {
      const std::size_t i = replies_[at];
      std::vector<std::string_view> ids = echoed_ids(messages_[i]);
      for (const Echo& echo : std::ranges::equal_range(options_.echoed, i, {}, &Echo::message))
        ids.emplace_back(echo.id);
      for (const std::string_view id : ids) {
        if (const auto key = key_in(id)) candidates.push_back({i, turn_digest(scope_, *key)});
        if (!is_short_id(id)) continue;
        short_ids.push_back(short_id_digest(scope_, id));
        short_of.push_back(i);
      }
    }
    if (!short_ids.empty()) {
      const auto hits = find(short_ids);
      if (!hits.ok()) return hits.error();
      for (const Hit& hit : hits.value()) candidates.push_back({short_of[hit.hash], hit.turn});
    }
    std::vector<bool> is_known(candidates.size());
    Status taken = take_shown(candidates, is_known, [this](Match found, const Record& record) {
      if (record.visible != seen_.messages[found.message]) parts_.push_back(found.message);
      by_key_.emplace(found.message, found);
    });
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!is_known[i] && !is_left_out(candidates[i].turn)) out_.unknown.push_back(candidates[i].message);
    }
    std::erase_if(out_.edited, [this](const Match& match) { return by_key_.contains(match.message); });
    return taken;
  }

  // Calls take(match, record) for candidates whose reply is what the message shows; others were edited.  Candidates of
  // this session come first.
  template <typename Take>
  Status take_shown(const std::vector<Candidate>& candidates, std::vector<bool>& is_known, const Take& take) {
    if (candidates.empty()) return Done{};
    std::vector<Digest> turns;
    for (const Candidate& candidate : candidates) turns.push_back(candidate.turn);
    const auto got = store_.get(scope_.id(), turns);
    if (!got.ok()) return got.error();
    std::vector<std::pair<const Got*, Record>> read;
    for (const Got& one : got.value()) {
      const Candidate& candidate = candidates[one.turn];
      Result<Record> record = decode_record(one.record);
      if (!record.ok() || is_left_out(candidate.turn)) continue;
      is_known[one.turn] = true;
      if (shows(record.value(), candidate.message)) {
        read.emplace_back(&one, std::move(record).value());
      } else {
        out_.edited.push_back({candidate.message, candidate.turn, one.session});
      }
    }
    // The session's own turns come first.  The rest stay in the order in which they were found.
    std::ranges::stable_sort(read, {}, [this](const auto& one) { return is_other(one.first->session); });
    for (const auto& [one, record] : read)
      take(Match{candidates[one->turn].message, turns[one->turn], one->session}, record);
    return Done{};
  }

  // Whether the message is what a client makes of the turn's reply.
  [[nodiscard]] bool shows(const Record& record, std::size_t message) const {
    if (record.inexact && record.completion.empty()) return false;  // nothing is known about it
    if (record.visible == seen_.messages[message]) return true;
    const Result<json::Value> reply = json::parse(record.message);
    if (!reply.ok()) return false;
    const json::Value& shown = messages_[message];
    return shows_cut_reply(reply.value(), shown, record.finish != Finish::kStop) ||
           shows_calls_alone(reply.value(), shown);
  }

  // Searches from the last reply backwards, so that only the end of a long conversation is read.
  Status find_parent() {
    for (std::size_t end = replies_.size(); end > 0 && !out_.parent; end -= std::min(end, kRound)) {
      const std::size_t begin = end - std::min(end, kRound);
      if (const Status read = read_keys(begin, end); !read.ok()) return read;
      std::vector<Digest> chains;
      for (std::size_t i = begin; i < end; ++i) {
        chains.push_back(reply_digest(scope_, seen_.chain[replies_[i] + 1]));
        chains.push_back(asked_digest(scope_, seen_.chain[replies_[i]]));
      }
      const auto hits = find(chains);
      if (!hits.ok()) return hits.error();
      for (std::size_t i = end; i-- > begin && !out_.parent;) {
        if (replies_[i] < options_.parent_before) out_.parent = parent_at(replies_[i], hits.value(), 2 * (i - begin));
        if (!out_.parent && replies_[i] < options_.parent_before) {
          if (Status cut = find_cut(replies_[i], hits.value(), 2 * (i - begin) + 1); !cut.ok()) return cut;
        }
        if (!out_.parent) take_edited(replies_[i], best(hits.value(), 2 * (i - begin) + 1));
      }
    }
    return Done{};
  }

  // `first`: the index of the reply's chain among the hashes.  The next one is that of its request.
  [[nodiscard]] std::optional<Match> parent_at(std::size_t message, const std::vector<Hit>& hits,
                                               std::size_t first) const {
    const auto key = by_key_.find(message);
    if (key != by_key_.end()) {
      // A reply of which only a part is shown is found by its request.
      const bool is_part = std::ranges::count(parts_, message) > 0;
      for (const Hit& hit : hits) {
        if (hit.turn == key->second.turn && hit.hash == first + (is_part ? 1 : 0)) return key->second;
      }
    }
    const auto found = best(hits, first);
    return found ? std::optional(match(message, *found)) : std::nullopt;
  }

  // Takes as parent a turn that was cut off, if the message shows the beginning of its reply.  `asked`: the index of the
  // request's hash.
  Status find_cut(std::size_t message, const std::vector<Hit>& hits, std::size_t asked) {
    std::vector<Digest> turns;
    for (const Hit& hit : hits) {
      if (hit.hash == asked && turns.size() < kRound) turns.push_back(hit.turn);
    }
    if (turns.empty()) return Done{};
    const auto got = store_.get(scope_.id(), turns);
    if (!got.ok()) return got.error();
    for (const Got& one : got.value()) {
      const Result<Record> record = decode_record(one.record);
      if (!record.ok() || record.value().inexact) continue;
      const Finish finish = record.value().finish;
      if (finish != Finish::kCancelled && finish != Finish::kFailed) continue;
      const Result<json::Value> reply = json::parse(record.value().message);
      if (!reply.ok() || !shows_beginning(reply.value(), messages_[message])) continue;
      if (out_.parent && (!is_other(out_.parent->session) || is_other(one.session))) continue;
      out_.parent = Match{message, turns[one.turn], one.session};
      out_.parent_is_cut = true;
    }
    return Done{};
  }

  // Takes the turn that answered the same messages with something else.
  void take_edited(std::size_t message, const std::optional<Hit>& answered) {
    if (!answered || by_key_.contains(message)) return;
    const bool is_known = std::ranges::any_of(out_.edited, [&](const Match& one) { return one.message == message; });
    if (!is_known) out_.edited.push_back(match(message, *answered));
  }

  // Finds a turn with the same system text and tools.
  Status find_head() {
    const auto first = std::ranges::find_if_not(messages_, is_system);
    const auto system = static_cast<std::size_t>(first - messages_.begin());
    if (out_.parent || system + 1 >= messages_.size()) return Done{};  // known, or what find_twin() has looked for
    const Digest head = head_digest(scope_, seen_.chain[system]);
    const auto hits = find({&head, 1});
    if (!hits.ok()) return hits.error();
    take_head(best(hits.value(), 0), head);
    return Done{};
  }

  Status find_later() {
    std::vector<Digest> pairs;
    std::vector<std::size_t> pair_of;
    for (const std::size_t i : replies_) {
      if ((out_.parent && i <= out_.parent->message) || i == 0 || by_key_.contains(i)) continue;
      pairs.push_back(pair_digest(scope_, seen_.messages[i - 1], seen_.messages[i]));
      pair_of.push_back(i);
    }
    std::map<std::size_t, Match> later;
    for (const auto& [message, found] : by_key_) {
      if (!out_.parent || message > out_.parent->message) later.emplace(message, found);
    }
    if (!pairs.empty()) {
      const auto hits = find(pairs);
      if (!hits.ok()) return hits.error();
      std::vector<Candidate> candidates;
      for (const Hit& hit : hits.value()) candidates.push_back({pair_of[hit.hash], hit.turn});
      std::vector<bool> is_known(candidates.size());
      const Status taken =
          take_shown(candidates, is_known, [&](Match found, const Record&) { later.emplace(found.message, found); });
      if (!taken.ok()) return taken;
    }
    for (const auto& [message, found] : later) out_.later.push_back(found);
    return Done{};
  }

  [[nodiscard]] static Match match(std::size_t message, const Hit& hit) { return {message, hit.turn, hit.session}; }
  [[nodiscard]] bool is_other(const Digest& session) const {
    if (options_.session) return session != *options_.session;
    return out_.parent && session != out_.parent->session;
  }
  // Chooses among the hits of one hash.
  [[nodiscard]] std::optional<Hit> best(const std::vector<Hit>& hits, std::size_t hash) const {
    std::optional<Hit> out;
    for (const Hit& hit : hits) {
      if (hit.hash == hash && (!out || (is_other(out->session) && !is_other(hit.session)))) out = hit;
    }
    return out;
  }

  Store& store_;
  const Scope& scope_;
  const json::Array& messages_;
  const Visible& seen_;
  const FindOptions& options_;
  std::vector<std::size_t> replies_;
  std::map<std::size_t, Match> by_key_;  // by message
  std::vector<std::size_t> parts_;       // messages of by_key_ that show a call as far as it came, or calls alone
  Findings out_;
};

}  // namespace

std::vector<Digest> hashes_of(const Scope& scope, const Visible& seen, std::size_t before) {
  std::vector<Digest> out = {reply_digest(scope, seen.chain[before + 1]), asked_digest(scope, seen.chain[before])};
  if (before > 0) out.push_back(pair_digest(scope, seen.messages[before - 1], seen.messages[before]));
  return out;
}

Result<Findings> find_turns(Store& store, const Scope& scope, const json::Array& messages, const Visible& seen,
                            const FindOptions& options) {
  return Search(store, scope, messages, seen, options).run();
}

}  // namespace rondo::spans
