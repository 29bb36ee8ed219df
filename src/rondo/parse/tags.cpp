// Tags of parameters that differ from the format's own, and the faults of a finished call: those of its tags, and those
// that its tool's schema shows.
#include <algorithm>

#include "chat/parameter_names.h"
#include "format/units.h"
#include "json/parse.h"
#include "parse/attributes.h"
#include "parse/machine.h"
#include "parse/schema_check.h"

namespace rondo::parse {
namespace {

using format::is_space;
using Problem = chat::CallProblem;

constexpr std::string_view kTagEnd = ">";
constexpr std::string_view kEmptyTagEnd = "/>";

// Returns a tag without its closing bracket; "" if the text does not end with one.
std::string_view without_tag_end(std::string_view text) {
  return text.ends_with(kTagEnd) ? text.substr(0, text.size() - kTagEnd.size()) : "";
}

// Returns where the closer of the parameter `key` ends in `value`, from `from` on; npos if it does not come.
std::size_t end_of_quoted(std::string_view value, std::size_t from, std::string_view key,
                          const format::Parameters& parameters, const MarkerSet& closers) {
  if (parameters.key_in_close.empty()) {
    const MarkerSet::Found close = closers.find(value, from, true, nullptr);
    return close.kind == MatchKind::kFull ? close.begin + close.size : std::string_view::npos;
  }
  const std::string close = std::string(format::trimmed(parameters.key_in_close)) + std::string(key) +
                            std::string(format::trimmed(parameters.close));
  const std::size_t found = value.find(close, from);
  return found == std::string_view::npos ? found : found + close.size();
}

// Returns `written`, what a tag has for its name, without the white space that the format writes around it.
std::string_view name_in_tag(std::string_view written, const format::Parameters& parameters) {
  const std::string_view before = format::trailing_space(parameters.open);
  const std::size_t after = std::min(parameters.key_close.find_first_not_of(" \t\r\n"), parameters.key_close.size());
  if (written.starts_with(before)) written.remove_prefix(before.size());
  if (written.ends_with(parameters.key_close.substr(0, after))) written.remove_suffix(after);
  return written;
}

// Returns the names in tags inside `value` that nothing closes there.  White space is in them only where the format writes
// it, or not even there.
std::vector<std::string> open_tags(std::string_view value, const format::Parameters& parameters,
                                   const MarkerSet& closers) {
  const std::string_view open = format::trimmed(parameters.open);
  const std::string_view key_close = format::trimmed(parameters.key_close);
  std::vector<std::string> out;
  if (open.empty() || key_close.empty()) return out;
  // A closer that is the same for all parameters is looked for until it does not come any more.
  constexpr std::size_t kMostMisses = 32;
  std::size_t misses = parameters.key_in_close.empty() ? kMostMisses - 1 : 0;
  for (std::size_t at = value.find(open); at != std::string_view::npos;) {
    const std::size_t begin = at + open.size();
    const std::string_view behind = value.substr(begin);
    at = value.find(open, begin);
    const std::size_t size = behind.substr(0, kLongestName + key_close.size()).find(key_close);
    if (size == std::string_view::npos) continue;
    const std::string_view key = name_in_tag(behind.substr(0, size), parameters);
    if (key.empty() || !std::ranges::all_of(key, format::is_tag_byte)) continue;
    if (misses < kMostMisses) {
      const std::size_t end = end_of_quoted(value, begin + size + key_close.size(), key, parameters, closers);
      if (end != std::string_view::npos) {  // `value` quotes another parameter as a whole
        at = value.find(open, end);
        continue;
      }
      ++misses;
    }
    out.emplace_back(key);
  }
  return out;
}

}  // namespace

// Matches the end of a key's tag at `at` if it has attributes that the format lacks.
Match Machine::damaged_key_close(std::size_t at) const {
  const std::string_view close = format::trimmed(syntax_->format->calls.parameters.key_close);
  const std::string_view head = without_tag_end(close);
  std::string_view text = std::string_view(buffer_).substr(at);
  if (close.empty() || head.size() == close.size() || !close.ends_with(kTagEnd) || !text.starts_with(head)) return {};
  text.remove_prefix(head.size());
  if (head.empty() && !is_space(text.front())) return {};
  Match match = AttributeReader(text, is_end_).up_to(kTagEnd, 1);
  if (match.kind == MatchKind::kFull) match.size += head.size();
  return match;
}

// Matches the rest of a key's tag at `at` if it lacks the attribute in which the format tells the value's type.
Match Machine::untyped_key_close(std::size_t at) const {
  const std::string_view close = format::trimmed(syntax_->format->calls.parameters.key_close);
  if (close.empty() || buffer_[at] != close.front()) return {};
  const std::string_view quote = close.substr(0, close.find_first_of(" \t\r\n"));
  const std::string_view text = std::string_view(buffer_).substr(at);
  if (quote.size() == close.size() || close.ends_with(kTagEnd) || !text.starts_with(quote)) return {};
  Match match = has_type_in_tag() ? AttributeReader(text.substr(quote.size()), is_end_).up_to(kTagEnd, 0) : Match{};
  if (match.kind == MatchKind::kFull) match.size += quote.size();
  return match;
}

// Returns whether the rest of a key's tag tells the value's type: it opens the value.
bool Machine::has_type_in_tag() const {
  return std::ranges::all_of(syntax_->values.openers, [](const Marker& opener) {
    return opener.core().ends_with(kTagEnd) && opener.core().front() != '<';
  });
}

// Reads a parameter's tag at `at` that has the key in an attribute, however its attributes are written.
Machine::ParameterTag Machine::parameter_tag_at(std::size_t at) const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const std::string_view open = format::trimmed(parameters.open);
  const std::string_view close = format::trimmed(parameters.key_close);
  const std::size_t space = open.rfind(' ');
  if (space == std::string_view::npos || !(open.ends_with("=\"") || open.ends_with("='"))) return {};
  if (!close.starts_with(open.back()) || (!close.ends_with(kTagEnd) && !has_type_in_tag())) return {};
  const std::string_view text = std::string_view(buffer_).substr(at);
  if (text.size() <= space) return {!is_end_ && open.starts_with(text) ? MatchKind::kPartial : MatchKind::kNone, {}, 0};
  if (!text.starts_with(open.substr(0, space)) || !is_space(text[space])) return {};
  AttributeReader reader(text.substr(space), is_end_);
  const Match match = reader.up_to(kTagEnd, 1);
  if (match.kind != MatchKind::kFull) return {match.kind, {}, 0};
  const std::string_view attribute = open.substr(space + 1, open.size() - space - 3);
  const auto found = std::ranges::find(reader.attributes(), attribute, &Attribute::name);
  if (found == reader.attributes().end() || found->value.empty()) return {};
  return {MatchKind::kFull, found->value, at + space + match.size};
}

