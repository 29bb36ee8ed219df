// Infers how calls are written.
#include "analysis/call_text.h"
#include "analysis/escapes.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

using Kind = format::CallPiece::Kind;

// Returns the text after the last `header` in `text`; all of it if there is none.
std::string behind_last(const std::string& text, const std::string& header) {
  const std::size_t at = is_blank(header) ? std::string::npos : text.rfind(header);
  return at == std::string::npos ? text : text.substr(at + header.size());
}

// Returns whether the template writes content as reasoning, as some do in turns that call without a thought.
bool is_in_thoughts(const Blocks& blocks, const Turn& turn) {
  const std::string_view open = trimmed(blocks.reasoning.open);
  const std::string before = lead(turn, turn.first(SlotKind::kContent), blocks.header);
  return !open.empty() && trimmed(before).ends_with(open);
}

// Returns the text between whatever precedes the calls and the first slot of the first call.
std::string before_calls(const Blocks& blocks, const Turn& turn) {
  const std::size_t name = turn.first_of_call(0);
  const std::size_t content = turn.last(SlotKind::kContent);
  if (content < name) {
    const format::Content& around = blocks.content;
    const std::string& close = around.preamble_close.empty() ? around.close : around.preamble_close;
    std::string text = behind_last(without_prefix(turn.literals(content, name), close), blocks.header);
    return is_in_thoughts(blocks, turn) ? without_prefix(text, blocks.reasoning.close) : text;
  }
  std::string text;
  const std::size_t reasoning = turn.last(SlotKind::kReasoning);
  if (reasoning < name) {
    text = without_prefix(turn.literals(reasoning, name), blocks.reasoning.close);
  } else {
    text = without_prefix(lead(turn, name, blocks.header), blocks.reasoning.absent);
    // The template may write an empty reasoning block.
    const std::string_view close = trimmed(blocks.reasoning.close);
    if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos) {
      text = text.substr(at + close.size());
      const std::string trail = blocks.reasoning.close.substr(blocks.reasoning.close.find(close) + close.size());
      text = without_prefix(text, trail);
    }
  }
  // The template may write the content's markers even if the content is empty.
  const std::string_view close = trimmed(blocks.content.close);
  if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos)
    text = text.substr(at + close.size());
  if (!is_blank(blocks.content.open)) text = without_prefix(text, blocks.content.open + blocks.content.close);
  return behind_last(text, blocks.header);
}

// Returns the pieces of the first call, with the arguments as one piece.  Returns none if the call contains anything
// else or has no arguments.
std::vector<format::CallPiece> pieces_of(const Turn& turn) {
  std::vector<format::CallPiece> pieces;
  bool has_arguments = false;
  const std::size_t end = turn.last_of_call(0);
  for (std::size_t i = turn.first_of_call(0); i <= end; ++i) {
    const Token& token = turn.tokens[i];
    switch (token.kind) {
      case SlotKind::kLiteral: pieces.push_back({Kind::kLiteral, token.text}); break;
      case SlotKind::kName: pieces.push_back({Kind::kName, ""}); break;
      case SlotKind::kId: pieces.push_back({Kind::kId, ""}); break;
      case SlotKind::kIndex: pieces.push_back({Kind::kIndex, ""}); break;
      case SlotKind::kArguments:
        if (!has_arguments) pieces.push_back({Kind::kArguments, ""});
        has_arguments = true;
        i = std::max(i, turn.last(SlotKind::kArguments, 0));
        break;
      default: return {};
    }
  }
  if (!has_arguments) return {};
  // A template that shows an id but no name expects the name in the id.
  if (std::ranges::find(pieces, Kind::kName, &format::CallPiece::kind) != pieces.end()) return pieces;
  for (format::CallPiece& piece : pieces) {
    if (piece.kind == Kind::kId) piece.kind = Kind::kNameInId;
  }
  return pieces;
}

