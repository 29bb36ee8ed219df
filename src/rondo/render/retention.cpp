#include "render/retention.h"

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

constexpr std::array<std::pair<Retention, std::string_view>, 5> kRetentions = {
    {{Retention::kAll, "all"},
     {Retention::kTemplate, "template"},
     {Retention::kToolCycle, "tool_cycle"},
     {Retention::kThinkingBetweenToolCalls, "preserve_thinking_between_tool_calls"},
     {Retention::kAllThinking, "preserve_all_thinking"}}};

// What the template writes in the turn of message `index` before the turn's data.
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

constexpr std::size_t kFarthest = 32;  // ids that spell a marker

// The first of the ids before `end` that spell `marker`; `end` if they do not.
std::size_t begin_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids, std::size_t end,
                     std::string_view marker) {
  for (std::size_t count = 1; count <= std::min(end, kFarthest) && !marker.empty(); ++count) {
    const Result<std::string> text = tokenizer.decode(ids.subspan(end - count, count), {});
    if (!text.ok()) return end;
    if (format::trimmed(text.value()).starts_with(marker)) return end - count;
  }
  return end;
}

// Whether the ids are `marker` and white space.
bool spell(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids, std::string_view marker) {
  const Result<std::string> text = tokenizer.decode(ids, {});
  return text.ok() && format::trimmed(text.value()) == marker;
}

// How many of the first `ids` spell `marker`; 0 if they do not.
std::size_t size_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids, std::string_view marker) {
  for (std::size_t count = 1; count <= std::min(ids.size(), kFarthest) && !marker.empty(); ++count) {
    if (spell(tokenizer, ids.first(count), marker)) return count;
  }
  return 0;
}

// How many of the last `ids` are a block of reasoning that a prompt opens and closes, or only closes behind the header;
// 0 if there is none.
std::size_t empty_block(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids,
                        const format::Format& format) {
  const std::string_view close = format::trimmed(format.reasoning.close);
  const std::string_view open = format::trimmed(format.reasoning.open);
  const std::size_t close_begin = begin_of(tokenizer, ids, ids.size(), close);
  if (close_begin == ids.size() || !spell(tokenizer, ids.subspan(close_begin), close)) return 0;
  const std::size_t open_begin = begin_of(tokenizer, ids, close_begin, open);
  const bool has_open = open_begin < close_begin;
  const std::string_view before = has_open ? open : format::trimmed(format.header);
  const std::size_t begin = has_open ? open_begin : begin_of(tokenizer, ids, close_begin, before);
  if (!spell(tokenizer, ids.subspan(begin, close_begin - begin), before)) return 0;
  return ids.size() - (has_open ? open_begin : close_begin);
}

// Whether an assistant message contains reasoning, in its own field or in its content between the format's markers.
bool has_reasoning(const json::Value& message, const format::Format& format) {
  if (!message.is_object() || message.find_string("role") != "assistant") return false;
  for (const std::string_view field : chat::kReasoningFields) {
    if (chat::is_filled(message.find(field))) return true;
  }
  if (chat::is_filled(message.find(format.input.reasoning_field))) return true;
  const std::string_view close = format::trimmed(format.reasoning.close);
  const auto content = message.find_string("content");
  return format.reasoning.in_content && !close.empty() && content && content->find(close) != std::string_view::npos;
}

std::string unwritten_note(std::size_t message) {
  return "messages[" + std::to_string(message) + "]: the template never writes its reasoning";
}

// How many bytes of message `index`'s reasoning are in the prompt; of its content, if the content holds the reasoning.
std::size_t shown_reasoning(const jinja::Rendered& rendered, std::int32_t index, const format::Format& format) {
  const text::PathTable& paths = rendered.origins.paths;
  std::size_t size = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (!is_message_data(run, rendered.origins) || paths.message(run.path()) != index) continue;
    const std::string_view field = probe::message_field(paths, run.path());
    const bool is_reasoning = chat::is_reasoning_field(field) || field == format.input.reasoning_field;
    if (is_reasoning || (format.reasoning.in_content && field == "content")) size += run.size;
  }
  return size;
}

// The last of `until` as the template writes it when nothing follows.  A generation prompt that has closed the
// reasoning already is not what this turn goes on behind; there its own header stands.
WrittenTurn written_turn(const TurnContext& context, const format::Format& format, const json::Array& until,
                         std::shared_ptr<const jinja::Rendered> last, const SampledExtent& extent) {
  WrittenTurn out{std::move(last), extent};
  const std::string_view close = format::trimmed(format.reasoning.close);
  const json::Array before(until.begin(), until.end() - 1);
  const Result<jinja::Rendered> asked = render_messages(context, before, true);
  if (!asked.ok() || close.empty()) return out;
  const auto earlier = static_cast<std::size_t>(extent.message);
  const std::size_t begin = end_of_data(*out.rendered, earlier);
  const std::size_t size = asked.value().text.size();
  const std::string_view prompt = probe::slice(asked.value(), end_of_data(asked.value(), earlier), size);
  const std::string_view turn = probe::slice(*out.rendered, begin, out.rendered->text.size());
  const auto common = static_cast<std::size_t>(std::ranges::mismatch(prompt, turn).in1 - prompt.begin());
  const std::size_t shared = std::min(common, extent.begin - std::min(begin, extent.begin));
  if (common == prompt.size() || prompt.substr(shared).find(close) == std::string_view::npos) return out;
  out.replaced = prompt.size() - shared;
  out.header_begin = begin + shared;
  return out;
}

}  // namespace

