// Calls in another format.  A model that was given tools may write a call in JSON, in Python or in a tag that names it,
// after a control token, tag or fence of its own.  Such a call counts only if it names a tool.
#include <algorithm>
#include <utility>

#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::is_space;

constexpr std::size_t kLongestWord = 64;  // of a tag, or of a fence's language
constexpr std::size_t kMostWrappers = 3;  // nested

// The names of tools have the characters of tags.
std::size_t word_size(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), format::is_tag_byte) - text.begin());
}

bool is_small_letter(char byte) { return byte >= 'a' && byte <= 'z'; }

Match partial_or_none(bool is_end) { return {is_end ? MatchKind::kNone : MatchKind::kPartial, 0}; }

// Matches a mark such as `[ARGS]`, or a control token, at the start of `text`.
Match bracket_mark_at(std::string_view text, bool is_end) {
  if (!text.starts_with('[')) return control_token(text, is_end);
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", 1);
  if (std::min(end, text.size()) > kLongestWord) return {};
  if (end == std::string_view::npos) return partial_or_none(is_end);
  return end > 1 && text[end] == ']' ? Match{MatchKind::kFull, end + 1} : Match{};
}

format::Calls json_calls() {
  format::Calls calls;
  calls.present = true;
  calls.envelope = format::Envelope::kJsonObject;
  calls.roles = {{"name"}, {"arguments"}, {"id"}, false};
  return calls;
}

// Describes calls written as `NAME` LITERAL `KEY=VALUE, KEY=VALUE)`.
format::Calls python_calls(const std::string& behind_name) {
  format::Calls calls;
  calls.present = true;
  calls.section_open = "[";
  calls.section_close = "]";
  calls.call_close = ")";
  calls.separator = ", ";
  calls.pieces = {{format::CallPiece::Kind::kName, ""},
                  {format::CallPiece::Kind::kLiteral, behind_name},
                  {format::CallPiece::Kind::kArguments, ""}};
  calls.arguments = format::ArgumentStyle::kParameters;
  calls.parameters.key_close = "=";
  calls.parameters.separator = ", ";
  for (const auto type :
       {format::ValueType::kString, format::ValueType::kInteger, format::ValueType::kFloat, format::ValueType::kTrue,
        format::ValueType::kFalse, format::ValueType::kNull, format::ValueType::kObject, format::ValueType::kArray})
    calls.parameters.forms.push_back({type, format::ValueStyle::kPython, "", "", ""});
  return calls;
}

// Describes calls written as OPEN NAME LITERAL `{...}` CLOSE.
format::Calls tag_calls(std::string open, std::string behind_name, std::string close) {
  format::Calls calls;
  calls.present = true;
  calls.call_open = std::move(open);
  calls.call_close = std::move(close);
  calls.pieces = {{format::CallPiece::Kind::kName, ""},
                  {format::CallPiece::Kind::kLiteral, std::move(behind_name)},
                  {format::CallPiece::Kind::kArguments, ""}};
  return calls;
}

}  // namespace

Match literal_at(std::string_view text, std::string_view literal, bool is_end) {
  const std::size_t same = std::min(text.size(), literal.size());
  if (text.substr(0, same) != literal.substr(0, same)) return {};
  return same < literal.size() ? partial_or_none(is_end) : Match{MatchKind::kFull, same};
}

Match tag_at(std::string_view text, bool is_end) {
  if (!text.starts_with('<')) return {};
  const std::size_t end = 1 + word_size(text.substr(1));
  if (end > kLongestWord) return {};
  if (end == text.size()) return partial_or_none(is_end);
  return end > 1 && text[end] == '>' ? Match{MatchKind::kFull, end + 1} : Match{};
}

Match fence_at(std::string_view text, bool is_end) {
  if (const Match match = literal_at(text, kFence, is_end); match.kind != MatchKind::kFull) return match;
  const std::size_t end = kFence.size() + word_size(text.substr(kFence.size()));
  if (end > kFence.size() + kLongestWord) return {};
  if (end == text.size()) return partial_or_none(is_end);
  return is_space(text[end]) ? Match{MatchKind::kFull, end + 1} : Match{};
}