// Takes a parameter's tag at `at` whose attributes are not as the format writes them.
MatchKind Machine::respelled_parameter(std::size_t at) {
  const ParameterTag tag = parameter_tag_at(at);
  if (tag.kind != MatchKind::kFull) return tag.kind;
  const std::size_t end = static_cast<std::size_t>(tag.key.data() - buffer_.data()) + tag.key.size();
  parameter_.key_open.clear();
  take_key(end - tag.key.size(), end, tag.end - end);
  note_damaged_tag();
  if (!format::trimmed(syntax_->format->calls.parameters.key_close).ends_with(kTagEnd))
    (void)take_value_open(pos_, nullptr);
  return MatchKind::kFull;
}

// Takes the key [begin, end) if only the bracket that closes its tag is missing: the tool has such a parameter, and its
// line ends there.  `next` is behind the white space.
bool Machine::take_unclosed_key(std::size_t begin, std::size_t end, std::size_t next) {
  const bool is_line_end = buffer_.substr(end, next - end).find('\n') != std::string::npos;
  if (!is_line_end || format::trimmed(syntax_->format->calls.parameters.key_close) != kTagEnd ||
      !syntax_->parameter_open.is_distinct() || !has_parameter(buffer_.substr(begin, end - begin)) ||
      syntax_->sets.key.at(buffer_, next, is_end_, starts()).kind != MatchKind::kNone)
    return false;
  take_key(begin, end, 0);
  note_damaged_tag();
  return true;
}