// Returns how arguments are written: serialised by the template, copied as text, or parameter by parameter.
format::ArgumentStyle argument_style(const Token& arguments) {
  const bool is_serialised = std::ranges::any_of(arguments.parts, [](const ArgumentPart& part) {
    return part.path.empty() && part.kind == text::RunKind::kSerialiser && contains(part.chain, "json");
  });
  // What is serialised twice is a string of JSON, as a copied text may be.
  if (is_serialised)
    return arguments.text.starts_with('"') ? format::ArgumentStyle::kJsonText : format::ArgumentStyle::kJson;
  const bool is_copied =
      std::ranges::all_of(arguments.parts, [](const ArgumentPart& part) { return part.path.empty(); });
  return is_copied ? format::ArgumentStyle::kJsonText : format::ArgumentStyle::kParameters;
}

// Returns the marker that ends headings; "" if blocks have no headings.  Reasoning, content and calls then all begin
// with words and this marker.
std::string heading_close(const Blocks& blocks, const format::Calls& calls) {
  const bool is_word = calls.pieces.size() > 2 && calls.pieces.front().kind == Kind::kName &&
                       !is_blank(calls.call_open) && calls.call_open.find_first_of("<[{(|") == std::string::npos &&
                       is_blank(calls.section_open);
  if (!is_word || calls.pieces[1].kind != Kind::kLiteral || calls.pieces[2].kind != Kind::kArguments) return "";
  std::string same(trimmed(calls.pieces[1].text));
  for (const std::string_view open : {trimmed(blocks.reasoning.open), trimmed(blocks.content.open)})
    same = same.substr(same.size() - format::alike_behind(same, open));
  const std::size_t bracket = same.find_first_of("<[{(");
  return bracket != std::string::npos && same.size() - bracket > 2 ? same.substr(bracket) : "";
}

// Notes that content may follow the calls.  White space before that content belongs to the text that closes the calls.
CallPart with_content_behind(const Evidence& evidence, const Ending& ending, CallPart part) {
  const Variant* both = evidence.find({.content = true, .calls = 1}, Parts{true, true, 1});
  if (both == nullptr) return part;
  const std::size_t last = both->turn.last_of_call(0);
  const std::size_t content = both->turn.first(SlotKind::kContent);
  if (last == kNone || content == kNone || content < last) return part;
  format::Calls& calls = part.calls;
  calls.content_behind = true;
  const std::string between = both->turn.literals(last, content);
  // A stop of calls that precedes content, and ends no other turn, cannot end a turn.  It closes the section.
  const auto is_stop = [&part](const std::string& stop) { return trimmed(stop) == trimmed(part.stops.front()); };
  if (!is_blank(calls.section_open) && part.stops.size() == 1 && std::ranges::none_of(ending.stops, is_stop)) {
    const std::size_t end = between.find(part.stops.front());
    const std::size_t begin = is_blank(calls.section_close) ? end : between.rfind(trimmed(calls.section_close), end);
    if (end != std::string::npos && begin != std::string::npos) {
      calls.section_close = between.substr(begin, end - begin) + part.stops.front();
      part.stops.clear();
      part.remarks.note("only the calls' close ends a turn of calls: who stops at it sees no content behind it");
    }
  }
  std::string& close = is_blank(calls.section_close) ? calls.call_close : calls.section_close;
  const std::size_t at = is_blank(close) ? std::string::npos : between.rfind(trimmed(close));
  if (at == std::string::npos) return part;
  const std::string rest = between.substr(at + trimmed(close).size());
  if (is_blank(rest) && !rest.empty() && trimmed_end(close) == close) close += rest;
  return part;
}

