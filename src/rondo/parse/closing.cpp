// The text that the format writes to close everything that is open where a text ends.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "parse/machine.h"
#include "parse/markup.h"
#include "parse/nameless.h"

namespace rondo::parse {
namespace {

// Returns the rest of a marker behind `written`, without the white space that this already ends with.
std::string behind_space(std::string_view rest, std::string_view written) {
  const bool has_space = !written.empty() && format::is_space(written.back());
  return std::string(rest.substr(has_space ? std::min(rest.find_first_not_of(" \t\r\n"), rest.size()) : 0));
}

// Returns whether an answer may well end with `begun`, the beginning of an opener (all of it with `is_whole`): it has no
// whole tag, no fence and no control token, and is no word behind a bracket and a bar.  A whole opener is ordinary only if
// it begins as prose or as a line of Markdown does.
bool is_ordinary(std::string_view begun, const std::vector<std::string>& tokens, bool is_whole) {
  const auto is_there = [begun](const std::string& token) {
    return !token.empty() && begun.find(token) != std::string_view::npos;
  };
  const bool has_bar = begun.starts_with('<') && begun.substr(1).starts_with('|');
  const bool has_fence = begun.find("```") != std::string_view::npos || begun.find("~~~") != std::string_view::npos;
  if (has_bar || has_fence || std::ranges::any_of(tokens, is_there)) return false;
  constexpr std::string_view kTextSigns = "#-*+>_=`|!\\(\"'";
  const bool is_text =
      begun.empty() || format::is_word(begun.front()) || kTextSigns.find(begun.front()) != std::string_view::npos;
  if (is_whole && !is_text && std::ranges::any_of(begun, format::is_word)) return false;
  const auto is_sign = [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; };
  const std::size_t open = std::min(begun.find_first_of("<["), begun.size());
  const std::size_t close = begun.find_last_of(">]");
  const bool has_tag = close != std::string_view::npos && open < close &&
                       std::ranges::any_of(begun.substr(open, close - open), format::is_word);
  return !has_tag && std::ranges::none_of(begun, is_sign);
}

}  // namespace

// A number that the template counts is that of the last call.
std::string Machine::closing_text() const {
  std::string out = format::numbered(construct_closing().text, std::max<std::size_t>(message_.tool_calls.size(), 1));
  if (phase_ == Phase::kReasoning || phase_ == Phase::kEnded || !thoughts_.have_call || has_meant_call()) return out;
  // A call that has begun in reasoning is only a thought as long as it names no tool.  The reasoning is closed too.
  return is_named() ? out : out + syntax_->format->reasoning.close;
}

// Returns the name of the call that has begun: it was read, or the beginning of the format's next text, or white space,
// already follows it; "" otherwise.
std::string Machine::begun_name() const {
  if (call_.has_name) return call_.name;
  const std::vector<format::CallPiece>& pieces = syntax_->format->calls.pieces;
  const bool is_at_name = phase_ == Phase::kPieces && call_.piece < pieces.size() &&
                          pieces[call_.piece].kind == format::CallPiece::Kind::kName;
  if (!is_at_name) return "";
  const std::string_view begun = std::string_view(buffer_).substr(std::min(skip_space(pos_), buffer_.size()));
  const std::vector<Marker>& markers = syntax_->piece_markers;
  const std::string_view next = call_.piece + 1 < markers.size() ? markers[call_.piece + 1].core() : std::string_view();
  for (std::size_t size = std::min(next.size(), begun.size()); size > 0; --size) {
    if (begun.ends_with(next.substr(0, size)))
      return std::string(format::trimmed(begun.substr(0, begun.size() - size)));
  }
  const auto end = std::ranges::find_if(begun, format::is_space);
  return end == begun.end() ? "" : std::string(begun.begin(), end);
}

// Returns whether the call that has begun has a name that makes it one.
bool Machine::is_named() const {
  const std::string name = begun_name();
  return (call_.has_name || !name.empty()) && may_commit(name);
}

// Returns the text that completes the JSON of a call.  Inside arguments it uses the format's escapes.
std::string Machine::json_closing() const {
  const bool is_inside = phase_ == Phase::kJsonArguments || phase_ == Phase::kEarlyArguments ||
                         envelope_.capture == JsonCall::Capture::kArguments;
  if (auto inner = is_inside && call_.is_string ? text_arguments_closing() : std::nullopt) return *std::move(inner);
  if (!has_escaped_arguments() || !is_inside) return scanner_.closing(awaits_arguments() ? "{}" : "null");
  const std::span<const format::Escape> escapes = syntax_->format->calls.argument_escapes;
  const std::string_view begun = std::string_view(buffer_).substr(pos_);
  if (begun.empty()) return format::escaped(scanner_.closing(), escapes);
  // An escape has begun.  It must become a character first.
  const std::string rest = rest_of_escape(begun, escapes, "");
  JsonScanner after = scanner_;
  const std::string whole = std::string(begun) + rest;
  for (const char byte : format::unescaped(whole, escapes)) (void)after.step(byte);
  return rest + format::escaped(after.closing(), escapes);
}

// If the arguments are an object inside a string, which has not ended, returns what completes the object, the string and
// the JSON around it.
std::optional<std::string> Machine::text_arguments_closing() const {
  const std::size_t begin = phase_ == Phase::kJsonArguments ? head_ : envelope_.capture_begin - base_;
  const std::span<const format::Escape> escapes = syntax_->format->calls.argument_escapes;
  const std::string_view written = std::string_view(buffer_).substr(begin);
  const std::string rest = has_escaped_arguments() ? rest_of_escape(written, escapes, "") : "";
  const auto inner = json_text_closing(format::unescaped(std::string(written) + rest, escapes));
  if (!inner) return std::nullopt;
  JsonScanner around = scanner_;
  for (const char byte : format::unescaped(buffer_.substr(pos_) + rest, escapes)) (void)around.step(byte);
  const std::string closing = inner->text + around.closing().substr(inner->replaced);
  return rest + (has_escaped_arguments() ? format::escaped(closing, escapes) : closing);
}

bool Machine::closes_from_end() const {
  if (construct_closing().is_rest) return true;
  if (phase_ == Phase::kValue && !behind_value().empty()) return false;
  if (open_literal()) return true;
  const bool is_read = phase_ == Phase::kJson || phase_ == Phase::kEarlyArguments ||
                       (phase_ == Phase::kJsonArguments && call_.has_arguments) ||
                       (phase_ == Phase::kValue && parameter_.is_json);
  return is_read && scanner_.started() && !scanner_.done();
}

// Returns whether the next value of a call that is JSON is its arguments.
bool Machine::awaits_arguments() const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  if (phase_ != Phase::kJson || !scanner_.awaits_value()) return false;
  return roles.name_is_key ? scanner_.depth() == envelope_.depth : has_role(roles.arguments, scanner_.depth());
}

