// Names of parameters: as the format writes them, in quotes, or with any characters if the tool lists them.
#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {

using format::is_space;

bool is_key_byte(char byte, bool is_marked) {
  // Behind an opener of its own, a name ends with what the format writes.
  if (is_marked && std::string_view(" []{}(),").find(byte) != std::string_view::npos) return true;
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("<>{}[](),\"'`").find(byte) == std::string_view::npos;
}

// A key follows `opener`, which tells the forms of its value where types have openers of their own.
void Machine::begin_key(const Marker* opener) {
  phase_ = Phase::kKey;
  parameter_.key_open.clear();
  for (std::size_t i = 0; i < syntax_->values.key_openers.size(); ++i) {
    if (opener == &syntax_->values.key_openers[i])
      parameter_.key_open = syntax_->format->calls.parameters.forms[i].key_open;
  }
}

// Looks at `begin` for a name that the called tool has, in whatever characters, and for the text that closes it.  Where
// tags hold names, the name may be in quotes.
Machine::ListedKey Machine::listed_key(std::size_t begin) const {
  ListedKey best;
  const chat::ToolDefinition* tool = syntax_->tool(call_.name);
  const json::Value* properties = tool == nullptr ? nullptr : tool->parameters.find("properties");
  if (properties == nullptr || !properties->is_object()) return best;
  const bool is_marked = !syntax_->parameter_open.empty();
  const auto is_plain = [is_marked](char byte) { return is_key_byte(byte, is_marked); };
  const auto consider = [&](const std::string& name, std::size_t quote) {
    ListedKey found = key_written(begin, name);
    if (found.kind == MatchKind::kNone || found.end < best.end) return;
    found.quote = quote;
    best = found;
  };
  const std::string quote = is_marked ? buffer_.substr(begin, 1) : "";
  const std::string_view close = format::trimmed(syntax_->format->calls.parameters.key_close);
  for (const json::Member& property : properties->as_object()) {
    const std::string& name = property.key;
    if (name.empty()) continue;
    // Other names are read without the list.
    const bool has_close = !close.empty() && name.find(close) != std::string::npos;
    if (has_close || !std::ranges::all_of(name, is_plain)) consider(name, 0);
    if (quote == "\"" || quote == "'") consider(std::string(quote).append(name).append(quote), 1);
  }
  return best;
}

// Matches `name` at `begin`, and the text that closes a key.
Machine::ListedKey Machine::key_written(std::size_t begin, std::string_view name) const {
  const std::string_view rest = std::string_view(buffer_).substr(begin);
  if (!rest.starts_with(name))
    return {!is_end_ && name.starts_with(rest) ? MatchKind::kPartial : MatchKind::kNone, begin, 0};
  const std::size_t end = begin + name.size();
  const std::size_t next = skip_space(end);
  if (next == buffer_.size()) return {is_end_ ? MatchKind::kNone : MatchKind::kPartial, end, 0};
  if (syntax_->sets.key.empty()) return {next > end ? MatchKind::kFull : MatchKind::kNone, end, 1};
  const MarkerSet::Found close = syntax_->sets.key.at(buffer_, next, is_end_, starts());
  return {close.kind, end, next - end + close.size};
}

// Takes a name that listed_key() finds.
MatchKind Machine::take_listed_key(std::size_t begin) {
  const ListedKey found = listed_key(begin);
  if (found.kind != MatchKind::kFull) return found.kind;
  const bool has_own_close = !syntax_->sets.key.empty();
  pos_ = begin + found.quote;
  if (found.quote > 0) emit(EventKind::kMarker, pos_);
  take_key(pos_, found.end - found.quote, found.quote + found.close);
  if (found.quote > 0) note_damaged_tag();
  if (!has_own_close) trail_.text = syntax_->format->calls.parameters.key_close.substr(1);
  return found.kind;
}

// Reads the name of a parameter, up to the text that closes it.
bool Machine::key() {
  const std::size_t begin = skip_space(pos_);
  if (const MatchKind wrapper = wrapping_parameter(begin); wrapper != MatchKind::kNone)
    return wrapper == MatchKind::kFull;
  if (const MatchKind listed = take_listed_key(begin); listed != MatchKind::kNone) return listed == MatchKind::kFull;
  if (const MatchKind nameless = nameless_parameter(begin); nameless != MatchKind::kNone)
    return nameless == MatchKind::kFull;
  if (const MatchKind quoted = quoted_key(begin); quoted != MatchKind::kNone) return quoted == MatchKind::kFull;
  for (std::size_t end = begin; end < buffer_.size(); ++end) {
    if (const MatchKind close = key_close(begin, end); close != MatchKind::kNone) return close == MatchKind::kFull;
    if (end > begin && is_space(buffer_[end]) && syntax_->sets.key.empty()) {  // only white space closes it
      take_key(begin, end, 1);
      trail_.text = syntax_->format->calls.parameters.key_close.substr(1);
      return true;
    }
    if (end > begin && is_space(buffer_[end])) {
      const std::size_t next = skip_space(end);  // only the key's close may follow
      if (next == buffer_.size()) return false;
      if (take_unclosed_key(begin, end, next)) return true;
      end = next - 1;
      if (syntax_->sets.key.at(buffer_, next, is_end_, starts()).kind != MatchKind::kNone) continue;
    }
    if (!is_key_byte(buffer_[end], !syntax_->parameter_open.empty()) || end - begin > kLongestKey) {
      return skip_parameter("the name of a parameter cannot be read");
    }
  }
  return false;
}

