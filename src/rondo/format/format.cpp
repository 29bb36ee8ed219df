#include "format/format.h"

#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "json/print.h"

namespace rondo::format {
namespace {

std::string quoted(const std::string& text) { return json::to_compact(json::Value(text)); }

std::string quoted(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return json::to_compact(json::Value(std::move(array)));
}

void line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\n");
}

void print_marker(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) line(out, name, quoted(text));
}

std::string escapes_text(const std::vector<Escape>& escapes) {
  if (escapes == json_escapes()) return "as in a string of JSON";
  std::string out;
  for (const Escape& escape : escapes)
    out.append(out.empty() ? "" : ", ").append(quoted(escape.text)).append(" as ").append(quoted(escape.written));
  return out;
}

void print_parameters(std::string& out, const Parameters& parameters) {
  print_marker(out, "  parameter open", parameters.open);
  print_marker(out, "  parameter key_close", parameters.key_close);
  print_marker(out, "  parameter key_in_close", parameters.key_in_close);
  print_marker(out, "  parameter close", parameters.close);
  print_marker(out, "  parameter separator", parameters.separator);
  print_marker(out, "  item open", parameters.item_open);
  print_marker(out, "  item close", parameters.item_close);
  print_marker(out, "  member open", parameters.member_open);
  print_marker(out, "  member key_close", parameters.member_key_close);
  print_marker(out, "  member close", parameters.member_close);
  if (parameters.repeats_items) line(out, "  arrays", "the parameter again for each item");
  if (!parameters.key_escapes.empty()) line(out, "  in keys", escapes_text(parameters.key_escapes));
  for (const ValueForm& form : parameters.forms) {
    std::string text(to_string(form.style));
    if (!form.constant.empty()) text += " " + quoted(form.constant);
    if (!form.open.empty() || !form.close.empty()) text += " in " + quoted(form.open) + " " + quoted(form.close);
    if (!form.escapes.empty()) text += ", " + escapes_text(form.escapes);
    if (!form.key_open.empty()) text += ", key behind " + quoted(form.key_open);
    line(out, "  " + std::string(to_string(form.type)), text);
  }
}

std::string pieces_text(const std::vector<CallPiece>& pieces) {
  std::string out;
  for (const CallPiece& piece : pieces) {
    if (!out.empty()) out += ' ';
    switch (piece.kind) {
      case CallPiece::Kind::kLiteral: out += quoted(piece.text); break;
      case CallPiece::Kind::kName: out += "NAME"; break;
      case CallPiece::Kind::kId: out += "ID"; break;
      case CallPiece::Kind::kNameInId: out += "ID-WITH-NAME"; break;
      case CallPiece::Kind::kIndex: out += "INDEX"; break;
      case CallPiece::Kind::kArguments: out += "ARGUMENTS"; break;
      case CallPiece::Kind::kObject: out += "OBJECT"; break;
    }
  }
  return out;
}

std::string dotted(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& step : path) out += (out.empty() ? "" : ".") + step;
  return out;
}

void print_calls(std::string& out, const Calls& calls) {
  const std::size_t begin = out.size();
  line(out, "calls", std::string(to_string(calls.envelope)) + ", arguments " + std::string(to_string(calls.arguments)));
  print_marker(out, "  section open", calls.section_open);
  print_marker(out, "  call open", calls.call_open);
  if (!calls.pieces.empty()) line(out, "  pieces", pieces_text(calls.pieces));
  if (calls.roles.name_is_key) line(out, "  name", "is the key");
  if (calls.roles.shares_object) out += "  all calls are members of one object\n";
  if (!calls.roles.name.empty()) line(out, "  name", dotted(calls.roles.name));
  if (!calls.roles.arguments.empty()) line(out, "  arguments", dotted(calls.roles.arguments));
  if (!calls.roles.reasoning.empty()) line(out, "  reasoning", dotted(calls.roles.reasoning));
  for (const JsonConstant& constant : calls.roles.constants)
    line(out, "  constant", dotted(constant.path) + (constant.value.empty() ? "" : " is " + constant.value));
  print_marker(out, "  heading close", calls.heading_close);
  if (calls.content_behind) out += "  content stands behind the calls\n";
  if (calls.lone_is_bare) out += "  a call that is alone is written without the list\n";
  if (calls.may_stay_open) out += "  the section is not always closed\n";
  if (calls.omits_arguments) out += "  a call without arguments is written without them\n";
  print_marker(out, "  behind its name", calls.bare_close);
  if (!calls.roles.id.empty()) line(out, "  id", dotted(calls.roles.id));
  print_marker(out, "  call close", calls.call_close);
  print_marker(out, "  separator", calls.separator);
  print_marker(out, "  section close", calls.section_close);
  if (!calls.name_escapes.empty()) line(out, "  in names", escapes_text(calls.name_escapes));
  if (!calls.argument_escapes.empty()) line(out, "  in arguments", escapes_text(calls.argument_escapes));
  if (calls.arguments == ArgumentStyle::kParameters) print_parameters(out, calls.parameters);
  const std::string counter = quoted(std::string(1, kCounter));
  if (out.find(std::string_view(counter).substr(1, counter.size() - 2), begin) != std::string::npos)
    line(out, "  " + counter, "stands for a number that the template counts");
}