// Returns whether the text of the open attempt is content unless a tool's name follows: no marker of its own proves a
// call.
bool Machine::is_rather_text() const {
  if (!attempt_.is_open || thoughts_.have_call) return false;
  const bool follows_call = section_.is_open && section_.was_open && !message_.tool_calls.empty();
  if (follows_call && !format::is_blank(syntax_->format->calls.section_close)) return false;
  if (attempt_.opening != Opening::kMarker) return !is_named();
  return attempt_.is_prose && !(options().tools && syntax_->is_known_tool(begun_name()));
}

// Returns what closes content behind the opener that the text has.
const std::string& Machine::content_close() const {
  const format::Content& around = syntax_->format->content;
  return top_.is_preamble ? around.preamble_close : around.close;
}

// Returns whether the close of a section belongs behind the text.  A section that nothing opens is open as long as its
// first call is.
bool Machine::is_in_section() const {
  const bool is_in_call = phase_ >= Phase::kJson && phase_ <= Phase::kAfterCall;
  return section_.is_open || (is_in_call && syntax_->format->calls.section_open.empty());
}

Machine::Closing Machine::construct_closing() const {
  if (is_rather_text()) return top_.is_wrapped || attempt_.was_wrapped ? content_close() : "";
  const format::Calls& calls = syntax_->format->calls;
  const std::string_view begun = std::string_view(buffer_).substr(head_);
  const bool is_closed = (phase_ == Phase::kBetween || (phase_ == Phase::kAfterCall && syntax_->call_close.empty())) &&
                         !begun.empty() && format::trimmed(begun) == syntax_->section_close.core();
  if (is_closed) return "";  // longer markers begin with the close
  std::string section = is_in_section() ? calls.section_close : "";
  if (const auto wrapper = wrapper_closing(std::string_view(buffer_).substr(pos_)))
    return {*wrapper + after_arguments_closing() + section, true};
  switch (phase_) {
    case Phase::kUndecided:
    case Phase::kFencedAnswer:
    case Phase::kEnded: return "";
    // Reasoning that closes after a call would turn the call into a thought.
    case Phase::kReasoning: {
      if (has_meant_call()) return section;
      const std::string& close = syntax_->format->reasoning.close;
      const std::string rest = rest_of_escape(begun, escapes_of(EventKind::kReasoning), close);
      return {rest + close, !rest.empty()};
    }
    case Phase::kTop: return top_closing(begun).with(section);
    case Phase::kBetween: return between_closing(begun);
    case Phase::kSection: return section_closing();
    case Phase::kJson: {
      const std::string none = no_calls().empty() ? "{}" : no_calls();
      return (scanner_.started() ? json_closing() : none) + after_arguments_closing() + section;
    }
    case Phase::kAfterCall:
    case Phase::kRecover: return calls.call_close + section;
    case Phase::kPieces: return pieces_closing().with(section);
    case Phase::kRawArguments: return after_arguments_closing() + section;
    case Phase::kParameter:
      if (auto next = next_parameter(std::string_view(buffer_).substr(pos_))) return next->with(section);
      return after_arguments_closing() + section;
    case Phase::kEarlyArguments: return json_closing() + rest_of_open_call(call_.piece + 1) + section;
    case Phase::kJsonArguments: return json_arguments_closing().with(after_arguments_closing() + section);
    case Phase::kValue:
      if (auto next = next_parameter(behind_value())) return next->with(section);
      return (behind_value().empty() ? value_closing() : "") + after_arguments_closing() + section;
    case Phase::kKey: return {parameters_closing() + after_arguments_closing() + section, head_ == buffer_.size()};
    default: return parameters_closing() + after_arguments_closing() + section;
  }
}

