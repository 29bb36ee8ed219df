// Values of parameters without markers around them: their own brackets and quotes show where they end.
#include <algorithm>

#include "format/units.h"
#include "json/parse.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::is_blank;
using format::is_space;

bool is_name_start(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
         static_cast<unsigned char>(byte) >= 0x80;
}

// If `text` is a number, or a word of JSON or Python, and a name follows it directly, returns where the name begins;
// npos otherwise.
std::size_t name_behind_scalar(std::string_view text, const NestedSyntax& syntax) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() > kLongestScalar + kLongestKey) return std::string_view::npos;
  const auto is_name_byte = [](char byte) { return is_key_byte(byte, false); };
  for (std::size_t at = std::min(text.size(), kLongestScalar + 1); at-- > 1;) {
    if (!is_name_start(text[at]) ||
        !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_name_byte))
      continue;
    const std::optional<json::Value> value = read_literal(text.substr(0, at), syntax);
    if (value && !value->is_string() && !value->is_array() && !value->is_object()) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool Nesting::take_quoted(char byte) {
  if (quote == 0) return false;
  quotes_seen = !is_escaped && byte == quote ? quotes_seen + 1 : 0;
  is_escaped = !is_escaped && byte == '\\';
  if (quotes_seen == quote_size) {
    quote = 0;
    ends_string();
  }
  return true;
}

void Nesting::begin_string(char byte, std::size_t quotes) {
  quote = byte;
  quote_size = quotes;
  quotes_seen = 0;
  may_quote = has_closed = is_behind_string = false;
}

void Nesting::ends_string() {
  may_quote = false;
  is_behind_string = true;
  has_closed = depth == 0;
}

void Nesting::take(char byte) {
  if (is_space(byte)) return;
  has_closed = is_behind_string = false;
  if (const std::size_t kind = std::string_view("{[(").find(byte); kind != std::string_view::npos) {
    ++depth;
    closers += "}])"[kind];
  }
  // A bracket that nothing opened is text, as in `hello :)`.
  if ((byte == '}' || byte == ']' || byte == ')') && depth > 0) {
    --depth;
    closers.pop_back();
    has_closed = depth == 0;
  }
  may_quote = std::string_view("{[(,:=").find(byte) != std::string_view::npos;
  is_quoted = is_quoted && !may_quote;
}

// Moves pos_ to the last byte of a string between the format's own quotes, if one begins at pos_.  Returns true if it
// does.  Also returns true, with `wait` set, if it may begin there or is not complete.
bool Machine::own_quoted(bool& wait) {
  const std::string& open = syntax_->values.nested.string_open;
  if (open.size() <= 1 || buffer_[pos_] != open[0]) return false;
  const std::string_view rest = std::string_view(buffer_).substr(pos_);
  wait = rest.size() < open.size() && std::string_view(open).starts_with(rest) && !is_end_;
  if (!rest.starts_with(open)) return wait;
  if (is_unopened_quote()) {
    pos_ += open.size() - 1;
    return true;
  }
  Nesting& nesting = parameter_.nesting;
  const std::string& close = syntax_->values.nested.string_close;
  const std::size_t text = pos_ + open.size();
  const std::size_t end = buffer_.find(close, text + nesting.searched);
  wait = end == std::string::npos;
  nesting.searched = wait && buffer_.size() - text >= close.size() ? buffer_.size() - text - close.size() + 1 : 0;
  if (wait) return true;
  pos_ = end + close.size() - 1;
  nesting.may_quote = false;
  nesting.is_quoted = true;
  return true;
}

// Moves pos_ to the last byte of the opening of a string as Python writes it with a prefix (`r'x'`), in three quotes, or
// behind another string that it continues.  A text that needs no quotes is none of these; a quote may still begin it.
// Returns and waits as own_quoted() does.
bool Machine::python_quoted(bool& wait) {
  Nesting& nesting = parameter_.nesting;
  if (!nesting.may_quote && !(nesting.is_behind_string && nesting.is_python)) return false;
  if (!nesting.is_python) {
    if (buffer_[pos_] != '"' && buffer_[pos_] != '\'') return false;
    nesting.begin_string(buffer_[pos_], 1);
    return true;
  }
  const StringOpening opening = string_opening(std::string_view(buffer_).substr(pos_));
  wait = opening.is_open && !is_end_;
  if (wait || opening.quotes == 0) return wait;
  pos_ += opening.prefix + opening.quotes - 1;
  nesting.begin_string(buffer_[pos_], opening.quotes);
  return true;
}

// Returns whether the format's own quote at pos_ closes a string that nothing opened: other text than a bracket or a
// separator is before it.
bool Machine::is_unopened_quote() const {
  const NestedSyntax& quotes = syntax_->values.nested;
  return quotes.string_open == quotes.string_close && !parameter_.nesting.may_quote && !parameter_.nesting.is_quoted;
}