void print_blocks(std::string& out, const Reasoning& reasoning, const Content& content) {
  if (reasoning.present) {
    line(out, "reasoning",
         quoted(reasoning.open) + " .. " + quoted(reasoning.close) +
             (reasoning.begins_text ? " begun by the prompt" : "") + (reasoning.in_content ? " in content" : "") +
             (reasoning.behind_content ? " behind the content" : "") +
             (reasoning.absent.empty() ? "" : ", without any " + quoted(reasoning.absent)));
  }
  if (!content.open.empty() || !content.close.empty())
    line(out, "content", quoted(content.open) + " .. " + quoted(content.close));
  if (!content.preamble_open.empty())
    line(out, "content before calls", quoted(content.preamble_open) + " .. " + quoted(content.preamble_close));
  if (!content.absent.empty()) line(out, "calls without content", quoted(content.absent));
  if (!content.open_with_tools.empty()) line(out, "content with tools", quoted(content.open_with_tools) + " ..");
  if (!reasoning.escapes.empty()) line(out, "in reasoning", escapes_text(reasoning.escapes));
  if (!content.escapes.empty()) line(out, "in content", escapes_text(content.escapes));
}

std::string trims_text(const Trims& trims) {
  std::string out;
  const auto add = [&out](bool is_set, std::string_view what) {
    if (is_set) out.append(out.empty() ? "" : ", ").append(what);
  };
  add(trims.content_begin, "content begin");
  add(trims.content_end, "content end");
  add(trims.reasoning_begin, "reasoning begin");
  add(trims.reasoning_end, "reasoning end");
  return out;
}

std::optional<std::string> verify_pieces(const std::vector<CallPiece>& pieces) {
  int names = 0;
  int arguments = 0;
  bool slot_before = false;
  if (std::ranges::find(pieces, CallPiece::Kind::kObject, &CallPiece::kind) != pieces.end())
    return "calls.pieces: an object is a piece of calls in JSON only";
  for (const CallPiece& piece : pieces) {
    names += piece.kind == CallPiece::Kind::kName || piece.kind == CallPiece::Kind::kNameInId ? 1 : 0;
    arguments += piece.kind == CallPiece::Kind::kArguments ? 1 : 0;
    const bool is_slot = piece.kind != CallPiece::Kind::kLiteral;
    if (is_slot && slot_before && piece.kind != CallPiece::Kind::kArguments)
      return "calls.pieces: two slots touch each other";
    slot_before = is_slot;
  }
  if (names == 0) return "calls.pieces: there is no name";
  if (arguments != 1) return "calls.pieces: there must be exactly one place for the arguments";
  return std::nullopt;
}

bool has_empty(const std::vector<Escape>& escapes) {
  return std::ranges::any_of(escapes, [](const Escape& e) { return e.text.empty() || e.written.empty(); });
}

std::optional<std::string> verify_tags(const Calls& calls) {
  if (auto wrong = verify_pieces(calls.pieces)) return wrong;
  const bool marked = !is_blank(calls.section_open) || !is_blank(calls.call_open);
  // A tool's name also marks the beginning of a call if text follows the name.
  const bool named = calls.pieces.front().kind == CallPiece::Kind::kName && !is_blank(calls.pieces[1].text);
  if (!marked && !named && calls.pieces.front().kind != CallPiece::Kind::kLiteral)
    return "calls: nothing marks where a call begins";
  return std::nullopt;
}

