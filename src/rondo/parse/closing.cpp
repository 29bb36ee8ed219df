// What completes a turn that breaks off: the rest of the construct that is open, as the format writes it.
#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {

using format::ValueForm;
using format::ValueType;

// What makes the JSON of a call complete; inside arguments as these are written.
std::string Machine::json_closing() const {
  const bool is_inside = phase_ == Phase::kJsonArguments || phase_ == Phase::kEarlyArguments ||
                         envelope_.capture == JsonCall::Capture::kArguments;
  if (!has_escaped_arguments() || !is_inside) return scanner_.closing();
  const std::span<const format::Escape> escapes = syntax_->format->calls.argument_escapes;
  const std::string_view begun = std::string_view(buffer_).substr(pos_);
  if (begun.empty()) return format::escaped(scanner_.closing(), escapes);
  // The escape that has begun becomes a character first.
  const std::string rest = rest_of_escape(begun, escapes, "");
  JsonScanner after = scanner_;
  const std::string whole = std::string(begun) + rest;
  for (const char byte : format::unescaped(whole, escapes)) (void)after.step(byte);
  return rest + format::escaped(after.closing(), escapes);
}

std::string Machine::closing_text() const {
  const format::Calls& calls = syntax_->format->calls;
  std::string section = section_.is_open ? calls.section_close : "";
  switch (phase_) {
    case Phase::kUndecided:
    case Phase::kFencedAnswer:
    case Phase::kEnded: return "";
    case Phase::kReasoning: return syntax_->format->reasoning.close;
    case Phase::kTop:
      if (std::string call = opener_closing(); !call.empty()) return call + section;
      return heading_closing() + (top_.is_wrapped ? syntax_->format->content.close : "") + section;
    case Phase::kBetween: return opener_closing() + section;
    case Phase::kSection: return opener_closing() + calls.section_close;
    case Phase::kJson: return json_closing() + calls.call_close + section;
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

// What completes an escape that has begun where the text ends, if `closing` would become a part of it: as one of the
// characters that begin it, where these have an escape.
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

std::string Machine::parameters_closing() const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const std::string repeated = parameters.key_in_close.empty() ? "" : parameters.key_in_close + parameter_.key;
  std::string out;
  if (phase_ == Phase::kKey) out = parameters.key_close;
  if (phase_ == Phase::kKey || phase_ == Phase::kValueOpen) {
    const auto form = std::find_if(parameters.forms.begin(), parameters.forms.end(),
                                   [](const ValueForm& f) { return f.type == ValueType::kString; });
    if (form != parameters.forms.end()) out += form->open + form->close;
    out += repeated + parameters.close;
  } else if (phase_ == Phase::kValue) {
    if (parameter_.nesting.quote != 0) out += parameter_.nesting.quote;
    const std::string closing = parameter_.forms.front()->close + repeated + parameters.close;
    out += rest_of_escape(std::string_view(buffer_).substr(head_), parameter_.escapes, closing) + closing;
  }
  return out;
}

// The rest of a call from `piece` on, without arguments.
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

// What closes a call, or a section, whose opener has begun and is not complete.
std::string Machine::opener_closing() const {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || !options().calls) return "";
  const std::string_view begun = format::trimmed(std::string_view(buffer_).substr(head_));
  const Marker section(calls.section_open);
  if (const std::string_view rest = section.missing_behind(begun); !rest.empty())
    return std::string(rest) + section.trail() + calls.section_close;
  const std::string_view rest = syntax_->call_open.missing_behind(begun);
  return rest.empty() ? "" : std::string(rest) + syntax_->call_open.trail() + rest_of_call(0);
}

}  // namespace rondo::parse
