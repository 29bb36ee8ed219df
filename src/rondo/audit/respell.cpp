// Respells a sampled turn: white space, JSON, cut off, malformed.
#include <algorithm>
#include <utility>

#include "audit/messages.h"
#include "audit/sample.h"
#include "base/utf8.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::audit {
namespace {

using render::Extent;

constexpr const char* kNoJson = "the template does not write calls as JSON";

// Replaces bytes of the text and moves the regions after them.
void replace(Sampled& sampled, Extent part, const std::string& by) {
  sampled.text.replace(part.begin, part.end - part.begin, by);
  const auto move = [&](std::size_t& at) {
    if (at >= part.end) at = at - (part.end - part.begin) + by.size();
  };
  const auto move_extent = [&](Extent& extent) {
    move(extent.begin);
    move(extent.end);
  };
  if (sampled.regions.reasoning) move_extent(*sampled.regions.reasoning);
  if (sampled.regions.content) move_extent(*sampled.regions.content);
  for (Extent& call : sampled.regions.calls) move_extent(call);
  move(sampled.stop_begin);
}

// The offset after the bracket that closes the one at `begin`; npos if there is none.
std::size_t closing_end(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        in_string = false;
      }
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '{' || text[i] == '[') {
      ++depth;
    } else if (text[i] == '}' || text[i] == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

// The outermost JSON value around or at `call` that begins after `from`.
std::optional<Extent> json_around(std::string_view text, Extent call, std::size_t from) {
  std::optional<Extent> out;
  for (std::size_t at = std::min(call.end, text.size()); at-- > from;) {
    if (text[at] != '{' && text[at] != '[') continue;
    const std::size_t end = closing_end(text, at);
    if (end == std::string_view::npos || end < call.end) continue;
    if (json::parse(text.substr(at, end - at)).ok()) out = Extent{at, end};
  }
  return out;
}

// The JSON values that hold the calls.  Several calls in one array are one value.
std::vector<Extent> json_of_calls(const Sampled& sampled) {
  std::vector<Extent> out;
  std::size_t from = 0;
  for (const auto& before : {sampled.regions.reasoning, sampled.regions.content}) {
    if (before && !sampled.regions.calls.empty() && before->end <= sampled.regions.calls.front().begin)
      from = std::max(from, before->end);
  }
  for (const Extent& call : sampled.regions.calls) {
    const auto found = json_around(sampled.text, call, from);
    if (!found) continue;
    if (out.empty() || out.back().begin != found->begin) out.push_back(*found);
    from = found->end > call.begin && found->begin <= call.begin ? found->begin : found->end;
  }
  return out;
}

std::optional<std::string> respell_json(Sampled& sampled, bool compact) {
  std::vector<Extent> values = json_of_calls(sampled);
  if (values.empty()) return kNoJson;
  for (auto extent = values.rbegin(); extent != values.rend(); ++extent) {
    const auto value = json::parse(std::string_view(sampled.text).substr(extent->begin, extent->end - extent->begin));
    if (!value.ok()) return kNoJson;
    replace(sampled, *extent, compact ? json::to_compact(value.value()) : json::to_python(value.value(), {}));
  }
  return std::nullopt;
}

// The innermost JSON object in [begin, end) of the text that equals `value`; numbers compare by value.
std::optional<Extent> find_json(std::string_view text, Extent within, const json::Value& value) {
  const std::string wanted = canonical(value);
  for (std::size_t at = within.end; at-- > within.begin;) {
    if (text[at] != '{') continue;
    const std::size_t end = closing_end(text, at);
    if (end == std::string_view::npos) continue;
    const auto found = json::parse(text.substr(at, end - at));
    if (found.ok() && canonical(found.value()) == wanted) return Extent{at, end};
  }
  return std::nullopt;
}

// Rewrites numbers, false and null in tagged parameters the way `spelled` writes them.
bool respell_scalars(const json::Value& spelled, Extent call, Sampled& sampled) {
  bool is_changed = false;
  for (const json::Member& member : spelled.as_object()) {
    if (!member.value.is_number() && !member.value.is_bool() && !member.value.is_null()) continue;
    const std::string printed = json::to_python(member.value, {});
    const std::string own = member.value.is_number() ? member.value.number() : json::to_compact(member.value);
    const std::string_view part = std::string_view(sampled.text).substr(call.begin, call.end - call.begin);
    const std::size_t at = part.rfind(printed);
    if (at == std::string_view::npos) continue;
    replace(sampled, {call.begin + at, call.begin + at + printed.size()}, own);
    is_changed = true;
  }
  return is_changed;
}

std::optional<std::string> respell_own(const ScenarioTurn& turn, Sampled& sampled) {
  bool is_done = false;
  for (std::size_t i = turn.calls.size(); i-- > 0;) {
    if (turn.calls[i].spelled.empty() || i >= sampled.regions.calls.size()) continue;
    const json::Value value = json::parse(turn.calls[i].spelled).value();
    const Extent call = sampled.regions.calls[i];
    if (const auto found = find_json(sampled.text, call, value)) {
      replace(sampled, *found, turn.calls[i].spelled);
      is_done = true;
    } else {
      is_done = respell_scalars(value, call, sampled) || is_done;
    }
  }
  if (is_done) return std::nullopt;
  return "the template writes no such value as JSON";
}

// Cuts the text inside `region` after a word.
std::optional<std::string> cut(const std::optional<Extent>& region, const char* what, Sampled& sampled) {
  constexpr std::size_t kShare = 60;  // percent
  if (!region || region->end <= region->begin + 2) return std::string("the turn has no ") + what;
  std::size_t at = region->begin + (region->end - region->begin) * kShare / 100;
  while (at > region->begin + 1 && utf8::is_continuation(sampled.text[at])) --at;
  sampled.text.resize(at);
  sampled.stop_begin = at;
  sampled.is_cut = true;
  return std::nullopt;
}

void insert(Sampled& sampled, std::size_t at) { replace(sampled, {at, at}, "\n"); }

std::optional<std::string> break_call(Sampled& sampled) {
  if (sampled.regions.calls.empty()) return "the turn has no call";
  const Extent call = sampled.regions.calls.back();
  for (const char bracket : {'}', ']', '>', ')'}) {
    const std::size_t at = sampled.text.rfind(bracket, sampled.stop_begin == 0 ? 0 : sampled.stop_begin - 1);
    if (at == std::string::npos || at + 1 < call.end) continue;
    replace(sampled, {at, at + 1}, "");
    return std::nullopt;
  }
  return "nothing closes the call";
}

// Removes the white space before (or after) byte `at`.
std::optional<std::string> tighten(Sampled& sampled, std::size_t at, bool behind) {
  std::size_t begin = at;
  std::size_t end = at;
  while (behind && end < sampled.stop_begin && format::is_space(sampled.text[end])) ++end;
  while (!behind && begin > 0 && format::is_space(sampled.text[begin - 1])) --begin;
  if (begin == end) return "there is no white space";
  replace(sampled, {begin, end}, "");
  return std::nullopt;
}

std::optional<std::string> behind_reasoning(const format::Format& format, bool more, Sampled& sampled) {
  const std::string_view mark = format::trimmed(format.reasoning.close);
  if (!sampled.regions.reasoning || mark.empty()) return "the turn has no reasoning";
  const std::size_t at = sampled.text.find(mark, sampled.regions.reasoning->end);
  if (at == std::string::npos) return "nothing closes the reasoning";
  if (!more) return tighten(sampled, at + mark.size(), true);
  insert(sampled, at + mark.size());
  return std::nullopt;
}

std::optional<std::string> before_call(const format::Format& format, bool more, Sampled& sampled) {
  const std::string_view section = format::trimmed(format.calls.section_open);
  const std::string_view mark =
      format::before_counter(section.empty() ? format::trimmed(format.calls.call_open) : section);
  const std::size_t from = sampled.regions.content ? sampled.regions.content->end : 0;
  const std::size_t at = mark.empty() ? std::string::npos : sampled.text.find(mark, from);
  if (at == std::string::npos) return "nothing marks where the call begins";
  if (!more) return tighten(sampled, at, false);
  insert(sampled, at);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> respell(const format::Format& format, const ScenarioTurn& turn, Sampled& sampled) {
  const Regions& regions = sampled.regions;
  const auto content = [&](bool behind) -> std::optional<std::string> {
    if (!regions.content) return "the turn shows no content";
    insert(sampled, behind ? regions.content->end : regions.content->begin);
    return std::nullopt;
  };
  switch (turn.spelling) {
    case Spelling::kCanonical: return std::nullopt;
    case Spelling::kSpaceBeforeContent: return content(false);
    case Spelling::kSpaceBehindContent: return content(true);
    case Spelling::kBlankLineBehindReasoning: return behind_reasoning(format, true, sampled);
    case Spelling::kTightBehindReasoning: return behind_reasoning(format, false, sampled);
    case Spelling::kNewlineEndsReasoning:
      if (!regions.reasoning) return "the turn has no reasoning";
      insert(sampled, regions.reasoning->end);
      return std::nullopt;
    case Spelling::kSpaceBeforeCall: return before_call(format, true, sampled);
    case Spelling::kTightBeforeCall: return before_call(format, false, sampled);
    case Spelling::kCompactJson: return respell_json(sampled, true);
    case Spelling::kSpacedJson: return respell_json(sampled, false);
    case Spelling::kOwnJson: return respell_own(turn, sampled);
    case Spelling::kCutInReasoning: return cut(regions.reasoning, "reasoning", sampled);
    case Spelling::kCutInContent: return cut(regions.content, "content", sampled);
    case Spelling::kCutInCall:
      return cut(regions.calls.empty() ? std::nullopt : std::optional(regions.calls.back()), "call", sampled);
    case Spelling::kBrokenCall: return break_call(sampled);
  }
  return std::nullopt;
}

}  // namespace rondo::audit