// Completes arguments in JSON.  An object that has begun may also look like the beginning of what follows arguments.
Machine::Closing Machine::json_arguments_closing() const {
  if (call_.has_arguments) return json_closing();
  const std::string_view begun = format::trimmed(std::string_view(buffer_).substr(pos_));
  JsonScanner scanner;
  const bool is_begun =
      begun.starts_with('{') && std::ranges::none_of(begun, [&scanner](char byte) { return scanner.step(byte).bad; });
  return is_begun && !has_escaped_arguments() ? Closing{scanner.closing(), true} : Closing("{}");
}

// Behind a call: completes the section's close, or an opener or a further heading that has begun, and closes the section.
Machine::Closing Machine::between_closing(std::string_view begun) const {
  if (!section_.is_open) {
    if (Closing call = opener_closing(begun); !call.text.empty()) return call;
    if (std::string heading = further_heading_closing(begun); !heading.empty()) return heading;
    return opener_closing(begun, true);
  }
  const Marker& close = syntax_->section_close;
  const bool has_begun = !format::is_blank(begun) && close.core().starts_with(format::trimmed(begun));
  if (has_begun) return close.core() + close.trail();
  if (auto rest = rest_of_call_open(begun)) return rest->with(syntax_->format->calls.section_close);
  return opener_closing(begun).with(syntax_->format->calls.section_close);
}

