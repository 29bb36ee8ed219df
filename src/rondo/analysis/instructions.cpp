// Infers calls and reasoning that history never shows.  The template's own text tells the model about them, with an
// example or in a sentence.
#include "analysis/parts.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

using probe::kContentText;
using probe::kReasoningText;

constexpr std::size_t kLongestExample = 600;
constexpr std::size_t kLongestSentence = 160;
constexpr std::size_t kMostFields = 24;  // each costs a render
constexpr std::size_t kMostTypes = 8;

// An object in the instructions with a key for the name and one for the arguments.
struct Example {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name_key;
  std::string arguments_key;
};

// Returns the quoted word at `at` if a colon follows it; "" otherwise.
std::string key_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos) return "";
  const std::size_t behind = text.find_first_not_of(" \t", end + 1);
  if (behind == std::string_view::npos || text[behind] != ':') return "";
  return std::string(text.substr(at + 1, end - at - 1));
}

// Reads the example that begins at `begin`; nullopt if there is none.  Its values need not be JSON, as in `{"name":
// <name>, "arguments": {...}}`.
std::optional<Example> example_at(std::string_view text, std::size_t begin) {
  Example out;
  out.begin = begin;
  int depth = 0;
  for (std::size_t i = begin; i < std::min(text.size(), begin + kLongestExample); ++i) {
    if (text[i] == kNoText) return std::nullopt;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == '}' || text[i] == ']') && --depth == 0) {
      out.end = i + 1;
      break;
    }
    if (depth != 1 || (text[i] != '"' && text[i] != '\'')) continue;
    const std::string key = key_at(text, i);
    if (key.empty()) continue;
    if (key.ends_with("name")) out.name_key = key;
    if (key.starts_with("arg") || key.starts_with("param")) out.arguments_key = key;
    i += key.size() + 1;
  }
  if (out.end == 0 || out.name_key.empty() || out.arguments_key.empty()) return std::nullopt;
  return out;
}

// Returns the tag or fence that ends `text`; "" if there is none.
std::string marker_before(std::string_view text) {
  const std::string_view core = trimmed(text);
  const std::string_view line = core.substr(core.rfind('\n') + 1);  // from the beginning if there is no line end
  if (line.starts_with("```")) return std::string(line);
  if (line.empty() || (line.back() != '>' && line.back() != ']')) return "";
  const std::size_t open = line.rfind(line.back() == '>' ? '<' : '[');
  return open == std::string_view::npos ? "" : std::string(line.substr(open));
}

// Fills `calls` from the example.  Returns false unless a tag or a fence surrounds it.
bool read_example(const std::string& text, const Example& example, format::Calls& calls) {
  std::string before = text.substr(0, example.begin);
  std::string after = text.substr(example.end);
  const bool is_list = trimmed(before).ends_with('[');
  if (is_list) {
    before.resize(before.rfind('['));
    const std::size_t close = after.find(']');
    if (close > kLongestExample) return false;  // none, or too far away
    after.erase(0, close + 1);
  }
  const std::string open = marker_before(before);
  const std::string_view next = trimmed(after);
  const std::string closing = open.starts_with("```") ? "```" : closing_of(open);
  if (open.empty() || closing.empty() || !next.starts_with(closing)) return false;
  const std::string lead = before.substr(before.rfind(open));
  const std::string trail = after.substr(0, after.find(closing) + closing.size());
  calls.present = true;
  calls.envelope = is_list ? format::Envelope::kJsonArray : format::Envelope::kJsonObject;
  (is_list ? calls.section_open : calls.call_open) = lead;
  (is_list ? calls.section_close : calls.call_close) = trail;
  calls.roles.name = {example.name_key};
  calls.roles.arguments = {example.arguments_key};
  return true;
}

// Fills `calls` from a sentence such as "... <MARK> followed by a JSON list ...".  Returns false if there is none.
bool read_sentence(const std::string& text, format::Calls& calls) {
  for (const std::string_view words : {"JSON list", "JSON array", "list of JSON", "JSON object"}) {
    const std::size_t at = text.find(words);
    if (at == std::string::npos) continue;
    const std::size_t from = at > kLongestSentence ? at - kLongestSentence : 0;
    const std::string_view sentence = std::string_view(text).substr(from, at - from);
    const std::size_t end = sentence.find_last_of(">]");
    const std::size_t begin = end == std::string_view::npos ? end : sentence.find_last_of("<[", end);
    if (begin == std::string_view::npos || sentence.find_first_of(".\n", end) != std::string_view::npos) continue;
    if (end - begin < 3 || sentence.substr(begin, end - begin).find(' ') != std::string_view::npos) continue;
    calls.present = true;
    const bool is_list = words != "JSON object";
    calls.envelope = is_list ? format::Envelope::kJsonArray : format::Envelope::kJsonObject;
    (is_list ? calls.section_open : calls.call_open) = sentence.substr(begin, end + 1 - begin);
    calls.roles.name = {"name"};
    calls.roles.arguments = {"arguments"};
    return true;
  }
  return false;
}

