// Calls inside JSON, and where the markers around calls may be cut.
#include <algorithm>
#include <cstring>

#include "analysis/infer.h"
#include "format/units.h"
#include "json/parse.h"

namespace rondo::analysis {
namespace {

using format::is_blank;

std::string name_mark(std::size_t call) { return "@name" + std::to_string(call) + "@"; }
std::string id_mark(std::size_t call) { return "@id" + std::to_string(call) + "@"; }
constexpr const char* kArgumentsMark = "@arguments@";

// The turn as text, with a mark in place of each slot.
std::string marked(const Turn& turn) {
  std::string out;
  std::size_t arguments = kNone;  // call whose arguments were written last
  for (const Token& token : turn.tokens) {
    switch (token.kind) {
      case SlotKind::kLiteral:
      case SlotKind::kIndex: out += token.text; break;
      case SlotKind::kName: out += name_mark(token.call); break;
      case SlotKind::kId: out += id_mark(token.call); break;
      case SlotKind::kReasoning: out += "@reasoning@"; break;
      case SlotKind::kContent: out += "@content@"; break;
      case SlotKind::kArguments:
        if (arguments != token.call) out += "{\"" + std::string(kArgumentsMark) + "\":0}";
        arguments = token.call;
        break;
    }
  }
  return out;
}

// The outermost JSON value around position `at`, as [begin, end).
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  json::Value value;
};

std::optional<Extent> json_around(const std::string& text, std::size_t at, std::size_t from) {
  std::optional<Extent> best;
  for (std::size_t begin = at + 1; begin-- > from;) {
    if (text[begin] != '{' && text[begin] != '[') continue;
    auto parsed = json::parse_prefix(std::string_view(text).substr(begin));
    if (!parsed.ok() || begin + parsed.value().end <= at) continue;
    best = Extent{begin, begin + parsed.value().end, std::move(parsed.value().value)};
  }
  return best;
}

void find_roles(const json::Value& value, const std::vector<std::string>& path, format::JsonRoles& roles) {
  if (!value.is_object()) return;
  for (const json::Member& member : value.as_object()) {
    std::vector<std::string> here = path;
    here.push_back(member.key);
    if (member.key == name_mark(0)) {
      roles.name_is_key = true;
    } else if (member.value.is_string() && member.value.as_string() == name_mark(0)) {
      roles.name = here;
    } else if (member.value.is_string() && member.value.as_string() == id_mark(0)) {
      roles.id = here;
    } else if (member.value.find(kArgumentsMark) != nullptr) {
      roles.arguments = here;
    } else {
      find_roles(member.value, here, roles);
    }
  }
}

}  // namespace

bool find_json_envelope(const Turn& turn, const Turn& lead_turn, std::size_t calls_in_turn, const std::string& before,
                        format::Calls& calls, CallText& text) {
  const std::string all = marked(turn);
  const std::size_t name = all.find(name_mark(0));
  if (name == std::string::npos) return false;
  const auto first = json_around(all, name, 0);
  if (!first) return false;
  const std::size_t id = all.find(id_mark(0));  // one beside the JSON makes it a part of the call's text
  if (id != std::string::npos && (id < first->begin || id >= first->end)) return false;
  const bool is_array = first->value.is_array();
  if (is_array && first->value.as_array().empty()) return false;
  format::JsonRoles roles;
  find_roles(is_array ? first->value.as_array().front() : first->value, {}, roles);
  if (!roles.name_is_key && roles.name.empty()) return false;
  calls.envelope = is_array ? format::Envelope::kJsonArray : format::Envelope::kJsonObject;
  calls.roles = std::move(roles);
  // `before` ends at the first slot: what of it lies inside the JSON is not part of the marker.
  const std::string lead_all = marked(lead_turn);
  const std::size_t slot = std::min(
      {lead_all.find(name_mark(0)), lead_all.find(id_mark(0)), lead_all.find("{\"" + std::string(kArgumentsMark))});
  const auto lead = slot == std::string::npos ? std::nullopt : json_around(lead_all, slot, 0);
  if (!lead) return false;
  const std::size_t inside = slot - lead->begin;
  text.before = before.size() >= inside ? before.substr(0, before.size() - inside) : "";
  std::size_t end = first->end;
  if (!is_array && calls_in_turn > 1) {
    const std::size_t second_name = all.find(name_mark(1));
    const auto second = second_name == std::string::npos ? std::nullopt : json_around(all, second_name, first->end);
    if (second) {
      text.between = all.substr(first->end, second->begin - first->end);
      text.has_between = true;
      end = second->end;
    }
  }
  text.after = all.substr(end, std::min(all.find("@content@", end), all.size()) - end);
  return true;
}