// In a section without a call: completes a call that has begun, and closes the section.
Machine::Closing Machine::section_closing() const {
  const std::string& close = syntax_->format->calls.section_close;
  const std::string_view behind = std::string_view(buffer_).substr(pos_);
  if (auto rest = rest_of_call_open(behind)) return rest->with(close);
  const Marker& end = syntax_->section_close;
  if (!format::is_blank(behind) && end.core().starts_with(format::trimmed(behind))) return end.core() + end.trail();
  const std::string list = no_calls();
  JsonScanner begun;
  const bool is_list = !list.empty() && !format::is_blank(behind) &&
                       std::ranges::none_of(behind, [&](char byte) { return begun.step(byte).bad; });
  if (is_list) return {begun.closing("null") + close, true};
  const std::string call = format::is_blank(behind) ? list : "";
  const bool needs_call = call.empty() && format::is_blank(close);
  return (needs_call ? whole_call(format::trimmed(behind)) : call) + close;
}

// In a section, where only calls and its close may stand: if `begun` is the beginning of a call's opener, returns the rest
// of an empty call; nullopt otherwise.
std::optional<Machine::Closing> Machine::rest_of_call_open(std::string_view begun) const {
  const std::string_view text = format::trimmed(begun);
  const Marker& opener = syntax_->call_open;
  const Marker& close = syntax_->section_close;
  const bool is_close = close.core().starts_with(text) && close.match(text, false, starts()).kind != MatchKind::kNone;
  if (text.empty() || opener.empty() || is_close) return std::nullopt;
  if (auto rest = rest_of_opener(opener, begun, false))
    return Closing{*rest + empty_call(syntax_->format->calls), true};
  if (opener.match(text, false, starts()).kind != MatchKind::kPartial || !opener.core().starts_with(text))
    return std::nullopt;
  return Closing{
      behind_space(opener.core().substr(text.size()), begun) + opener.trail() + empty_call(syntax_->format->calls),
      true};
}

// Outside reasoning and calls: completes an opener or a heading that has begun, and closes the content.
Machine::Closing Machine::top_closing(std::string_view begun) const {
  if (Closing call = opener_closing(begun); !call.text.empty()) return call;
  std::string heading = heading_closing();
  if (heading.empty()) {
    // An opener may be complete although its last word could go on.
    if (Closing call = opener_closing(begun, true); !call.text.empty()) return call;
    if (std::string thought = reasoning_opener_closing(begun); !thought.empty()) return {thought, true};
  }
  const bool is_rest = !heading.empty() && !format::is_space(heading.front());
  if (!top_.is_wrapped) return {heading, is_rest};
  const std::string rest = rest_of_escape(begun, escapes_of(EventKind::kContent), content_close());
  return {heading + rest + content_close(), is_rest || !rest.empty()};
}

// If `begun` is the beginning of the reasoning's opener, with a control token that opens nothing else, returns the text
// that completes it and closes the reasoning; "" otherwise.
std::string Machine::reasoning_opener_closing(std::string_view begun) const {
  const format::Reasoning& reasoning = syntax_->format->reasoning;
  const Marker opener(reasoning.open);
  const bool may_open = top_.is_blank || opener.is_reserved() || reasoning.behind_content;
  if (!reasoning.present || !may_open) return "";
  begun = format::trimmed(begun);
  const std::string_view header = format::trimmed(syntax_->format->header);
  if (begun.starts_with(header)) begun = format::trimmed(begun.substr(header.size()));
  const bool is_begun = opener.core().starts_with(begun) && begun.size() < opener.core().size() + opener.trail().size();
  const std::size_t token = opener.core().find_first_of(">]") + 1;
  const bool is_whole = begun == opener.core();
  const bool has_token = token > 0 && begun.size() >= token && Marker(opener.core().substr(0, token)).is_distinct();
  if (!is_begun || !(has_token || (is_whole && opener.is_distinct() && !is_ordinary(begun, {}, true)))) return "";
  return opener.core().substr(begun.size()) + opener.trail() + reasoning.close;
}

