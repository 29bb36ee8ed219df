#include "render/rollout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "format/units.h"
#include "render/lossy.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

bool has_role(const json::Value& message, std::string_view role) { return message.find_string("role") == role; }

}  // namespace

RolloutModel::RolloutModel(Parts parts)
    : parts_(std::move(parts)),
      context_{*parts_.chat_template, *parts_.tokenizer, parts_.base, parts_.apply},
      profile_(probe_turns(context_, *parts_.format)),
      reader_(parts_.format, *parts_.tokenizer, parts_.base.tools),
      locality_(parts_.prove_locality ? Locality::prove(context_, profile_, parts_.format->input) : Locality()),
      window_context_{*parts_.chat_template, *parts_.tokenizer, locality_.base(), parts_.apply} {}

std::shared_ptr<const RolloutModel> RolloutModel::make(Parts parts) {
  return std::shared_ptr<const RolloutModel>(new RolloutModel(std::move(parts)));
}

Step RolloutModel::window_of(const PreparedTurn& turn) const {
  const ParsedCompletion& said = turn.sampled.said;
  const bool says_something = !format::is_blank(said.message.content) || !said.message.tool_calls.empty();
  if (!says_something || !turn.history.messages) return Step::kOther;
  const Step step = step_of(said, turn.following.messages);
  return locality_.is_local(step) ? step : Step::kOther;
}

tmpl::Shaping RolloutModel::shape_following(std::span<const json::Value> history, const ParsedCompletion& said,
                                            json::Array& new_messages) const {
  tmpl::Shaping out = tmpl::shape(new_messages, parts_.rules, shaping_context(history, said));
  out.polyfills = tmpl::changes_of_new(parts_.polyfills, new_messages, {true, "assistant"});
  return out;
}

Result<Appended> RolloutModel::append(const BridgeRequest& request) const {
  const Result<PreparedTurn> turn = prepare(profile_, request);
  if (!turn.ok()) return turn.error();
  return append(turn.value(), window_of(turn.value()));
}

Result<Appended> RolloutModel::append(PreparedTurn turn, Step step) const {
  const ParsedCompletion& said = turn.sampled.said;
  if (step == Step::kOther) {
    turn.history.tail_alone = locality_.tail_alone(said);
    return append_turn(context_, profile_.plain, turn);
  }
  const std::span<const json::Value> messages = *turn.history.messages;
  const bool has_system =
      !messages.empty() && (has_role(messages.front(), "system") || has_role(messages.front(), "developer"));
  const json::Array& window = locality_.window(has_system);
  PreparedTurn near = turn;
  // The text after several calls, or after one without arguments, may differ from the text after one.
  const bool is_tail_known = said.message.tool_calls.size() <= 1 && !said.is_bare;
  near.history = {.messages = window, .tail_alone = is_tail_known ? &locality_.tail_alone(step) : nullptr};
  Result<Appended> appended = append_turn(window_context_, profile_.plain, near);
  // If the window refuses, or shows something other than was asked, the whole history decides.
  if (!appended.ok()) return append_turn(context_, profile_.plain, turn);
  const auto shift = static_cast<std::int32_t>(messages.size()) - static_cast<std::int32_t>(window.size());
  for (LossyFinding& finding : appended.value().lossy) finding.message += shift;
  return appended;
}

Result<Rollout> Rollout::start(std::shared_ptr<const RolloutModel> model, json::Array messages,
                               std::vector<std::string> shaped) {
  Rollout out(std::move(model));
  const RolloutModel::Parts& parts = out.model_->parts();
  out.shaped_ = std::move(shaped);
  std::ranges::move(tmpl::sentences(tmpl::shape(messages, parts.rules)), std::back_inserter(out.shaped_));
  tmpl::ApplyOptions options = parts.apply;
  options.whole_dumps = true;  // the owner of a dump also owns its parts
  const TurnContext context{*parts.chat_template, *parts.tokenizer, parts.base, options};
  const Result<jinja::Rendered> rendered = render_messages(context, messages, true);
  if (!rendered.ok()) return rendered.error();
  const jinja::Rendered& full = rendered.value();
  InlineReasoning reasoning;
  if (parts.inline_reasoning) reasoning = {parts.rules.reasoning_open, parts.rules.reasoning_close, messages};
  const std::vector<tokenizer::Piece> pieces =
      encode_range(context, full, 0, full.text.size(), parts.specials, reasoning);
  out.ids_.reserve(pieces.size());
  for (const tokenizer::Piece& piece : pieces) out.ids_.push_back(piece.id);
  out.prompt_size_ = out.ids_.size();
  out.prompt_tail_ = prompt_tail(full, 0, pieces);
  out.add_stretches(piece_owners(full, 0, pieces), 0);
  out.messages_ = std::move(messages);
  return out;
}

Result<Rollout> Rollout::resume(std::shared_ptr<const RolloutModel> model, std::vector<TokenId> ids,
                                json::Array messages, std::span<const std::pair<std::size_t, std::size_t>> sampled) {
  Rollout out(std::move(model));
  std::size_t message = 0;
  std::size_t last = 0;
  for (const auto& [begin, end] : sampled) {
    while (message < messages.size() && !has_role(messages[message], "assistant")) ++message;
    if (message == messages.size())
      return Error(ErrorCode::kInvalidArgument, "there are more sampled ranges than assistant messages");
    if (begin < last || end < begin || end > ids.size())
      return Error(ErrorCode::kInvalidArgument, "the sampled range [" + std::to_string(begin) + ", " +
                                                    std::to_string(end) + ") does not lie in order inside the " +
                                                    std::to_string(ids.size()) + " prompt ids");
    last = end;
    const std::span<const TokenId> all = ids;
    auto said = out.model_->reader().read(out.model_->profile(), all.first(begin), all.subspan(begin, end - begin));
    if (!said.ok()) return said.error();
    Turn turn{begin, end, message++, {}, false};
    out.note_reasoning(turn, said.value());
    out.turns_.push_back(turn);
    out.stretches_.push_back({begin, text::kNoMessage});
    out.stretches_.push_back({end, static_cast<std::int32_t>(turn.message)});
  }
  out.stretches_.push_back({ids.size(), text::kNoMessage});
  out.ids_ = std::move(ids);
  out.prompt_size_ = out.ids_.size();
  out.messages_ = std::move(messages);
  return out;
}