// Looks for the quote of the format's own that ends the value at pos_, although nothing opened the string.  What follows
// it must be what follows values.
MatchKind Machine::unopened_value() {
  const std::string& quote = syntax_->values.nested.string_close;
  if (parameter_.nesting.depth != 0 || quote.size() <= 1 || !is_unopened_quote()) return MatchKind::kNone;
  const std::string_view rest = std::string_view(buffer_).substr(pos_);
  if (!rest.starts_with(quote))
    return !is_end_ && rest.size() < quote.size() && quote.starts_with(rest) ? MatchKind::kPartial : MatchKind::kNone;
  bool wait = false;
  if (!is_followed(pos_ + quote.size(), wait)) return wait ? MatchKind::kPartial : MatchKind::kNone;
  end_value(pos_, pos_ + quote.size());
  return MatchKind::kFull;
}

// Returns whether the separator at pos_ belongs to a text whose quotes of the format's own are missing: no name of a
// parameter follows it.
MatchKind Machine::separates_words(const MarkerSet::Found& found) const {
  const NestedSyntax& quotes = syntax_->values.nested;
  const Nesting& nesting = parameter_.nesting;
  const bool is_text = quotes.string_open.size() > 1 && !nesting.may_quote && !nesting.is_quoted && !nesting.has_closed;
  if (!is_text || found.id != Syntax::kParameterSeparator || !syntax_->parameter_open.empty()) return MatchKind::kNone;
  const std::string_view before = format::trimmed(std::string_view(buffer_).substr(head_, pos_ - head_));
  const bool is_word = before.size() > kLongestScalar || !json::parse(before).ok();
  if (!is_word) return MatchKind::kNone;
  const std::size_t next = skip_space(pos_ + found.size);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MatchKind key = key_at(next);
  if (key == MatchKind::kPartial) return key;
  return key == MatchKind::kFull ? MatchKind::kNone : MatchKind::kFull;
}

// Looks behind the line end at pos_ for the name of a parameter, where each has a line of its own and strings have quotes:
// a text without quotes ends there.
MatchKind Machine::next_line_key() const {
  const std::string& separator = syntax_->format->calls.parameters.separator;
  if (buffer_[pos_] != '\n' || parameter_.nesting.has_closed) return MatchKind::kNone;
  const bool may_be = parameter_.nesting.is_python && syntax_->parameter_open.empty() && is_blank(separator) &&
                      separator.find('\n') != std::string::npos && !syntax_->sets.key.empty();
  if (!may_be || is_blank(std::string_view(buffer_).substr(head_, pos_ - head_))) return MatchKind::kNone;
  const std::size_t next = skip_space(pos_);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  return key_at(next);
}

// Looks behind pos_ for the next key, and returns the end of the value in front of it; nullopt if there is none.  Sets
// `wait` if more text is needed.
std::optional<std::size_t> Machine::end_before_key(bool& wait) const {
  const MarkerSet::Found found = syntax_->sets.key.at(buffer_, pos_, is_end_, starts());
  wait = found.kind == MatchKind::kPartial;
  if (found.kind != MatchKind::kFull) return std::nullopt;
  const std::size_t name =
      name_behind_scalar(std::string_view(buffer_).substr(head_, pos_ - head_), syntax_->values.nested);
  return name != std::string_view::npos ? std::optional(head_ + name) : std::nullopt;
}

// Looks for the end of a value without markers around it; the caller is outside its brackets and quotes.  Returns the
// end, which is pos_ or before it; nullopt if the value goes on.  Sets `wait` if more text is needed.
std::optional<std::size_t> Machine::structured_end(bool& wait) const {
  // If the format writes nothing between parameters, the next name follows a whole value directly.
  const bool has_keys = syntax_->parameter_open.empty();
  if (parameter_.nesting.has_closed && has_keys && is_name_start(buffer_[pos_])) return pos_;
  if (has_keys && pos_ > head_) {
    const std::optional<std::size_t> end = end_before_key(wait);
    if (wait || end) return end;
  }
  if (const MatchKind next = next_line_key(); next != MatchKind::kNone) {
    wait = next == MatchKind::kPartial;
    return wait ? std::nullopt : std::optional(pos_);
  }
  const MarkerSet::Found found = syntax_->sets.follower.at(buffer_, pos_, is_end_, starts());
  wait = found.kind == MatchKind::kPartial;
  if (found.kind != MatchKind::kFull) return std::nullopt;
  if (const MatchKind words = separates_words(found); words != MatchKind::kNone) {
    wait = words == MatchKind::kPartial;
    return std::nullopt;
  }
  // The white space before a marker that the template writes on a new line is the template's.
  const std::string_view value = std::string_view(buffer_).substr(head_, pos_ - head_);
  const bool begins_line = found.marker != nullptr && found.marker->lead().find('\n') != std::string::npos;
  if (begins_line && is_blank(value) && value.find('\n') == std::string_view::npos && buffer_[pos_] == '-') {
    // A number that begins as the marker does.
    wait = pos_ + 1 == buffer_.size() && !is_end_;
    if (wait || (pos_ + 1 < buffer_.size() && format::is_digit(buffer_[pos_ + 1]))) return std::nullopt;
  }
  if (begins_line && !is_blank(value) &&
      value.substr(value.find_last_not_of(" \t\r\n")).find('\n') == std::string::npos)
    return std::nullopt;
  const std::size_t lead = begins_line ? found.marker->own_lead(value) : 0;
  return lead > 0 ? pos_ - lead : before_blank_close(pos_);
}