// Looks for the quote of JSON or Python, or of the format's own strings, that opens a name at `begin`.
Machine::Quotes Machine::quotes_at(std::size_t begin) const {
  const std::string_view rest = std::string_view(buffer_).substr(begin);
  const std::string_view first = rest.substr(0, 1);
  if (first == "\"" || first == "'") return {MatchKind::kFull, first, first};
  const NestedSyntax& own = syntax_->values.nested;
  if (own.string_open.size() <= 1) return {};
  if (rest.starts_with(own.string_open)) return {MatchKind::kFull, own.string_open, own.string_close};
  const bool may_come = !is_end_ && own.string_open.starts_with(rest);
  return {may_come ? MatchKind::kPartial : MatchKind::kNone, {}, {}};
}

// Takes a name in the quotes of JSON or Python, or of the format's own strings, where the format writes names bare: models
// write the arguments as an object then.
MatchKind Machine::quoted_key(std::size_t begin) {
  if (begin == buffer_.size() || !syntax_->parameter_open.empty() || syntax_->sets.key.empty()) return MatchKind::kNone;
  const Quotes quotes = quotes_at(begin);
  if (quotes.kind != MatchKind::kFull) return quotes.kind;
  const std::size_t name = begin + quotes.open.size();
  const std::size_t end = buffer_.find(quotes.close, name);
  if (end == std::string::npos)
    return is_end_ || buffer_.size() - begin > kLongestKey ? MatchKind::kNone : MatchKind::kPartial;
  const std::size_t next = skip_space(end + quotes.close.size());
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MarkerSet::Found close = syntax_->sets.key.at(buffer_, next, is_end_, starts());
  if (close.kind == MatchKind::kNone && quotes.open.size() == 1 && begins_object(next)) return MatchKind::kFull;
  if (close.kind != MatchKind::kFull || end == name || end - begin > kLongestKey) {
    return close.kind == MatchKind::kPartial ? close.kind : MatchKind::kNone;
  }
  pos_ = name;
  emit(EventKind::kMarker, pos_);
  take_key(name, end, next + close.size - end);
  return MatchKind::kFull;
}

// Reads the arguments as JSON if the format writes a brace before them, and `colon` follows the first name in quotes
// instead of the format's own text.
bool Machine::begins_object(std::size_t colon) {
  const bool has_brace = call_.piece > 0 && syntax_->piece_markers[call_.piece - 1].core().ends_with('{');
  if (call_.parameters > 0 || !has_brace || buffer_[colon] != ':') return false;
  pos_ = head_;
  emit(EventKind::kArguments, head_, "{");
  scanner_ = JsonScanner();
  (void)scanner_.step('{');
  call_.has_arguments = true;
  phase_ = Phase::kJsonArguments;
  return true;
}

// Matches the text that closes a key, as the format writes it or damaged, at `end`.  Takes the key [begin, end) if it
// is there.
MatchKind Machine::key_close(std::size_t begin, std::size_t end) {
  const MarkerSet::Found found = syntax_->sets.key.at(buffer_, end, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return found.kind;
  if (end == begin) return MatchKind::kNone;
  if (found.kind == MatchKind::kFull) {
    take_key(begin, end, found.size);
    return found.kind;
  }
  if (!syntax_->rare.unmarked_key_close.empty()) {
    const Match bare = syntax_->rare.unmarked_key_close.match(std::string_view(buffer_).substr(end), is_end_, starts());
    if (bare.kind == MatchKind::kFull) {
      take_key(begin, end, bare.size);
      parameter_.is_unmarked = true;
    }
    if (bare.kind != MatchKind::kNone) return bare.kind;
  }
  const Match untyped = untyped_key_close(end);
  const Match damaged = untyped.kind == MatchKind::kNone ? damaged_key_close(end) : untyped;
  if (damaged.kind == MatchKind::kFull) {
    take_key(begin, end, damaged.size);
    note_damaged_tag();
    if (untyped.kind == MatchKind::kFull) (void)take_value_open(pos_, nullptr);
  }
  return damaged.kind;
}

// Takes the key [begin, end).  The text that closes it has `close_size` bytes.
void Machine::take_key(std::size_t begin, std::size_t end, std::size_t close_size) {
  parameter_.is_unmarked = false;
  parameter_.key = format::unescaped(format::trimmed(std::string_view(buffer_).substr(begin, end - begin)),
                                     syntax_->format->calls.parameters.key_escapes);
  if (call_.open_list.empty() || call_.open_list != parameter_.key) {
    const char* before = call_.parameters == 0 ? "{\"" : call_.open_list.empty() ? ",\"" : "],\"";
    std::string shown(before);
    json::append_escaped(shown, parameter_.key, false);
    emit(EventKind::kArguments, end, shown + "\":");
    call_.open_list.clear();
  }
  pos_ = end + close_size;
  emit(EventKind::kMarker, pos_);
  syntax_->sets.key.for_each([this](int, const Marker& marker) { trail_.text = marker.trail(); });
  trail_.of_reasoning = false;
  ++call_.parameters;
  phase_ = Phase::kValueOpen;
}

// Matches the name of a parameter at `begin`, with the text that closes it, in a format where nothing opens parameters.
MatchKind Machine::key_at(std::size_t begin) const {
  if (const ListedKey listed = listed_key(begin); listed.kind != MatchKind::kNone) return listed.kind;
  for (std::size_t end = begin; end < buffer_.size(); ++end) {
    const MarkerSet::Found found = syntax_->sets.key.at(buffer_, end, is_end_, starts());
    if (found.kind == MatchKind::kPartial || (found.kind == MatchKind::kFull && end > begin)) return found.kind;
    if (is_space(buffer_[end])) {
      const std::size_t next = skip_space(end);
      if (next == buffer_.size()) break;
      return syntax_->sets.key.at(buffer_, next, is_end_, starts()).kind;
    }
    if (!is_key_byte(buffer_[end], false) || end - begin > kLongestKey) return MatchKind::kNone;
  }
  return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
}

}  // namespace rondo::parse