void Rollout::note_reasoning(Turn& turn, const ParsedCompletion& said) const {
  turn.reasoning = said.reasoning;
  turn.opened_by_prompt = said.reasoning && said.reasoning->opened_by_prompt;
}

Result<const ParsedCompletion*> Rollout::complete(std::span<const TokenId> completion) {
  if (spoken_) return Error(ErrorCode::kInvalidArgument, "the model has spoken: add messages before its next turn");
  auto said = model_->reader().read(model_->profile(), ids_, completion, prompt_tail_);
  if (!said.ok()) return said.error();
  last_ = std::move(said).value();
  Turn turn{ids_.size(), ids_.size() + completion.size(), messages_.size(), {}, false};
  note_reasoning(turn, last_);
  turns_.push_back(turn);
  ids_.insert(ids_.end(), completion.begin(), completion.end());
  stretches_.push_back({ids_.size(), static_cast<std::int32_t>(messages_.size())});
  spoken_ = true;
  return &last_;
}

// Prepares what no call has needed yet.
tmpl::ReadyConversation& Rollout::ready() {
  if (!ready_) ready_.emplace(model_->context().base, messages_);
  while (ready_->size() < messages_.size()) ready_->push(messages_[ready_->size()]);
  return *ready_;
}

Result<Extension> Rollout::extend(json::Array new_messages, Retention retention) {
  if (!spoken_)
    return Error(ErrorCode::kInvalidArgument, "the model has not spoken yet: nothing can be added behind its turn");
  const tmpl::Shaping shaping = model_->shape_following(messages_, last_, new_messages);
  BridgeRequest request{.prompt_ids = std::span(ids_).first(prompt_size_),
                        .completion_ids = std::span(ids_).subspan(prompt_size_),
                        .completion = &last_,
                        .messages = messages_,
                        .new_messages = std::move(new_messages),
                        .specials = model_->parts().specials};
  Result<PreparedTurn> turn = prepare(model_->profile(), request);
  if (!turn.ok()) return turn.error();
  const Step step = model_->window_of(turn.value());
  if (step == Step::kOther) turn.value().history.ready = &ready();
  Result<Appended> appended = model_->append(turn.value(), step);
  if (!appended.ok()) return appended.error();
  Appended& added = appended.value();

  Extension out;
  out.cuts = cuts_for(request.new_messages, retention);
  out.kept = out.cuts.empty() ? ids_.size() : out.cuts.front().begin;
  apply(out.cuts);
  out.begin = ids_.size();
  ids_.insert(ids_.end(), added.ids.begin(), added.ids.end());
  messages_.push_back(history_message(last_, request.new_messages));
  add_stretches(added.message_indices, static_cast<std::int32_t>(messages_.size()));
  for (json::Value& message : request.new_messages) messages_.push_back(std::move(message));
  prompt_size_ = ids_.size();
  prompt_tail_ = added.prompt_tail;
  spoken_ = false;
  out.content_mask = std::move(added.content_mask);
  out.text = std::move(added.text);
  out.notes = std::move(added.notes);
  out.shaped = tmpl::sentences(shaping, "new_messages");
  out.lossy = std::move(added.lossy);
  out.media = std::move(added.media);
  for (MediaSpan& span : out.media) {
    span.begin += out.begin;
    span.end += out.begin;
  }
  return out;
}

std::vector<LossyFinding> Rollout::find_lossy(const json::Array& new_messages) const {
  const SampledText sampled = sampled_text(*model_->parts().tokenizer, model_->profile(),
                                           std::span(ids_).first(prompt_size_), std::span(ids_).subspan(prompt_size_));
  return render::find_lossy(model_->context(), *model_->parts().format, messages_, history_message(last_, new_messages),
                            new_messages, sampled);
}

void Rollout::add_stretches(std::span<const std::int32_t> owners, std::int32_t first_message) {
  std::uint64_t at = stretches_.empty() ? 0 : stretches_.back().end;
  for (const std::int32_t owned_by : owners) {
    const std::int32_t message = owned_by == text::kNoMessage ? owned_by : owned_by + first_message;
    ++at;
    if (!stretches_.empty() && stretches_.back().message == message) {
      stretches_.back().end = at;
    } else {
      stretches_.push_back({at, message});
    }
  }
}

std::vector<std::int32_t> Rollout::message_indices() const {
  std::vector<std::int32_t> out;
  out.reserve(ids_.size());
  for (const Stretch& stretch : stretches_) out.resize(stretch.end, stretch.message);
  return out;
}

std::vector<std::uint8_t> Rollout::sampled_mask() const {
  std::vector<std::uint8_t> out(ids_.size(), 0);
  for (const Turn& turn : turns_)
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(turn.begin),
              out.begin() + static_cast<std::ptrdiff_t>(turn.end), std::uint8_t{1});
  return out;
}

}  // namespace rondo::render