// Returns the rest of an escape that has begun where the text ends, if `closing` would otherwise become a part of it.
// If the characters that begin the escape have an escape themselves, they stay as they are.
std::string Machine::rest_of_escape(std::string_view written, std::span<const format::Escape> escapes,
                                    std::string_view closing) const {
  const std::string begun(written.substr(format::whole_units(written, escapes)));
  if (begun.empty() || format::unit_size(begun + std::string(closing), escapes) <= begun.size()) return "";
  const auto completes = [&](const format::Escape& escape) { return escape.written.starts_with(begun); };
  auto found = std::ranges::find_if(
      escapes, [&](const format::Escape& escape) { return completes(escape) && escape.text == begun; });
  if (found == escapes.end()) found = std::ranges::find_if(escapes, completes);
  return found == escapes.end() ? "" : found->written.substr(begun.size());
}

// Completes a parameter without a value, if one is open.  The value becomes an empty string, if the format has strings.
std::string Machine::parameters_closing() const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  if (phase_ == Phase::kKey) {
    const std::string_view begun = std::string_view(buffer_).substr(head_);
    // The text that closes the key may have begun.
    std::size_t shown = std::min(begun.size(), parameters.key_close.size());
    while (!begun.ends_with(std::string_view(parameters.key_close).substr(0, shown))) --shown;
    const std::string_view key = format::trimmed(begun.substr(0, begun.size() - shown));
    return parameters.key_close + no_value() + closing_tag(parameters, key);
  }
  return phase_ == Phase::kValueOpen ? no_value() + closing_tag(parameters, parameter_.key) : "";
}

// Completes the parameter's value, and closes the parameter.
std::string Machine::value_closing() const {
  const std::string_view begun = std::string_view(buffer_).substr(head_);
  const std::string closing =
      parameter_.forms.front()->close + closing_tag(syntax_->format->calls.parameters, parameter_.key);
  if (auto parts = open_markup(closing)) return std::move(*parts);
  return rest_of_value() + rest_of_escape(begun, parameter_.escapes, closing) + closing;
}

// Returns a value behind a key that has none, in the form whose opener has begun: an empty string, or null.
std::string Machine::no_value() const {
  const std::string_view begun =
      phase_ == Phase::kValueOpen ? format::trimmed(std::string_view(buffer_).substr(head_)) : std::string_view();
  return empty_value(syntax_->format->calls.parameters, begun, parameter_.key_open);
}

// Completes a call up to its arguments.  What closes a name may begin as its opener ends, so nothing of it is there yet
// if nothing is behind the opener.  Where only white space closes the name, the first parameter may have begun.
Machine::Closing Machine::pieces_closing() const {
  const std::string_view behind = std::string_view(buffer_).substr(pos_);
  const std::string_view opener = syntax_->parameter_open.core();
  const std::size_t at = opener.empty() ? std::string_view::npos : behind.rfind(opener.front());
  const auto& pieces = syntax_->format->calls.pieces;
  std::size_t piece = call_.piece + 1;
  while (piece < pieces.size() && pieces[piece].kind == format::CallPiece::Kind::kLiteral &&
         format::is_blank(pieces[piece].text))
    ++piece;
  const bool is_next = piece < pieces.size() && pieces[piece].kind == format::CallPiece::Kind::kArguments;
  if (is_next && at != std::string_view::npos && at > 0) {
    if (auto next = next_parameter(behind.substr(at))) return *std::move(next);
  }
  return {after_arguments_closing(), behind.empty()};
}

