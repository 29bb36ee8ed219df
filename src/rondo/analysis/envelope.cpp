// Reads calls in JSON, and cuts the text around calls into markers.
#include <array>

#include "analysis/call_text.h"
#include "chat/conversation.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::analysis {
namespace {

using format::is_blank;

std::string name_mark(std::size_t call) { return "@name" + std::to_string(call) + "@"; }
std::string id_mark(std::size_t call) { return "@id" + std::to_string(call) + "@"; }
constexpr const char* kArgumentsMark = "@arguments@";
constexpr const char* kReasoningMark = "@reasoning@";

// The quotes of a text that is a string of JSON belong to its slot.
std::string reasoning_mark(const Token& token) {
  return token.text.starts_with('"') ? '"' + std::string(kReasoningMark) + '"' : kReasoningMark;
}

// Writes the turn as text, with a mark in place of each slot.  `number` returns the text of a counter.
template <typename Number>
Written marked(const Turn& turn, Number number) {
  Written out;
  std::size_t arguments = kNone;  // the call whose arguments were written last
  for (const Token& token : turn.tokens) {
    switch (token.kind) {
      case SlotKind::kLiteral: out.append(token.text, token.sources); break;
      case SlotKind::kIndex: out.append(number(token), {}); break;
      case SlotKind::kName: out.text += name_mark(token.call); break;
      case SlotKind::kId: out.text += id_mark(token.call); break;
      case SlotKind::kReasoning: out.text += reasoning_mark(token); break;
      case SlotKind::kContent: out.text += "@content@"; break;
      case SlotKind::kArguments:
        if (arguments != token.call) out.text += "{\"" + std::string(kArgumentsMark) + "\":0}";
        arguments = token.call;
        break;
    }
  }
  return out;
}

// Returns the turn with its own numbers, which JSON may have anywhere.
std::string marked(const Turn& turn) {
  return marked(turn, [](const Token& token) { return token.text; }).text;
}

// The outermost JSON value around a position, as [begin, end).
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  json::Value value;
};

// Returns the outermost JSON value around `at` that begins at `from` or later; nullopt if there is none.
std::optional<Extent> json_around(const std::string& text, std::size_t at, std::size_t from) {
  std::optional<Extent> best;
  for (std::size_t begin = at; begin-- > from;) {
    if (text[begin] != '{' && text[begin] != '[') continue;
    auto parsed = json::parse_prefix(std::string_view(text).substr(begin));
    if (!parsed.ok() || begin + parsed.value().end <= at) continue;
    best = Extent{begin, begin + parsed.value().end, std::move(parsed.value().value)};
  }
  return best;
}

// Finds the paths of name, id, arguments and reasoning in `value`, which has marks in their places.
void find_roles(const json::Value& value, const std::vector<std::string>& path, format::JsonRoles& roles) {
  if (!value.is_object()) return;
  for (const json::Member& member : value.as_object()) {
    std::vector<std::string> here = path;
    here.push_back(member.key);
    if (member.key == name_mark(0)) {
      roles.name_is_key = true;
      roles.name = path;
      if (member.value.find(kArgumentsMark) != nullptr) roles.arguments = here;
    } else if (member.value.is_string() && member.value.as_string() == name_mark(0)) {
      roles.name = here;
    } else if (member.value.is_string() && member.value.as_string() == id_mark(0)) {
      roles.id = here;
    } else if (member.value.is_string() && member.value.as_string() == kReasoningMark) {
      roles.reasoning = here;
    } else if (member.value.find(kArgumentsMark) != nullptr) {
      roles.arguments = here;
    } else {
      find_roles(member.value, here, roles);
    }
  }
}

bool has_mark(std::string_view text) {
  return std::ranges::any_of(std::array{"@name", "@id", "@arguments@", "@reasoning@", "@content@"},
                             [text](const char* mark) { return text.find(mark) != std::string_view::npos; });
}

// Returns whether `value` contains no mark, so that the template alone writes it.
bool is_constant(const json::Value& value) { return !has_mark(json::to_compact(value)); }

bool is_scalar(const json::Value& value) { return !value.is_object() && !value.is_array() && !value.is_null(); }

