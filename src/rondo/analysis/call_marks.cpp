// How calls are written.
#include "analysis/analyst.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

// What the template writes between whatever precedes the calls and the first slot of the first call.
std::string Analyst::before_calls(const VariantKey& key, const Turn& turn) const {
  const std::size_t name =
      std::min({turn.first(SlotKind::kName), turn.first(SlotKind::kId), turn.first(SlotKind::kArguments)});
  const std::size_t content = turn.last(SlotKind::kContent);
  const auto behind_header = [this](const std::string& text) {
    const std::size_t at = is_blank(format_.header) ? std::string::npos : text.rfind(format_.header);
    return at == std::string::npos ? text : text.substr(at + format_.header.size());
  };
  if (std::get<1>(key) && content < name)
    return behind_header(without_prefix(turn.literals(content + 1, name), format_.content.close));
  std::string text;
  const std::size_t reasoning = turn.last(SlotKind::kReasoning);
  if (std::get<0>(key) && reasoning < name) {
    text = without_prefix(turn.literals(reasoning + 1, name), format_.reasoning.close);
  } else {
    text = lead(turn, name);
    // An empty reasoning block.
    const std::string_view close = trimmed(format_.reasoning.close);
    if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos) {
      text = text.substr(at + close.size());
      const std::string trail = format_.reasoning.close.substr(format_.reasoning.close.find(close) + close.size());
      text = without_prefix(text, trail);
    }
  }
  // Content that is always written, also when it is empty.
  const std::string_view close = trimmed(format_.content.close);
  if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos)
    text = text.substr(at + close.size());
  const std::string empty = format_.content.open + format_.content.close;
  if (!is_blank(format_.content.open)) text = without_prefix(text, empty);
  return behind_header(text);
}

bool is_call_slot(const Token& token, std::size_t call) {
  const bool is_slot =
      token.kind == SlotKind::kName || token.kind == SlotKind::kId || token.kind == SlotKind::kArguments;
  return is_slot && token.call == call;
}

std::size_t first_call_slot(const Turn& turn, std::size_t call) {
  for (std::size_t i = 0; i < turn.tokens.size(); ++i) {
    if (is_call_slot(turn.tokens[i], call)) return i;
  }
  return kNone;
}

std::size_t last_call_slot(const Turn& turn, std::size_t call) {
  for (std::size_t i = turn.tokens.size(); i-- > 0;) {
    if (is_call_slot(turn.tokens[i], call)) return i;
  }
  return kNone;
}

// The pieces of the first call, arguments as one piece.
bool Analyst::infer_pieces(const Turn& turn) {
  format::Calls& calls = format_.calls;
  bool has_arguments = false;
  const std::size_t end = last_call_slot(turn, 0);
  const std::size_t last_argument = turn.last(SlotKind::kArguments, 0);
  using Kind = format::CallPiece::Kind;
  for (std::size_t i = first_call_slot(turn, 0); i <= end; ++i) {
    const Token& token = turn.tokens[i];
    switch (token.kind) {
      case SlotKind::kLiteral: calls.pieces.push_back({Kind::kLiteral, token.text}); break;
      case SlotKind::kName: calls.pieces.push_back({Kind::kName, ""}); break;
      case SlotKind::kId: calls.pieces.push_back({Kind::kId, ""}); break;
      case SlotKind::kIndex: calls.pieces.push_back({Kind::kIndex, ""}); break;
      case SlotKind::kArguments:
        if (!has_arguments) calls.pieces.push_back({Kind::kArguments, ""});
        has_arguments = true;
        i = std::max(i, last_argument);
        break;
      default: return false;
    }
  }
  // A template that shows an id and no name expects the name in the id.
  const bool has_name = std::any_of(calls.pieces.begin(), calls.pieces.end(),
                                    [](const auto& piece) { return piece.kind == Kind::kName; });
  for (format::CallPiece& piece : calls.pieces) {
    if (!has_name && piece.kind == Kind::kId) piece.kind = Kind::kNameInId;
  }
  return has_arguments;
}