// Checks the pieces of calls in JSON.
std::optional<std::string> verify_beside(const Calls& calls) {
  using enum CallPiece::Kind;
  if (calls.pieces.empty()) return std::nullopt;
  const auto count = [&calls](CallPiece::Kind kind) {
    return std::ranges::count(calls.pieces, kind, &CallPiece::kind);
  };
  if (calls.envelope != Envelope::kJsonObject || calls.roles.shares_object)
    return "calls.pieces: only objects of one call each have an id beside them";
  if (count(kObject) != 1) return "calls.pieces: there must be exactly one place for the object";
  if (count(kId) == 0) return "calls.pieces: there is no id beside the object";
  if (count(kName) + count(kNameInId) + count(kArguments) > 0)
    return "calls.pieces: the name and the arguments of a call in JSON stand in its object";
  if (is_blank(calls.section_open) && is_blank(calls.call_open) && calls.pieces.front().kind != kObject)
    return "calls: nothing marks where a call begins";
  return std::nullopt;
}

std::optional<std::string> verify_roles(const Calls& calls) {
  if (calls.roles.shares_object && (!calls.roles.name_is_key || calls.envelope != Envelope::kJsonObject))
    return "calls.roles: calls share an object only where its keys are their names";
  if (!calls.roles.name_is_key && calls.roles.name.empty()) return "calls.roles: there is no name";
  if (!calls.roles.name_is_key && calls.roles.arguments.empty()) return "calls.roles: there are no arguments";
  if (calls.arguments == ArgumentStyle::kParameters) return "calls: a JSON envelope cannot hold tagged parameters";
  return verify_beside(calls);
}

std::optional<std::string> verify_form(const ValueForm& form) {
  if (form.style == ValueStyle::kConstant && is_blank(form.constant))
    return "calls.parameters.forms: a constant has no text";
  if (form.style == ValueStyle::kRaw && form.type != ValueType::kString)
    return "calls.parameters.forms: only strings can be raw";
  if (has_empty(form.escapes)) return "calls.parameters.forms: an escape has no text";
  return std::nullopt;
}

std::optional<std::string> verify_parameters(const Parameters& parameters) {
  // White space ends a key that begins with a mark.
  if (parameters.key_close.empty() || (is_blank(parameters.key_close) && is_blank(parameters.open)))
    return "calls.parameters.key_close: nothing separates keys from values";
  if (parameters.forms.empty()) return "calls.parameters.forms: there is no form for any value";
  for (const ValueForm& form : parameters.forms) {
    if (auto wrong = verify_form(form)) return wrong;
  }
  if (has_empty(parameters.key_escapes)) return "calls.parameters.key_escapes: an escape has no text";
  if (is_blank(parameters.item_open) != is_blank(parameters.item_close))
    return "calls.parameters: item_open and item_close need each other";
  if (is_blank(parameters.member_open) != is_blank(parameters.member_close) ||
      is_blank(parameters.member_open) != is_blank(parameters.member_key_close))
    return "calls.parameters: member_open, member_key_close and member_close need each other";
  const bool is_bare = is_blank(parameters.open) && is_blank(parameters.close) && is_blank(parameters.key_in_close);
  const bool has_lines = parameters.close.find('\n') != std::string::npos;
  if (is_bare && !has_lines && parameters.separator.empty())
    return "calls.parameters.separator: nothing stands between two values";
  return std::nullopt;
}

std::optional<std::string> verify_calls(const Calls& calls) {
  if (auto wrong = calls.envelope == Envelope::kTags ? verify_tags(calls) : verify_roles(calls)) return wrong;
  const bool has_heading = calls.envelope == Envelope::kTags && !is_blank(calls.call_open) &&
                           calls.pieces.front().kind == CallPiece::Kind::kName;
  if (!calls.heading_close.empty() && !has_heading)
    return "calls.heading_close: a heading needs call_open with the name behind it";
  if (has_empty(calls.name_escapes)) return "calls.name_escapes: an escape has no text";
  if (has_empty(calls.argument_escapes)) return "calls.argument_escapes: an escape has no text";
  const auto is_single = [](const Escape& escape) { return escape.text.size() == 1; };
  if (!std::ranges::all_of(calls.argument_escapes, is_single))
    return "calls.argument_escapes: an escape stands for more than one character";
  if (calls.arguments != ArgumentStyle::kParameters) return std::nullopt;
  if (!calls.argument_escapes.empty()) return "calls.argument_escapes: parameters have escapes of their own";
  return verify_parameters(calls.parameters);
}

}  // namespace