// Finds the members of the call `value` that the template itself writes, and calls of the public APIs do not have.
// `other` is another call of the turn; null if there is none.
void find_constants(const json::Value& value, const json::Value* other, const std::vector<std::string>& path,
                    std::vector<format::JsonConstant>& out) {
  if (!value.is_object() || value.find(kArgumentsMark) != nullptr) return;
  for (const json::Member& member : value.as_object()) {
    std::vector<std::string> here = path;
    here.push_back(member.key);
    const json::Value* same = other == nullptr ? &member.value : other->find(member.key);
    if (!is_constant(member.value)) {
      find_constants(member.value, other == nullptr ? nullptr : same, here, out);
    } else if (chat::is_usual_call_key(member.key)) {
      continue;
    } else if (same != nullptr && *same == member.value) {
      out.push_back({here, json::to_compact(member.value)});
    } else if (same != nullptr && is_scalar(member.value) && is_scalar(*same)) {
      out.push_back({here, ""});
    }
  }
}

// Finds the constants in the calls of `first`: a call, or a list of calls.  `second` is another call; null if there is
// none.
void find_constants(const Extent& first, const json::Value* second, format::JsonRoles& roles) {
  if (roles.name_is_key) return;
  const bool is_list = first.value.is_array();
  if (is_list && first.value.as_array().size() > 1) second = &first.value.as_array()[1];
  find_constants(is_list ? first.value.as_array().front() : first.value, second, {}, roles.constants);
}

// Which value of a call's JSON is the call.  What stands around it is the same for each call and belongs to the markers.
enum class Depth : std::uint8_t { kWhole, kElement, kMember, kNamed };

// A list that each call has alone is no list of calls.  An object whose key is the name may stand inside of others.  A list
// of calls may be the member of an object.
Depth depth_of(const Extent& first, const std::string& text, std::size_t calls_in_turn) {
  const bool is_list = first.value.is_array() && !first.value.as_array().empty();
  format::JsonRoles roles;
  find_roles(is_list ? first.value.as_array().front() : first.value, {}, roles);
  if (roles.name_is_key && !roles.name.empty()) return Depth::kNamed;
  if (first.value.is_object() && roles.name.empty()) {
    const auto list = json_around(text, text.find(name_mark(0)), first.begin + 1);
    // An object with other members, empty where a message lacks them, is the whole turn.
    const bool is_turn = first.value.as_object().size() != 1;
    const bool is_inside = !is_turn && list && list->value.is_array() && !list->value.as_array().empty();
    if (is_inside) find_roles(list->value.as_array().front(), {}, roles);
    if (is_inside && !roles.name.empty()) return Depth::kMember;
  }
  const std::size_t second = calls_in_turn > 1 ? text.find(name_mark(1), first.end) : std::string::npos;
  const bool is_alone = is_list && first.value.as_array().size() == 1 && second != std::string::npos &&
                        json_around(text, second, first.end);
  return is_alone ? Depth::kElement : Depth::kWhole;
}

// Returns the value at `depth` in the call `whole`, which has its name or another slot at `at`.
std::optional<Extent> inside(const std::string& text, std::size_t at, std::optional<Extent> whole, Depth depth) {
  if (!whole || depth == Depth::kWhole) return whole;
  return json_around(text, at, depth == Depth::kNamed ? text.rfind('{', at) : whole->begin + 1);
}

// Returns the value at `depth` in the second call, behind `first`; nullopt if there is none.
std::optional<Extent> second_call(const std::string& all, const Extent& first, std::size_t calls_in_turn, Depth depth) {
  const std::size_t name = calls_in_turn > 1 ? all.find(name_mark(1)) : std::string::npos;
  if (name == std::string::npos) return std::nullopt;
  return inside(all, name, json_around(all, name, first.end), depth);
}

// Returns the literals around the only call of `turn`, which ends at `end` of its text `all`.  `text` has those before
// it.
CallText lone_text(const Turn& turn, const std::string& all, CallText text, std::size_t end) {
  text.after = marked(turn, counted_text).before(std::min(all.find("@content@", end), all.size())).from(end);
  return text;
}