// If the value is closed, returns what begins behind it; "" otherwise.  A value in JSON that ends with its line is closed.
std::string_view Machine::behind_value() const {
  const MarkerSet& closers = parameter_.closer_set;
  const std::size_t line = buffer_.rfind('\n');
  if (closers.empty() && line != std::string::npos && line > head_) {
    const std::string_view behind = std::string_view(buffer_).substr(line + 1);
    const bool is_whole = json::parse(std::string_view(buffer_).substr(head_, line - head_)).ok();
    return is_whole && !format::is_blank(behind) && next_parameter(behind) ? behind : std::string_view();
  }
  for (std::size_t from = head_; !closers.empty();) {
    const MarkerSet::Found found = closers.find(buffer_, from, true, starts());
    if (found.kind != MatchKind::kFull) break;
    const std::string_view behind = std::string_view(buffer_).substr(found.begin + found.size);
    if (format::is_blank(behind) || next_parameter(behind)) return behind;
    from = found.begin + 1;
  }
  return {};
}

// If `begun`, where no parameter is open, is the beginning of another parameter or of the call's end, returns that marker
// and what closes it and the call; nullopt otherwise.
std::optional<Machine::Closing> Machine::next_parameter(std::string_view begun) const {
  const std::string_view text = format::trimmed(begun);
  if (text.empty()) return std::nullopt;
  const std::string call_end = after_arguments_closing();
  if (const auto wrapper = wrapper_closing(text)) return Closing{*wrapper + call_end, true};
  const std::string_view end = std::string_view(call_end).substr(call_end.find(format::trimmed(call_end)));
  // A text that has a token of its own does not begin with the characters of that token.
  const auto begins = [&](const Marker& marker) {
    return marker.core().starts_with(text) && marker.match(text, false, starts()).kind != MatchKind::kNone;
  };
  if (begins(syntax_->make_marker(end))) return std::string(end);
  const Marker& opener = syntax_->parameter_open;
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  // Where only white space opens parameters, the name of one has begun.
  const auto is_key = [](char byte) { return is_key_byte(byte, false); };
  if (opener.empty() && !format::is_blank(parameters.key_close) && std::ranges::all_of(text, is_key))
    return Closing{parameters.key_close + empty_value(parameters, "") + closing_tag(parameters, text) + call_end, true};
  const auto with = [&](const Marker& marker, std::string_view key_open) {
    const std::string rest = behind_space(marker.core().substr(text.size()), begun) + marker.trail();
    return Closing{rest + empty_parameter(parameters, key_open) + call_end, true};
  };
  if (begins(opener)) return with(opener, "");
  for (std::size_t i = 0; i < parameters.forms.size(); ++i) {
    const Marker& typed = syntax_->values.key_openers[i];
    if (!typed.empty() && begins(typed)) return with(typed, parameters.forms[i].key_open);
  }
  return std::nullopt;
}

// Returns what closes the brackets and quotes of the parameter's value itself.
std::string Machine::rest_of_value() const {
  if (parameter_.is_json) return scanner_.started() ? scanner_.closing() : R"("")";
  if (const auto literal = open_literal()) return *literal;
  if (!is_text_value()) return scalar_closing(format::trimmed(std::string_view(buffer_).substr(head_)));
  std::string out;
  const Nesting& nesting = parameter_.nesting;
  if (nesting.quote != 0) out.append(nesting.quote_size - nesting.quotes_seen, nesting.quote);
  out.append(parameter_.nesting.closers.rbegin(), parameter_.nesting.closers.rend());
  return out;
}

// Returns whether the parameter's value may be a string.
bool Machine::is_text_value() const { return !parameter_.types || parameter_.types->has(TypeSet::kString); }

