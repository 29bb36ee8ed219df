#include "analysis/escapes.h"

#include "format/escapes.h"
#include "json/parse.h"
#include "json/print.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using format::Escape;

constexpr std::size_t kLongestEscape = 12;
// The key of the probe's only argument.
constexpr const char* kKey = "k0";

std::string word(std::size_t i) { return "w" + std::to_string(i); }

// Returns what is written in place of each of `characters`; none if a word is missing.
std::vector<std::string> written_between(std::string_view characters, std::string_view text) {
  std::vector<std::string> out;
  std::size_t at = text.find(word(0));
  if (at == std::string_view::npos) return {};
  at += word(0).size();
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const std::size_t next = text.find(word(i + 1), at);
    if (next == std::string_view::npos) return {};
    out.emplace_back(text.substr(at, next - at));
    at = next + word(i + 1).size();
  }
  return out;
}

// Returns the string that JSON spells as `text` between quotes; `text` itself if it is not valid there.
std::string from_json_string(const std::string& text) {
  const auto parsed = json::parse("\"" + text + "\"");
  return parsed.ok() && parsed.value().is_string() ? parsed.value().as_string() : text;
}

bool is_escape(std::string_view written) {
  return written.size() > 1 && written.size() <= kLongestEscape && !format::is_blank(written);
}

// Returns a turn with one call of a tool `name`, with `value` as its only argument; nullopt if there is none.
std::optional<Turn> turn_with(const Evidence& evidence, const std::string& name, const std::string& value) {
  ProbeMessage message = message_of({.calls = 1});
  message.calls.front() = {name, json::Object{{kKey, value}}};
  const Variant* alone =
      evidence.find({.calls = 1}, Parts{false, true, 1}, Parts{true, false, 1}, Parts{true, true, 1});
  if (alone == nullptr) return std::nullopt;
  for (const auto& [parts, variant] : evidence.variants) {
    if (&variant != alone) continue;
    message.reasoning = parts.reasoning;
    message.content = parts.content;
  }
  return evidence.ask(message, alone->setting);
}

// Returns the text of the first call's name, up to the token that contains `last_word`.
std::string name_text(const Turn& turn, std::string_view last_word) {
  std::string out;
  for (std::size_t i = turn.first(SlotKind::kName); i < turn.tokens.size() && !contains(out, last_word); ++i)
    out += turn.tokens[i].text;
  return out;
}

std::vector<Escape> escapes_in_name(const Turn& turn, std::string_view characters, bool is_json) {
  std::vector<Escape> out;
  const std::vector<std::string> all = written_between(characters, name_text(turn, word(characters.size())));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string written = is_json ? from_json_string(all[i]) : all[i];
    if (is_escape(written) && written != std::string(1, characters[i]))
      out.push_back({std::string(1, characters[i]), written});
  }
  return out;
}

// Returns whether `text` is the JSON of the probe's arguments, or a JSON string that contains it.
bool is_json_of(const std::string& text, const std::string& value) {
  auto parsed = json::parse(text);
  if (parsed.ok() && parsed.value().is_string()) parsed = json::parse(parsed.value().as_string());
  return parsed.ok() && parsed.value() == json::Value(json::Object{{kKey, value}});
}

// Returns the escapes behind those of JSON itself.  `quote` is written where JSON has a quote, and `text` begins with
// with_words(characters).
std::vector<Escape> escapes_behind_json(const std::string& quote, std::string_view text, std::string_view characters) {
  std::vector<Escape> out;
  // JSON does not escape the quotes around a text, so an escape there is the template's own.
  if (is_escape(quote)) out.push_back({"\"", quote});
  const std::vector<std::string> all = written_between(characters, text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string sign(1, characters[i]);
    if (sign == "\"" || !is_escape(all[i])) continue;
    if (sign == "\\") {  // JSON has two of them
      const std::string half = all[i].substr(0, all[i].size() / 2);
      if (is_escape(half) && half + half == all[i]) out.push_back({sign, half});
    } else if (from_json_string(all[i]) != sign) {
      out.push_back({sign, all[i]});
    }
  }
  return out;
}

// Returns the escapes in `text`, the JSON of the probe's arguments as the template writes it.  Returns none unless
// undoing all of them gives the arguments back.
std::vector<Escape> escapes_in_json(const std::string& text, std::string_view characters, const std::string& value) {
  if (is_json_of(text, value)) return {};
  const std::size_t key = text.find(kKey);
  const std::size_t brace = text.find('{');
  if (key == std::string::npos || brace >= key) return {};
  const std::string quote(format::trimmed(std::string_view(text).substr(brace + 1, key - brace - 1)));
  std::vector<Escape> out = escapes_behind_json(quote, std::string_view(text).substr(key), characters);
  return is_json_of(format::unescaped(text, out), value) ? out : std::vector<Escape>{};
}