// Where the id of a call in JSON stands beside its object: [before, begin) is the id and what the template writes
// between the two, and [end, behind) is the same behind the object.  Both are empty if there is no such id.
struct Beside {
  std::size_t before = 0;
  std::size_t behind = 0;
};

// Finds the ids of call `call` in `all` beside `object`; nullopt if other slots are between an id and the object.
std::optional<Beside> ids_beside(const std::string& all, std::size_t call, const Extent& object) {
  const std::string mark = id_mark(call);
  Beside out{object.begin, object.end};
  const std::size_t first = all.find(mark);
  if (first == std::string::npos) return out;
  if (first < object.begin) {
    out.before = first;
    if (has_mark(std::string_view(all).substr(first + mark.size(), object.begin - first - mark.size())))
      return std::nullopt;
  }
  if (const std::size_t last = all.rfind(mark); last >= object.end) {
    out.behind = last + mark.size();
    if (has_mark(std::string_view(all).substr(object.end, last - object.end))) return std::nullopt;
  }
  return out;
}

// Returns the pieces of the first call, whose ids stand beside its object; none if they do not.
std::vector<format::CallPiece> pieces_beside(const Written& whole, const Extent& object, const Beside& ids) {
  std::vector<format::CallPiece> out;
  const auto add_text = [&out](const std::string& text) {
    for (format::CallPiece& piece : text_pieces(text)) out.push_back(std::move(piece));
  };
  const std::size_t size = id_mark(0).size();
  if (ids.before == object.begin && ids.behind == object.end) return out;
  if (ids.before < object.begin) {
    out.push_back({format::CallPiece::Kind::kId, ""});
    add_text(whole.before(object.begin).from(ids.before + size).text);
  }
  out.push_back({format::CallPiece::Kind::kObject, ""});
  if (ids.behind > object.end) {
    add_text(whole.before(ids.behind - size).from(object.end).text);
    out.push_back({format::CallPiece::Kind::kId, ""});
  }
  return out;
}

// Returns where the first slot of the call that `text` begins with is.
std::size_t first_slot(const std::string& text) {
  return std::min({text.find(name_mark(0)), text.find(id_mark(0)), text.find("{\"" + std::string(kArgumentsMark))});
}

// Returns where the second call ends with its id, and sets what stands between it and the first one, which ends at `end`;
// nullopt if its id does not stand as that of the first one does.
std::optional<std::size_t> end_behind(const Written& whole, const std::string& all, std::size_t end,
                                      const Extent& second, CallText& text) {
  const auto beside = ids_beside(all, 1, second);
  if (!beside) return std::nullopt;
  text.between = whole.before(beside->before).from(end);
  return beside->behind;
}

// Returns whether the roles say where the name and the arguments stand.  Where the name is the key of the arguments,
// nothing else says so.
bool has_name_and_arguments(format::JsonRoles& roles) {
  if (!roles.name_is_key) return !roles.name.empty() && !roles.arguments.empty();
  // The name's value may have more than the arguments.
  if (roles.arguments.empty() || !has_mark(roles.arguments.back())) return false;
  roles.name.clear();
  roles.arguments.clear();
  return true;
}

}  // namespace

