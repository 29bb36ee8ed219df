#include "spans/planner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/common_prefix.h"
#include "chat/conversation.h"
#include "core/fields.h"
#include "json/parse.h"
#include "json/print.h"
#include "spans/compose.h"
#include "spans/cut_reply.h"
#include "spans/loss.h"

namespace rondo::spans {
namespace {

// How many damaged turns are skipped before everything is rendered.
constexpr std::size_t kMostDamaged = 16;

std::string context_of(const core::Call& call, const core::Model& model) {
  const chat::Conversation& conversation = call.conversation;
  json::Object out;
  if (conversation.tools) out.set("tools", *conversation.tools);
  if (conversation.documents) out.set("documents", *conversation.documents);
  if (call.now && model.shows_time(conversation.tools.has_value())) out.set("now", core::time_text(*call.now));
  return out.empty() ? "" : json::to_compact(json::Value(std::move(out)));
}

// One request on its way to a plan.
class Planning {
 public:
  Planning(Store& store, TurnCache& cache, const core::Model& model, const Scope& scope, PlanRequest request)
      : store_(store), cache_(cache), model_(model), scope_(scope), request_(std::move(request)) {}

  Result<Plan> run() {
    chat::Conversation& conversation = request_.call.conversation;
    const Status fine = chat::check_messages(conversation.messages, "messages");
    if (!fine.ok()) return fine.error();
    plan_.asked.seen = see(scope_, conversation);
    plan_.asked.seen_own = conversation.messages.size();
    plan_.filing.session = request_.session;
    if (Status found = find(); !found.ok()) return found.error();
    take_time();
    plan_.context = context_of(request_.call, model_);
    take_apart();
    take_call_ids();
    Composer composer(model_, request_, known_, plan_);
    if (Status composed = composer.run(); !composed.ok()) return composed.error();
    count();
    return std::move(plan_);
  }

 private:
  // Finds the turns that are known and intact.
  Status find() {
    FindOptions options{.session = request_.session, .echoed = std::move(request_.echoed)};
    const json::Array& messages = request_.call.conversation.messages;
    while (true) {
      auto found = find_turns(store_, scope_, messages, plan_.asked.seen, options);
      if (!found.ok()) return found.error();
      findings_ = std::move(found).value();
      if (!findings_.parent) break;
      const Result<bool> taken = take_parent(options);
      if (!taken.ok()) return taken.error();
      if (taken.value() || options.without.size() == kMostDamaged) break;
    }
    plan_.filing.new_heads = std::move(findings_.new_heads);
    spare_continued();
    if (findings_.parent) {
      known_.parent_message = findings_.parent->message;
      plan_.filing.in_parents_session = !request_.session || *request_.session == findings_.parent->session;
      if (!plan_.filing.session) plan_.filing.session = findings_.parent->session;
    }
    return load_later();
  }

  // Loads the parent that was found.  Returns false if it is of no use; then the options leave it out.
  Result<bool> take_parent(FindOptions& options) {
    auto parent = load_turn(store_, cache_, scope_, findings_.parent->turn);
    if (!parent.ok()) return parent.error();
    plan_.parent = std::move(parent).value();
    const auto changed = plan_.parent == nullptr ? std::nullopt : changed_reasoning(*plan_.parent);
    if (plan_.parent != nullptr && !changed && (!findings_.parent_is_cut || cut_parent())) return true;
    if (changed) {
      options.parent_before = *changed;
    } else {
      options.without.push_back(findings_.parent->turn);
    }
    plan_.parent.reset();
    findings_.parent.reset();
    return false;
  }

  // Leaves of the parent's reply what the client shows.  Returns false if its ids cannot be cut there.
  bool cut_parent() {
    const chat::Conversation& conversation = request_.call.conversation;
    plan_.parent = cut_to_shown(model_, request_.call, *plan_.parent, conversation.messages[findings_.parent->message]);
    if (plan_.parent == nullptr) return false;
    known_.is_cut = true;
    plan_.notes.emplace_back("a reply that was cut off ends where the text ends that its client has of it");
    return true;
  }