// How the template writes a text.
struct WrittenText {
  bool is_quoted = false;  // as a JSON string, with its quotes
  std::vector<Escape> escapes;
};

// Returns how the template has written `value`, which ends with with_words(characters), as `written`.
WrittenText how_written(std::string_view characters, const std::string& value, const std::string& written) {
  if (written == value || written.empty()) return {};
  const auto parsed = json::parse(written);
  if (parsed.ok() && parsed.value().is_string() && parsed.value().as_string() == value)
    return {true, format::json_escapes()};
  const auto inside = json::parse("\"" + written + "\"");
  if (inside.ok() && inside.value().is_string() && inside.value().as_string() == value)
    return {false, format::json_escapes()};
  const std::size_t begin = written.find(word(0));
  if (begin == std::string::npos) return {};
  std::vector<Escape> escapes = escapes_between(characters, std::string_view(written).substr(begin));
  return format::unescaped(written, escapes) == value ? WrittenText{false, std::move(escapes)} : WrittenText{};
}

void add_quotes(std::string& open, std::string& close) {
  open += '"';
  close.insert(0, 1, '"');
}

}  // namespace

std::string with_words(std::string_view characters) {
  std::string out = word(0);
  for (std::size_t i = 0; i < characters.size(); ++i) out += characters[i] + word(i + 1);
  return out;
}

std::vector<Escape> escapes_between(std::string_view characters, std::string_view written) {
  std::vector<Escape> out;
  if (!written.starts_with(word(0))) return out;
  const std::vector<std::string> all = written_between(characters, written);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_escape(all[i])) out.push_back({std::string(1, characters[i]), all[i]});
  }
  return out;
}

std::vector<Escape> escapes_in_json_string(std::string_view characters, std::string_view written) {
  const auto is_json = [&](std::string_view text) {
    const auto parsed = json::parse(text);
    return parsed.ok() && parsed.value().is_string() && parsed.value().as_string() == with_words(characters);
  };
  const std::size_t begin = written.find(word(0));
  if (begin == std::string_view::npos || is_json(written)) return {};
  std::vector<Escape> out = escapes_behind_json(std::string(written.substr(0, begin)), written, characters);
  return is_json(format::unescaped(written, out)) ? out : std::vector<Escape>{};
}

std::string text_of(const Turn& turn, SlotKind kind) {
  std::string out;
  if (!turn.has(kind)) return out;
  for (std::size_t i = turn.first(kind); i <= turn.last(kind); ++i) out += turn.tokens[i].text;
  return out;
}

Blocks with_text_escapes(const Evidence& evidence, Blocks blocks) {
  static constexpr std::string_view kSigns = "&<>\"'\\\n";
  for (const Parts& parts : {Parts{true, true, 0}, Parts{.content = true}}) {
    const Variant* variant = evidence.find(parts);
    if (variant == nullptr) continue;
    ProbeMessage message = message_of(parts);
    message.ending = with_words(kSigns);
    const std::optional<Turn> turn = evidence.ask(message, variant->setting);
    if (!turn) continue;
    if (parts.reasoning && blocks.reasoning.present) {
      const WrittenText how = how_written(kSigns, std::string(probe::kReasoningText) + message.ending,
                                          text_of(*turn, SlotKind::kReasoning));
      if (how.is_quoted) add_quotes(blocks.reasoning.open, blocks.reasoning.close);
      blocks.reasoning.escapes = how.escapes;
    }
    WrittenText how =
        how_written(kSigns, std::string(probe::kContentText) + message.ending, text_of(*turn, SlotKind::kContent));
    format::Content& content = blocks.content;
    if (how.is_quoted) add_quotes(content.open, content.close);
    if (how.is_quoted && !content.preamble_open.empty()) add_quotes(content.preamble_open, content.preamble_close);
    content.escapes = std::move(how.escapes);
    return blocks;
  }
  return blocks;
}

// A template that escapes anything in a name escapes `&` too, so that is tried first.
format::Calls with_escapes(const Evidence& evidence, format::Calls calls) {
  const std::string value = with_words(kVisibleSigns);
  const std::string_view first_sign = kSignsInNames.substr(0, 1);
  const bool is_json = calls.envelope != format::Envelope::kTags;
  auto turn = turn_with(evidence, with_words(first_sign), value);
  if (!turn) return calls;
  if (calls.arguments != format::ArgumentStyle::kParameters)
    calls.argument_escapes = escapes_in_json(text_of(*turn, SlotKind::kArguments), kVisibleSigns, value);
  if (escapes_in_name(*turn, first_sign, is_json).empty()) return calls;
  turn = turn_with(evidence, with_words(kSignsInNames), value);
  if (turn) calls.name_escapes = escapes_in_name(*turn, kSignsInNames, is_json);
  return calls;
}

}  // namespace rondo::analysis