// Matches a wrapper at `at`.  Sets `close` to the text that will close it, or to "" for a control token, which any
// other control token closes.
Match Machine::wrapper_at(std::size_t at, std::string& close) const {
  const std::string_view text = std::string_view(buffer_).substr(at);
  close.clear();
  if (Match match = control_token(text, is_end_); match.kind != MatchKind::kNone) {
    if (starts_ && match.kind == MatchKind::kFull && !starts_->has(&buffer_[at])) return {};
    return match;
  }
  if (Match match = fence_at(text, is_end_); match.kind != MatchKind::kNone) {
    close = kFence;
    return match;
  }
  const Match match = tag_at(text, is_end_);
  if (match.kind == MatchKind::kFull) close = "</" + std::string(text.substr(1, match.size - 1));
  return match;
}

// Returns whether the wrapper `text` looks like what the format writes around calls: it has four letters in a row that one
// of the openers has too.
bool Machine::resembles_opener(std::string_view text) const {
  constexpr std::size_t kAlike = 4;
  const format::Calls& calls = (foreign_.own_syntax ? foreign_.own_syntax : syntax_)->format->calls;
  for (std::size_t at = 0; at + kAlike <= text.size(); ++at) {
    const std::string_view part = text.substr(at, kAlike);
    const auto has_part = [part](const std::string& opener) { return opener.find(part) != std::string::npos; };
    if (std::ranges::all_of(part, format::is_word) && (has_part(calls.section_open) || has_part(calls.call_open)))
      return true;
  }
  return false;
}

// Returns whether the wrapper `text` in front of a call of the format belongs to it.  An answer may end with another tag.
bool Machine::wraps_own_call(std::string_view text) const {
  const bool is_token = control_token(text, true).kind == MatchKind::kFull;
  return text.starts_with(kFence) || resembles_opener(text) || (is_token && (starts_ || top_.is_blank));
}