// Returns the rest of the value if it is an object, an array or a string between quotes: its own syntax ends it, or the
// tool's schema wants no string.
std::optional<std::string> Machine::open_literal() const {
  if (phase_ != Phase::kValue || parameter_.is_json || (is_text_value() && !is_structured())) return std::nullopt;
  if (auto parts = open_markup("")) return parts;
  const std::span<const format::Escape> escapes = parameter_.escapes;
  const std::string begun = buffer_.substr(head_);
  const auto closing_behind = [&](const std::string& rest) -> std::optional<std::string> {
    const std::string written = format::unescaped(begun + rest, escapes);
    const auto closing = literal_closing(written, syntax_->values.nested);
    if (!closing || (!rest.empty() && !json::parse(written + *closing).ok())) return std::nullopt;
    return rest + format::escaped(*closing, escapes);
  };
  // An escape has begun.  It becomes the character that fits there.
  const std::string unit = begun.substr(format::whole_units(begun, escapes));
  for (const format::Escape& escape : escapes) {
    if (unit.empty() || !escape.written.starts_with(unit)) continue;
    if (auto whole = closing_behind(escape.written.substr(unit.size()))) return whole;
  }
  return closing_behind("");
}

// Returns the rest of the parameter's value, and `closing` behind it, if the value is an object or array in the format's
// own markup.
std::optional<std::string> Machine::open_markup(const std::string& closing) const {
  if (is_text_value()) return std::nullopt;
  const bool is_list = !parameter_.types->has(TypeSet::kObject);
  return parameter_.markup.closing(std::string_view(buffer_).substr(head_), syntax_->format->calls.parameters, closing,
                                   is_list);
}

// Returns the rest of the call behind its arguments or its object; in front of them, all that is missing.
std::string Machine::after_arguments_closing() const {
  return rest_of_open_call(phase_ == Phase::kPieces ? call_.piece : syntax_->behind_arguments());
}

// Returns the rest of the open call from `piece` on, with what is known of it.  A name that has begun is there already.
std::string Machine::rest_of_open_call(std::size_t piece) const {
  const format::Calls& calls = syntax_->format->calls;
  const std::string name = begun_name();
  const bool has_begun = !call_.has_name && !name.empty();
  return rest_of_call(calls, has_begun ? piece + 1 : piece, format::escaped(name, calls.name_escapes),
                      call_.id.value_or(""));
}

// Returns a call without a name, behind the beginning of its opener.  Nothing else ends a section that has no close.
std::string Machine::whole_call(std::string_view begun) const {
  const Marker& opener = syntax_->call_open;
  const std::string_view core = opener.core();
  return core.starts_with(begun)
             ? std::string(core.substr(begun.size())) + opener.trail() + empty_call(syntax_->format->calls)
             : "";
}

// If calls are elements of a list, a section without calls contains an empty list.
std::string Machine::no_calls() const {
  const bool is_list = syntax_->format->calls.envelope == format::Envelope::kJsonArray;
  return is_list && syntax_->call_open.empty() ? "[]" : "";
}

// If `begun` is the beginning of a section's or call's opener (all of it with `is_whole`), returns the text that completes
// it and closes an empty call or section; "" otherwise.  A bracket alone may be text and does not count as a whole opener.
Machine::Closing Machine::opener_closing(std::string_view begun, bool is_whole) const {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || !options().calls) return "";
  // Behind the header of a block stands a heading.
  const bool is_heading = syntax_->has_headings() && (top_.has_header || phase_ == Phase::kBetween);
  if (!is_heading && is_ordinary(format::trimmed(begun), options().special_tokens, is_whole)) return "";
  const Marker section = syntax_->make_marker(calls.section_open);
  if (const auto rest = rest_of_opener(section, begun, is_whole))
    return {*rest + no_calls() + calls.section_close, !is_whole};
  const auto rest = rest_of_opener(syntax_->call_open, begun, is_whole);
  return rest ? Closing{*rest + empty_call(syntax_->format->calls), !is_whole} : Closing("");
}

std::optional<std::string> Machine::rest_of_opener(const Marker& opener, std::string_view begun, bool is_whole) const {
  const auto rest = opener.missing_behind(format::trimmed(begun), starts());
  const bool fits = rest && rest->empty() == is_whole && (!is_whole || opener.is_distinct());
  return fits ? std::optional(behind_space(*rest, begun) + opener.trail()) : std::nullopt;
}

}  // namespace rondo::parse