std::string between_calls(const Turn& turn, std::size_t call) {
  std::string out;
  const std::size_t end = first_call_slot(turn, call + 1);
  for (std::size_t i = last_call_slot(turn, call) + 1; i < std::min(end, turn.tokens.size()); ++i) {
    if (turn.tokens[i].kind == SlotKind::kLiteral) out += turn.tokens[i].text;
  }
  return out;
}

std::string behind_calls(const Turn& turn, std::size_t last) {
  const std::size_t content = turn.first(SlotKind::kContent);
  return turn.literals(last + 1, content != kNone && content > last ? content : turn.tokens.size());
}

// Serialised by the template, copied as text, or written parameter by parameter.
format::ArgumentStyle argument_style(const Token& arguments) {
  const bool is_serialised = std::any_of(arguments.parts.begin(), arguments.parts.end(), [](const ArgumentPart& part) {
    return part.path.empty() && part.kind == text::RunKind::kSerialiser && contains(part.chain, "json");
  });
  if (is_serialised) return format::ArgumentStyle::kJson;
  const bool is_copied = std::all_of(arguments.parts.begin(), arguments.parts.end(),
                                     [](const ArgumentPart& part) { return part.path.empty(); });
  return is_copied ? format::ArgumentStyle::kJsonText : format::ArgumentStyle::kParameters;
}

// Blocks with headings: reasoning, content and calls all begin with words, then one and the same marker.
void Analyst::find_heading_close() {
  format::Calls& calls = format_.calls;
  using Kind = format::CallPiece::Kind;
  const bool is_word = calls.present && calls.pieces.size() > 2 && calls.pieces.front().kind == Kind::kName &&
                       !is_blank(calls.call_open) && calls.call_open.find_first_of("<[{(|") == std::string::npos &&
                       is_blank(calls.section_open);
  if (!is_word || calls.pieces[1].kind != Kind::kLiteral || calls.pieces[2].kind != Kind::kArguments) return;
  const std::string_view call = trimmed(calls.pieces[1].text);
  std::string same(call);
  for (const std::string_view open : {trimmed(format_.reasoning.open), trimmed(format_.content.open)}) {
    std::size_t size = 0;
    while (size < same.size() && size < open.size() && same[same.size() - 1 - size] == open[open.size() - 1 - size])
      ++size;
    same = same.substr(same.size() - size);
  }
  const std::size_t bracket = same.find_first_of("<[{(");
  if (bracket != std::string::npos && same.size() - bracket > 2) calls.heading_close = same.substr(bracket);
}

// White space between calls and content that follows them belongs to what closes the calls.
void Analyst::find_content_behind_calls() {
  const Variant* both = find(false, true, 1);
  if (both == nullptr) both = find(true, true, 1);
  format::Calls& calls = format_.calls;
  if (both == nullptr || !calls.present) return;
  const std::size_t last = last_call_slot(both->turn, 0);
  const std::size_t content = both->turn.first(SlotKind::kContent);
  if (last == kNone || content == kNone || content < last) return;
  calls.content_behind = true;
  std::string& close = is_blank(calls.section_close) ? calls.call_close : calls.section_close;
  const std::string between = both->turn.literals(last + 1, content);
  const std::size_t at = is_blank(close) ? std::string::npos : between.rfind(trimmed(close));
  if (at == std::string::npos) return;
  const std::string rest = between.substr(at + trimmed(close).size());
  if (is_blank(rest) && !rest.empty() && trimmed_end(close) == close) close += rest;
}

// Whether a turn with calls goes without what closes their section.
void Analyst::find_open_sections() {
  format::Calls& calls = format_.calls;
  const std::string_view close = trimmed(calls.section_close);
  if (close.empty()) return;
  for (const auto& [key, found] : variants_) {
    const std::size_t count = std::get<2>(key);
    const std::size_t last = count == 0 ? kNone : last_call_slot(found.turn, count - 1);
    if (last != kNone && !contains(behind_calls(found.turn, last) + found.turn.following, close))
      calls.may_stay_open = true;
  }
}