// Looks for a call of another format at `at`, where no marker of this format begins.  kFull means that an attempt to
// read one has begun.
MatchKind Machine::foreign(std::size_t at) {
  if (!syntax_->options.tools || !syntax_->options.calls || foreign_.own_syntax != nullptr ||
      base_ + at < prompt_.bytes)
    return MatchKind::kNone;
  const std::size_t begin = at;
  std::vector<std::string> closes;
  bool wraps_own = true;     // whether the wrappers may stand around calls of this format
  bool wraps_python = true;  // the same for calls in Python without brackets around them
  while (at < buffer_.size() && closes.size() < kMostWrappers) {
    const MarkerSet::Found own =
        closes.empty() ? MarkerSet::Found{} : syntax_->sets.blank.at(buffer_, at, is_end_, starts());
    if (own.kind == MatchKind::kPartial) return own.kind;
    if (own.kind == MatchKind::kFull) return own_opener(own, std::move(closes), wraps_own);
    std::string close;
    const Match wrapper = wrapper_at(at, close);
    if (wrapper.kind == MatchKind::kPartial) return wrapper.kind;
    if (wrapper.kind == MatchKind::kNone) break;
    const std::string_view text = std::string_view(buffer_).substr(at, wrapper.size);
    wraps_own = wraps_own && wraps_own_call(text);
    wraps_python = wraps_python && (close.empty() || resembles_opener(text));
    closes.push_back(close.empty() ? buffer_.substr(at, wrapper.size) : close);
    at = skip_space(at + wrapper.size);
  }
  if (at == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const bool is_reserved = control_token(std::string_view(buffer_).substr(begin), true).kind == MatchKind::kFull;
  const MatchKind kind =
      top_.is_blank || is_reserved ? foreign_body(begin, at, !closes.empty(), wraps_python) : quoted_body(begin, at);
  if (kind == MatchKind::kFull) foreign_.closes = std::move(closes);
  return kind;
}

// Begins a call of this format after wrappers.  `wraps_own`: they may stand around it.  Any tag gives punctuation its
// meaning.
MatchKind Machine::own_opener(const MarkerSet::Found& found, std::vector<std::string> closes, bool wraps_own) {
  if (found.id != kSectionOpen && found.id != kCallOpen) return MatchKind::kNone;
  if (!wraps_own && found.marker->is_distinct()) return MatchKind::kNone;
  pos_ = found.begin + found.size;
  thoughts_.have_call = false;
  // Punctuation does not prove a call inside a wrapper either.
  begin_attempt(found.id == kSectionOpen, found.marker->is_distinct() ? Opening::kMarker : Opening::kHalf);
  foreign_.closes = std::move(closes);
  if (found.id == kCallOpen) return start_body() ? MatchKind::kFull : MatchKind::kNone;
  phase_ = Phase::kSection;
  return MatchKind::kFull;
}

// Begins a call whose body starts at byte `body`.
MatchKind Machine::begin_foreign(std::size_t body, bool in_section, Opening opening) {
  thoughts_.have_call = false;
  begin_attempt(in_section, opening);
  pos_ = body;
  return start_body() ? MatchKind::kFull : MatchKind::kNone;
}

// Returns whether the format's own calls are JSON.
bool Machine::has_json_calls() const {
  const format::Calls& calls = syntax_->format->calls;
  return calls.present && calls.envelope != format::Envelope::kTags;
}

// Returns whether nothing marks the format's own lists of calls in JSON, so that content stands directly before them.
bool Machine::has_bare_lists() const {
  const format::Calls& calls = syntax_->format->calls;
  return calls.present && calls.envelope == format::Envelope::kJsonArray && format::is_blank(calls.section_open) &&
         format::is_blank(calls.call_open);
}

// Returns whether the object at `brace` can only be a call of the public APIs: the format's own calls are not JSON, or it
// begins with a member that none of them has.
MatchKind Machine::begins_usual_call(std::size_t brace) const {
  if (!has_json_calls()) return MatchKind::kFull;
  const std::size_t quote = skip_space(brace + 1);
  const std::size_t end = quote < buffer_.size() ? buffer_.find_first_of("\"'", quote + 1) : std::string::npos;
  if (end == std::string::npos) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const std::string key = buffer_.substr(quote + 1, end - quote - 1);
  if (key != "name" && key != chat::kCallFunctionKey) return MatchKind::kNone;
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const auto begins = [&key](const std::vector<std::string>& role) { return !role.empty() && role.front() == key; };
  return begins(roles.name) || begins(roles.arguments) || begins(roles.id) ? MatchKind::kNone : MatchKind::kFull;
}

// Finds out which kind of call begins at `at`.  `begin` is before its wrappers, if any; `wraps_python` says whether a call
// in Python needs no brackets between them.
MatchKind Machine::foreign_body(std::size_t begin, std::size_t at, bool is_wrapped, bool wraps_python) {
  const MatchKind open = is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const char byte = buffer_[at];
  if (byte == '<') return tag_call(begin, at);
  const std::size_t inner = byte == '[' ? skip_space(at + 1) : at;
  if (inner == buffer_.size()) return open;
  if (buffer_[inner] == '{') {
    const MatchKind usual = begins_usual_call(inner);
    if (usual == MatchKind::kPartial) return usual;
    if (usual == MatchKind::kNone && !is_wrapped) return MatchKind::kNone;
    if (usual == MatchKind::kFull) adopt(json_calls());
    return begin_foreign(at, false, Opening::kBare);
  }
  const std::string_view rest = std::string_view(buffer_).substr(inner);
  const std::size_t size = word_size(rest);
  if (size == 0 || size > kLongestName) return MatchKind::kNone;
  if (size == rest.size()) return open;
  std::string name(rest.substr(0, size));
  // A word directly before a list of calls in JSON is a mark.  A text such as `Hello.` stays content, and so does any word
  // but one in capitals where the format itself writes content there.
  if (begin == at && inner == at && rest[size] == '[' && std::ranges::all_of(name, format::is_word) &&
      (!has_bare_lists() || std::ranges::none_of(name, is_small_letter)))
    return list_call(at + size, has_json_calls());
  if (inner == at && rest[size] == '\n' && !has_json_calls() && syntax_->is_known_tool(name))
    return line_call(at, size);
  return rest[size] == '(' ? python_call(inner, std::move(name), byte == '[', is_wrapped && wraps_python)
                           : MatchKind::kNone;
}

// Returns whether the text at `at` is quoted: an open fence contains it, or a backtick is before it.
bool Machine::is_quoted(std::size_t at) {
  return foreign_.quoting.quotes(message_.content, std::string_view(buffer_).substr(head_, at - head_), base_ + head_);
}

// Finds out which kind of call begins at `at`, behind text and a wrapper that begins at `begin`.  An answer may quote
// code, so only an object counts that has a tool's name and arguments, or a tag that names a tool.
MatchKind Machine::quoted_body(std::size_t begin, std::size_t at) {
  if (buffer_[at] == '<') return tag_call(begin, at);
  const std::size_t inner = buffer_[at] == '[' ? skip_space(at + 1) : at;
  if (inner == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  if (buffer_[inner] != '{' || is_quoted(begin)) return MatchKind::kNone;
  const MatchKind usual = begins_usual_call(inner);
  if (usual == MatchKind::kPartial) return usual;
  if (usual == MatchKind::kFull) adopt(json_calls());
  return begin_foreign(at, false, Opening::kInText);
}

// Begins a list of calls in JSON, at the bracket `list`.  The mark in front of it is dropped.  `is_own`: the format's
// own calls are JSON too.
MatchKind Machine::list_call(std::size_t list, bool is_own) {
  const std::size_t first = skip_space(list + 1);
  if (first == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  if (buffer_[first] != '{') return MatchKind::kNone;
  if (!syntax_->call_open.empty()) {  // such a bracket may begin the format's opener
    const Match own = syntax_->call_open.match(std::string_view(buffer_).substr(first), is_end_, starts());
    if (own.kind != MatchKind::kNone) return own.kind == MatchKind::kPartial ? own.kind : MatchKind::kNone;
  }
  if (!is_own) adopt(json_calls());
  return begin_foreign(list, false, Opening::kBare);
}

// Begins a call that is a tool's name on a line of its own, followed by an object.
MatchKind Machine::line_call(std::size_t at, std::size_t name_size) {
  const std::size_t body = skip_space(at + name_size);
  if (body == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  if (buffer_[body] != '{') return MatchKind::kNone;
  format::Calls calls = tag_calls("", "", "");
  calls.pieces.erase(calls.pieces.begin() + 1);
  adopt(std::move(calls));
  return begin_foreign(at, false, Opening::kHalf);
}

// Begins `[name(...), ...]`.  After a wrapper also `name(...)` and `name.word(...)`.
MatchKind Machine::python_call(std::size_t at, std::string name, bool is_list, bool is_wrapped) {
  std::string behind = "(";
  if (!syntax_->is_known_tool(name)) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return MatchKind::kNone;
    behind = name.substr(dot) + "(";
    name.resize(dot);
  }
  if (!syntax_->is_known_tool(name) || !(is_list || is_wrapped)) return MatchKind::kNone;
  adopt(python_calls(behind));
  return begin_foreign(at, is_list, Opening::kHalf);
}

// Begins `<word=name>{...}</word>` or `<word name="name">{...}</word>`.
MatchKind Machine::tag_call(std::size_t begin, std::size_t at) {
  const MatchKind open = is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const std::size_t word = 1 + word_size(text.substr(1));
  if (word == 1 || word > kLongestWord) return MatchKind::kNone;
  for (const auto& [middle, end] : {std::pair<std::string_view, std::string_view>{"=", ">"}, {" name=\"", "\">"}}) {
    const std::size_t same = std::min(middle.size(), text.size() - word);
    if (text.substr(word, same) != middle.substr(0, same)) continue;
    if (same < middle.size()) return open;
    const std::size_t from = word + middle.size();
    const std::size_t to = from + word_size(text.substr(from));
    const std::size_t shown = std::min(end.size(), text.size() - to);
    if (to - from > kLongestName || text.substr(to, shown) != end.substr(0, shown)) return MatchKind::kNone;
    if (shown < end.size()) return open;
    if (!syntax_->is_known_tool(text.substr(from, to - from))) return MatchKind::kNone;
    const std::size_t body = skip_space(at + to + end.size());
    if (body == buffer_.size()) return open;
    if (buffer_[body] != '{' || (!top_.is_blank && is_quoted(begin))) return MatchKind::kNone;
    adopt(tag_calls(std::string(text.substr(0, from)), std::string(end),
                    "</" + std::string(text.substr(1, word - 1)) + ">"));
    return begin_foreign(at + from, false, Opening::kHalf);
  }
  return MatchKind::kNone;
}

// Returns whether a call in JSON may begin at `at`, in a section of a format in tags.
bool Machine::may_be_json_instead(std::size_t at) const {
  return attempt_.opening == Opening::kMarker && syntax_->options.tools && foreign_.own_syntax == nullptr &&
         (buffer_[at] == '{' || buffer_[at] == '[');
}

// Begins a call in JSON between the markers of a format in tags.  Returns true if one begins, or if more text is needed
// to tell (then `wait` is set).
bool Machine::json_instead(bool& wait) {
  const format::Calls& own = syntax_->format->calls;
  if (!attempt_.is_open || !syntax_->options.tools || foreign_.own_syntax != nullptr || has_json_calls() ||
      own.pieces[0].kind == format::CallPiece::Kind::kLiteral ||
      own.pieces[0].kind == format::CallPiece::Kind::kArguments)
    return false;
  const std::size_t at = skip_space(pos_);
  const bool is_list = at < buffer_.size() && buffer_[at] == '[';
  const std::size_t inner = is_list ? skip_space(at + 1) : at;
  wait = inner == buffer_.size() && !is_end_;
  if (inner == buffer_.size()) return wait;
  if (buffer_[inner] != '{') return false;
  return usual_call(at);
}

// Begins a call in the shape of the public APIs at `at`, between the format's own markers.
bool Machine::usual_call(std::size_t at) {
  const format::Calls& own = syntax_->format->calls;
  format::Calls calls = json_calls();
  calls.section_close = own.section_close;
  calls.call_close = own.call_close;
  calls.separator = ", ";
  adopt(std::move(calls));
  if (is_prompt_part()) attempt_.opening = Opening::kBare;  // the model itself wrote no opener
  pos_ = at;
  return start_body();
}

// Begins such a call again where the format's own have their names as keys.  The value at pos_, which begins with `byte`, is
// the first of its object, and its key is one of the public APIs.
bool Machine::usual_instead(char byte) {
  const std::string& key = scanner_.key_at(envelope_.depth);
  const bool is_usual = (key == "name" && byte == '"') || (key == chat::kCallFunctionKey && byte == '{');
  if (!is_usual || !attempt_.is_open || !options().tools || foreign_.own_syntax != nullptr ||
      syntax_->tool(key) != nullptr)
    return false;
  const std::size_t brace = buffer_.rfind('{', pos_ - 1);
  if (brace == std::string::npos || brace < head_ || skip_space(brace + 1) != buffer_.rfind('"' + key, pos_))
    return false;
  const std::size_t before = buffer_.find_last_not_of(" \t\r\n", brace - 1);
  const bool is_list = brace > 0 && before != std::string::npos && before >= head_ && buffer_[before] == '[';
  return usual_call(is_list && scanner_.depth() > (byte == '{' ? 2 : 1) ? before : brace);
}

// Finds the object at or behind `at`, with marks such as `[ARGS]` before it.  A word, an id, may follow a mark.
MatchKind Machine::object_behind(std::size_t at, std::size_t& body) const {
  const MatchKind open = is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  for (std::size_t marks = 0; marks <= kMostWrappers; ++marks) {
    body = skip_space(at);
    if (body == buffer_.size()) return open;
    if (buffer_[body] == '{') return MatchKind::kFull;
    std::string_view text = std::string_view(buffer_).substr(body);
    const std::size_t word = marks == 0 ? 0 : word_size(text);
    if (word > kLongestWord) return MatchKind::kNone;
    text.remove_prefix(word);
    if (text.empty()) return open;
    const Match mark = bracket_mark_at(text, is_end_);
    if (mark.kind != MatchKind::kFull) return mark.kind;
    at = body + word + mark.size;
  }
  return MatchKind::kNone;
}

// Begins a call that is a tool's name and an object, behind the opener of a format whose calls are JSON.  Returns true if
// one begins, or if more text is needed to tell (then `wait` is set).
bool Machine::named_instead(bool& wait) {
  const format::Calls& own = syntax_->format->calls;
  if (!attempt_.is_open || attempt_.opening != Opening::kMarker || !syntax_->options.tools ||
      foreign_.own_syntax != nullptr)
    return false;
  const std::size_t at = skip_space(pos_);
  std::size_t name_end = at;
  std::size_t body = at;
  const MatchKind kind = tool_name_at(at, [&](std::size_t behind) {
    name_end = behind;
    return object_behind(behind, body);
  });
  wait = kind == MatchKind::kPartial;
  if (kind != MatchKind::kFull) return wait;
  format::Calls calls = tag_calls("", buffer_.substr(name_end, body - name_end), own.call_close);
  calls.section_close = own.section_close;
  section_.is_open = section_.is_open && !format::is_blank(own.section_close);
  adopt(std::move(calls));
  pos_ = at;
  return start_body();
}

// Matches a fence around the JSON of a call, such as "```json".
Match Machine::fence_open(std::size_t at) {
  const Match match = fence_at(std::string_view(buffer_).substr(at), is_end_);
  call_.is_fenced = call_.is_fenced || match.kind == MatchKind::kFull;
  return match;
}

Match Machine::fence_close(std::size_t at) const {
  return literal_at(std::string_view(buffer_).substr(at), kFence, is_end_);
}

// Matches the text that closes the innermost wrapper, after its call.  If other text comes there, no wrapper is closed
// later.
MatchKind Machine::wrapper_close(std::size_t at) {
  if (foreign_.closes.empty() || section_.is_open) return MatchKind::kNone;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const std::string& close = foreign_.closes.back();
  Match match;
  if (control_token(close, true).kind == MatchKind::kFull) {
    match = control_token(text, is_end_);
    if (match.kind == MatchKind::kFull && text.starts_with(close)) match = {};  // the opener of the next call
  } else {
    match = literal_at(text, close, is_end_);
  }
  if (match.kind == MatchKind::kNone) foreign_.closes.clear();
  if (match.kind != MatchKind::kFull) return match.kind;
  pos_ = at + match.size;
  emit(EventKind::kMarker, pos_);
  foreign_.closes.pop_back();
  return match.kind;
}

// Reads calls as `calls` describes them until settle_format().
void Machine::adopt(format::Calls calls) {
  constexpr std::size_t kMostMade = 4;
  foreign_.own_syntax = syntax_;
  auto& made = foreign_.made;
  const auto known = std::ranges::find_if(made, [&](const auto& syntax) { return syntax->format->calls == calls; });
  if (known == made.end()) {
    if (made.size() == kMostMade) made.erase(made.begin());
    made.push_back(std::make_shared<const Syntax>(*foreign_.own_syntax, std::move(calls)));
  } else {
    std::rotate(known, known + 1, made.end());
  }
  syntax_ = made.back();
  parameter_.closer_set = MarkerSet();
}

// Returns to the format's own calls after calls of another format.
void Machine::settle_format() {
  if (foreign_.own_syntax == nullptr || section_.is_open) return;
  syntax_ = std::exchange(foreign_.own_syntax, nullptr);
  parameter_.closer_set = MarkerSet();
}

}  // namespace rondo::parse
