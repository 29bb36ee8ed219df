#include "spans/compose.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "chat/reasoning_fields.h"
#include "json/parse.h"
#include "spans/reading.h"
#include "spans/visible.h"

namespace rondo::spans {
namespace {

using render::Retention;

// From this many messages on, it pays to find out which of them the template reads (core::Model::append).
constexpr std::size_t kLongHistory = 8;

bool has_role(const json::Value& message, std::string_view role) { return message.find_string("role") == role; }

void append(std::vector<std::string>& to, std::vector<std::string>& from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

Status Composer::run() {
  Status composed = compose_all();
  plan_.ids = std::move(ids_);
  plan_.owners = std::move(owners_);
  plan_.sampled = std::move(sampled_);
  return composed;
}

Status Composer::compose_all() {
  if (plan_.parent != nullptr) {
    const Turn& parent = *plan_.parent;
    const std::span<const TokenId> prompt = parent.prompt;
    begun_ = prompt.first(prompt.size() - parent.prefill);
    const std::span<const TokenId> prefill = prompt.last(parent.prefill);
    replied_.assign(prefill.begin(), prefill.end());
    replied_.insert(replied_.end(), parent.completion.begin(), parent.completion.end());
    plan_.kept_messages = parent.messages.size() + (known_.is_cut ? 0 : 1);
  }
  if (known_.continues_parent) return continue_parent();
  // Some templates do not write a conversation without messages, but one whose only message is continued.
  const bool is_alone = plan_.asked.continued && request_.call.conversation.messages.size() == 1;
  if (Status composed = compose(); !composed.ok() && !is_alone) return composed;
  return plan_.asked.continued ? add_prefill() : Status(Done{});
}

core::Call Composer::call_without_continued() const {
  core::Call call = request_.call;
  call.has_messages = true;
  call.conversation.add_generation_prompt = true;
  if (plan_.asked.continued) call.conversation.messages.pop_back();
  call.conversation.continue_final_message.reset();
  return call;
}

bool Composer::has_turns_behind(std::size_t message) const {
  const json::Array& messages = request_.call.conversation.messages;
  const auto end = messages.end() - (plan_.asked.continued ? 1 : 0);
  return std::any_of(messages.begin() + static_cast<std::ptrdiff_t>(message) + 1, end,
                     [](const json::Value& next) { return has_role(next, "assistant"); });
}

// Composes everything except a continued message.
Status Composer::compose() {
  const std::size_t count = request_.call.conversation.messages.size() - (plan_.asked.continued ? 1 : 0);
  if (plan_.parent != nullptr && known_.later.empty() && known_.parent_message + 1 < count &&
      !has_turns_behind(known_.parent_message)) {
    if (bridge().ok()) return Done{};
  }
  // A template may accept one way of composing and refuse another.
  std::string refused;
  for (const auto& [with_parent, with_later] :
       {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
    const bool is_possible = (!with_parent || plan_.parent != nullptr) && (!with_later || !known_.later.empty());
    if (!is_possible) continue;
    const Status done = raw_turns(with_parent, with_later);
    if (done.ok() && !refused.empty())
      plan_.notes.push_back("some turns do not stand as they were sampled: " + refused);
    if (done.ok()) return done;
    refused = done.error().message;
  }
  plan_.kept_messages = 0;
  Status rendered = render(call_without_continued());
  if (rendered.ok() && !refused.empty()) plan_.notes.push_back("turns do not stand as they were sampled: " + refused);
  return rendered;
}

void Composer::put_known(const Turn& turn, std::size_t reply) {
  constexpr std::size_t kMore = 1024;  // nearly always enough room for what is appended
  const std::size_t room = turn.prompt.size() + turn.completion.size() + kMore;
  const auto put = [room](auto& row, const auto& from) {
    row.clear();
    row.reserve(room);
    row.insert(row.end(), from.begin(), from.end());
  };
  put(ids_, turn.prompt);
  ids_.insert(ids_.end(), turn.completion.begin(), turn.completion.end());
  put(owners_, turn.owners);
  put(sampled_, turn.sampled);
  owners_.resize(ids_.size(), static_cast<std::int32_t>(reply));
  sampled_.resize(ids_.size(), 1);
}

void Composer::put_appended(std::span<const TokenId> ids, std::span<const std::int32_t> owners,
                            std::size_t first_message) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  for (const std::int32_t owner : owners)
    owners_.push_back(owner < 0 ? -1 : owner + static_cast<std::int32_t>(first_message));
  sampled_.resize(ids_.size(), 0);
  plan_.appended = ids.size();
}

// Marks the sampled part of a reply that begins at `begin`.  The part that the client began it with was not sampled.
void Composer::mark_sampled(const Turn& turn, std::size_t begin) {
  const auto from = sampled_.begin() + static_cast<std::ptrdiff_t>(std::min(begin, sampled_.size()));
  if (static_cast<std::size_t>(sampled_.end() - from) < turn.prefill + turn.completion.size()) return;
  const auto behind =
      std::copy(turn.sampled.end() - static_cast<std::ptrdiff_t>(turn.prefill), turn.sampled.end(), from);
  std::fill_n(behind, turn.completion.size(), 1);
}

// The end of a reply's content that its client does not have: a stop text, what was held back when the client left, white
// space that the client cut off.
std::string Composer::hidden_end(std::string_view content) const {
  const auto behind = [&](const json::Value& message) {
    const auto shown = message.find_string("content");
    return shown && content.starts_with(*shown) ? std::optional(content.substr(shown->size())) : std::nullopt;
  };
  if (plan_.asked.continued) {
    if (const auto hidden = behind(*plan_.asked.continued)) return std::string(*hidden);
  }
  const auto known = json::parse(plan_.parent->message);
  return known.ok() ? std::string(behind(known.value()).value_or("")) : "";
}

// Nothing goes on behind what the client does not have.  nullopt: it has the whole reply.
std::optional<Composer::ShownReply> Composer::shown_reply() const {
  constexpr std::size_t kMostTried = 64;  // ids that stand for one character, or for white space before it
  core::Call call = call_without_continued();
  const auto said = model_.parse_ids(call, parsing_of(call, begun_), replied_);
  if (!said.ok()) return std::nullopt;
  const std::string& text = said.value().text;
  const std::string hidden = hidden_end(said.value().message.content);
  const std::size_t end = hidden.empty() ? std::string::npos : text.rfind(hidden);
  if (end == std::string::npos) return std::nullopt;
  // The last id may be shown in part.  The shown rest is written anew, as it is spelled behind its beginning.
  const std::string_view shown = std::string_view(text).substr(0, end);
  const auto pieces = model_.tokenizer()->encode(shown, {.parse_special = false, .parse_added = false});
  const auto ends = std::span(said.value().ends);
  auto count = static_cast<std::size_t>(std::ranges::upper_bound(ends, end) - ends.begin());
  for (std::size_t tried = 0; tried < kMostTried; ++tried, --count) {
    const std::size_t at = count == 0 ? 0 : ends[count - 1];
    const auto decoded = model_.detokenize(std::span(replied_).first(count), false);
    const auto next = std::ranges::find(pieces, at, &tokenizer::Piece::begin);
    if (decoded.ok() && decoded.value() == shown.substr(0, at) && (at == end || next != pieces.end())) {
      ShownReply out{.ids = count};
      if (at < end)
        std::transform(next, pieces.end(), std::back_inserter(out.rest), [](const auto& one) { return one.id; });
      return out;
    }
    if (count == 0) break;
  }
  return std::nullopt;
}

// The model continues its own reply: nothing follows the reply, and its stop, if any, is removed.
Status Composer::continue_parent() {
  core::Call call = request_.call;
  call.conversation.continue_final_message.reset();
  const auto profile = model_.profile(call);
  if (!profile.ok()) return profile.error();
  const Turn& parent = *plan_.parent;
  put_known(parent, known_.parent_message);
  std::size_t stops = 0;
  while (stops < parent.completion.size() && profile.value()->is_stop(ids_[ids_.size() - 1 - stops])) ++stops;
  const auto shown = shown_reply();
  const std::size_t size = shown ? begun_.size() + shown->ids : ids_.size() - stops;
  ids_.resize(size);
  owners_.resize(size);
  sampled_.resize(size);
  if (shown) {
    plan_.notes.emplace_back("the reply goes on where the text ends that its client has of it");
    ids_.insert(ids_.end(), shown->rest.begin(), shown->rest.end());
    owners_.resize(ids_.size(), static_cast<std::int32_t>(known_.parent_message));
    sampled_.resize(ids_.size(), 0);
  } else if (stops > 0) {
    plan_.notes.emplace_back("the reply was complete; its stop is taken back, so that it can go on");
  }
  plan_.prefill = ids_.size() - begun_.size();
  plan_.asked.continues_reply = true;
  plan_.kept_messages = parent.messages.size();
  plan_.how = How::kBridge;
  return Done{};
}

core::BridgeCall Composer::bridge_call() const {
  const json::Array& messages = request_.call.conversation.messages;
  core::BridgeCall out;
  out.prompt = begun_;
  out.completion = replied_;
  out.find_lossy = false;
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(known_.parent_message) + 1;
  out.new_messages.assign(begin, messages.end() - (plan_.asked.continued ? 1 : 0));
  return out;
}

// Takes the parent's ids and adds what follows.
Status Composer::bridge() {
  core::Call call = call_without_continued();
  call.conversation.messages.resize(known_.parent_message);
  core::BridgeCall bridge = bridge_call();
  const bool may_cut = request_.retention != Retention::kAll && request_.retention != Retention::kAllThinking;
  if (may_cut) return bridge_and_cut(std::move(call), std::move(bridge));
  const std::size_t first = known_.parent_message + 1;
  using core::Locality;
  auto next = model_.append(call, std::move(bridge), first < kLongHistory ? Locality::kNotProven : Locality::kProven);
  if (!next.ok()) return next.error();
  put_known(*plan_.parent, known_.parent_message);
  put_appended(next.value().ids, next.value().message_indices, first);
  append(plan_.notes, next.value().notes);
  plan_.shaped = std::move(next.value().shaped);
  plan_.how = How::kBridge;
  return Done{};
}

// Where each turn of the history was sampled; an empty range if it was not.
std::vector<std::pair<std::size_t, std::size_t>> Composer::sampled_ranges(const json::Array& history) const {
  const Turn& parent = *plan_.parent;
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::size_t at = 0;
  for (std::size_t message = 0; message < history.size(); ++message) {
    if (!has_role(history[message], "assistant")) continue;
    const auto is_its = [&](std::size_t id) {
      return parent.sampled[id] != 0 && parent.owners[id] == static_cast<std::int32_t>(message);
    };
    std::size_t begin = at;
    while (begin < begun_.size() && !is_its(begin)) ++begin;
    std::size_t end = begin;
    while (end < begun_.size() && is_its(end)) ++end;
    out.emplace_back(begin == end ? at : begin, begin == end ? at : end);
    at = out.back().second;
  }
  return out;
}

// Asks the template too, for reasoning that it would still show.
void Composer::restore_reasoning(core::Call& call) const {
  json::Array& history = call.conversation.messages;
  const auto ranges = sampled_ranges(history);
  auto range = ranges.begin();
  for (json::Value& message : history) {
    if (!has_role(message, "assistant")) continue;
    const auto [begin, end] = *range++;
    if (begin == end) continue;
    chat::untag_reasoning(message);
    if (shows_reasoning(message)) continue;
    core::Call reading = call;
    core::ParseCall options;
    const std::span<const TokenId> ids = begun_;
    options.prompt_ids = ids.first(begin);
    const auto said = model_.parse_ids(reading, options, ids.subspan(begin, end - begin));
    if (said.ok() && said.value().message.reasoning)
      message.as_object().set(chat::kReasoningFields.front(), *said.value().message.reasoning);
  }
}

Status Composer::bridge_and_cut(core::Call call, core::BridgeCall bridge) {
  restore_reasoning(call);
  bridge.retention = request_.retention;
  bridge.sampled = sampled_ranges(call.conversation.messages);
  const json::Array new_messages = bridge.new_messages;
  core::Call asked = call;
  auto next = model_.bridge(call, std::move(bridge));
  if (!next.ok()) return next.error();
  render::Bridged& made = next.value();
  put_known(*plan_.parent, known_.parent_message);
  const std::size_t old = ids_.size();
  for (std::size_t i = made.cuts.size(); i-- > 0;) {
    const auto cut = [&](auto& row) {
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(made.cuts[i].begin),
                row.begin() + static_cast<std::ptrdiff_t>(made.cuts[i].end));
    };
    cut(ids_);
    cut(owners_);
    cut(sampled_);
  }
  const std::size_t kept = ids_.size();
  const std::size_t first = known_.parent_message + 1;
  put_appended(std::span(made.ids).subspan(kept), std::span(made.message_indices).subspan(kept), first);
  append(plan_.notes, made.notes);
  plan_.shaped = std::move(made.shaped);
  plan_.how = How::kBridge;
  if (made.cuts.empty()) return Done{};
  Loss loss{"reasoning-dropped", "messages[" + std::to_string(made.cuts.front().message) + "].reasoning_content",
            "the retention that was asked for cuts earlier reasoning out", 0, old - made.kept};
  core::BridgeCall lossy = bridge_call();
  lossy.find_lossy = true;
  const auto found = model_.bridge(asked, std::move(lossy));
  if (found.ok()) {
    for (const render::LossyFinding& finding : found.value().lossy) {
      if (finding.cause != causes::CauseKind::kReasoningDropped) continue;
      loss.sentence = finding.what;
      loss.template_line = finding.line;
      break;
    }
  }
  plan_.cause = std::move(loss);
  return Done{};
}

Status Composer::raw_turns(bool with_parent, bool with_later) {
  core::Call call = call_without_continued();
  if (with_parent) {
    call.raw_turns.push_back({known_.parent_message, replied_});
    call.raw_behind = begun_;
  }
  std::size_t last = known_.parent_message;
  for (const KnownReply& reply : known_.later) {
    if (!with_later) break;
    const Turn& turn = *reply.turn;
    std::vector<TokenId> ids(turn.prompt.end() - static_cast<std::ptrdiff_t>(turn.prefill), turn.prompt.end());
    ids.insert(ids.end(), turn.completion.begin(), turn.completion.end());
    call.raw_turns.push_back({reply.message, std::move(ids)});
    // Uses the message as it was shown, because the client's form may be unreadable for the template.
    auto shown = json::parse(turn.message);
    if (shown.ok()) {
      set_call_ids(reply.call_ids, shown.value());
      call.conversation.messages[reply.message] = std::move(shown).value();
    }
    last = reply.message;
  }
  auto encoded = model_.encode(call);
  if (!encoded.ok()) return encoded.error();
  render::Encoded& made = encoded.value();
  ids_ = std::move(made.ids);
  owners_ = std::move(made.message_indices);
  sampled_.assign(ids_.size(), 0);
  for (const KnownReply& reply : known_.later) {
    if (!with_later) break;
    const auto at = std::ranges::find(made.samplers, static_cast<std::int32_t>(reply.message));
    mark_sampled(*reply.turn, static_cast<std::size_t>(at - made.samplers.begin()));
  }
  append(plan_.notes, made.notes);
  plan_.shaped = std::move(made.shaped);
  std::size_t known = 0;
  if (with_parent) {
    known = begun_.size() + replied_.size();
    std::ranges::copy(plan_.parent->owners, owners_.begin());
    std::ranges::copy(plan_.parent->sampled, sampled_.begin());
    mark_sampled(*plan_.parent, begun_.size());
  } else {
    plan_.kept_messages = 0;
  }
  std::size_t end = ids_.size();
  while (end > known && (sampled_[end - 1] == 0 || owners_[end - 1] != static_cast<std::int32_t>(last))) --end;
  plan_.appended = ids_.size() - end;
  plan_.rendered = static_cast<std::size_t>(std::count(sampled_.begin() + static_cast<std::ptrdiff_t>(known),
                                                       sampled_.begin() + static_cast<std::ptrdiff_t>(end), 0));
  plan_.how = with_later ? How::kRawTurns : How::kBridge;
  if (request_.retention != Retention::kAll && request_.retention != Retention::kAllThinking)
    plan_.notes.emplace_back("the reasoning of turns that stand as they were sampled stays");
  return Done{};
}

Status Composer::render(core::Call call) {
  auto encoded = model_.encode(call);
  if (!encoded.ok()) return encoded.error();
  render::Encoded& made = encoded.value();
  plan_.rendered = made.ids.size();
  plan_.appended = 0;
  ids_ = std::move(made.ids);
  owners_ = std::move(made.message_indices);
  sampled_.assign(ids_.size(), 0);
  append(plan_.notes, made.notes);
  plan_.shaped = std::move(made.shaped);
  plan_.how = How::kRender;
  return Done{};
}

// Adds the beginning of the reply that the client gives, as the template writes it after opening a turn.
Status Composer::add_prefill() {
  core::Call whole = request_.call;
  whole.has_messages = true;
  core::Call opening = call_without_continued();
  const auto before = model_.render(opening);
  auto encoded = model_.encode(whole);
  if (!encoded.ok()) return encoded.error();
  const render::Encoded& made = encoded.value();
  const std::size_t cut = before.ok() ? before.value().size() : 0;
  const auto first = std::ranges::lower_bound(made.begins, cut);
  const auto at = static_cast<std::size_t>(first - made.begins.begin());
  const bool fits = before.ok() && made.text.starts_with(before.value()) && (at == 0 || made.ends[at - 1] <= cut);
  if (plan_.how != How::kRender && fits) {
    const std::span<const TokenId> more = std::span(made.ids).subspan(at);
    const std::size_t old = plan_.appended;
    put_appended(more, std::span(made.message_indices).subspan(at), 0);
    plan_.appended += old;
    plan_.prefill = more.size();
    return Done{};
  }
  if (plan_.how != How::kRender) {
    plan_.notes.emplace_back("the template writes a message that is continued otherwise than behind a turn's opening");
    plan_.kept_messages = 0;
  }
  const std::size_t opened = plan_.how == How::kRender ? ids_.size() : 0;
  const std::vector<TokenId> open = std::exchange(ids_, {});
  if (Status rendered = render(std::move(whole)); !rendered.ok()) return rendered;
  const bool is_behind = opened > 0 && opened <= ids_.size() && std::equal(open.begin(), open.end(), ids_.begin());
  plan_.prefill = is_behind ? ids_.size() - opened : 0;
  return Done{};
}

}  // namespace rondo::spans