namespace {

// The literals around the arguments hold the opening of the first parameter and the close of the last one.
void trim_around_arguments(format::Calls& calls) {
  using Kind = format::CallPiece::Kind;
  const auto arguments = std::ranges::find(calls.pieces, Kind::kArguments, &format::CallPiece::kind);
  if (const auto next = std::next(arguments); next != calls.pieces.end() && next->kind == Kind::kLiteral)
    next->text = without_prefix(next->text, calls.parameters.close);
  if (arguments == calls.pieces.begin()) return;
  const auto before = std::prev(arguments);
  if (before->kind != Kind::kLiteral) return;
  if (before->text.ends_with(calls.parameters.open))
    before->text.resize(before->text.size() - calls.parameters.open.size());
  if (before->text.empty()) calls.pieces.erase(before);
}

}  // namespace

void Analyst::infer_calls() {
  using Parts = std::pair<bool, bool>;
  const auto first_of = [this](std::initializer_list<std::size_t> counts, std::initializer_list<Parts> order) {
    for (const std::size_t count : counts) {
      for (const auto& [reasoning, content] : order) {
        if (find(reasoning, content, count) != nullptr) return std::optional(VariantKey{reasoning, content, count});
      }
    }
    return std::optional<VariantKey>();
  };
  // Behind content stands what tells the calls from it; without content, what ends a turn of calls alone.
  const auto lead_key = first_of({1, 2}, {{false, true}, {false, false}, {true, true}, {true, false}});
  const auto base_key = first_of({2, 1}, {{false, false}, {false, true}, {true, false}, {true, true}});
  if (!lead_key || !base_key) return;
  const Variant& base = variants_.at(*base_key);
  const std::size_t count = std::get<2>(*base_key);
  const Turn& turn = base.turn;
  format::Calls& calls = format_.calls;
  CallText text;
  // Where each call is a block of its own the header stands before each.
  std::vector<std::string> atoms = format_.atoms;
  if (!is_blank(format_.header)) atoms.emplace_back(trimmed(format_.header));
  text.atoms = atoms;
  const Turn& lead_turn = variants_.at(*lead_key).turn;
  text.before = written(lead_turn, 0, first_call_slot(lead_turn, 0)).ending(before_calls(*lead_key, lead_turn));
  const std::size_t slot = turn.first(SlotKind::kArguments, 0);
  if (slot == kNone) return;

  calls.present = true;
  calls.arguments = argument_style(turn.tokens[slot]);
  const std::string stop = format_.stops.content.empty() ? "" : format_.stops.content.front();
  if (calls.arguments != format::ArgumentStyle::kParameters &&
      find_json_envelope(turn, lead_turn, count, calls, text)) {
    split_call_text(text, stop, calls, format_.stops);
    return;
  }
  if (!infer_pieces(turn)) {
    calls = {};
    note("the arguments of tool calls are written in a way that could not be understood");
    return;
  }
  const std::size_t last = last_call_slot(turn, count - 1);
  text.after = written(turn, last + 1, turn.tokens.size()).before(behind_calls(turn, last).size());
  if (count == 2) {
    text.between = written(turn, last_call_slot(turn, 0) + 1, first_call_slot(turn, 1));
    text.has_between = true;
  }
  if (calls.arguments == format::ArgumentStyle::kParameters) {
    ProbeMessage message;
    message.reasoning = std::get<0>(*base_key);
    message.content = std::get<1>(*base_key);
    ParameterText parameters;
    if (!infer_parameters({prober_, shape_, message, base.setting, count == 1, format_.atoms}, calls.parameters,
                          parameters, format_)) {
      calls = {};
      note("the parameters of tool calls are written in a way that could not be understood");
      return;
    }
    trim_around_arguments(calls);
    if (calls.pieces.back().kind == format::CallPiece::Kind::kArguments) {
      text.after = parameters.after;
      if (parameters.has_between) text.between = parameters.between;
    }
  }
  split_call_text(text, stop, calls, format_.stops);
}
}  // namespace rondo::analysis