// Matches the end of the tag that contains a call's name, which the format writes in piece `piece`, if it differs: other
// quotes around the name, more attributes, or a slash, which closes the call too.
Machine::NameTagEnd Machine::name_tag_end(std::size_t at, std::size_t piece) const {
  const std::vector<format::CallPiece>& pieces = syntax_->format->calls.pieces;
  const bool is_behind_name =
      piece > 0 && piece < pieces.size() && pieces[piece - 1].kind == format::CallPiece::Kind::kName;
  if (!is_behind_name || pieces[piece].kind != format::CallPiece::Kind::kLiteral || !syntax_->has_name_in_tag())
    return {};
  std::string_view text = std::string_view(buffer_).substr(at);
  const std::string_view head = without_tag_end(format::trimmed(pieces[piece].text));
  const bool is_quoted = head == "\"" || head == "'";
  if (!is_quoted && format::trimmed(pieces[piece].text) != kTagEnd) return {};
  const std::size_t quote = is_quoted && (text.front() == '"' || text.front() == '\'') ? 1 : 0;
  text.remove_prefix(quote);
  // Without quotes, only white space tells a name from an attribute behind it.
  const bool may_have_attributes = is_quoted || (at > 0 && is_space(buffer_[at - 1])) || text.empty() ||
                                   std::string_view("/>").find(text.front()) != std::string_view::npos;
  if (!may_have_attributes) return {};
  if (text.empty()) return {{is_end_ ? MatchKind::kNone : MatchKind::kPartial, 0}, false};
  for (const std::string_view end : {kTagEnd, kEmptyTagEnd}) {
    const Match match = AttributeReader(text, is_end_).up_to(end, 0);
    if (match.kind != MatchKind::kNone) return {{match.kind, match.size + quote}, end == kEmptyTagEnd};
  }
  return {};
}

// Reads the end of the tag that contains a call's name, at `at`, if it differs from the format's.
MatchKind Machine::damaged_name_tag(std::size_t at) {
  const NameTagEnd end = name_tag_end(at, call_.piece);
  if (end.match.kind != MatchKind::kFull) return end.match.kind;
  if (end.is_empty_tag) {
    if (attempt_.is_open && needs_evidence()) {
      (void)fail_attempt(at, "a tool call has no arguments");
      return MatchKind::kFull;
    }
    end_without_arguments(at, at + end.match.size);
    return MatchKind::kFull;
  }
  note_foreign_tag();
  pos_ = at + end.match.size;
  ++call_.piece;
  if (!attempt_.is_open) emit(EventKind::kMarker, pos_);
  return MatchKind::kFull;
}

// Goes on behind the tag that contains a tool's name, whose closing bracket is missing, if a parameter begins at `at`.
MatchKind Machine::unclosed_name_tag(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  const bool is_named = call_.has_name && options().tools && syntax_->is_known_tool(call_.name);
  if (!is_named || calls.arguments != format::ArgumentStyle::kParameters || !syntax_->has_name_in_tag() ||
      format::trimmed(calls.pieces[call_.piece].text) != kTagEnd || !syntax_->parameter_open.is_distinct())
    return MatchKind::kNone;
  const MatchKind open = parameter_opens_at(at);
  if (open != MatchKind::kFull) return open;
  note_foreign_tag();
  ++call_.piece;
  return open;
}

void Machine::note_foreign_tag() {
  call_.problems.push_back({Problem::Kind::kUnknownAttribute, "",
                            "the tag of the call" + (call_.name.empty() ? "" : " of `" + call_.name + "`") +
                                " is not as the format writes it"});
}

// Matches an opener of a value at `at` that the format does not write: it has too many or too few attributes, or it is
// missing although the format always has one.  Returns its size, and its form if that is known.
Machine::ValueOpener Machine::damaged_opener(std::size_t at) const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const auto full = [](std::size_t size, const format::ValueForm* form) {
    return ValueOpener{{MatchKind::kFull, size}, form};
  };
  bool is_always_opened = true;
  bool is_partial = false;
  for (std::size_t i = 0; i < parameters.forms.size(); ++i) {
    const std::string& core = syntax_->values.openers[i].core();
    is_always_opened = is_always_opened && !core.empty();
    const std::string_view head = without_tag_end(core);
    if (head.empty()) continue;
    Match match;
    if (text.starts_with(head)) {
      match = AttributeReader(text.substr(head.size()), is_end_).up_to(kTagEnd, 1);
      if (match.kind == MatchKind::kFull) return full(head.size() + match.size, &parameters.forms[i]);
    } else if (core.front() != '<') {  // it continues the key's tag
      match = AttributeReader(text, is_end_).up_to(core, 1);
      if (match.kind == MatchKind::kFull) return full(match.size, &parameters.forms[i]);
    }
    is_partial = is_partial || match.kind == MatchKind::kPartial;
  }
  if (is_partial) return {{MatchKind::kPartial, 0}, nullptr};
  if (!is_always_opened) return {};
  const std::string& first = syntax_->values.openers.front().core();
  if (!first.ends_with(kTagEnd) || first.front() == '<') return full(0, nullptr);
  const Match match = AttributeReader(text, is_end_).up_to(kTagEnd, 0);
  return match.kind == MatchKind::kNone ? full(0, nullptr) : ValueOpener{match, nullptr};
}

void Machine::note_damaged_tag() {
  call_.problems.push_back({Problem::Kind::kUnknownAttribute, parameter_.key,
                            "the tag of `" + parameter_.key + "` is not as the format writes it"});
}

