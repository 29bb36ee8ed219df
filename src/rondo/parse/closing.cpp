// The text that the format writes to close everything that is open where a text ends.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "format/escapes.h"
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {

using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

// A number that the template counts is that of the last call.
std::string Machine::closing_text() const {
  std::string out = format::numbered(construct_closing(), std::max<std::size_t>(message_.tool_calls.size(), 1));
  if (phase_ == Phase::kReasoning || phase_ == Phase::kEnded || !thoughts_.have_call || has_meant_call()) return out;
  // A call that has begun in reasoning is only a thought as long as it names no tool.  The reasoning is closed too.
  return is_named() ? out : out + syntax_->format->reasoning.close;
}

// Returns whether the call that has begun has a name that makes it one.  The name was read, or white space already
// follows it.
bool Machine::is_named() const {
  if (phase_ == Phase::kJson || call_.has_name) return call_.has_name && may_commit(call_.name);
  if (phase_ != Phase::kPieces) return false;
  const std::string_view begun = format::trimmed(std::string_view(buffer_).substr(pos_));
  const auto end = std::ranges::find_if(begun, format::is_space);
  return end != begun.end() && may_commit(std::string(begun.begin(), end));
}

// Returns the text that completes the JSON of a call.  Inside arguments it uses the format's escapes.
std::string Machine::json_closing() const {
  const bool is_inside = phase_ == Phase::kJsonArguments || phase_ == Phase::kEarlyArguments ||
                         envelope_.capture == JsonCall::Capture::kArguments;
  if (!has_escaped_arguments() || !is_inside) return scanner_.closing();
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

// Returns whether the text of the open attempt is content unless a tool's name follows: no marker of its own proves a
// call.
bool Machine::is_rather_text() const {
  if (!attempt_.is_open || thoughts_.have_call) return false;
  if (attempt_.opening != Opening::kMarker) return !is_named();
  return attempt_.is_prose && !(call_.has_name && options().tools && syntax_->is_known_tool(call_.name));
}

// Returns what closes content behind the opener that the text has.
const std::string& Machine::content_close() const {
  const format::Content& around = syntax_->format->content;
  return top_.is_preamble ? around.preamble_close : around.close;
}

std::string Machine::construct_closing() const {
  if (is_rather_text()) return top_.is_wrapped || attempt_.was_wrapped ? content_close() : "";
  const format::Calls& calls = syntax_->format->calls;
  const std::string_view begun = std::string_view(buffer_).substr(head_);
  const bool is_closed = (phase_ == Phase::kBetween || (phase_ == Phase::kAfterCall && syntax_->call_close.empty())) &&
                         !begun.empty() && format::trimmed(begun) == syntax_->section_close.core();
  if (is_closed) return "";  // longer markers begin with the close
  std::string section = section_.is_open ? calls.section_close : "";
  switch (phase_) {
    case Phase::kUndecided:
    case Phase::kFencedAnswer:
    case Phase::kEnded: return "";
    // Reasoning that closes after a call would turn the call into a thought.
    case Phase::kReasoning: {
      if (has_meant_call()) return section;
      const std::string& close = syntax_->format->reasoning.close;
      return rest_of_escape(begun, escapes_of(EventKind::kReasoning), close) + close;
    }
    case Phase::kTop: return top_closing(begun) + section;
    case Phase::kBetween: return opener_closing(begun) + section;
    case Phase::kSection: {
      const std::string_view behind = std::string_view(buffer_).substr(pos_);
      return (format::is_blank(behind) ? no_calls() : opener_closing(behind)) + calls.section_close;
    }
    case Phase::kJson: {
      const std::string none = scanner_.started() ? "" : no_calls();
      return (none.empty() ? json_closing() : none) + calls.call_close + section;
    }
    case Phase::kAfterCall:
    case Phase::kRecover: return calls.call_close + section;
    case Phase::kPieces:
    case Phase::kRawArguments: return after_arguments_closing() + section;
    case Phase::kEarlyArguments: return json_closing() + rest_of_call(call_.piece + 1) + section;
    case Phase::kJsonArguments:
      return (call_.has_arguments ? json_closing() : "{}") + after_arguments_closing() + section;
    default: return parameters_closing() + after_arguments_closing() + section;
  }
}

// Outside reasoning and calls: completes an opener or a heading that has begun, and closes the content.
std::string Machine::top_closing(std::string_view begun) const {
  if (std::string call = opener_closing(begun); !call.empty()) return call;
  std::string heading = heading_closing();
  if (heading.empty()) {
    // An opener may be complete although its last word could go on.
    if (std::string call = opener_closing(begun, true); !call.empty()) return call;
  }
  if (!top_.is_wrapped) return heading;
  return heading + rest_of_escape(begun, escapes_of(EventKind::kContent), content_close()) + content_close();
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
  return found->written.substr(begun.size());
}

// Completes the parameter that is open.  A value that has not begun becomes an empty string, if the format has strings.
std::string Machine::parameters_closing() const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const std::string repeated = parameters.key_in_close.empty() ? "" : parameters.key_in_close + parameter_.key;
  std::string out;
  if (phase_ == Phase::kKey) out = parameters.key_close;
  if (phase_ == Phase::kKey || phase_ == Phase::kValueOpen) {
    const auto form = std::find_if(parameters.forms.begin(), parameters.forms.end(),
                                   [](const ValueForm& f) { return f.type == ValueType::kString; });
    if (form != parameters.forms.end()) {
      const bool is_literal = form->style == ValueStyle::kJson || form->style == ValueStyle::kPython;
      out += form->open + (is_literal ? R"("")" : "") + form->close;
    }
    out += repeated + parameters.close;
  } else if (phase_ == Phase::kValue) {
    if (parameter_.nesting.quote != 0) out += parameter_.nesting.quote;
    if (parameter_.is_json) out += scanner_.started() ? scanner_.closing() : R"("")";
    const std::string closing = parameter_.forms.front()->close + repeated + parameters.close;
    out += rest_of_escape(std::string_view(buffer_).substr(head_), parameter_.escapes, closing) + closing;
  }
  return out;
}

// Returns the rest of a call from `piece` on, with empty arguments.
std::string Machine::rest_of_call(std::size_t piece) const {
  std::string out;
  const auto& pieces = syntax_->format->calls.pieces;
  const bool is_json = syntax_->format->calls.arguments != format::ArgumentStyle::kParameters;
  for (; piece < pieces.size(); ++piece) {
    if (pieces[piece].kind == format::CallPiece::Kind::kLiteral) out += pieces[piece].text;
    if (is_json && pieces[piece].kind == format::CallPiece::Kind::kArguments) out += "{}";
  }
  return out + syntax_->format->calls.call_close;
}

std::string Machine::after_arguments_closing() const {
  if (phase_ == Phase::kPieces) return rest_of_call(call_.piece);
  const auto& pieces = syntax_->format->calls.pieces;
  const auto arguments = std::ranges::find(pieces, format::CallPiece::Kind::kArguments, &format::CallPiece::kind);
  return rest_of_call(static_cast<std::size_t>(arguments - pieces.begin()) + 1);
}

// If calls are elements of a list, a section without calls contains an empty list.
std::string Machine::no_calls() const {
  const bool is_list = syntax_->format->calls.envelope == format::Envelope::kJsonArray;
  return is_list && syntax_->call_open.empty() ? "[]" : "";
}

// If `begun` is the beginning of an opener (all of one with `is_whole`), returns the text that completes it and closes
// an empty call or section; "" otherwise.  A bracket alone may be text and does not count as a whole opener.
std::string Machine::opener_closing(std::string_view begun, bool is_whole) const {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || !options().calls) return "";
  begun = format::trimmed(begun);
  const auto rest_of = [&](const Marker& opener) {
    const auto rest = opener.missing_behind(begun);
    const bool fits = rest && rest->empty() == is_whole && (!is_whole || opener.is_distinct());
    return fits ? std::optional(std::string(*rest) + opener.trail()) : std::nullopt;
  };
  if (const auto rest = rest_of(Marker(calls.section_open))) return *rest + no_calls() + calls.section_close;
  const auto rest = rest_of(syntax_->call_open);
  return rest ? *rest + rest_of_call(0) : "";
}

}  // namespace rondo::parse