namespace {

// Whether `close` is the closing tag of what `open` ends with, or the fence that its last line begins with.
bool closes(const std::string& close, const std::string& open) {
  const std::string_view core = format::trimmed(open);
  if (core.empty() || close.empty()) return false;
  const std::string opening = opening_of(close);
  if (!opening.empty()) return core.ends_with(opening);
  const std::size_t line = core.rfind('\n');
  const bool is_fence = std::all_of(close.begin(), close.end(), [&close](char byte) { return byte == close.front(); });
  return is_fence && core.substr(line == std::string_view::npos ? 0 : line + 1).starts_with(close);
}

// Behind the calls: what closes the section, and what ends the turn.
void split_end(std::string end, const std::string& stop, std::span<const std::string> atoms, format::Calls& calls,
               format::Stops& stops) {
  const std::string_view core = format::trimmed(end);
  const std::string_view plain = format::trimmed(stop);
  if (core.empty()) return;
  // What stands behind the first stop is no part of the turn.
  const std::size_t first = plain.empty() ? std::string_view::npos : core.find(plain);
  const std::vector<std::size_t> ends = format::unit_boundaries(core, atoms);
  constexpr std::size_t kTelling = 3;  // bytes of a stop that is one wherever it stands at the end
  const bool is_end = plain.size() >= kTelling && first + plain.size() == core.size();
  if (first != std::string_view::npos && (is_end || std::find(ends.begin(), ends.end(), first) != ends.end())) {
    const std::size_t at = static_cast<std::size_t>(core.data() - end.data()) + first;
    std::string section = end.substr(0, at);
    stops.tool.push_back(end.substr(section.find_last_not_of(" \n\t\r") + 1,
                                    at + plain.size() - (section.find_last_not_of(" \n\t\r") + 1)));
    if (!is_blank(section)) calls.section_close = section.substr(0, section.find_last_not_of(" \n\t\r") + 1);
    return;
  }
  if (is_blank(calls.section_open)) {
    stops.tool.emplace_back(core);
    return;
  }
  // The last unit ends the turn if something before it can close the section.
  const std::vector<std::size_t> cuts = format::unit_boundaries(core, atoms);
  const std::size_t last = cuts.size() > 2 ? cuts[cuts.size() - 2] : 0;
  if (last > 0 && !is_blank(core.substr(0, last)) && !stop.empty()) {
    calls.section_close = core.substr(0, last);
    stops.tool.emplace_back(core.substr(last));
  } else if (cuts.size() == 2 && !closes(std::string(core), calls.section_open)) {
    stops.tool.emplace_back(core);
  } else {
    calls.section_close = core;
  }
}

}  // namespace

std::string opening_of(const std::string& close) {
  const std::size_t slash = close.find('/');
  if (close.size() < 3 || slash == std::string::npos || slash > 2) return "";
  return close.substr(0, slash) + close.substr(slash + 1);
}

std::string closing_of(const std::string& open) {
  const bool is_tag =
      open.size() > 2 && ((open.front() == '<' && open.back() == '>') || (open.front() == '[' && open.back() == ']'));
  if (!is_tag || open.find_first_of("</>[]|= \n", 1) != open.size() - 1) return "";
  return open.substr(0, 1) + "/" + open.substr(1);
}

void split_call_text(const CallText& text, const std::string& stop, format::Calls& calls, format::Stops& stops) {
  if (!text.has_between) {
    calls.call_open = text.before;
    if (calls.envelope == format::Envelope::kJsonArray) std::swap(calls.call_open, calls.section_open);
    const std::string_view plain = format::trimmed(stop);
    const std::size_t at = plain.empty() ? std::string::npos : text.after.find(plain);
    std::string close = text.after;
    if (at != std::string::npos) {
      close = text.after.substr(0, at);
      stops.tool.push_back(text.after.substr(at, plain.size()));
    } else if (const std::string_view core = format::trimmed(text.after); !core.empty()) {
      // Without a second call nothing tells the call's close from the turn's end: the last unit ends the turn.
      const std::vector<std::size_t> cuts = format::unit_boundaries(core, text.atoms);
      const std::size_t last = cuts[cuts.size() - 2];
      // ... unless it is the closing tag of what opens the calls.
      if (!closes(std::string(core.substr(last)), calls.section_open)) {
        stops.tool.emplace_back(core.substr(last));
        close = text.after.substr(0, text.after.find(core) + last);
      }
    }
    if (calls.envelope == format::Envelope::kJsonArray) {
      calls.section_close = is_blank(close) ? "" : close;
    } else {
      calls.call_close = is_blank(close) ? "" : close;
    }
    return;
  }
  std::string between = text.between;
  const std::size_t open = format::common_suffix(text.before, between, text.atoms);
  calls.call_open = text.before.substr(text.before.size() - open);
  calls.section_open = text.before.substr(0, text.before.size() - open);
  between.resize(between.size() - open);
  const std::size_t close = format::common_prefix(between, text.after, text.atoms);
  calls.call_close = between.substr(0, close);
  calls.separator = between.substr(close);
  // White space before the first call belongs to it.
  if (is_blank(calls.section_open)) {
    calls.call_open = calls.section_open + calls.call_open;
    calls.section_open.clear();
  }
  if (is_blank(calls.call_open) && !calls.section_open.empty()) {
    calls.section_open += calls.call_open;
    calls.separator += calls.call_open;
    calls.call_open.clear();
  }
  split_end(text.after.substr(close), stop, text.atoms, calls, stops);
}

}  // namespace rondo::analysis