const GenerationPrompt* Format::generation_prompt(std::string_view name) const {
  const auto found = std::find_if(generation_prompts.begin(), generation_prompts.end(),
                                  [name](const GenerationPrompt& prompt) { return prompt.name == name; });
  return found == generation_prompts.end() ? nullptr : &*found;
}

std::string CallPiece::marker() const { return kind == Kind::kIndex ? std::string(1, kCounter) : text; }

std::size_t Calls::object_piece() const {
  const auto object = std::ranges::find(pieces, CallPiece::Kind::kObject, &CallPiece::kind);
  return static_cast<std::size_t>(object - pieces.begin());
}

std::vector<CallPiece>::const_iterator Calls::behind_name() const {
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(),
                                 [](const CallPiece& piece) { return piece.kind == CallPiece::Kind::kName; });
  if (last == pieces.rend()) return pieces.begin();
  auto behind = last.base();
  const auto values = std::find_if(behind, pieces.end(),
                                   [](const CallPiece& piece) { return piece.kind == CallPiece::Kind::kArguments; });
  if (values == pieces.end()) return behind;
  for (auto piece = behind; piece != values; ++piece) {
    if (piece->kind == CallPiece::Kind::kId) behind = piece + 1;
  }
  return behind;
}

bool Calls::writes_ids() const {
  return !roles.id.empty() || std::ranges::any_of(pieces, [](const CallPiece& piece) {
    return piece.kind == CallPiece::Kind::kId || piece.kind == CallPiece::Kind::kNameInId;
  });
}

std::string Format::to_string() const {
  std::string out;
  std::string shape = input.arguments_as_text ? "arguments as text" : "arguments as object";
  if (!input.reasoning_field.empty()) shape += ", reasoning in " + input.reasoning_field;
  if (!input.reasoning_part.empty()) shape += ", reasoning in content parts of type " + input.reasoning_part;
  if (input.single_call) shape += ", one call";
  line(out, "input", shape);
  for (const GenerationPrompt& prompt : generation_prompts)
    line(out, "generation prompt " + prompt.name, quoted(prompt.text));
  print_marker(out, "header", header);
  print_blocks(out, reasoning, content);
  if (calls.present) print_calls(out, calls);
  if (!stops.content.empty()) line(out, "stop", quoted(stops.content));
  if (!stops.tool.empty()) line(out, "stop after calls", quoted(stops.tool));
  if (!stops.history_close.empty()) line(out, "history close", quoted(stops.history_close));
  if (const std::string text = trims_text(trims); !text.empty()) line(out, "trims", text);
  if (!atoms.empty()) line(out, "atoms", quoted(atoms));
  for (const Loss& loss : losses) {
    const std::string place = loss.line > 0 ? " (line " + std::to_string(loss.line) + ")" : "";
    line(out, "loses " + loss.what, loss.meaning + place);
  }
  for (const std::string& note : notes) line(out, "note", note);
  return out;
}

std::optional<std::string> Format::verify() const {
  if (reasoning.present && is_blank(reasoning.close)) return "reasoning.close: nothing ends the reasoning";
  if (has_empty(reasoning.escapes)) return "reasoning.escapes: an escape has no text";
  if (has_empty(content.escapes)) return "content.escapes: an escape has no text";
  for (const GenerationPrompt& prompt : generation_prompts) {
    if (prompt.name.empty()) return "generation_prompts: a prompt has no name";
  }
  for (const std::string& atom : atoms) {
    if (is_blank(atom)) return "atoms: one is blank";
  }
  for (const auto* texts : {&stops.content, &stops.tool, &stops.history_close}) {
    if (std::find(texts->begin(), texts->end(), "") != texts->end()) return "stops: one is empty";
  }
  if (calls.present) return verify_calls(calls);
  return std::nullopt;
}

}  // namespace rondo::format