// Finds the JSON around the first call's name, the roles in it, and the literals around it.
std::optional<JsonCall> find_json_call(const Turn& turn, const Turn& lead_turn, std::size_t calls_in_turn,
                                       const CallText& around) {
  const Written whole = marked(turn, counted_text);
  const std::string all = marked(turn);
  const std::size_t name = all.find(name_mark(0));
  if (name == std::string::npos) return std::nullopt;
  const auto whole_first = json_around(all, name, 0);
  if (!whole_first) return std::nullopt;
  const Depth depth = depth_of(*whole_first, all, calls_in_turn);
  const auto first = inside(all, name, whole_first, depth);
  if (!first) return std::nullopt;
  const auto ids = ids_beside(all, 0, *first);
  if (!ids) return std::nullopt;
  const bool is_array = first->value.is_array();
  if (is_array && first->value.as_array().empty()) return std::nullopt;
  JsonCall out{is_array ? format::Envelope::kJsonArray : format::Envelope::kJsonObject, {}, around};
  find_roles(is_array ? first->value.as_array().front() : first->value, {}, out.roles);
  if (!has_name_and_arguments(out.roles)) return std::nullopt;
  out.roles.shares_object = out.roles.name_is_key && !is_array && all.find(name_mark(1)) < first->end;
  out.pieces = pieces_beside(whole, *first, *ids);
  if (!out.pieces.empty() && (is_array || out.roles.shares_object)) return std::nullopt;
  const std::string lead_all = marked(lead_turn);
  const std::size_t slot = first_slot(lead_all);
  const auto lead =
      slot == std::string::npos ? std::nullopt : inside(lead_all, slot, json_around(lead_all, slot, 0), depth);
  const bool has_id_before = ids->before < first->begin;
  if (!lead && !has_id_before) return std::nullopt;
  const std::string& before = around.before.text;
  if (!has_id_before)
    out.text.before = around.before.before(before.size() - std::min(slot - lead->begin, before.size()));
  if (is_array && calls_in_turn > 1 && lead->value.is_object()) {
    out.lone = lone_text(lead_turn, lead_all, out.text, lead->end);
    out.before_slot = first_slot(all) - first->begin;
  }
  const auto second = is_array ? std::nullopt : second_call(all, *first, calls_in_turn, depth);
  const auto end = second ? end_behind(whole, all, ids->behind, *second, out.text) : std::optional(ids->behind);
  if (!end) return std::nullopt;
  find_constants(*first, second ? &second->value : nullptr, out.roles);
  out.text.after = whole.before(std::min(all.find("@content@", *end), all.size())).from(*end);
  return out;
}

std::vector<format::CallPiece> text_pieces(std::string_view text) {
  std::vector<format::CallPiece> out;
  while (!text.empty()) {
    const bool is_number = text.front() == format::kCounter;
    const std::string literal(is_number ? "" : format::before_counter(text));
    out.push_back({is_number ? format::CallPiece::Kind::kIndex : format::CallPiece::Kind::kLiteral, literal});
    text.remove_prefix(is_number ? 1 : literal.size());
  }
  return out;
}

std::vector<std::string> reasoning_role(const Turn& turn) {
  const std::string text = marked(turn);
  const std::size_t name = text.find(name_mark(0));
  const auto found = name == std::string::npos ? std::nullopt : json_around(text, name, 0);
  format::JsonRoles roles;
  if (found) {
    const bool is_list = found->value.is_array() && !found->value.as_array().empty();
    find_roles(is_list ? found->value.as_array().front() : found->value, {}, roles);
  }
  return roles.reasoning;
}

