// Calls that history never shows: read off the example, or the sentence, with which the template's own text tells the
// model how to call.
#include <set>

#include "analysis/analyst.h"
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

// An object in the instructions that has a key for the name and one for the arguments.
struct Example {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name_key;
  std::string arguments_key;
};

// The quoted word at `at`, if a colon follows it.
std::string key_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos) return "";
  const std::size_t behind = text.find_first_not_of(" \t", end + 1);
  if (behind == std::string_view::npos || text[behind] != ':') return "";
  return std::string(text.substr(at + 1, end - at - 1));
}

// What stands for a value may be no JSON: `{"name": <name>, "arguments": {...}}`.
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

// The tag or fence that ends `text`; "" if none does.
std::string marker_before(std::string_view text) {
  const std::string_view core = trimmed(text);
  const std::string_view line = core.substr(core.rfind('\n') == std::string_view::npos ? 0 : core.rfind('\n') + 1);
  if (line.starts_with("```")) return std::string(line);
  if (line.empty() || (line.back() != '>' && line.back() != ']')) return "";
  const std::size_t open = line.rfind(line.back() == '>' ? '<' : '[');
  return open == std::string_view::npos ? "" : std::string(line.substr(open));
}

// Fills `calls` from the example if a tag, or a fence, stands around it.
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

// "... <MARK> followed by a JSON list ...": a mark of the template and what follows it, in words.
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

}  // namespace

// Of `words` those that may be the name of a field, or of a type, and that the chat APIs do not have.
std::vector<std::string> names_in(const std::vector<std::string>& words, std::size_t most) {
  std::set<std::string> tried = {"role",         "content",  "tool_calls", "name",
                                 "tool_call_id", "function", "arguments",  "type"};
  std::vector<std::string> names;
  for (const std::string& name : words) {
    const auto is_letter = [](char byte) { return (byte >= 'a' && byte <= 'z') || byte == '_'; };
    if (name.size() < 4 || !std::all_of(name.begin(), name.end(), is_letter) || !tried.insert(name).second) continue;
    names.push_back(name);
    if (names.size() == most) break;
  }
  return names;
}

// What the template tells the model only where thinking is switched on: an empty pair of tags for the thoughts, and one
// for the answer.
void Analyst::mine_reasoning() {
  if (format_.reasoning.present) return;
  const auto with = prober_.instructions({"on", false, false, false});
  auto without = prober_.instructions({"default", false, false, false});
  for (const char* name : {"thinking", "enable_thinking"}) {
    if (with != without || options_.kwargs.find(name) == nullptr) continue;  // the caller has switched it on
    ProbeSetting off{"default", false, false, false};
    off.variable = json::Member{name, json::Value(false)};
    without = prober_.instructions(off);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t at = with && without ? with->find('<') : std::string::npos; at != std::string::npos;
       at = with->find('<', at + 1)) {
    const std::size_t end = with->find('>', at);
    if (end == std::string::npos) break;
    const std::string open = with->substr(at, end + 1 - at);
    const std::string close = closing_of(open);
    if (!close.empty() && with->substr(end + 1).starts_with(close) && !contains(*without, open))
      pairs.emplace_back(open, close);
  }
  if (pairs.empty()) return mine_reasoning_fields();
  format_.reasoning = {true, pairs[0].first, pairs[0].second, true};
  if (pairs.size() > 1 && is_blank(format_.content.open)) format_.content = {pairs[1].first, pairs[1].second};
  lose("reasoning in history", "no message shows reasoning; its tags are taken from what the template tells the model",
       0);
}

// Thoughts in a place of their own, which the chat APIs do not have: a field that the template names, or a block of the
// content, under a name and of a type that the template names.  Only the tags around them are taken from that.
void Analyst::mine_reasoning_fields() {
  const auto tags_around = [this](json::Object message, bool in_pair) {
    message.set("role", "assistant");
    ProbeSetting setting{"on", true, false, false};
    setting.stand_ins = in_pair;
    const auto text = prober_.text_with(std::move(message), setting);
    const std::size_t at = text ? text->find(kReasoningText) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::string before = text->substr(0, at);
    const std::string after = text->substr(at + kReasoningText.size());
    const std::string open = marker_before(before);
    const std::string closing = closing_of(open);
    const bool is_pair = !closing.empty() && trimmed(after).starts_with(closing);
    const std::size_t content = after.find(kContentText);
    if (!is_pair && (in_pair || content == std::string::npos)) return false;
    const std::string close = is_pair ? closing : std::string(trimmed(after.substr(0, content)));
    const bool is_tag = open.starts_with('<') || open.starts_with('[');
    if (!is_tag || close.empty() || contains(open + close, "'") || contains(format_.header, open)) return false;
    format_.reasoning = {true, open, close, true};
    lose("reasoning in history",
         "the template shows reasoning only in a place that messages of the chat APIs do not have", 0);
    return true;
  };
  const std::vector<std::string> constants = names_in(template_.literal_texts(), kMostFields);
  for (const std::string& name : constants) {
    if (tags_around(json::Object{{"content", kContentText}, {name, kReasoningText}}, true)) return;
  }
  const std::vector<std::string> members = names_in(template_.names(), kMostFields);
  const auto content_of = [&](const json::Array& blocks) {
    json::Object content;
    for (const auto* names : {&constants, &members}) {
      for (const std::string& name : *names) content.set(name, blocks);
    }
    return json::Object{{"role", "assistant"}, {"content", std::move(content)}};
  };
  const auto block = [](const std::string& type, std::string_view text) {
    return json::Object{{"type", type}, {"text", text}};
  };
  std::vector<std::string> types;  // of blocks whose text is shown
  for (const std::string& type : constants) {
    const auto text = prober_.text_with(content_of({block(type, kReasoningText)}), {"on", true, false, false});
    if (!text || !contains(*text, kReasoningText)) continue;
    types.push_back(type);
    if (types.size() > kMostTypes) return;  // the content is printed, whatever it is
  }
  if (types.empty()) return;
  types.emplace_back("text");  // what every block is that is of no type of its own
  for (const std::string& type : types) {
    for (const std::string& other : types) {
      const json::Array blocks{block(type, kReasoningText), block(other, kContentText)};
      if (type != other && tags_around(content_of(blocks), false)) return;
    }
  }
}

void Analyst::mine_instructions() {
  mine_reasoning();
  if (shows_calls_ || format_.calls.present) return;
  const auto text = prober_.instructions({"default", true, false, false});
  if (!text) return;
  format::Calls calls;
  for (std::size_t at = text->find('{'); at != std::string::npos && !calls.present; at = text->find('{', at + 1)) {
    if (const auto example = example_at(*text, at)) (void)read_example(*text, *example, calls);
  }
  if (!calls.present && !read_sentence(*text, calls)) return;
  format_.calls = std::move(calls);
  lose("calls in history", "no message shows its calls; their format is taken from what the template tells the model",
       0);
}

}  // namespace rondo::analysis