  // A beginning that the client gives to the reply is no edit of what the model once answered.
  void spare_continued() {
    const chat::Conversation& conversation = request_.call.conversation;
    if (!conversation.continue_final_message || findings_.edited.empty()) return;
    const Match last = findings_.edited.back();
    if (last.message + 1 != conversation.messages.size()) return;
    findings_.edited.pop_back();
    if (!findings_.twin) findings_.twin = last;
  }

  Status load_later() {
    for (const Match& match : std::exchange(findings_.later, {})) {
      auto turn = load_turn(store_, cache_, scope_, match.turn);
      if (!turn.ok()) return turn.error();
      if (turn.value() != nullptr && is_other_reasoning(turn.value()->message, match.message)) {
        findings_.edited.push_back(match);
        continue;
      }
      findings_.later.push_back(match);
      if (turn.value() != nullptr) known_.later.push_back({match.message, std::move(turn).value()});
    }
    return Done{};
  }

  // Whether the client shows other reasoning in a message than this text of it has.
  [[nodiscard]] bool is_other_reasoning(std::string_view text, std::size_t message) const {
    const chat::Conversation& conversation = request_.call.conversation;
    const json::Value& shown = conversation.messages[message];
    if (shown.find_string("role") != "assistant") return false;
    if (!shows_reasoning(shown)) return false;  // no reasoning is not other reasoning
    const bool is_continued = conversation.continue_final_message && message + 1 == conversation.messages.size();
    const auto said = json::parse(text);
    return said.ok() && has_other_reasoning(said.value(), shown, is_continued);
  }

  // The first message of the turn whose reasoning the client has changed.
  [[nodiscard]] std::optional<std::size_t> changed_reasoning(const Turn& turn) const {
    const std::size_t reply = turn.messages.size();
    for (std::size_t i = 0; i < reply && i < findings_.parent->message; ++i) {
      if (is_other_reasoning(turn.messages[i], i)) return i;
    }
    // A continued message and its continuation may be shown as two messages.
    const std::size_t shown = findings_.parent->message;
    return reply == shown && is_other_reasoning(turn.message, shown) ? std::optional(shown) : std::nullopt;
  }

  // A conversation keeps the time of its first request.
  void take_time() {
    const Turn* known = plan_.parent.get();
    if (known == nullptr && !known_.later.empty()) known = known_.later.front().turn.get();
    const auto context = json::parse(known == nullptr ? "" : known->context);
    const auto kept = context.ok() ? context.value().find_string("now") : std::nullopt;
    if (const auto time = core::parse_time(kept.value_or("")); time) request_.call.now = time;
    plan_.now = request_.call.now;
  }

  // Splits the conversation for planning.  A continued message and its continuation, which the client shows as two
  // messages, become one reply.  A message that is to be continued is set apart.
  void take_apart() {
    chat::Conversation& conversation = request_.call.conversation;
    json::Array& messages = conversation.messages;
    if (plan_.parent != nullptr && plan_.parent->messages.size() + 1 == known_.parent_message) {
      const auto at = messages.begin() + static_cast<std::ptrdiff_t>(known_.parent_message);
      auto whole = json::parse(plan_.parent->message);
      if (whole.ok()) *at = std::move(whole).value();
      messages.erase(at - 1);
      --known_.parent_message;
      for (KnownReply& reply : known_.later) --reply.message;
    }
    if (!conversation.continue_final_message || messages.empty()) return;
    --plan_.asked.seen_own;
    plan_.asked.continued = messages.back();
    known_.continues_parent = plan_.parent != nullptr && known_.parent_message + 1 == messages.size();
    // A continued message is not in the history as it was sampled, unless it is the parent's.
    if (!known_.later.empty() && known_.later.back().message + 1 == messages.size()) known_.later.pop_back();
  }

