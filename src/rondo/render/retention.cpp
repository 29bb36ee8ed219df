// What of earlier reasoning a rollout keeps: which ids are cut out when new messages follow (render/rollout.h).
#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/reasoning_fields.h"
#include "format/units.h"
#include "probe/places.h"
#include "render/rollout.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// What the template writes in message `index`'s turn before its data.
std::string_view turn_lead(const jinja::Rendered& rendered, std::size_t index) {
  const auto message = static_cast<std::int32_t>(index);
  const std::optional<std::size_t> begin = turn_begin(rendered, message);
  const std::optional<Extent> data = data_extent(rendered, message);
  if (!begin || !data || data->begin < *begin) return "";
  return probe::slice(rendered, *begin, data->begin);
}

void remove_reasoning(json::Value& message, std::string_view own_field) {
  for (const std::string_view field : chat::kReasoningFields) message.as_object().erase(field);
  message.as_object().erase(own_field);
}

bool opens_a_cycle(const json::Array& new_messages) {
  return std::ranges::any_of(new_messages, [](const json::Value& m) { return m.find_string("role") == "user"; });
}

// The first of the ids before `end` that spell `marker`; `end` if they do not.
std::size_t begin_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids, std::size_t end,
                     std::string_view marker) {
  constexpr std::size_t kFarthest = 32;
  for (std::size_t count = 1; count <= std::min(end, kFarthest) && !marker.empty(); ++count) {
    const Result<std::string> text = tokenizer.decode(ids.subspan(end - count, count), {});
    if (!text.ok()) return end;
    if (format::trimmed(text.value()).starts_with(marker)) return end - count;
  }
  return end;
}

}  // namespace

std::optional<Cut> Rollout::cut_of(const Turn& turn, const jinja::Rendered& after) const {
  const format::Reasoning& markers = model_->parts().format->reasoning;
  const ReasoningSpan& span = *turn.reasoning;
  const std::string_view close = format::trimmed(markers.close);
  // Some templates keep an empty block in the place of the reasoning.
  const bool keeps_markers = !close.empty() && turn_lead(after, turn.message).find(close) != std::string_view::npos;
  Cut cut{turn.begin + span.begin, turn.begin + span.end, turn.message};
  if (keeps_markers) {
    cut.begin = turn.begin + span.inner_begin;
    cut.end = turn.begin + span.inner_end;
  } else if (turn.opened_by_prompt) {
    cut.begin = begin_of(*model_->parts().tokenizer, ids_, turn.begin, format::trimmed(markers.open));
  }
  return cut.begin < cut.end ? std::optional(cut) : std::nullopt;
}

std::vector<Cut> Rollout::cuts_for(const json::Array& new_messages, Retention retention) const {
  std::vector<Cut> cuts;
  const bool is_new_cycle = opens_a_cycle(new_messages);
  if (retention == Retention::kAll || retention == Retention::kAllThinking) return cuts;
  if (retention == Retention::kToolCycle && !is_new_cycle) return cuts;
  const bool by_template = retention != Retention::kThinkingBetweenToolCalls;

  json::Array all = messages_;
  all.push_back(history_message(last_, new_messages));
  all.insert(all.end(), new_messages.begin(), new_messages.end());
  const auto last_user = std::find_if(all.rbegin(), all.rend(),
                                      [](const json::Value& message) { return message.find_string("role") == "user"; });
  const auto cycle = static_cast<std::size_t>(all.rend() - last_user);  // behind the last user message
  const std::string& field = last_.input.reasoning_field;
  if (!by_template) {
    for (std::size_t i = 0; i < cycle; ++i) remove_reasoning(all[i], field);
  }
  const Result<jinja::Rendered> after = render_messages(model_->context(), all, true);
  if (!after.ok()) return cuts;
  for (const Turn& turn : turns_) {
    if (!turn.reasoning) continue;
    const bool goes = by_template
                          ? !probe::shows_reasoning(after.value(), static_cast<std::int32_t>(turn.message), field)
                          : turn.message < cycle;
    if (!goes) continue;
    if (const std::optional<Cut> cut = cut_of(turn, after.value())) cuts.push_back(*cut);
  }
  return cuts;
}

void Rollout::apply(const std::vector<Cut>& cuts) {
  if (cuts.empty()) return;
  const auto moved = [&](std::size_t at) {
    std::size_t gone = 0;
    for (const Cut& cut : cuts) {
      if (at > cut.begin) gone += std::min(at, cut.end) - cut.begin;
    }
    return at - gone;
  };
  std::vector<TokenId> kept;
  kept.reserve(ids_.size());
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    kept.insert(kept.end(), ids_.begin() + static_cast<std::ptrdiff_t>(at),
                ids_.begin() + static_cast<std::ptrdiff_t>(cut.begin));
    at = cut.end;
  }
  kept.insert(kept.end(), ids_.begin() + static_cast<std::ptrdiff_t>(at), ids_.end());
  for (Turn& turn : turns_) {
    if (std::ranges::any_of(cuts, [&](const Cut& cut) { return cut.message == turn.message; })) turn.reasoning.reset();
    turn.begin = moved(turn.begin);
    turn.end = moved(turn.end);
  }
  for (Stretch& stretch : stretches_) stretch.end = moved(stretch.end);
  prompt_size_ = moved(prompt_size_);
  ids_ = std::move(kept);
}

}  // namespace rondo::render