// A text in angle or square brackets, without white space or quotes.
struct Told {
  std::size_t begin = 0;
  std::string text;
  [[nodiscard]] std::size_t end() const { return begin + text.size(); }
};

std::vector<Told> told_marks(std::string_view text) {
  std::vector<Told> out;
  for (std::size_t begin = text.find_first_of("<["); begin != std::string_view::npos;
       begin = text.find_first_of("<[", begin + 1)) {
    const std::size_t end = text.find_first_of("<[]> \n\t\"'`{}\x02", begin + 1);
    const char closing = text[begin] == '<' ? '>' : ']';
    if (end == std::string_view::npos || text[end] != closing || end - begin < 3) continue;
    out.push_back({begin, std::string(text.substr(begin, end + 1 - begin))});
  }
  return out;
}

// Returns whether the text speaks of thinking.
bool speaks_of_thoughts(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char byte) { return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte; });
  return contains(lower, "think") || contains(lower, "thought") || contains(lower, "reason");
}

// Returns the end of `text`, from its last sentence on.
std::string_view last_sentence(std::string_view text) {
  text = text.substr(text.size() - std::min(text.size(), kLongestSentence));
  for (std::size_t at = text.size(); at-- > 0;) {
    const bool is_end = text[at] == kNoText || (std::string_view(".!?").find(text[at]) != std::string_view::npos &&
                                                at + 1 < text.size() && format::is_space(text[at + 1]));
    if (is_end) return text.substr(at + 1);
  }
  return text;
}

// Returns whether `text` may be a placeholder for the model's own words: a few words in one line.
bool is_placeholder(std::string_view text) {
  const std::string_view core = trimmed(text);
  return core.size() <= kLongestSentence && core.find_first_of("\n\x02") == std::string_view::npos &&
         last_sentence(core).size() == core.size();
}

// Returns the pairs of marks between which the model is told to think and to answer.  If only a setting with thinking
// on writes them, nothing is between the marks.  Otherwise words about thoughts are between them or in the sentence
// before.
std::vector<Tags> told_pairs(const Evidence& evidence) {
  Prober& prober = evidence.prober;
  const auto with = prober.instructions({.thinking = "on", .tools = false});
  auto without = prober.instructions({.tools = false});
  for (const char* name : {"thinking", "enable_thinking"}) {
    if (with != without || prober.options().kwargs.find(name) == nullptr) continue;  // the caller has switched it on
    without = prober.instructions({.tools = false, .variable = json::Member{name, json::Value(false)}});
  }
  std::vector<Tags> out;
  if (!with || !without) return out;
  std::string turns;  // everything that turns write, with their marks
  for (const auto& [parts, variant] : evidence.variants) turns += variant.turn.literals() + variant.turn.following;
  for (const Prompt& prompt : evidence.prompts) turns += prompt.written.text;
  const std::vector<Told> marks = told_marks(*with);
  std::size_t end = 0;  // where the last pair ended
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    const Told& open = marks[i];
    const Told& close = marks[i + 1];
    if (opening_of(close.text) != open.text && !are_kin(open.text, close.text)) continue;
    const std::string_view between = std::string_view(*with).substr(open.end(), close.begin - open.end());
    const std::string_view before = std::string_view(*with).substr(end, open.begin - end);
    const bool is_switched = between.empty() && !contains(*without, open.text);
    const bool is_thought = is_placeholder(between) &&
                            (out.empty() ? speaks_of_thoughts(between) || speaks_of_thoughts(last_sentence(before))
                                         : before.size() <= kLongestSentence);
    if ((!is_switched && !is_thought) || contains(turns, open.text)) continue;
    out.push_back({open.text, close.text});
    end = close.end();
  }
  return out;
}