// Matches the name of a tool in quotes that the format does not write, at `begin`.  Returns the size of the name.
Match Machine::quoted_tool(std::size_t begin) const {
  if (!syntax_->options.tools || begin == buffer_.size() || (buffer_[begin] != '"' && buffer_[begin] != '\''))
    return {};
  const std::size_t end = buffer_.find(buffer_[begin], begin + 1);
  if (end == std::string::npos)
    return {is_end_ || buffer_.size() - begin > kLongestName ? MatchKind::kNone : MatchKind::kPartial, 0};
  const std::string_view name = std::string_view(buffer_).substr(begin + 1, end - begin - 1);
  if (!syntax_->is_known_tool(name)) return {};
  if (end + 1 == buffer_.size()) return {is_end_ ? MatchKind::kNone : MatchKind::kPartial, 0};
  const MatchKind close = slot_close_at(begin, end + 1, true);
  return {close, close == MatchKind::kFull ? name.size() : 0};
}

// Matches a name, id or index at `begin`, or the name of a tool behind a `quote` of one byte.
Match Machine::slot_in_quotes(std::size_t begin, bool is_name, std::size_t& quote) const {
  const Match quoted = is_name ? quoted_tool(begin) : Match{};
  quote = quoted.kind == MatchKind::kFull ? 1 : 0;
  if (quoted.kind != MatchKind::kNone) return quoted;
  const Match spelled = is_name ? spelled_tool(begin) : Match{};
  return spelled.kind == MatchKind::kNone ? slot_at(begin, is_name) : spelled;
}

// Matches the longest name of a tool at `begin`, whatever characters it has.
Match Machine::spelled_tool(std::size_t begin) const {
  const std::string_view text = std::string_view(buffer_).substr(begin);
  Match best;
  for (const chat::ToolDefinition& tool : syntax_->tools) {
    if (tool.name.size() < best.size || tool.name.empty()) continue;
    if (!is_end_ && tool.name.starts_with(text)) return {MatchKind::kPartial, 0};
    if (!text.starts_with(tool.name)) continue;
    const std::size_t end = begin + tool.name.size();
    if (end == buffer_.size()) continue;
    const MatchKind close = slot_close_at(begin, end, true);
    if (close == MatchKind::kPartial) return {MatchKind::kPartial, 0};
    if (close == MatchKind::kFull) best = {MatchKind::kFull, tool.name.size()};
  }
  return best;
}

void Machine::note_quoted_name() {
  call_.problems.push_back(
      {Problem::Kind::kUnknownAttribute, "", "the name of the tool is in quotes, which the format does not write"});
}

// Looks for tags of other parameters in a value that was taken over as written.
void Machine::look_for_tags(std::string_view value) {
  if (parameter_.closer_set.empty()) return;
  for (std::string& key : open_tags(value, syntax_->format->calls.parameters, parameter_.closer_set))
    call_.swallowed.emplace_back(parameter_.key, std::move(key));
}

// Finds the faults in the arguments of a call that ends.
void Machine::judge_call() {
  chat::ToolCall& made = call();
  std::vector<Problem> problems = std::move(call_.problems);
  const bool is_read = made.status == chat::CallStatus::kOk || made.status == chat::CallStatus::kUnknownTool;
  if (const auto arguments = json::parse(made.arguments); is_read && arguments.ok()) {
    const chat::ToolDefinition* tool = syntax_->tool(made.name);
    const bool is_listed =
        !call_.swallowed.empty() && tool != nullptr && chat::listed_parameters(tool->parameters).has_value();
    for (const auto& [holder, key] : call_.swallowed) {
      // A tag that another parameter has, or that the tool does not know, is a quotation.
      if (arguments.value().find(key) != nullptr || (is_listed && !has_parameter(key))) continue;
      problems.push_back(
          {Problem::Kind::kSwallowedTag, holder,
           std::string("the value of `").append(holder).append("` holds the tag of `").append(key).append("`")});
    }
    if (tool != nullptr) {
      for (Problem& problem : schema_problems(arguments.value(), tool->parameters))
        problems.push_back(std::move(problem));
    } else if (!arguments.value().is_object()) {
      problems.push_back(
          {Problem::Kind::kWrongType, "",
           "the arguments are " + std::string(json::describe(arguments.value().kind())) + " instead of an object"});
    }
  }
  if (problems.empty()) return;
  complain(attempt_.begin, problems.front().sentence);
  set_status(chat::CallStatus::kMalformed);
  made.problems = std::move(problems);
}

}  // namespace rondo::parse
