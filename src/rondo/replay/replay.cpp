#include "replay/replay.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "replay/cache_marks.h"
#include "replay/replay_fleets.h"
#include "replay/replay_step.h"

namespace rondo::replay {
namespace {

using cache::Policy;
using tokenizer::TokenId;

constexpr std::size_t kMostExamples = 3;
constexpr std::size_t kMostNames = 32;
constexpr std::size_t kMostCauses = 128;

void count(std::map<std::string, std::uint64_t>& names, const std::string& name) {
  const auto known = names.find(name);
  if (known != names.end()) {
    ++known->second;
  } else if (names.size() < kMostNames) {
    names[name] = 1;
  }
}

std::size_t limited(std::size_t kept, std::size_t prompt) { return std::min(kept, prompt == 0 ? 0 : prompt - 1); }

// One way of serving the log.  It has its own caches from the first request that it changes.
struct Lane {
  RewriteSet set = RewriteSet::kNone;
  std::optional<std::size_t> bridge;  // index in ConversationState::bridged
  ReplayLane out;
  std::optional<cache::Policies> caches;  // nullopt: the same as the first lane's
  std::uint64_t radix_hits = 0;           // of the last request

  [[nodiscard]] std::span<const TokenId> ids(const ConversationState& state) const {
    if (bridge && state.bridged[*bridge]) return *state.bridged[*bridge];
    return state.prompt(static_cast<std::size_t>(set)).ids;
  }
};

std::vector<Lane> make_lanes() {
  std::vector<Lane> lanes;
  const auto add = [&lanes](RewriteSet set, std::optional<std::size_t> bridge, std::string name, std::string sentence) {
    Lane& lane = lanes.emplace_back();
    lane.set = set;
    lane.bridge = bridge;
    lane.out.name = std::move(name);
    lane.out.sentence = std::move(sentence);
  };
  for (const RewriteSet set :
       {RewriteSet::kNone, RewriteSet::kStableHeader, RewriteSet::kStableDate, RewriteSet::kKeepReasoning,
        RewriteSet::kVerbatimArguments, RewriteSet::kSortTools, RewriteSet::kAll}) {
    add(set, std::nullopt, std::string(to_string(set)), std::string(sentence_of(set)));
    if (set == RewriteSet::kNone) add(set, 0, "bridge", "the ids stay, and what is new is appended");
  }
  add(RewriteSet::kAll, 1, "all-remedies-bridge", "all of these, and the ids stay");
  return lanes;
}

}  // namespace

struct Replay::State {
  State(PromptMaker::Parts parts, const ReplayOptions& options)
      : maker(std::move(parts)),
        store(options.memory_bytes),
        caches({.capacity = options.capacity, .block = options.block}),
        lanes(make_lanes()),
        fleets(options),
        causes(maker) {
    totals.options = options;
  }

  bool resolve(chat::ApiRequest& request, std::uint64_t line);
  void compare(ReplayStep& step);
  void learn_answer(ReplayStep& step);
  void add_answer(const ConversationState& state, bool is_late);
  bool make_prompts(ReplayStep& step);
  void begin_next(ReplayStep& step);
  void serve(const ConversationState& next);
  void serve_marked(ReplayStep& step);
  void blame(ReplayStep& step);
  void blame_instructions(const ReplayStep& step);
  void blame(const FoundCause& cause, std::uint64_t line, std::uint64_t lost);
  void note(const LogEntry& entry);
  void keep(ReplayStep& step, bool is_branch, chat::ApiReply* reply);