std::string_view to_string(Retention retention) {
  return std::ranges::find(kRetentions, retention, &std::pair<Retention, std::string_view>::first)->second;
}

std::optional<Retention> retention_of(std::string_view name) {
  const auto found = std::ranges::find(kRetentions, name, &std::pair<Retention, std::string_view>::second);
  return found == kRetentions.end() ? std::nullopt : std::optional(found->first);
}

std::size_t begin_of_cycle(const json::Array& messages) {
  const auto last_user = std::find_if(messages.rbegin(), messages.rend(),
                                      [](const json::Value& message) { return message.find_string("role") == "user"; });
  return static_cast<std::size_t>(messages.rend() - last_user);
}

void drop_reasoning(json::Array& messages, Retention retention, std::string_view own_field) {
  if (retention != Retention::kThinkingBetweenToolCalls) return;
  const std::size_t cycle = begin_of_cycle(messages);
  for (std::size_t i = 0; i < cycle; ++i) remove_reasoning(messages[i], own_field);
}

std::vector<std::string> unwritten_reasoning(const json::Array& messages, const tmpl::Shaping& shaping,
                                             const jinja::Rendered& rendered, const format::Format& format) {
  std::vector<std::string> out;
  if (format.reasoning.present) return out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (has_reasoning(messages[i], format) && shown_reasoning(rendered, static_cast<std::int32_t>(i), format) == 0)
      out.push_back(unwritten_note(tmpl::sent_index(shaping, i)));
  }
  return out;
}

Result<KeptTurns> kept_turns(const TurnContext& context, const format::Format& format, Retention retention) {
  KeptTurns out;
  if (retention == Retention::kTemplate) return out;
  const json::Array& messages = context.base.messages;
  const Result<jinja::Rendered> full = render_messages(context, messages, context.base.add_generation_prompt);
  if (!full.ok()) return full.error();
  const bool is_all = retention == Retention::kAll || retention == Retention::kAllThinking;
  for (std::size_t i = is_all ? 0 : begin_of_cycle(messages); i < messages.size(); ++i) {
    if (!has_reasoning(messages[i], format)) continue;
    const auto index = static_cast<std::int32_t>(i);
    const std::size_t shown = shown_reasoning(full.value(), index, format);
    if (shown > 0 && !format.reasoning.in_content) continue;
    const json::Array until(messages.begin(), messages.begin() + index + 1);
    Result<jinja::Rendered> last = render_messages(context, until, false);
    if (!last.ok() || shown_reasoning(last.value(), index, format) <= shown) {
      if (shown == 0) out.notes.push_back(unwritten_note(i));
      continue;
    }
    for (const SampledExtent& extent : sampled_extents(context, last.value(), until)) {
      if (extent.message != index) continue;
      auto rendered = std::make_shared<const jinja::Rendered>(std::move(last).value());
      out.turns.push_back({i, written_turn(context, format, until, std::move(rendered), extent)});
      break;
    }
  }
  return out;
}

std::optional<Cut> Rollout::cut_of(const Turn& turn, const jinja::Rendered& after) const {
  const format::Format& format = *model_->parts().format;
  const tokenizer::Tokenizer& tokenizer = *model_->parts().tokenizer;
  const format::Reasoning& markers = format.reasoning;
  const ReasoningSpan span = turn.reasoning.value_or(ReasoningSpan{});
  // The prompt may have written an empty block in place of reasoning.
  const bool may_follow_block = span.begin == 0 && !span.opened_by_prompt;
  const std::size_t block = may_follow_block ? empty_block(tokenizer, std::span(ids_).first(turn.begin), format) : 0;
  const std::string_view close = format::trimmed(markers.close);
  // Some templates leave an empty block in place of the reasoning.
  const bool keeps_markers = !close.empty() && turn_lead(after, turn.message).find(close) != std::string_view::npos;
  Cut cut{turn.begin - block + span.begin, turn.begin + span.end, turn.message};
  if (keeps_markers) {
    cut.begin = turn.begin + span.inner_begin;
    cut.end = turn.begin + span.inner_end;
  } else if (turn.reasoning && turn.opened_by_prompt) {
    cut.begin = begin_of(tokenizer, ids_, turn.begin, format::trimmed(markers.open));
  }
  if (cut.begin >= cut.end) return std::nullopt;
  // Where blocks have headings, the turn's header comes again behind the reasoning.  One of the two is enough.
  const std::string_view header = format::trimmed(format.header);
  const std::size_t before = begin_of(tokenizer, ids_, cut.begin, header);
  const std::span<const TokenId> ids(ids_);
  const bool follows_header = before < cut.begin && spell(tokenizer, ids.subspan(before, cut.begin - before), header);
  const std::size_t again = keeps_markers || !follows_header ? 0 : size_of(tokenizer, ids.subspan(cut.end), header);
  if (cut.end + again <= turn.end) cut.end += again;
  return cut;
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
  const std::size_t cycle = begin_of_cycle(all);
  const std::string& field = last_.input.reasoning_field;
  drop_reasoning(all, retention, field);
  const Result<jinja::Rendered> after = render_messages(model_->context(), all, true);
  if (!after.ok()) return cuts;
  for (const Turn& turn : turns_) {
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