namespace {

// Returns whether `close` is the closing tag for the end of `open`, or the fence that begins the last line of `open`.
bool closes(const std::string& close, const std::string& open) {
  const std::string_view core = format::trimmed(open);
  if (core.empty() || close.empty()) return false;
  const std::string opening = opening_of(close);
  if (!opening.empty()) return core.ends_with(opening);
  if (!format::is_paired(core) && format::is_paired(std::string(core) + close)) return true;
  const std::size_t line = core.rfind('\n');
  const bool is_fence = std::all_of(close.begin(), close.end(), [&close](char byte) { return byte == close.front(); });
  return is_fence && core.substr(line + 1).starts_with(close);  // from the beginning if there is no line end
}

// Cuts the text after the calls into the text that closes the section and the text that ends the turn.
void split_end(const Written& written, const std::string& stop, std::span<const std::string> atoms, CallPart& part) {
  format::Calls& calls = part.calls;
  const std::string& end = written.text;
  const std::string_view core = format::trimmed(end);
  const std::string_view plain = format::trimmed(stop);
  if (core.empty()) return;
  const auto lead = static_cast<std::size_t>(core.data() - end.data());
  const std::vector<std::size_t> cuts = cuts_of(written.before(lead + core.size()).from(lead), atoms);
  // Text after the first stop does not belong to the turn.
  const std::size_t first = plain.empty() ? std::string_view::npos : core.find(plain);
  constexpr std::size_t kTelling = 3;  // a stop of so many bytes counts at the end even without a cut before it
  const bool is_end = plain.size() >= kTelling && first + plain.size() == core.size();
  if (first != std::string_view::npos && (is_end || std::ranges::find(cuts, first) != cuts.end())) {
    std::string section = end.substr(0, lead + first);
    const std::size_t close = section.find_last_not_of(" \n\t\r") + 1;
    part.stops.push_back(end.substr(close, lead + first + plain.size() - close));
    if (!is_blank(section)) calls.section_close = section.substr(0, close);
    return;
  }
  if (is_blank(calls.section_open)) {
    part.stops.emplace_back(core);
    return;
  }
  // The last part ends the turn if something before it can close the section.
  const std::size_t last = last_unit_begin(cuts);
  if (last > 0 && !is_blank(core.substr(0, last)) && !stop.empty()) {
    calls.section_close = core.substr(0, last);
    part.stops.emplace_back(core.substr(last));
  } else if (cuts.size() == 2 && !closes(std::string(core), calls.section_open)) {
    part.stops.emplace_back(core);
  } else {
    calls.section_close = core;
  }
}

// Cuts the text around a call if there is no turn with two.  Only the stop of other turns, or the pair of the opener,
// then tells the call's close from the turn's end.
void split_only_call(const CallText& text, const std::string& stop, CallPart& part) {
  format::Calls& calls = part.calls;
  (calls.is_one_value() ? calls.section_open : calls.call_open) = text.before.text;
  const std::string& after = text.after.text;
  const std::string_view plain = format::trimmed(stop);
  const std::size_t at = plain.empty() ? std::string::npos : after.find(plain);
  std::string close = after;
  if (at != std::string::npos) {
    close = after.substr(0, at);
    part.stops.push_back(after.substr(at, plain.size()));
  } else if (const std::string_view core = format::trimmed(after); !core.empty()) {
    const std::size_t lead = after.find(core);
    const std::vector<std::size_t> cuts = cuts_of(text.after.before(lead + core.size()).from(lead), text.atoms);
    const std::size_t last = last_unit_begin(cuts);
    if (!closes(std::string(core.substr(last)), calls.section_open)) {
      part.stops.emplace_back(core.substr(last));
      close = after.substr(0, lead + last);
    }
  }
  (calls.is_one_value() ? calls.section_close : calls.call_close) = is_blank(close) ? "" : close;
}

// The text before the first call and the text between two calls both end with a call's opener.  The text between them
// and the text after the last call both begin with a call's close.  Everything else belongs to the section.
CallPart cut_into_markers(CallPart part, const CallText& text, const std::string& stop) {
  if (!text.between) {
    split_only_call(text, stop, part);
    return part;
  }
  format::Calls& calls = part.calls;
  const std::string& before = text.before.text;
  const std::size_t open = same_back(text.before, *text.between, text.atoms);
  calls.call_open = before.substr(before.size() - open);
  calls.section_open = before.substr(0, before.size() - open);
  const Written between = text.between->before(text.between->text.size() - open);
  const std::size_t close = same_front(between, text.after, text.atoms);
  calls.call_close = between.text.substr(0, close);
  calls.separator = between.text.substr(close);
  // White space before the first call belongs to the call.
  if (is_blank(calls.section_open)) {
    calls.call_open = calls.section_open + calls.call_open;
    calls.section_open.clear();
  }
  if (is_blank(calls.call_open) && !calls.section_open.empty()) {
    calls.section_open += calls.call_open;
    calls.separator += calls.call_open;
    calls.call_open.clear();
  }
  split_end(text.after.from(close), stop, text.atoms, part);
  return part;
}

}  // namespace

// A stop with a number is recognised by the text before the number.
CallPart with_markers(CallPart part, const CallText& text, const std::string& stop) {
  CallPart out = cut_into_markers(std::move(part), text, stop);
  for (std::string& end : out.stops) end = format::before_counter(end);
  std::erase_if(out.stops, [](const std::string& end) { return is_blank(end); });
  return out;
}

}  // namespace rondo::analysis