  PromptMaker maker;
  ConversationStore store;
  Rewriter rewriter;
  cache::Policies caches;
  cache::Breakpoints breakpoints;
  std::vector<Lane> lanes;
  ReplayFleets fleets;
  CauseFinder causes;
  SkipCounter skipped;
  std::vector<SkippedLines> log_skipped;
  ReplayReport totals;
};

// Replaces a reference to earlier replies by the messages of those replies.
bool Replay::State::resolve(chat::ApiRequest& request, std::uint64_t line) {
  if (request.previous_response.empty()) return true;
  const ConversationState* known = store.find_reply(request.previous_response);
  if (known == nullptr) {
    skipped.add("the reply that it continues is not in the log", line, "`" + request.previous_response + "`");
    return false;
  }
  json::Array messages;
  auto own = request.messages.begin();
  if (request.has_instructions) messages.push_back(std::move(*own++));
  const json::Array& old = known->last.messages;
  messages.insert(messages.end(), old.begin() + (known->last.has_instructions ? 1 : 0), old.end());
  messages.insert(messages.end(), std::make_move_iterator(own), std::make_move_iterator(request.messages.end()));
  request.messages = std::move(messages);
  return true;
}

void Replay::State::compare(ReplayStep& step) {
  const Incoming& before = step.parent->last;
  const Incoming& after = step.request;
  step.comparison = compare_requests({before.messages, before.marks, &before.tools, before.tool_hashes, &before.kwargs},
                                     step.parent->answers,
                                     {after.messages, after.marks, &after.tools, after.tool_hashes, &after.kwargs});
  Rewriter::note_first_forms(*step.parent, after, step.comparison);
}

// Without replies in the log, the answer is the assistant message that follows the parent's messages.
void Replay::State::learn_answer(ReplayStep& step) {
  ConversationState& parent = *step.parent;
  Comparison& comparison = step.comparison;
  const json::Array& messages = step.request.messages;
  if (parent.answers != 0 || !comparison.is_continuation || comparison.appended_from >= messages.size()) return;
  const json::Value& answer = messages[comparison.appended_from];
  if (answer.find_string("role") != "assistant") return;
  Sheet sheet = maker.sheet(parent.last.messages, parent.last.tools, parent.last.kwargs, parent.last.now);
  parent.completion = maker.sampled(sheet, *parent.prompts[0], answer);
  ++comparison.appended_from;
  ++totals.answers_from_requests;
  add_answer(parent, true);
}

void Replay::State::add_answer(const ConversationState& state, bool is_late) {
  const auto add = [&](const Lane& lane, cache::Policies& to) {
    const std::span<const TokenId> prompt = lane.ids(state);
    std::vector<TokenId> ids(prompt.begin(), prompt.end());
    ids.insert(ids.end(), state.completion.begin(), state.completion.end());
    if (is_late) {
      to.add_late(ids, prompt.size());
    } else {
      to.add(ids);
    }
  };
  add(lanes.front(), caches);
  for (Lane& lane : lanes) {
    if (lane.caches) add(lane, *lane.caches);
  }
  fleets.add_answer(state, is_late);
}

bool Replay::State::make_prompts(ReplayStep& step) {
  const Incoming& request = step.request;
  const ConversationState* known = step.parent == nullptr ? store.latest() : step.parent;
  step.sheets[0] = maker.sheet(request.messages, request.tools, request.kwargs, request.now);
  auto prompt = maker.prompt(*step.sheets[0], known == nullptr ? nullptr : &*known->prompts[0]);
  if (!prompt.ok()) {
    skipped.add("refused by the template", request.line, prompt.error().message);
    return false;
  }
  step.next.prompts[0] = std::move(prompt).value();
  for (std::size_t set = 1; set < kRewriteSets; ++set) {
    auto rewritten = rewriter.rewrite(static_cast<RewriteSet>(set), request, step.parent);
    if (!rewritten) continue;
    Sheet sheet = maker.sheet(rewritten->messages, rewritten->tools, request.kwargs, rewritten->now);
    auto other = maker.prompt(sheet, known == nullptr ? &step.sent() : &known->prompt(set));
    if (!other.ok() || other.value().ids == step.sent().ids) continue;
    step.sheets[set] = std::move(sheet);
    step.next.prompts[set] = std::move(other).value();
  }
  return true;
}

void Replay::State::begin_next(ReplayStep& step) {
  ConversationState& next = step.next;
  if (step.parent != nullptr) {
    next.instructions = step.parent->instructions;
    next.first_now = step.parent->first_now;
    next.first_forms = step.parent->first_forms;
    next.requests = step.parent->requests;
  } else {
    const auto count = static_cast<std::ptrdiff_t>(step.request.shapes.size());
    next.instructions.assign(step.request.messages.begin(), step.request.messages.begin() + count);
    next.first_now = step.request.now;
  }
  ++next.requests;
}

// Serves the request in all lanes.  A lane that was like the first one until now copies its caches when they diverge.
void Replay::State::serve(const ConversationState& next) {
  for (Lane& lane : lanes) {
    const bool is_rewritten = lane.set != RewriteSet::kNone && next.prompts[static_cast<std::size_t>(lane.set)];
    if (!is_rewritten && !(lane.bridge && next.bridged[*lane.bridge])) continue;
    if (!lane.caches) lane.caches = caches;
    ++lane.out.changed;
  }
  const cache::Hits sent = caches.serve(next.prompts[0]->ids);
  for (Lane& lane : lanes) {
    const std::span<const TokenId> ids = lane.ids(next);
    const cache::Hits hits = lane.caches ? lane.caches->serve(ids) : sent;
    lane.out.prompt_tokens += ids.size();
    lane.radix_hits = hits[Policy::kRadix];
    for (std::size_t i = 0; i < hits.tokens.size(); ++i) lane.out.hits[i] += hits.tokens[i];
  }
}

// Serves the request as sent, with the caching that its breakpoints ask for.
void Replay::State::serve_marked(ReplayStep& step) {
  const Incoming& request = step.request;
  const jinja::Rendered* rendered = request.cache_marks.empty() ? nullptr : traced(maker, step);
  if (rendered == nullptr) return;
  const MarkedPrompt marked = find_marks(*rendered, step.sent(), request.messages.size(), request.cache_marks);
  const auto now = request.now ? std::optional(seconds_of(*request.now)) : std::nullopt;
  const cache::BreakpointHits hits = breakpoints.serve(step.sent().ids, marked.breakpoints, marked.block_ends, now);
  ++totals.marks.requests;
  totals.marks.prompt_tokens += step.sent().ids.size();
  totals.marks.read_tokens += hits.read;
  totals.marks.written_tokens += hits.written;
  totals.marks.expired_tokens += hits.expired;
}

void Replay::State::blame(const FoundCause& cause, std::uint64_t line, std::uint64_t lost) {
  const auto same = [&cause](const ReplayCause& known) { return known.name == cause.name && known.line == cause.line; };
  auto known = std::ranges::find_if(totals.causes, same);
  if (known == totals.causes.end()) {
    if (totals.causes.size() >= kMostCauses) return;
    totals.causes.push_back({cause.name, 0, 0, cause.line, {}});
    known = std::prev(totals.causes.end());
  }
  ++known->requests;
  known->lost_tokens += lost;
  if (known->examples.size() < kMostExamples)
    known->examples.push_back({line, cause.path, cause.sentence, cause.before, cause.after, lost});
}

// Blames the first request of a conversation if other conversations begin with the same instructions except for a few
// words.
void Replay::State::blame_instructions(const ReplayStep& step) {
  for (const RewriteSet set : {RewriteSet::kStableHeader, RewriteSet::kStableDate}) {
    const auto& sheet = step.sheets[static_cast<std::size_t>(set)];
    if (!sheet) continue;
    const Lane& lane = *std::ranges::find_if(lanes, [set](const Lane& l) { return l.set == set && !l.bridge; });
    if (lane.radix_hits <= lanes.front().radix_hits) continue;
    FoundCause cause;
    cause.name = to_string(set == RewriteSet::kStableHeader ? ChangeKind::kVolatileHeader : ChangeKind::kDate);
    for (std::size_t i = 0; i < step.request.shapes.size(); ++i) {
      const std::vector<TextChange> changes = text_changes(chat::content_text(PromptMaker::messages_of(*sheet)[i]),
                                                           chat::content_text(step.request.messages[i]));
      if (changes.empty()) continue;
      cause.path = "messages[" + std::to_string(i) + "].content";
      cause.sentence = "byte " + std::to_string(changes[0].begin) + " of the system text differs between conversations";
      cause.before = changes[0].before.substr(0, 80);
      cause.after = changes[0].after.substr(0, 80);
      break;
    }
    blame(cause, step.request.line, lane.radix_hits - lanes.front().radix_hits);
  }
}

void Replay::State::blame(ReplayStep& step) {
  if (step.parent == nullptr) return blame_instructions(step);
  const std::vector<TokenId>& ids = step.sent().ids;
  const ConversationState& parent = *step.parent;
  const std::size_t full = parent.prompts[0]->ids.size() + parent.completion.size();
  const std::size_t kept = common_ids(parent.prompts[0]->ids, parent.completion, ids);
  if (kept < full) {
    const FoundCause cause = causes.find(step, kept);
    const bool is_branch = cause.name == to_string(ChangeKind::kBranched);
    blame(cause, step.request.line, is_branch ? 0 : std::min(full, ids.size()) - kept);
  }
  const std::size_t expected = limited(kept, ids.size());
  const std::uint64_t found = lanes.front().radix_hits;
  if (found < expected)
    blame({"eviction", "", "the cache had forgotten it", "", "", 0}, step.request.line, expected - found);
}

void Replay::State::note(const LogEntry& entry) {
  ++totals.requests;
  count(totals.apis, std::string(to_string(entry.request.api)));
  if (!entry.request.model.empty()) count(totals.models, entry.request.model);
  for (const std::string& note : entry.request.notes) {
    // The place is left out of the note.
    const std::size_t at = note.find(" of messages[");
    const std::size_t item = note.find(" at input[");
    count(totals.notes, note.substr(0, std::min(at, item)));
  }
  if (!entry.reply || !entry.reply->prompt_tokens) return;
  totals.measured_prompt_tokens += static_cast<std::uint64_t>(std::max<std::int64_t>(*entry.reply->prompt_tokens, 0));
  totals.measured_cached_tokens +=
      static_cast<std::uint64_t>(std::max<std::int64_t>(entry.reply->cached_tokens.value_or(0), 0));
}

Replay::Replay(PromptMaker::Parts parts, const ReplayOptions& options)
    : state_(std::make_unique<State>(std::move(parts), options)) {}

Replay::~Replay() = default;

void Replay::feed(LogEntry entry) {
  State& state = *state_;
  if (!state.resolve(entry.request, entry.line)) return;
  ReplayStep step;
  step.request = make_incoming(entry.request, entry.line, entry.time);
  step.parent = state.store.find(step.request);
  if (step.parent != nullptr) {
    state.compare(step);
    state.learn_answer(step);
  }
  if (!state.make_prompts(step)) return;
  state.note(entry);
  state.begin_next(step);
  for (const Lane& lane : state.lanes) {
    if (lane.bridge) step.next.bridged[*lane.bridge] = bridged_ids(state.maker, step, lane.set, *lane.bridge);
  }
  state.serve(step.next);
  state.fleets.serve(step.next, step.request, step.parent);
  state.serve_marked(step);
  state.blame(step);
  const bool is_branch = std::ranges::any_of(step.comparison.changes,
                                             [](const Change& change) { return change.kind == ChangeKind::kBranched; });
  if (step.parent == nullptr) ++state.totals.conversations;
  if (is_branch) ++state.totals.branches;
  state.keep(step, is_branch, entry.reply ? &*entry.reply : nullptr);
}

void Replay::State::keep(ReplayStep& step, bool is_branch, chat::ApiReply* reply) {
  ConversationState& next = step.next;
  next.last = std::move(step.request);
  const bool has_reply = reply != nullptr && !reply->messages.empty();
  if (has_reply) next.completion = maker.sampled(*step.sheets[0], *next.prompts[0], reply->messages[0]);
  ConversationState& kept = store.put(std::move(next), is_branch ? nullptr : step.parent);
  if (!has_reply) return;
  ++totals.answers_from_log;
  kept.reply_id = reply->id;
  kept.answers = reply->messages.size();
  for (json::Value& message : reply->messages) kept.last.messages.push_back(std::move(message));
  store.add_answer(kept);
  add_answer(kept, false);
}

void Replay::note_log(const LogReader& reader) {
  state_->totals.lines = reader.lines();
  state_->totals.bytes = reader.bytes();
  state_->log_skipped = reader.skipped();
}

ReplayReport Replay::report() const {
  ReplayReport out = state_->totals;
  out.skipped = state_->log_skipped;
  const std::vector<SkippedLines>& refused = state_->skipped.reasons();
  out.skipped.insert(out.skipped.end(), refused.begin(), refused.end());
  out.forgotten = state_->store.forgotten();
  for (const Lane& lane : state_->lanes) out.lanes.push_back(lane.out);
  out.fleets = state_->fleets.report();
  std::ranges::sort(out.causes, [](const ReplayCause& a, const ReplayCause& b) {
    return a.lost_tokens != b.lost_tokens ? a.lost_tokens > b.lost_tokens
                                          : std::tie(a.name, a.line) < std::tie(b.name, b.line);
  });
  return out;
}

}  // namespace rondo::replay
