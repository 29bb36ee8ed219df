#include "spans/spans.h"

#include <map>
#include <string>
#include <utility>

#include "base/shared_text.h"
#include "json/parse.h"
#include "json/print.h"
#include "spans/visible.h"

namespace rondo::spans {
namespace {

// Joins two messages: their texts, and then their calls.
json::Value joined(const json::Value& begin, const json::Value& rest) {
  json::Value out = begin;
  json::Object& whole = out.as_object();
  for (const json::Member& member : rest.as_object()) {
    json::Value* there = whole.find(member.key);
    if (there == nullptr || there->is_null()) {
      whole.set(member.key, member.value);
    } else if (member.key == "content") {
      *there = chat::content_text(begin) + chat::content_text(rest);
    } else if (there->is_array() && member.value.is_array()) {
      for (const json::Value& item : member.value.as_array()) there->as_array().push_back(item);
    }
  }
  return out;
}

// `seen` up to message `count`, plus one message.
Visible seen_with(const Scope& scope, const Visible& seen, std::size_t count, const Digest& message) {
  Visible out;
  out.context = seen.context;
  out.messages.assign(seen.messages.begin(), seen.messages.begin() + static_cast<std::ptrdiff_t>(count));
  out.chain.assign(seen.chain.begin(), seen.chain.begin() + static_cast<std::ptrdiff_t>(count) + 1);
  see_next(scope, message, out);
  return out;
}

// The hashes under which the reply to `plan` is found.
std::vector<Digest> hashes_for(const Scope& scope, const Plan& plan, const NewReply& reply, const json::Value& whole,
                               const json::Value& shown) {
  std::vector<Digest> out;
  if (reply.inexact && reply.completion.empty()) return out;  // nothing can continue from it
  out = hashes_of(scope, seen_with(scope, plan.asked.seen, plan.asked.seen_own, reply.visible), plan.asked.seen_own);
  if (plan.asked.continued) {
    // Some clients keep a continued message and its continuation as two messages.
    const std::size_t count = plan.asked.seen.messages.size();
    const Digest alone = message_digest(scope, {shown}, 0);
    const auto apart = hashes_of(scope, seen_with(scope, plan.asked.seen, count, alone), count);
    out.insert(out.end(), apart.begin(), apart.begin() + 2);
  }
  // A client that did not get the end of a call leaves the call out.
  const json::Value* calls = whole.find("tool_calls");
  if (reply.finish != Finish::kStop && calls != nullptr && calls->is_array() && !calls->as_array().empty()) {
    json::Value told = whole;
    told.as_object().find("tool_calls")->as_array().pop_back();
    const Digest without = message_digest(scope, {told}, 0);
    out.push_back(
        hashes_of(scope, seen_with(scope, plan.asked.seen, plan.asked.seen_own, without), plan.asked.seen_own).front());
  }
  for (const std::string& id : reply.ids) {
    if (is_short_id(id)) out.push_back(short_id_digest(scope, id));
  }
  out.insert(out.end(), plan.filing.new_heads.begin(), plan.filing.new_heads.end());
  return out;
}

// Adds the messages before the reply.  A record refers to the parent's messages, so a long conversation is not written
// again at each turn.
void add_messages(const Plan& plan, std::vector<SharedText>& out) {
  out.reserve(plan.asked.messages.size());
  for (std::size_t i = 0; i < plan.asked.messages.size(); ++i) {
    if (plan.parent == nullptr || i >= plan.kept_messages) {
      out.emplace_back(json::to_compact(plan.asked.messages[i]));
    } else {
      const std::vector<SharedText>& known = plan.parent->messages;
      out.push_back(i < known.size() ? known[i] : SharedText(plan.parent->message));
    }
  }
}

}  // namespace

Result<Digest> Spans::keep(const Scope& scope, const Plan& plan, NewReply reply, Store::Kept kept) {
  auto parsed = json::parse(reply.message);
  if (!parsed.ok()) return parsed.error();
  if (!parsed.value().is_object()) return Error(ErrorCode::kInvalidArgument, "a reply is kept as a message, an object");
  if (!reply.logprobs.empty() && reply.logprobs.size() != reply.completion.size())
    return Error(ErrorCode::kInvalidArgument, "a reply of " + std::to_string(reply.completion.size()) + " ids has " +
                                                  std::to_string(reply.logprobs.size()) + " logprobs");
  const json::Value whole = plan.asked.continued && plan.asked.continued->is_object()
                                ? joined(*plan.asked.continued, parsed.value())
                                : parsed.value();
  reply.message = json::to_compact(whole);
  reply.visible = message_digest(scope, {whole}, 0);
  reply.prefill = plan.prefill;
  reply.parent.reset();
  const Digest digest = turn_digest(scope, reply.key);
  const Digest own_session = plan.filing.session.value_or(session(scope, reply.key.view()));
  StoredTurn stored{
      scope.id(), own_session,        digest,       std::nullopt, hashes_for(scope, plan, reply, whole, parsed.value()),
      "",         reply.session_name, reply.time_ms};
  auto turn = std::make_shared<Turn>();
  static_cast<Reply&>(*turn) = reply;
  turn->prompt = plan.ids;
  turn->owners = plan.owners;
  turn->sampled = plan.sampled;
  turn->context = plan.context;
  turn->reasoned = plan.reasoned;
  if (reply.reasoned && (turn->reasoned.empty() || turn->reasoned.back() != plan.asked.messages.size()))
    turn->reasoned.push_back(plan.asked.messages.size());
  add_messages(plan, turn->messages);
  if (plan.parent == nullptr || !plan.filing.in_parents_session) {
    stored.record = encode_record(make_record(*turn, nullptr, 0));
    cache_.add(digest, turn);
    store_.put(std::move(stored), std::move(kept));
    return own_session;
  }
  turn->parent = plan.parent->key;
  stored.parent = turn_digest(scope, *turn->parent);
  StoredTurn again = stored;
  stored.record = encode_record(make_record(*turn, plan.parent.get(), plan.kept_messages));
  cache_.add(digest, turn);
  store_.put(std::move(stored),
             [this, turn, again = std::move(again), kept = std::move(kept)](const Status& done) mutable {
               if (done.ok() || done.error().code != ErrorCode::kNotFound) {
                 if (kept) kept(done);
                 return;
               }
               // The parent was forgotten in the meantime, so the turn is kept on its own.
               Turn alone = *turn;
               alone.parent.reset();
               again.parent.reset();
               again.record = encode_record(make_record(alone, nullptr, 0));
               store_.put(std::move(again), std::move(kept));
             });
  return own_session;
}

Result<std::vector<Turn>> Spans::turns(const Scope& scope, const Digest& session) const {
  const auto stored = store_.turns(scope.id(), session);
  if (!stored.ok()) return stored.error();
  std::map<TurnKey, std::size_t> places;
  std::vector<Turn> out;
  out.reserve(stored.value().size());  // parents are pointers into it
  for (const std::string& bytes : stored.value()) {
    const Result<Record> record = decode_record(bytes);
    if (!record.ok()) continue;
    const auto parent = record.value().parent ? places.find(*record.value().parent) : places.end();
    Result<Turn> whole = assemble_on(parent == places.end() ? nullptr : &out[parent->second], record.value());
    if (!whole.ok()) continue;
    places.emplace(record.value().key, out.size());
    out.push_back(std::move(whole).value());
  }
  return out;
}

CallIdShape call_id_shape(const core::Model& model, core::Call& call) {
  const auto rules = model.shaping_rules(call);
  const bool is_short = rules.ok() && rules.value()->ids == tmpl::MessageRules::Ids::kNineLetters;
  return is_short ? CallIdShape::kNineLetters : CallIdShape::kAny;
}

}  // namespace rondo::spans