// Returns the tags around the reasoning in a message that only this template takes; nullopt if there are none.  With
// `in_pair`, they must be a pair of tags.
std::optional<Tags> tags_around(const Evidence& evidence, const std::string& header, json::Object message,
                                bool in_pair) {
  message.set("role", "assistant");
  const auto text = evidence.prober.text_with(std::move(message), {.thinking = "on", .stand_ins = in_pair});
  const std::size_t at = text ? text->find(kReasoningText) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::string before = text->substr(0, at);
  const std::string after = text->substr(at + kReasoningText.size());
  const std::string open = marker_before(before);
  const std::string closing = closing_of(open);
  const bool is_pair = !closing.empty() && trimmed(after).starts_with(closing);
  const std::size_t content = after.find(kContentText);
  if (!is_pair && (in_pair || content == std::string::npos)) return std::nullopt;
  const std::string close = is_pair ? closing : std::string(trimmed(after.substr(0, content)));
  const bool is_tag = open.starts_with('<') || open.starts_with('[');
  if (!is_tag || close.empty() || contains(open + close, "'") || contains(header, open)) return std::nullopt;
  return Tags{open, close};
}

json::Object block_of(const std::string& type, std::string_view text) { return {{"type", type}, {"text", text}}; }

// Returns a message whose content has the blocks under each of these names.
json::Object message_of_blocks(const std::vector<std::string>& names, const json::Array& blocks) {
  json::Object content;
  for (const std::string& name : names) content.set(name, blocks);
  return {{"role", "assistant"}, {"content", std::move(content)}};
}

// Finds reasoning in a place that the chat APIs do not have: in a field that the template names, or in a block of the
// content under a name and of a type that the template names.  Takes only the tags from there.
std::optional<Tags> tags_of_own_place(const Evidence& evidence, const std::string& header) {
  const jinja::Template& chat_template = evidence.prober.chat_template();
  const std::vector<std::string> constants = names_in(chat_template.literal_texts(), kMostFields);
  for (const std::string& name : constants) {
    auto tags = tags_around(evidence, header, {{"content", kContentText}, {name, kReasoningText}}, true);
    if (tags) return tags;
  }
  std::vector<std::string> names = constants;
  for (std::string& name : names_in(chat_template.names(), kMostFields)) names.push_back(std::move(name));
  std::vector<std::string> types;  // types of blocks whose text is written
  for (const std::string& type : constants) {
    const auto text =
        evidence.prober.text_with(message_of_blocks(names, {block_of(type, kReasoningText)}), {.thinking = "on"});
    if (!text || !contains(*text, kReasoningText)) continue;
    types.push_back(type);
    if (types.size() > kMostTypes) return std::nullopt;  // the template prints any content
  }
  if (types.empty()) return std::nullopt;
  types.emplace_back("text");  // the usual type of a block of text
  for (const std::string& type : types) {
    for (const std::string& other : types) {
      if (type == other) continue;
      const json::Array blocks{block_of(type, kReasoningText), block_of(other, kContentText)};
      auto tags = tags_around(evidence, header, message_of_blocks(names, blocks), false);
      if (tags) return tags;
    }
  }
  return std::nullopt;
}

}  // namespace

// The first pair is for the thoughts.  A second one is for the answer.
std::optional<Blocks> mine_reasoning(const Evidence& evidence, const Blocks& shown) {
  Blocks out = shown;
  const auto take = [&out](const Tags& tags, const char* meaning) {
    out.reasoning = {true, tags.open, tags.close, true};
    out.remarks.lose("reasoning in history", meaning);
  };
  if (const auto pairs = told_pairs(evidence); !pairs.empty()) {
    take(pairs[0], "no message shows reasoning; its tags are taken from what the template tells the model");
    if (pairs.size() > 1 && is_blank(shown.content.open)) out.content = {pairs[1].open, pairs[1].close};
  } else if (const auto tags = tags_of_own_place(evidence, shown.header)) {
    take(*tags, "the template shows reasoning only in a place that messages of the chat APIs do not have");
  } else {
    return std::nullopt;
  }
  return out;
}

CallPart mine_calls(const Evidence& evidence) {
  CallPart out;
  const auto text = evidence.prober.instructions({});
  if (!text) return out;
  format::Calls& calls = out.calls;
  for (std::size_t at = text->find('{'); at != std::string::npos && !calls.present; at = text->find('{', at + 1)) {
    if (const auto example = example_at(*text, at)) (void)read_example(*text, *example, calls);
  }
  if (!calls.present && !read_sentence(*text, calls)) return out;
  out.remarks.lose("calls in history",
                   "no message shows its calls; their format is taken from what the template tells the model");
  return out;
}

}  // namespace rondo::analysis