// Returns whether some turn with calls lacks the text that closes their section.
bool may_stay_open(const Evidence& evidence, const format::Calls& calls) {
  const std::string_view close = trimmed(calls.section_close);
  return !close.empty() && std::ranges::any_of(evidence.variants, [&calls, close](const auto& entry) {
    const auto& [parts, variant] = entry;
    if (calls.lone_is_bare && parts.calls == 1) return false;
    const std::size_t last = parts.calls == 0 ? kNone : variant.turn.last_of_call(parts.calls - 1);
    return last != kNone && !contains(variant.turn.behind_calls(last) + variant.turn.following, close);
  });
}

using Pieces = std::vector<format::CallPiece>;

// Returns the text of the pieces [begin, end), which are literals and numbers.
std::string joined(Pieces::const_iterator begin, Pieces::const_iterator end) {
  std::string out;
  for (auto piece = begin; piece != end; ++piece) out += piece->marker();
  return out;
}

// Puts the literals and numbers of `text` in place of the pieces [begin, end).
void replace(Pieces& pieces, Pieces::const_iterator begin, Pieces::const_iterator end, std::string_view text) {
  const Pieces made = text_pieces(text);
  pieces.insert(pieces.erase(begin, end), made.begin(), made.end());
}

bool is_text(const format::CallPiece& piece) { return piece.kind == Kind::kLiteral || piece.kind == Kind::kIndex; }

// The literals around the arguments contain the opener of the first parameter and the close of the last one.  Removes
// both.
void trim_around_arguments(format::Calls& calls) {
  Pieces& pieces = calls.pieces;
  const auto arguments = std::ranges::find(pieces, Kind::kArguments, &format::CallPiece::kind);
  const auto behind = std::find_if_not(arguments + 1, pieces.end(), is_text);
  const std::string after = joined(arguments + 1, behind);
  const std::string& close = calls.parameters.close;
  const auto index = arguments - pieces.begin();
  if (!close.empty() && after.starts_with(close))
    replace(pieces, arguments + 1, behind, std::string_view(after).substr(close.size()));
  const auto end = pieces.cbegin() + index;
  auto begin = end;
  while (begin != pieces.cbegin() && is_text(*std::prev(begin))) --begin;
  const std::string before = joined(begin, end);
  std::string_view open = calls.parameters.open;
  if (open.ends_with('"') && !before.ends_with(open)) open.remove_suffix(1);  // the quote of a key is part of the slot
  if (!open.empty() && before.ends_with(open))
    replace(pieces, begin, end, std::string_view(before).substr(0, before.size() - open.size()));
}

// Infers calls in tags from the variant of `base`.
CallPart calls_in_tags(const Evidence& evidence, const Parts& base, format::ArgumentStyle style, CallText text,
                       const std::string& stop) {
  CallPart out;
  const Turn& turn = evidence.variants.at(base).turn;
  out.calls.present = true;
  out.calls.arguments = style;
  out.calls.pieces = pieces_of(turn);
  if (out.calls.pieces.empty()) {
    out.calls = {};
    out.remarks.note("the arguments of tool calls are written in a way that could not be understood");
    return out;
  }
  const std::size_t last = turn.last_of_call(base.calls - 1);
  text.after = counted(turn, last, turn.tokens.size()).before(turn.behind_calls(last).size());
  if (base.calls == 2) text.between = counted(turn, turn.last_of_call(0), turn.first_of_call(1));
  if (style == format::ArgumentStyle::kParameters) {
    auto found = infer_parameters(evidence, base, out.remarks);
    if (!found) {
      out.calls = {};
      out.remarks.note("the parameters of tool calls are written in a way that could not be understood");
      return out;
    }
    out.calls.parameters = std::move(found->parameters);
    trim_around_arguments(out.calls);
    if (out.calls.pieces.back().kind == Kind::kArguments) {
      text.after = std::move(found->after);
      if (found->between) text.between = std::move(found->between);
    }
  }
  return with_markers(std::move(out), text, stop);
}

// Returns `end`, the text before the first slot of the turn's first call, with its counters.
Written counted_before(const Turn& turn, const std::string& end) {
  const std::size_t slot = turn.first_of_call(0);
  const Written plain = written(turn, 0, slot);
  if (!plain.text.ends_with(end)) return {end};
  return counted(turn, 0, slot).from(plain.text.size() - end.size());
}

