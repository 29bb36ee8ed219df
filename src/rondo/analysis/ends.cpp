// Stops, what is trimmed, and the end of the inference.
#include "analysis/analyst.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// "\n<end>\n<end>" without the second: some templates write the end of a turn twice.
std::string without_repeats(std::string text) {
  const std::string_view core = trimmed(text);
  const std::size_t size = core.size();
  for (std::size_t half = (size + 1) / 2; half-- > 1;) {
    const std::string_view unit = core.substr(0, half);
    const std::string_view rest = trimmed(core.substr(half));
    if (rest == unit && unit == trimmed(unit)) {
      text.resize(static_cast<std::size_t>(core.data() - text.data()) + half);
      return text;
    }
    if (rest.size() > unit.size()) break;
  }
  return text;
}

}  // namespace

// Whether calls stand in the same turn behind what closes the content.
bool Analyst::goes_on_behind_content() const {
  const Variant* both = find(false, true, 1);
  if (both == nullptr || is_blank(format_.header)) return false;
  const std::size_t content = both->turn.last(SlotKind::kContent);
  const std::size_t slot = first_call_slot(both->turn, 0);
  return content < slot && !contains(both->turn.literals(content + 1, slot), trimmed(format_.header));
}

void Analyst::infer_stops() {
  format::Stops& stops = format_.stops;
  ProbeMessage probe;
  probe.content = true;
  const auto followed = prober_.turn(shape_, probe, {"default", false, false, true});
  if (!is_blank(plain_tail_)) {
    stops.content.push_back(without_repeats(trimmed_end(plain_tail_)));
    if (followed) {
      std::string close = followed->literals(followed->last(SlotKind::kContent) + 1, followed->tokens.size());
      close = without_repeats(trimmed_end(without_prefix(close, format_.content.close)));
      if (!is_blank(close) && close != stops.content.front()) stops.history_close.push_back(close);
    }
  } else if (!is_blank(format_.content.close) && !(followed && goes_on_behind_content())) {
    stops.content.emplace_back(trimmed(format_.content.close));
  } else if (followed) {
    // Nothing ends the turn but the next one's beginning.
    is_ended_by_next_ = true;
    const std::string own = followed->literals(followed->last(SlotKind::kContent) + 1, followed->tokens.size());
    const std::string next =
        is_blank(own) ? followed->following : without_prefix(own, format_.content.close) + followed->following;
    const std::string_view core = trimmed(next);
    const std::vector<std::size_t> cuts = boundaries(core);
    const std::string unit(core.substr(0, cuts[std::min<std::size_t>(1, cuts.size() - 1)]));
    const bool is_marker = unit.size() > 1 && std::string_view("<[{(").find(unit.front()) != std::string_view::npos;
    if (is_marker || (!unit.empty() && plain_tail_.empty())) {
      stops.content.push_back(unit);
    } else if (!plain_tail_.empty()) {
      stops.content.push_back(plain_tail_);
    }
  } else if (!plain_tail_.empty()) {
    stops.content.push_back(plain_tail_);
  }
}

// Variables that only this template knows may end a turn of calls in another way.
void Analyst::infer_other_stops() {
  if (!format_.calls.present) return;
  ProbeMessage probe;
  probe.calls = probe_calls(1);
  for (const bool with_result : {false, true}) {
    const auto turn = prober_.turn(shape_, probe, {"default", true, with_result, false, true});
    if (!turn || !turn->has(SlotKind::kName) || !turn->has(SlotKind::kArguments)) continue;
    const std::string behind = behind_calls(*turn, last_call_slot(*turn, 0));
    if (with_result && format_.stops.tool.empty()) {
      // Nothing of the turn itself ends it: the model stops with what begins the result.
      const std::string_view next = trimmed(turn->following);
      const std::vector<std::size_t> ends = boundaries(next);
      const std::string unit(next.substr(0, ends[std::min<std::size_t>(1, ends.size() - 1)]));
      if (unit.size() > 2 && std::string_view("<[{(").find(unit.front()) != std::string_view::npos)
        format_.stops.tool.push_back(unit);
      continue;
    }
    const std::string_view core = trimmed(behind);
    const std::vector<std::size_t> cuts = boundaries(core);
    if (core.empty() || cuts.size() < 2) continue;
    const std::string unit(core.substr(cuts[cuts.size() - 2]));
    bool is_known =
        contains(format_.calls.call_close, unit) || contains(format_.calls.section_close, unit) || unit.size() < 3;
    for (const auto* stops : {&format_.stops.content, &format_.stops.tool}) {
      for (const std::string& stop : *stops) is_known = is_known || contains(stop, unit);
    }
    if (!is_known) format_.stops.tool.push_back(unit);
  }
}

void Analyst::finish() {
  format_.input.arguments_as_text = shape_.arguments_as_text;
  format_.input.no_content = shape_.no_content;
  const auto add_stop = [this](std::string_view text) {
    for (const auto* stops : {&format_.stops.content, &format_.stops.tool}) {
      for (const std::string& known : *stops) {
        if (trimmed(known) == trimmed(text)) return;
      }
    }
    if (!is_blank(text)) format_.stops.content.emplace_back(text);
  };
  if (options_.eos_token) add_stop(*options_.eos_token);
  if (options_.tokenizer != nullptr) {
    for (const tokenizer::TokenId id : options_.tokenizer->end_ids()) add_stop(options_.tokenizer->token_bytes(id));
  }
  if (variants_.empty()) note("the template refuses every probe: " + prober_.refusal());
  if (auto wrong = format_.verify()) {
    note(*wrong);
    if (format_.reasoning.present && is_blank(format_.reasoning.close)) format_.reasoning = {};
    if (format_.verify()) format_.calls = {};
  }
}
}  // namespace rondo::analysis