  // Gives calls and their results the ids that the calls have in the tokens.
  void take_call_ids() {
    json::Array& messages = request_.call.conversation.messages;
    const auto take = [&](const Turn& turn, std::size_t reply) {
      if (!has_results(messages, reply)) return CallIds();
      CallIds ids = sampled_call_ids(model_, request_.call, turn);
      use_call_ids(ids, turn, reply, messages);
      return ids;
    };
    if (plan_.parent != nullptr && known_.parent_message < messages.size())
      (void)take(*plan_.parent, known_.parent_message);
    for (KnownReply& reply : known_.later) reply.call_ids = take(*reply.turn, reply.message);
  }

  void count() {
    plan_.asked.messages = std::move(request_.call.conversation.messages);
    if (plan_.asked.continued) plan_.asked.messages.pop_back();
    count_reasoning();
    std::size_t known = 0;
    const auto compare = [&](const Turn& turn) {
      const std::span<const TokenId> ids = plan_.ids;
      std::size_t same = common_prefix(turn.prompt, ids);
      const std::size_t size = turn.prompt.size() + (turn.inexact ? 0 : turn.completion.size());
      if (same == turn.prompt.size() && !turn.inexact) same += common_prefix(turn.completion, ids.subspan(same));
      known = std::max(known, same);
      return size - same;
    };
    if (plan_.parent != nullptr) (void)compare(*plan_.parent);
    for (const Match* match : other_turns()) {
      const auto turn = load_turn(store_, cache_, scope_, match->turn);
      if (!turn.ok() || turn.value() == nullptr) continue;
      const std::size_t lost = compare(*turn.value());
      const bool is_twin = findings_.twin && match == &*findings_.twin;
      if (lost > 0 && !is_twin && !plan_.cause)
        plan_.cause = loss_between(*turn.value(), request_.call.conversation, plan_.asked.messages, match->message,
                                   shown_at(match->message), lost);
    }
    const std::size_t own = known;
    const auto head =
        findings_.head ? load_turn(store_, cache_, scope_, findings_.head->turn) : std::shared_ptr<const Turn>();
    if (head.ok() && head.value() != nullptr) (void)compare(*head.value());
    plan_.is_shared = own == 0 && known > 0;
    plan_.expected = known;
    if (!plan_.cause && plan_.parent == nullptr && known_.later.empty() && !findings_.unknown.empty())
      plan_.cause = loss_of_unknown(findings_.unknown.back());
  }

  [[nodiscard]] const json::Value* shown_at(std::size_t message) const {
    return message < plan_.asked.messages.size() ? &plan_.asked.messages[message] : nullptr;
  }

  // Turns that the prompt might have continued, the last one first.
  [[nodiscard]] std::vector<const Match*> other_turns() const {
    std::vector<const Match*> out;
    if (!findings_.later.empty()) out.push_back(&findings_.later.back());
    if (!findings_.edited.empty()) out.push_back(&findings_.edited.back());
    if (findings_.later.size() > 1) out.push_back(&findings_.later.front());
    if (findings_.twin) out.push_back(&*findings_.twin);
    return out;
  }

  void count_reasoning() {
    if (plan_.parent != nullptr) {
      const std::size_t own = plan_.parent->messages.size();
      for (const std::size_t message : plan_.parent->reasoned) {
        if (message < plan_.kept_messages || (message == own && (known_.continues_parent || known_.is_cut)))
          plan_.reasoned.push_back(message);
      }
    }
    for (const KnownReply& reply : known_.later) {
      const std::vector<std::size_t>& reasoned = reply.turn->reasoned;
      if (!reasoned.empty() && reasoned.back() == reply.turn->messages.size()) plan_.reasoned.push_back(reply.message);
    }
    for (const std::size_t message : plan_.reasoned) {
      if (message < plan_.asked.messages.size() && !shows_reasoning(plan_.asked.messages[message]))
        ++plan_.reattached_reasoning;
    }
  }

  Store& store_;
  TurnCache& cache_;
  const core::Model& model_;
  const Scope& scope_;
  PlanRequest request_;
  Findings findings_;
  Known known_;
  Plan plan_;
};

}  // namespace

Result<Plan> Planner::plan(const core::Model& model, const Scope& scope, PlanRequest request) const {
  return Planning(store_, cache_, model, scope, std::move(request)).run();
}

}  // namespace rondo::spans