// Returns `part`, a list of calls, with the markers around a call that is alone and no list.
CallPart with_lone_call(CallPart part, const CallText& text, const std::string& stop) {
  CallPart lone;
  lone.calls.envelope = format::Envelope::kJsonObject;
  lone = with_markers(std::move(lone), text, stop);
  const auto is_same = [](const std::string& a, const std::string& b) { return trimmed(a) == trimmed(b); };
  const bool is_section = is_same(lone.calls.call_open, part.calls.section_open) &&
                          is_same(lone.calls.call_close, part.calls.section_close);
  if (!is_section && (is_blank(part.calls.section_open) || is_blank(lone.calls.call_open))) return part;
  part.calls.lone_is_bare = true;
  if (is_section) return part;
  part.calls.call_open = std::move(lone.calls.call_open);
  part.calls.call_close = std::move(lone.calls.call_close);
  return part;
}

// Infers the calls from variants in which nothing follows them.
CallPart calls_alone(const Evidence& evidence, const Blocks& blocks, const std::string& stop) {
  // The text that separates calls from content is seen after content, and the text that ends a turn of calls in a turn
  // without content.
  const bool thinks = evidence.find({.calls = 1}) == nullptr;  // there are no calls without reasoning
  const auto shows = [&](bool content, std::size_t calls) {
    return evidence.find({thinks, content, calls}) != nullptr;
  };
  if (!shows(false, 1)) return {};
  const Parts leading{thinks, shows(true, 1), 1};
  const Parts base{thinks, false, shows(false, 2) ? std::size_t{2} : 1};
  CallText text;
  // If each call is a block of its own, the header stands before each call.
  text.atoms = evidence.atoms;
  if (!is_blank(blocks.header)) text.atoms.emplace_back(trimmed(blocks.header));
  const Turn& lead_turn = evidence.variants.at(leading).turn;
  text.before = counted_before(lead_turn, before_calls(blocks, lead_turn));
  const Turn& turn = evidence.variants.at(base).turn;
  const std::size_t slot = turn.first(SlotKind::kArguments, 0);
  if (slot == kNone) return {};
  const format::ArgumentStyle style = argument_style(turn.tokens[slot]);
  if (style != format::ArgumentStyle::kParameters) {
    if (auto json = find_json_call(turn, lead_turn, base.calls, text)) {
      CallPart out;
      out.calls.present = true;
      out.calls.arguments = style;
      out.calls.envelope = json->envelope;
      out.calls.roles = std::move(json->roles);
      out.calls.pieces = std::move(json->pieces);
      if (json->lone) {
        const Written before = counted_before(turn, before_calls(blocks, turn));
        json->text.before = before.before(before.text.size() - std::min(json->before_slot, before.text.size()));
      }
      CallPart part = with_markers(std::move(out), json->text, stop);
      return json->lone ? with_lone_call(std::move(part), *json->lone, stop) : part;
    }
  }
  return calls_in_tags(evidence, base, style, std::move(text), stop);
}

}  // namespace

CallPart infer_calls(const Evidence& evidence, const Blocks& blocks, const Ending& ending) {
  CallPart out = calls_alone(evidence, blocks, ending.stops.empty() ? "" : ending.stops.front());
  out = with_thoughts(evidence, std::move(out));
  if (!out.calls.present) return out;
  out.calls = with_made_ids(evidence, std::move(out.calls));
  out.calls = with_bare_calls(evidence, std::move(out.calls));
  out.calls.heading_close = heading_close(blocks, out.calls);
  out = with_content_behind(evidence, ending, std::move(out));
  out.calls.may_stay_open = may_stay_open(evidence, out.calls);
  out.calls = with_escapes(evidence, std::move(out.calls));
  return out;
}

}  // namespace rondo::analysis
