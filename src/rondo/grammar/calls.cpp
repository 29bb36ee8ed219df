#include "grammar/calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "chat/parameter_names.h"
#include "format/escapes.h"
#include "format/units.h"
#include "grammar/spelling.h"

namespace rondo::grammar {
namespace {

using format::before_counter;
using format::CallPiece;
using format::is_blank;
using format::trailing_space;
using format::trimmed;

// Shorter words appear in ordinary text too often.
constexpr std::size_t kShortestWord = 3;

bool is_letter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

// Returns `schema`, a tool's, without the parameters that it does not list.  A parser takes those for mistakes.
json::Value with_listed_only(json::Value schema) {
  const auto names = chat::listed_parameters(schema);
  if (!names) return schema;
  const bool is_whole = std::ranges::none_of(std::array{"$ref", "allOf", "anyOf", "oneOf"},
                                             [&](const char* key) { return schema.find(key) != nullptr; });
  if (is_whole || names->empty()) {
    json::Object closed = schema.as_object();
    closed.set("additionalProperties", false);
    return json::Value(std::move(closed));
  }
  if (schema.find("propertyNames") != nullptr) return schema;
  // Each alternative may have the parameters of the others.
  json::Array listed;
  for (const std::string_view name : *names) {
    json::Value value{std::string(name)};
    if (std::ranges::find(listed, value) == listed.end()) listed.push_back(std::move(value));
  }
  json::Object closed = schema.as_object();
  closed.set("propertyNames", json::Object{{"enum", json::Value(std::move(listed))}});
  return json::Value(std::move(closed));
}

CharSet name_characters() {
  CharSet out = CharSet::any_of("<>{}[]()\"'`,=|");
  out.add(0, 0x20);
  return out.complement();
}

}  // namespace

std::string_view first_unit(std::string_view text) {
  text = before_counter(text);
  const std::size_t space = text.find_first_of(" \t\r\n");
  if (space == std::string_view::npos) return text;
  const std::string_view unit = text.substr(0, space);
  const bool is_bracketed = std::string_view("<[{(").find(unit.front()) != std::string_view::npos &&
                            std::string_view(">]})").find(unit.back()) != std::string_view::npos;
  return is_bracketed && unit.size() >= kShortestWord ? unit : text;
}

CallBuilder::CallBuilder(Grammar& grammar, const format::Format& format, std::vector<chat::ToolDefinition> tools,
                         SchemaContext& context)
    : grammar_(grammar),
      format_(format),
      context_(context),
      is_open_ended_(leaves_open(format.calls.parameters)),
      has_no_close_(has_no_close(format.calls.parameters)) {
  for (chat::ToolDefinition& tool : tools) {
    const bool is_known =
        std::any_of(tools_.begin(), tools_.end(), [&](const Tool& known) { return known.name == tool.name; });
    if (is_known) {
      context_.warnings.add("two tools have the name `" + tool.name + "`; the first counts");
    } else if (!tool.name.empty()) {
      std::string written = format::escaped(tool.name, format_.calls.name_escapes);
      tools_.push_back({std::move(tool.name), std::move(written), with_listed_only(std::move(tool.parameters))});
    }
  }
}

// Returns the text of the format that `start` stands for.
std::string_view CallBuilder::text_of(Start start) const {
  const format::Calls& calls = format_.calls;
  switch (start) {
    case Start::kNothing: return "";
    case Start::kSectionOpen: return calls.section_open;
    case Start::kCallOpen: return calls.call_open;
    case Start::kFirstPiece: return calls.pieces.front().text;
  }
  return "";
}

// Returns true if no reasoning, content or header begins with `word` and it is more than a bracket.
bool CallBuilder::is_distinct(const std::string& word) const {
  if (word.size() < kShortestWord) return false;
  for (const std::string* other : {&format_.reasoning.open, &format_.content.open, &format_.header}) {
    if (trimmed(*other).starts_with(word)) return false;
  }
  return true;
}

// Finds the first marker of calls that is not white space, and sets `word` to its first unit.
CallBuilder::Start CallBuilder::strongest(std::string& word) const {
  const format::Calls& calls = format_.calls;
  for (const Start start : {Start::kSectionOpen, Start::kCallOpen}) {
    word = first_unit(trimmed(text_of(start)));
    if (!word.empty()) return start;
  }
  const bool has_piece = calls.envelope == format::Envelope::kTags && !calls.pieces.empty() &&
                         calls.pieces.front().kind == CallPiece::Kind::kLiteral;
  if (!has_piece) return Start::kNothing;
  word = first_unit(trimmed(text_of(Start::kFirstPiece)));
  return word.empty() ? Start::kNothing : Start::kFirstPiece;
}

std::vector<CallBuilder::Opening> CallBuilder::openings(bool is_parallel) {
  std::string word;
  const Start start = strongest(word);
  const format::Calls& calls = format_.calls;
  if (start == Start::kNothing) {
    // If content has a close of its own, calls come after it.
    const std::string close(trimmed(format_.content.close));
    if (close.size() < kShortestWord) return {};
    return {{close, Line(grammar_).space().add(all(is_parallel)).node(), ""}};
  }
  const bool has_counter = before_counter(text_of(start)) != text_of(start);
  const bool is_named = calls.envelope == format::Envelope::kTags && start != Start::kFirstPiece && !has_counter &&
                        !calls.pieces.empty() && calls.pieces.front().kind == CallPiece::Kind::kName &&
                        (start == Start::kCallOpen || is_blank(calls.call_open));
  const bool is_ordinary = std::ranges::all_of(word, is_letter);
  if (is_distinct(word) && !(is_ordinary && is_named)) {
    const NodeId first = calls.is_one_value() ? value_of_calls(is_parallel) : any_call(start);
    Line line(grammar_);
    const std::string_view text = text_of(start);
    line.marker(text.substr(text.find(word) + word.size())).add(section_from(start, first, is_parallel));
    return with_lone_call({{word, line.node(), ""}});
  }
  if (start == Start::kSectionOpen && !is_blank(calls.call_open) && !calls.is_one_value()) {
    // A bracket is too weak alone, but not together with the opener of the first call.
    const std::string whole(trimmed(calls.section_open + calls.call_open));
    word = before_counter(whole);
    if (is_distinct(word)) {
      Line line(grammar_);
      line.marker(std::string_view(whole).substr(word.size()));
      line.add(section_from(Start::kCallOpen, any_call(Start::kCallOpen), is_parallel));
      return {{word, line.node(), ""}};
    }
  }
  // The word is a bracket or one of ordinary text, or other blocks begin with it too.  Together with a tool's name it is
  // clear.
  if (!is_named) return {};
  std::vector<Opening> out;
  for (const Tool& tool : tools_) {
    Line line(grammar_);
    line.add(section_from(Start::kNothing, call(tool, start, true), is_parallel));
    const std::string_view open = text_of(start);
    if (!runs_into(open, tool.written))
      out.push_back({std::string(trimmed(open)) + tool.written, line.node(), behind_name()});
    if (const std::string_view space = trailing_space(open); !space.empty())
      out.push_back({std::string(trimmed(open)) + std::string(space) + tool.written, line.node(), behind_name()});
  }
  return out;
}

std::string CallBuilder::next_word() const {
  const format::Calls& calls = format_.calls;
  if (!is_blank(calls.section_close)) return "";
  for (const std::string* text : {&calls.separator, &calls.call_open}) {
    const std::string_view marker = before_counter(trimmed(*text));
    std::string_view word = marker.substr(0, marker.find_first_of(" \t\r\n"));
    if (format_.content.open.find(word) != std::string::npos) word = trimmed(marker);
    if (word.size() >= kShortestWord) return std::string(word);
    if (!word.empty()) return "";
  }
  return "";
}

// Returns the marker after a tool's name, if it can occur nowhere else before the calls; "" otherwise.
std::string CallBuilder::behind_name() const {
  const std::vector<CallPiece>& pieces = format_.calls.pieces;
  if (pieces.size() < 2 || pieces[1].kind != CallPiece::Kind::kLiteral) return "";
  std::string word(trimmed(pieces[1].text));
  if (word.size() < kShortestWord) return "";
  for (const std::string* other : {&format_.reasoning.open, &format_.content.open, &format_.header}) {
    if (other->find(word) != std::string::npos) return "";
  }
  return word;
}

bool CallBuilder::may_be_bare() const {
  std::string word;
  return strongest(word) == Start::kNothing;
}

// A name must not run into a word at the end of the section's opener.
std::size_t CallBuilder::space_before_name() const {
  const format::Calls& calls = format_.calls;
  const bool is_next = calls.envelope == format::Envelope::kTags && is_blank(calls.call_open);
  return is_next && ends_with_word(calls.section_open) ? 1 : 0;
}

NodeId CallBuilder::all(bool is_parallel) {
  Line line(grammar_);
  line.marker(format_.calls.section_open).space(space_before_name());
  if (format_.calls.is_one_value())
    return line.add(section_from(Start::kNothing, value_of_calls(is_parallel), true)).node();
  return line.add(section_from(Start::kNothing, any_call(Start::kSectionOpen), is_parallel)).node();
}

// Returns whether `opening`, before a call's name, is so short that other text may have it too.
bool CallBuilder::is_weak(std::string_view opening) const {
  const format::Calls& calls = format_.calls;
  return calls.content_behind && !opening.empty() && before_counter(opening) == opening &&
         !is_distinct(std::string(opening)) && calls.envelope == format::Envelope::kTags && !calls.pieces.empty() &&
         calls.pieces.front().kind == CallPiece::Kind::kName;
}

// A call of any tool behind `head`.  Its opener and its name are one token with `head`: a lexer then tells them from
// other text.
NodeId CallBuilder::named_calls(const Line& head) {
  const std::string_view open = format_.calls.call_open;
  std::vector<NodeId> ways;
  for (const Tool& tool : tools_) {
    Line begin = head;
    begin.literal(trimmed(open)).marker(trailing_space(open)).literal(tool.written);
    Line one(grammar_);
    one.add(grammar_.token(begin.node())).add(call(tool, Start::kCallOpen, true));
    ways.push_back(one.node());
  }
  return grammar_.choice(ways);
}

// `first_call`, then any number of further calls if parallel calls are allowed.
NodeId CallBuilder::section_from(Start start, NodeId first_call, bool is_parallel) {
  const format::Calls& calls = format_.calls;
  Line line(grammar_);
  if (start == Start::kSectionOpen) line.space(space_before_name());
  line.add(first_call);
  if (is_parallel && !calls.is_one_value() && !format_.input.single_call) {
    // White space and the marker are one token, because text may follow the calls too and a lexer must tell them apart.
    Line head(grammar_);
    head.space(runs_into(calls.call_close, calls.separator + calls.call_open) ? 1 : 0);
    head.marker(calls.separator).space();
    std::string_view opening = trimmed(calls.call_open);
    if (is_weak(opening)) return line.add(grammar_.any_number(named_calls(head))).node();
    if (!opening.empty()) {
      head.literal(first_unit(opening));
      opening.remove_prefix(first_unit(opening).size());
    } else if (!is_blank(calls.section_open)) {
      // No marker begins a call, so a model may write the section's opener again.
      Line again(grammar_);
      again.marker(trimmed(calls.section_open));
      if (space_before_name() > 0) again.space(space_before_name());
      head.add(grammar_.optional(again.node())).space();
    }
    Line next(grammar_);
    next.add(grammar_.token(head.node())).marker(opening).add(any_call(Start::kCallOpen));
    line.add(grammar_.any_number(next.node()));
  }
  return line.node();
}

// A call of any tool, as one rule for each start.
NodeId CallBuilder::any_call(Start start) {
  const auto found = any_call_.find(start);
  if (found != any_call_.end()) return found->second;
  const RuleId rule = grammar_.declare("call");
  std::vector<NodeId> ways;
  for (const Tool& tool : tools_) ways.push_back(call(tool, start, false));
  grammar_.define(rule, grammar_.choice(ways));
  return any_call_.emplace(start, grammar_.reference(rule)).first->second;
}

// The arguments of a tool, made only once.
NodeId CallBuilder::arguments(const Tool& tool) {
  const auto found = arguments_.find(tool.name);
  if (found != arguments_.end()) return found->second;
  const bool has_parameters = format_.calls.arguments == format::ArgumentStyle::kParameters;
  const RuleId rule = grammar_.declare(tool.name);
  grammar_.define(rule, has_parameters ? parameters(tool) : json_arguments(tool, format_.calls.argument_escapes));
  return arguments_.emplace(tool.name, grammar_.reference(rule)).first->second;
}

// The rest of a call, from after `start` to the call's close.
NodeId CallBuilder::call(const Tool& tool, Start start, bool name_is_read) {
  const format::Calls& calls = format_.calls;
  Line line(grammar_);
  if (start == Start::kNothing || start == Start::kSectionOpen) line.marker(trimmed(calls.call_open));
  if (start == Start::kCallOpen) line.behind(trimmed(calls.call_open));
  if (start != Start::kFirstPiece && !name_is_read) line.marker(trailing_space(calls.call_open));
  if (start == Start::kFirstPiece && ends_with_word(text_of(start))) line.space(1);
  const auto close = [&](Line& rest) {
    if (!is_blank(calls.call_close)) behind_value(rest, calls.call_close);
  };
  if (calls.pieces.empty()) {
    close(line.space().add(call_object(tool)));
    return line.node();
  }
  const std::size_t first = start == Start::kFirstPiece ? 1 : 0;
  const auto behind_name = static_cast<std::size_t>(calls.behind_name() - calls.pieces.begin());
  if (is_blank(calls.bare_close) || behind_name == 0 || !may_omit_arguments(tool)) {
    body(line, tool, first, calls.pieces.size(), name_is_read);
    close(line);
    return line.node();
  }
  body(line, tool, first, behind_name, name_is_read);
  Line rest(grammar_);
  body(rest, tool, behind_name, calls.pieces.size(), name_is_read);
  close(rest);
  return line.add(grammar_.choice({rest.node(), marker(grammar_, calls.bare_close)})).node();
}

// Returns whether a call of the tool may come without arguments, and the template then writes none.
bool CallBuilder::may_omit_arguments(const Tool& tool) const {
  return format_.calls.omits_arguments && !has_required(tool);
}

// Returns whether nothing but white space is before the arguments, piece `index`, and the text behind them begins with no
// word.
bool CallBuilder::is_only_apart(std::size_t index) const {
  const std::vector<CallPiece>& pieces = format_.calls.pieces;
  const std::string_view behind =
      trimmed(index + 1 < pieces.size() ? pieces[index + 1].text : format_.calls.call_close);
  return index > 0 && is_blank(pieces[index - 1].text) && !behind.empty() && !format::is_word(behind.front());
}

bool CallBuilder::has_required(const Tool& tool) {
  const json::Value* required = tool.parameters.find("required");
  return required != nullptr && required->is_array() && !required->as_array().empty();
}

void CallBuilder::literal(Line& line, std::size_t index) {
  const std::vector<CallPiece>& pieces = format_.calls.pieces;
  const std::string& text = pieces[index].text;
  const CallPiece::Kind before = index > 0 ? pieces[index - 1].kind : CallPiece::Kind::kLiteral;
  if (before == CallPiece::Kind::kName && !is_blank(format_.calls.heading_close)) {
    line.add(heading(text));
  } else if (before == CallPiece::Kind::kArguments && has_no_close_) {
    behind_value(line, text);
    line.marker(trailing_space(text));
  } else {
    line.marker(text);
  }
}

void CallBuilder::body(Line& line, const Tool& tool, std::size_t first_piece, std::size_t end, bool name_is_read) {
  const format::Calls& calls = format_.calls;
  const std::vector<CallPiece>& pieces = calls.pieces;
  for (std::size_t i = first_piece; i < end; ++i) {
    const CallPiece& piece = pieces[i];
    switch (piece.kind) {
      case CallPiece::Kind::kLiteral: literal(line, i); break;
      case CallPiece::Kind::kArguments:
        line.space();
        // Directly behind a name, only a bracket tells where the arguments begin.
        if (calls.arguments != format::ArgumentStyle::kParameters) {
          line.add(i > 0 && is_blank(pieces[i - 1].text) ? arguments(tool) : json_or_text(tool));
        } else if (line.ends_apart() && is_only_apart(i) && !has_required(tool)) {
          // The blank behind the name parts it from a parameter, and may be missing where there is none.
          Line with = line;
          with.apart().add(arguments(tool));
          line = Line(grammar_).add(grammar_.choice({with.node(), line.node()}));
        } else {
          line.apart().add(arguments(tool));
        }
        if (!is_open_ended_) line.space();
        break;
      case CallPiece::Kind::kObject: line.space().add(call_object(tool)).space(); break;
      default:
        if (name_is_read && i == 0) break;
        slot(line, tool, piece, i + 1 < pieces.size() ? pieces[i + 1].text : format_.calls.call_close);
        break;
    }
  }
}

// The text after a name: `literal`, or in a heading any other words up to the heading's end.
NodeId CallBuilder::heading(const std::string& literal) {
  Grammar& g = grammar_;
  const NodeId as_written = marker(g, literal);
  const std::string end(trimmed(format_.calls.heading_close));
  if (!trimmed(literal).ends_with(end)) return as_written;
  std::vector<std::string> ends{std::string(trimmed(format_.header))};
  for (const auto* stops : {&format_.stops.content, &format_.stops.tool})
    for (const std::string& stop : *stops) ends.emplace_back(trimmed(stop));
  const NodeId rest = g.text(ends, end);
  std::vector<NodeId> ways{g.literal(end), g.sequence({g.chars(CharSet::any_of(" \t\r\n")), rest})};
  const std::string_view first = trimmed(literal).substr(0, trimmed(literal).find_first_of(" \t\r\n"));
  if (first != end && first.find(end) != std::string_view::npos) {
    ways.push_back(as_written);
  } else if (first != end && !first.empty()) {
    ways.push_back(g.sequence({g.literal(first), rest}));
  }
  return g.token(g.choice(ways));
}

// `behind` is the text that the format writes after the slot.  An id must not contain its first character, or it would
// not end.
void CallBuilder::slot(Line& line, const Tool& tool, const CallPiece& piece, std::string_view behind) {
  Grammar& g = grammar_;
  const std::string_view mark = trimmed(behind);
  CharSet characters = name_characters();
  if (!mark.empty() && !format::is_word(mark.front()))
    characters = characters.without(CharSet::of(utf8::decode(mark, 0).code_point));
  const NodeId character = g.chars(characters);
  switch (piece.kind) {
    case CallPiece::Kind::kName: line.literal(tool.written); return;
    case CallPiece::Kind::kId: line.apart().add(g.token(g.repeat(character, 1, kUnbounded))).behind("0"); return;
    case CallPiece::Kind::kIndex: line.number(); return;
    case CallPiece::Kind::kNameInId: {
      CharSet word = name_characters().without(CharSet::any_of(".:"));
      const NodeId between = g.choice({g.literal("."), g.literal(":")});
      const NodeId any = g.sequence({g.repeat(g.chars(word), 1, kUnbounded), between});
      const NodeId prefix = g.optional(piece.front.empty() ? any : g.literal(piece.front));
      const NodeId counted = g.literal(piece.text.empty() ? ":" : piece.text);
      line.apart().add(
          g.token(g.sequence({prefix, g.literal(tool.written), g.optional(g.sequence({counted, number(g)}))})));
      line.behind(tool.written);
      return;
    }
    default: return;
  }
}

// What a call without an opener is recognised by: a tool's name in tags, or the first keys of a call's JSON.
std::string CallBuilder::bare_names() const {
  const format::Calls& calls = format_.calls;
  std::string names;
  const auto add = [&names](std::string_view name) { names += (names.empty() ? "" : "|") + pattern_escaped(name); };
  if (calls.envelope == format::Envelope::kTags || calls.roles.name_is_key) {
    for (const Tool& tool : tools_) add(tool.written);
    return names;
  }
  for (const auto* role : {&calls.roles.name, &calls.roles.arguments, &calls.roles.id}) {
    if (!role->empty()) add(role->front());
  }
  for (const format::JsonConstant& constant : calls.roles.constants) add(constant.path.front());
  return names;
}

std::string CallBuilder::bare_pattern(bool is_reasoning_open) const {
  const format::Calls& calls = format_.calls;
  const std::string names = bare_names();
  const std::string section = pattern_escaped(trimmed(calls.section_open));
  const std::string before = pattern_escaped(trimmed(calls.call_open));
  std::string call = "(?:" + names + ")";
  if (calls.envelope != format::Envelope::kTags) {
    call = "\\{\\s*\"(?:" + names + ")\"\\s*:";
    if (calls.envelope == format::Envelope::kJsonArray) call = "\\[\\s*" + call;
  }
  const std::string reasoning(trimmed(format_.reasoning.close));
  const std::string lead = reasoning.empty() ? "^[^\\[{]*"
                                             : "^(?:[\\s\\S]*?" + pattern_escaped(reasoning) +
                                                   (is_reasoning_open ? ")[^\\[{]*" : ")?[^\\[{]*");
  return lead + "(" + section + (section.empty() ? "" : "\\s*") + before + call + ")";
}

}  // namespace rondo::grammar
