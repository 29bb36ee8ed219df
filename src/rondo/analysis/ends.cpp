// Infers the end of a turn.
#include <set>

#include "analysis/parts.h"
#include "chat/reasoning_fields.h"
#include "probe/places.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// Some templates write the end of a turn twice.  Removes the second one of "\n<end>\n<end>".
std::string without_repeats(std::string text) {
  const std::string_view core = trimmed(text);
  const std::size_t size = core.size();
  for (std::size_t half = (size + 1) / 2; half-- > 1;) {
    const std::string_view unit = core.substr(0, half);
    const std::string_view rest = trimmed(core.substr(half));
    if (rest == unit && unit == trimmed(unit)) {
      text.resize(static_cast<std::size_t>(core.data() - text.data()) + half);
      return text;
    }
    if (rest.size() > unit.size()) break;
  }
  return text;
}

// Returns whether the text that closes the content stands inside of a turn too: calls follow it, or it also closes calls
// that content follows.
bool closes_inside_turn(const Evidence& evidence, const Blocks& blocks) {
  const Variant* both = evidence.find({.content = true, .calls = 1});
  if (both == nullptr || is_blank(blocks.header)) return false;
  if (closes_calls_before_content(both->turn, trimmed(blocks.content.close), blocks.header)) return true;
  const std::size_t content = both->turn.last(SlotKind::kContent);
  const std::size_t slot = both->turn.first_of_call(0);
  return content < slot && !contains(both->turn.literals(content, slot), trimmed(blocks.header));
}

// Returns the text after the content of `followed`, a plain turn that a question follows.
std::string behind_content(const Turn& followed) {
  return followed.literals(followed.last(SlotKind::kContent), followed.tokens.size());
}

bool is_opening_bracket(char byte) { return std::string_view("<[{(").find(byte) != std::string_view::npos; }

// Returns the first unit of a turn's beginning.
std::string first_unit(const Evidence& evidence, std::string_view begin) {
  const std::vector<std::size_t> cuts = evidence.boundaries(begin);
  return std::string(begin.substr(0, first_unit_end(cuts)));
}

// Returns `text` as a stop.  The line end behind mere punctuation tells it from ordinary text.
std::string as_stop(const std::string& text) {
  std::string out = trimmed_end(text);
  const bool has_word = std::ranges::any_of(out, [](char byte) { return format::is_word(byte) || (byte & 0x80) != 0; });
  if (format::is_plain(out) && !has_word && !out.empty() && text.substr(out.size()).starts_with('\n')) out += '\n';
  return out;
}

// Returns the first line of `header` that has a word, with the line ends around it; "" if there is none.
std::string first_line(std::string_view header) {
  const auto word = std::ranges::find_if(header, format::is_word);
  if (word == header.end()) return "";
  const std::size_t end = header.find('\n', static_cast<std::size_t>(word - header.begin()));
  std::string_view line = header.substr(0, end == std::string_view::npos ? end : end + 1);
  const std::size_t begin = trimmed_end(std::string(line)).rfind('\n');
  return as_stop(std::string(begin == std::string::npos ? line : line.substr(begin)));
}

// Returns `unit`, the marker that the next turn begins with, or only its tag where the turn's own header has the same tag
// before another word: then every turn begins with it.
std::string shared_tag(std::string unit, std::string_view header) {
  const std::size_t end = unit.find_first_of(">])}");
  if (end != std::string::npos && trimmed(header).starts_with(std::string_view(unit).substr(0, end + 1)))
    unit.resize(end + 1);
  return unit;
}

// The stops of a turn that only the beginning of the next turn ends: the first unit of that beginning if it is a marker,
// and its first line if that has words.  White space that ends turns is a stop too.
std::vector<std::string> next_begins(const Evidence& evidence, const Blocks& blocks, const Turn& followed) {
  const std::string own = behind_content(followed);
  const std::string own_end = is_blank(own) ? "" : without_prefix(own, blocks.content.close);
  const std::string unit = first_unit(evidence, trimmed(own_end + followed.following));
  if (unit.size() > 1 && is_opening_bracket(unit.front())) return {shared_tag(unit, blocks.header)};
  const std::size_t question = followed.behind.find(probe::kSecondQuestionText);
  const std::string line = question == std::string::npos
                               ? ""
                               : first_line((is_blank(own) ? own : own_end) + followed.behind.substr(0, question));
  std::vector<std::string> out{blocks.plain_tail, line.empty() && blocks.plain_tail.empty() ? unit : line};
  std::erase(out, "");
  return out;
}

// A message with one call, and under each of `fields` a list with one result.
json::Object message_with_results(const Evidence& evidence, const std::set<std::string>& fields) {
  json::Object result{{"name", probe::kFirstTool}, {"content", probe::kResultText}};
  for (const std::string& field : fields) result.set(field, probe::kResultText);
  probe::Saying saying{"", "", message_of({.calls = 1}).calls};
  for (std::size_t i = 0; i < saying.calls.size(); ++i) saying.calls[i].id = probe::call_id(i);
  json::Value message = probe::assistant_message(evidence.shape, saying);
  for (const std::string& field : fields) message.as_object().set(field, json::Array{result});
  return std::move(message.as_object());
}