// A value that begins as the marker behind it does, such as a list where keys stand in brackets, is read as JSON first.
// Returns false if more text is needed.
bool Machine::begin_structured() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return is_end_;
  parameter_.is_begun = true;
  parameter_.nesting.may_quote = true;
  if (std::string_view("[{").find(buffer_[at]) == std::string_view::npos) {
    // A text that begins as no list, object or quoted text may have a bracket that nothing closes.
    const bool is_quote = buffer_[at] == '"' || buffer_[at] == '\'';
    const auto is_python = [](const format::ValueForm* form) { return form->style == format::ValueStyle::kPython; };
    const bool may_be_text = is_text_value() && !is_quote && !parameter_.nesting.is_python &&
                             syntax_->values.ends_are_distinct && std::ranges::none_of(parameter_.forms, is_python);
    parameter_.nesting.is_text = parameter_.nesting.is_text || may_be_text;
    return true;
  }
  const MarkerSet::Found found = syntax_->sets.follower.at(buffer_, at, is_end_, starts());
  parameter_.is_json = found.kind != MatchKind::kNone;
  return true;
}

// Ends the value if it ends at pos_ or before it.  kPartial means that more text is needed.
MatchKind Machine::end_structured() {
  bool wait = false;
  const std::optional<std::size_t> end = structured_end(wait);
  if (wait) return MatchKind::kPartial;
  if (!end) return MatchKind::kNone;
  end_value(*end, *end);
  return MatchKind::kFull;
}

// Takes the byte at pos_, or the string that begins there.  kFull means that the value has ended, kPartial that more text
// is needed.
MatchKind Machine::structured_byte() {
  Nesting& nesting = parameter_.nesting;
  if (nesting.take_quoted(buffer_[pos_])) return MatchKind::kNone;
  // A text as it is may be empty, and what follows it, or a string, may begin with a quote.
  const bool is_quote = buffer_[pos_] == '"' || buffer_[pos_] == '\'';
  const bool is_behind_string = is_quote && nesting.depth == 0 && nesting.is_behind_string;
  if (nesting.is_text || is_behind_string || (!nesting.is_python && pos_ == head_)) {
    const MatchKind end = end_structured();
    if (end != MatchKind::kNone || nesting.is_text) return end;
  }
  if (const MatchKind unopened = unopened_value(); unopened != MatchKind::kNone) return unopened;
  bool wait = false;
  if (own_quoted(wait) || python_quoted(wait)) return wait ? MatchKind::kPartial : MatchKind::kNone;
  if (nesting.depth == 0) {
    if (const MatchKind end = end_structured(); end != MatchKind::kNone) return end;
  }
  nesting.take(buffer_[pos_]);
  return MatchKind::kNone;
}

// Returns true if neither a closer nor a line end ends the value.  Only its own brackets and quotes then show where it
// ends.  Where line ends inside the value are written in another way, the next one ends it.
bool Machine::is_structured() const {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  return parameter_.closer_set.empty() && parameters.close.find('\n') == std::string::npos &&
         (!parameters.open.starts_with('\n') || own_line_end().empty());
}

// Returns how a line end inside the value is written; "" if it is one.
std::string_view Machine::own_line_end() const {
  const auto found = std::ranges::find(parameter_.escapes, "\n", &format::Escape::text);
  return found == parameter_.escapes.end() ? std::string_view() : std::string_view(found->written);
}

// Reads a value without markers around it.  It ends at a separator, or where the call ends, outside its own brackets
// and quotes.
bool Machine::value_structured() {
  Nesting& nesting = parameter_.nesting;
  if (!parameter_.is_begun && !begin_structured()) return false;
  if (parameter_.is_json) {
    if (!json_in_value()) return false;
    nesting.has_closed = pos_ > head_;
    nesting.may_quote = !nesting.has_closed;
  }
  for (; pos_ < buffer_.size(); ++pos_) {
    if (const MatchKind end = structured_byte(); end != MatchKind::kNone) return end == MatchKind::kFull;
  }
  return false;
}

}  // namespace rondo::parse