// Some templates take the results of calls in a field of the same message, and write them directly behind the calls.
// Returns the template's text between the call and such a result; "" if there is none.
std::string text_before_result(const Evidence& evidence) {
  const jinja::Template& source = evidence.prober.chat_template();
  std::vector<std::string> words = source.names();
  words.insert(words.end(), source.literal_texts().begin(), source.literal_texts().end());
  std::set<std::string> fields;
  for (std::string& name : names_in(words, words.size())) {
    if (!chat::is_reasoning_field(name) && name != evidence.shape.reasoning_field) fields.insert(std::move(name));
  }
  const auto rendered = evidence.prober.rendered(
      {probe::plain_message("user", probe::kQuestionText), message_with_results(evidence, fields)}, {});
  if (!rendered) return "";
  std::string text;
  bool has_call = false;
  std::size_t at = 0;
  for (const text::Run& run : rendered->text.runs()) {
    const std::string_view field =
        run.is_input() ? probe::message_field(rendered->origins.paths, run.path()) : std::string_view();
    if (has_call && fields.contains(std::string(field))) return text;
    if (field == "tool_calls") {
      has_call = true;
      text.clear();
    } else {
      text += rendered->text.bytes().substr(at, run.size);
    }
    at += run.size;
  }
  return "";
}

// Returns the first unit of a result that follows the calls in the same turn; "" if it is no marker.
std::string result_begin(const Evidence& evidence, const format::Calls& calls) {
  const std::string text = text_before_result(evidence);
  const std::string close(trimmed(calls.call_close + calls.section_close));
  const std::size_t at = close.empty() ? std::string::npos : text.find(close);
  if (at == std::string::npos) return "";
  std::string unit = first_unit(evidence, trimmed(std::string_view(text).substr(at + close.size())));
  if (unit.size() < 3 || !is_opening_bracket(unit.front())) return "";
  // Words behind the marker are of the result: `<result>of:`.
  constexpr std::string_view kOpening = "<[{(";
  constexpr std::string_view kClosing = ">]})";
  const std::size_t end = unit.find(kClosing[kOpening.find(unit.front())]);
  if (end != std::string::npos) unit.resize(end + 1);
  return unit;
}

}  // namespace

bool closes_calls_before_content(const Turn& turn, std::string_view close, std::string_view header) {
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t last = turn.last_of_call(0);
  if (content == kNone || content < last || is_blank(close) || is_blank(header)) return false;
  const std::string between = turn.literals(last, content);
  return contains(between, close) && !contains(between, trimmed(header));
}

// A plain turn ends with its own visible tail.  If it has none, the close of content ends it, and otherwise only the
// beginning of the next turn.
Ending infer_ending(const Evidence& evidence, const Blocks& blocks) {
  Ending out;
  out.followed = evidence.ask(message_of({.content = true}), {.tools = false, .with_user = true});
  const auto& followed = out.followed;
  if (!is_blank(blocks.plain_tail)) {
    out.stops.push_back(as_stop(without_repeats(blocks.plain_tail)));
    if (!followed) return out;
    const std::string close = as_stop(without_repeats(without_prefix(behind_content(*followed), blocks.content.close)));
    if (!is_blank(close) && close != out.stops.front()) out.history_close.push_back(close);
    return out;
  }
  if (!is_blank(blocks.content.close) && !(followed && closes_inside_turn(evidence, blocks))) {
    out.stops.emplace_back(trimmed(blocks.content.close));
    return out;
  }
  out.is_next_turn = followed.has_value();
  if (followed) {
    out.stops = next_begins(evidence, blocks, *followed);
  } else if (!blocks.plain_tail.empty()) {
    out.stops.push_back(blocks.plain_tail);
  }
  return out;
}

format::Stops infer_stops(const Evidence& evidence, const Ending& ending, const CallPart& part) {
  format::Stops out{ending.stops, part.stops, ending.history_close};
  if (!part.calls.present) return out;
  // Variables that only this template knows may give a turn of calls another end.
  for (const bool with_result : {false, true}) {
    const auto turn = evidence.ask(message_of({.calls = 1}), {.with_result = with_result, .stand_ins = true});
    if (!turn || !turn->has(SlotKind::kName) || !turn->has(SlotKind::kArguments)) continue;
    if (with_result && out.tool.empty()) {
      // The turn has no end of its own, so the model stops where the result begins.
      const std::string unit = first_unit(evidence, trimmed(turn->following));
      if (unit.size() > 2 && is_opening_bracket(unit.front())) out.tool.push_back(unit);
      continue;
    }
    const std::string behind = turn->behind_calls(turn->last_of_call(0));
    const std::string_view core = trimmed(behind);
    const std::vector<std::size_t> cuts = evidence.boundaries(core);
    if (core.empty()) continue;
    const std::string unit(core.substr(last_unit_begin(cuts)));
    const auto has_unit = [&unit](const std::string& text) { return contains(text, unit); };
    // Punctuation that stands before a stop closes the last call.
    const auto ends_so = [&unit](const std::string& stop) { return !is_blank(stop) && unit.ends_with(trimmed(stop)); };
    if (std::ranges::any_of(out.content, ends_so)) continue;
    const bool is_known = has_unit(part.calls.call_close) || has_unit(part.calls.section_close) || unit.size() < 3 ||
                          std::ranges::any_of(out.content, has_unit) || std::ranges::any_of(out.tool, has_unit);
    if (!is_known) out.tool.push_back(unit);
  }
  const std::string result = result_begin(evidence, part.calls);
  const auto has_result = [&result](const std::string& stop) { return contains(stop, result); };
  if (!result.empty() && std::ranges::none_of(out.tool, has_result)) out.tool.push_back(result);
  return out;
}

}  // namespace rondo::analysis
