// Standard messages through every template at hand: they render wherever any form of them does, and what a parser gives is the
// same turn again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "chat/conversation.h"
#include "chat/reasoning_fields.h"
#include "core/model.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/corpus.h"
#include "tests/support/messages.h"
#include "tests/support/parsed.h"

namespace rondo {
namespace {

using chat::function_of;

constexpr std::size_t kConversationSample = 80;  // without RONDO_TEST_FULL every so many'th conversation of a template

// How a client may write the same conversation.
struct Form {
  bool arguments_as_text = true;
  int no_content = 0;  // null, "", absent
  bool names_results = false;
  bool short_ids = false;
  int contents = 0;  // as they are, as text, as parts
};

void put_content(json::Object& message, const Form& form) {
  json::Value* content = message.find("content");
  const bool is_none = !chat::is_filled(content) && (content == nullptr || !content->is_object());
  if (is_none && form.no_content == 0) message.set("content", nullptr);
  if (is_none && form.no_content == 1) message.set("content", "");
  if (is_none && form.no_content == 2) message.erase("content");
  content = message.find("content");
  if (content == nullptr) return;
  if (form.contents == 2 && content->is_string())
    *content = json::Array{chat::text_part(std::string(content->as_string()))};
  if (form.contents == 2 && content->is_null()) *content = json::Array();
  if (form.contents != 1) return;
  if (content->is_object()) *content = json::to_python(*content, {});
  if (!content->is_array()) return;
  std::string text;
  for (const json::Value& part : content->as_array()) {
    if (part.find_string("type") != "text") return;
  }
  for (const json::Value& part : content->as_array()) text += part.find_string("text").value_or("");
  *content = text;
}

void put_calls(json::Object& message, const Form& form, std::map<std::string, std::string>& names) {
  json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return;
  for (json::Value& call : calls->as_array()) {
    json::Value* arguments = function_of(call).as_object().find("arguments");
    if (arguments != nullptr && form.arguments_as_text && arguments->is_object())
      *arguments = json::to_python(*arguments, {});
    if (arguments != nullptr && !form.arguments_as_text && arguments->is_string()) {
      const auto parsed = json::parse(arguments->as_string());
      if (parsed.ok() && parsed.value().is_object()) *arguments = parsed.value();
      if (arguments->is_string() && arguments->as_string().empty()) *arguments = json::Object();
    }
    std::string id(call.find_string("id").value_or(""));
    if (form.short_ids) {
      const std::string number = std::to_string(100 + names.size());
      call.as_object().set("id", "abcdef" + number);
    }
    names[id] = std::string(function_of(call).find_string("name").value_or("f"));
    if (form.short_ids) names[id] += "\n" + std::string(*call.find_string("id"));
  }
}

json::Array formed(json::Array messages, const Form& form) {
  std::map<std::string, std::string> names;  // per id as sent: the name, and the id as given
  for (json::Value& value : messages) {
    json::Object& message = value.as_object();
    put_content(message, form);
    put_calls(message, form, names);
    if (value.find_string("role") != "tool") continue;
    const auto known = names.find(std::string(value.find_string("tool_call_id").value_or("")));
    const std::string said = known != names.end() ? known->second : "f\nabcdef100";
    const std::size_t end = said.find('\n');
    message.erase("name");
    if (form.names_results) message.set("name", said.substr(0, end));
    if (form.short_ids && end != std::string::npos) message.set("tool_call_id", said.substr(end + 1));
  }
  return messages;
}

std::vector<Form> forms() {
  std::vector<Form> out;
  for (const bool as_text : {true, false})
    for (const int no_content : {0, 1, 2})
      for (const bool named : {false, true})
        for (const bool short_ids : {false, true})
          for (const int contents : {0, 1, 2}) out.push_back({as_text, no_content, named, short_ids, contents});
  return out;
}

core::Call call_of(const test::Corpus& corpus, const test::CorpusRow& row, const test::CorpusConversation& item,
                   const Form& form) {
  core::Call call;
  call.conversation = corpus.conversation(row, item);
  call.conversation.messages = formed(item.messages, form);
  const json::Array& messages = call.conversation.messages;
  call.conversation.add_generation_prompt = messages.empty() || messages.back().find_string("role") != "assistant";
  call.has_messages = true;
  call.now = test::kClock;
  return call;
}

}  // namespace

TEST_CASE("standard messages render wherever any form of them does") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t rendered = 0;
  std::size_t refused = 0;
  for (const test::CorpusRow& row : corpus->templates(16)) {
    const auto lenient = core::Model::load({.chat_template = row.template_path});
    const auto strict = core::Model::load({.chat_template = row.template_path, .strict = true});
    if (!lenient.ok() || !strict.ok()) continue;
    for (const test::CorpusConversation& item : corpus->conversations()) {
      core::Call standard = call_of(*corpus, row, item, {});
      const auto made = lenient.value()->render(standard);
      ++(made.ok() ? rendered : refused);
      if (made.ok()) continue;
      for (const Form& form : forms()) {
        core::Call other = call_of(*corpus, row, item, form);
        const auto text = strict.value()->render(other);
        if (!text.ok()) continue;
        FAIL_CHECK(row.id << " " << item.id << ": " << made.error().to_string() << "\nbut in another form\n"
                          << json::to_compact(json::Value(other.conversation.messages)));
        break;
      }
    }
  }
  MESSAGE(rendered << " rendered, " << refused << " in no form");
  CHECK(rendered > 100);
}

namespace {

// Turns that were sent back as a parser read them.
struct Returns {
  std::size_t held = 0;
  std::size_t failed = 0;
  std::size_t held_otherwise = 0;                 // read as another message than was sent, and the same turn again
  std::vector<std::string> otherwise;             // the same, and another turn again for no reason known: their names
  std::map<std::string, std::size_t> unwritable;  // the same, for a reason
  std::map<std::string, std::size_t> left_out;    // by the rule

  [[nodiscard]] std::string to_string() const {
    std::string out = std::to_string(held) + " turns are the same again, " + std::to_string(failed) + " are not" +
                      "\n  read as another message than was sent: " + std::to_string(held_otherwise) +
                      " are the same again, " + std::to_string(otherwise.size()) + " are not";
    for (const std::string& name : otherwise) out += "\n    " + name;
    for (const auto& [reason, count] : unwritable) out += "\n  not the same: " + std::to_string(count) + ", " + reason;
    for (const auto& [rule, count] : left_out) out += "\n  left out: " + std::to_string(count) + ", " + rule;
    return out;
  }
};

// Whether a parser has read the message that was sent.  It may not where a field holds markup of the format, or the
// template cuts, adds or hides text.
bool is_as_sent(const chat::AssistantMessage& read, const json::Value& sent) {
  const json::Value* content = sent.find("content");
  if (content != nullptr && content->is_array() && content->as_array().size() > 1)
    return false;  // may be several blocks
  std::string reasoning;
  for (const json::Member& member : sent.as_object()) {
    if (chat::is_reasoning_field(member.key) && member.value.is_string()) reasoning = member.value.as_string();
  }
  if (read.content != chat::content_text(sent) || read.reasoning.value_or("") != reasoning) return false;
  const json::Value* calls = sent.find("tool_calls");
  const bool has_calls = calls != nullptr && calls->is_array();
  if (read.tool_calls.size() != (has_calls ? calls->as_array().size() : 0)) return false;
  for (std::size_t i = 0; i < read.tool_calls.size(); ++i) {
    const json::Value& function = function_of(calls->as_array()[i]);
    const json::Value* arguments = function.find("arguments");
    json::Value wanted = arguments == nullptr ? json::Value(json::Object()) : *arguments;
    if (wanted.is_string())
      wanted = json::parse(wanted.as_string()).ok() ? json::parse(wanted.as_string()).value() : wanted;
    const auto given = json::parse(read.tool_calls[i].arguments);
    if (read.tool_calls[i].name != function.find_string("name").value_or("")) return false;
    if (!given.ok() || !(given.value() == wanted)) return false;
  }
  return true;
}

// A turn behind the prompt of a call, and the text that the template writes.
struct WrittenTurn {
  const core::Model& model;
  core::Call call;
  json::Value turn;
  core::Call asked = {};  // what the prompt below was rendered for
  std::string prompt = {};
  std::string full = {};
  std::shared_ptr<const format::Format> format = {};
};

std::optional<std::string> text_with(const WrittenTurn& written, json::Value turn) {
  core::Call call = written.call;
  call.conversation.add_generation_prompt = false;
  call.conversation.messages.push_back(std::move(turn));
  auto text = written.model.render(call);
  return text.ok() ? std::optional(std::move(text.value())) : std::nullopt;
}

// Returns whether the turn's text begins with the end of the assistant's turn before it, which the prompt leaves open.
bool ends_turn_before(const WrittenTurn& written) {
  const json::Array& before = written.call.conversation.messages;
  const auto is_first =
      [text = format::trimmed(std::string_view(written.full).substr(written.prompt.size()))](const std::string& stop) {
        return !format::is_blank(stop) && text.starts_with(format::trimmed(stop));
      };
  return !before.empty() && before.back().find_string("role") == "assistant" &&
         std::ranges::any_of(written.format->stops.content, is_first);
}

// Renders the turn.  Returns the rule by which it is left out; nullptr if it is not.
const char* write_turn(WrittenTurn& written) {
  written.asked = written.call;
  core::Call asked = written.asked;
  auto prompt = written.model.render(asked);
  if (!prompt.ok()) return "the template refuses the messages before the turn";
  const auto full = text_with(written, written.turn);
  if (!full) return "the template refuses the turn";
  written.full = *full;
  asked = written.call;
  const auto format = written.model.format(asked);
  REQUIRE(format.ok());
  written.format = format.value();
  if (!full->starts_with(prompt.value())) {
    // History does not go on as the prompt ends: then its own opening is a part of the turn.
    written.asked.conversation.add_generation_prompt = false;
    asked = written.asked;
    prompt = written.model.render(asked);
    if (!prompt.ok() || !full->starts_with(prompt.value())) return "the turn changes what stands before it";
  }
  written.prompt = prompt.value();
  // What begins a conversation, such as a system prompt, is no text of its first turn.
  const bool is_begun = !written.prompt.empty() || full->starts_with(format::trimmed(written.format->header));
  if (!is_begun) return "the template writes a text before its first turn";
  if (ends_turn_before(written)) return "the turn before it is still open";
  return nullptr;
}

chat::AssistantMessage read_turn(const WrittenTurn& written) {
  core::Call asked = written.asked;
  auto parser = written.model.parser(asked, {.by_spelling = true});
  REQUIRE(parser.ok());
  static_cast<void>(parser.value().feed(std::string_view(written.full).substr(written.prompt.size())));
  auto message = parser.value().finish();
  REQUIRE(message.ok());
  return std::move(message.value());
}

// --- Turns that no message as a parser gives it makes ----------------------------------------------------------------

// Returns the turn in the form in which the message of a parser is sent: with nothing but reasoning, one text, and calls.
json::Value standard_form(const json::Value& turn) {
  json::Object out{{"role", "assistant"}, {"content", chat::content_text(turn)}};
  for (const json::Member& member : turn.as_object()) {
    if (chat::is_reasoning_field(member.key)) out.set(member.key, member.value);
  }
  const json::Value* calls = turn.find("tool_calls");
  if (calls == nullptr || !calls->is_array() || calls->as_array().empty()) return out;
  json::Array made;
  for (const json::Value& call : calls->as_array()) {
    const json::Value& function = function_of(call);
    const json::Value* arguments = function.find("arguments");
    if (arguments == nullptr) arguments = function.find("parameters");
    json::Object known{{"name", std::string(function.find_string("name").value_or(""))},
                       {"arguments", arguments != nullptr ? *arguments : json::Value(json::Object())}};
    json::Object one;
    if (const auto id = call.find_string("id")) one.set("id", std::string(*id));
    one.set("type", "function");
    one.set("function", std::move(known));
    made.push_back(std::move(one));
  }
  out.set("tool_calls", std::move(made));
  return out;
}

// Returns whether the template writes another text for that form.
bool shows_more(const WrittenTurn& written) {
  const json::Value standard = standard_form(written.turn);
  return !(standard == written.turn) && text_with(written, standard) != written.full;
}

// Returns the turn with `change` made to each text that a model wrote: content, reasoning, and the strings in arguments.
json::Value with_texts(json::Value value, const std::function<std::string(const std::string&)>& change,
                       bool is_argument = false) {
  if (value.is_string()) return change(value.as_string());
  if (value.is_array()) {
    for (json::Value& element : value.as_array()) element = with_texts(element, change, is_argument);
  }
  if (!value.is_object()) return value;
  json::Object out;
  for (const json::Member& member : value.as_object()) {
    const bool is_name = member.key == "role" || member.key == "type" || member.key == "name" || member.key == "id";
    const bool is_inside = is_argument || chat::is_arguments_key(member.key);
    out.set(member.key, is_name && !is_argument ? member.value : with_texts(member.value, change, is_inside));
  }
  return out;
}

// Returns the turn with all of its reasoning replaced by `text`, or left out.
json::Value with_reasoning(const json::Value& turn, std::optional<std::string> text) {
  json::Object out;
  for (const json::Member& member : turn.as_object()) {
    const bool is_reasoning = chat::is_reasoning_field(member.key) && chat::is_filled(&member.value);
    if (!is_reasoning) out.set(member.key, member.value);
    if (is_reasoning && text) out.set(member.key, *text);
  }
  return out;
}

// Returns whether the format announces strings without quotes, or with unescaped ones inside.
bool has_bare_strings(const format::Format& format) {
  return std::ranges::any_of(format.losses, [](const format::Loss& loss) {
    return loss.what == "bare strings" || loss.what == "quotes in strings";
  });
}

// Returns the format's marks: its markers, cut at white space and between tags, the longest first.
std::vector<std::string> marks_of(const format::Format& format) {
  std::set<std::string> found;
  const auto add = [&](std::string_view marker) {
    for (std::size_t at = 0; at < marker.size();) {
      const std::size_t begin = std::min(marker.find_first_not_of(" \n\t\r", at), marker.size());
      at = std::min(marker.find_first_of(" \n\t\r", begin), marker.size());
      const std::string word(marker.substr(begin, at - begin));
      std::vector<std::size_t> cuts = format::unit_boundaries(word, format.atoms);
      cuts.push_back(word.size());
      std::size_t from = 0;
      for (const std::size_t cut : cuts) {
        if (cut > from) found.insert(word.substr(from, cut - from));
        from = std::max(from, cut);
      }
    }
  };
  const format::Calls& calls = format.calls;
  const format::Parameters& parameters = calls.parameters;
  for (const std::string* marker :
       {&format.header, &format.reasoning.open, &format.reasoning.close, &format.content.open, &format.content.close,
        &calls.section_open, &calls.section_close, &calls.call_open, &calls.call_close, &calls.separator,
        &parameters.open, &parameters.key_close, &parameters.close, &parameters.separator, &parameters.key_in_close,
        &parameters.item_open, &parameters.item_close})
    add(*marker);
  for (const format::CallPiece& piece : calls.pieces) add(piece.text);
  for (const format::ValueForm& form : parameters.forms) {
    add(form.open);
    add(form.close);
  }
  for (const auto* stops : {&format.stops.content, &format.stops.tool, &format.stops.history_close}) {
    for (const std::string& stop : *stops) add(stop);
  }
  // Brackets and quotes in strings count too.
  if (has_bare_strings(format)) found.insert({"(", ")", "[", "]", "{", "}", "'", "\""});
  std::vector<std::string> out(found.begin(), found.end());
  std::ranges::sort(out, std::ranges::greater(), &std::string::size);
  return out;
}

// Returns whether a parser's message of `turn` makes that turn again.  `may_stay_open`: or leaves something open.
bool is_same_again(const WrittenTurn& written, const core::Call& call, json::Value turn, bool may_stay_open = false) {
  WrittenTurn other{written.model, call, std::move(turn)};
  if (write_turn(other) != nullptr) return false;
  const chat::AssistantMessage message = read_turn(other);
  if (!message.complete) return may_stay_open;
  return text_with(other, chat::to_history(message, 0)) == other.full;
}

// Returns whether the turn's texts hold marks of the format, and with letters in their place the turn is the same again.
// No call that was read may be damaged, unless the format announces that strings end where they hold such a mark.
bool holds_markup(const WrittenTurn& written, const chat::AssistantMessage& read) {
  const auto is_damaged = [](const chat::ToolCall& call) { return call.status != chat::CallStatus::kOk; };
  if (!has_bare_strings(*written.format) && std::ranges::any_of(read.tool_calls, is_damaged)) return false;
  const std::vector<std::string> marks = marks_of(*written.format);
  const json::Value plain = with_texts(written.turn, [&marks](std::string text) {
    for (const std::string& mark : marks) {
      for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += mark.size())
        text.replace(at, mark.size(), mark.size(), 'x');
    }
    return text;
  });
  return !(plain == written.turn) && is_same_again(written, written.call, plain, true);
}

// Returns whether nothing stands before the turn, and behind a question it is the same again.
bool lacks_prompt(const WrittenTurn& written) {
  if (!written.prompt.empty()) return false;
  core::Call call = written.call;
  call.conversation.messages.push_back(json::Object{{"role", "user"}, {"content", "Hi."}});
  return is_same_again(written, call, written.turn);
}

// Returns whether the request lacks the tools that the turn calls, and with them the turn is the same again.
bool lacks_tools(const WrittenTurn& written) {
  const json::Value* calls = written.turn.find("tool_calls");
  if (calls == nullptr || !calls->is_array() || calls->as_array().empty() || written.call.conversation.tools)
    return false;
  std::set<std::string> names;
  for (const json::Value& call : calls->as_array())
    names.insert(std::string(function_of(call).find_string("name").value_or("")));
  core::Call call = written.call;
  call.conversation.tools = json::Array();
  for (const std::string& name : names) call.conversation.tools->as_array().push_back(test::tool_of(name, {}, false));
  return is_same_again(written, call, written.turn);
}

// Returns whether white space at the ends of the turn's texts is lost, and without it the turn is the same again.
bool loses_space(const WrittenTurn& written, const std::string& again) {
  const auto letters = [](std::string text) {
    std::erase_if(text, format::is_space);
    return text;
  };
  const auto is_alike = [&](const std::string& text) { return letters(again) == letters(text); };
  const json::Value trimmed =
      with_texts(written.turn, [](const std::string& text) { return std::string(format::trimmed(text)); });
  if (trimmed == written.turn || !is_same_again(written, written.call, trimmed)) return false;
  return is_alike(written.full) || is_alike(text_with(written, trimmed).value_or(""));
}

// Returns whether white space stands before content only where calls follow, which the message has as its own.
bool has_space_before_calls(const WrittenTurn& written, const chat::AssistantMessage& read) {
  const auto is_announced = [](const format::Loss& loss) { return loss.what == "white space before content"; };
  if (read.tool_calls.empty() || std::ranges::none_of(written.format->losses, is_announced)) return false;
  chat::AssistantMessage without = read;
  without.content.erase(0, std::min(without.content.find_first_not_of(" \n\t\r"), without.content.size()));
  return text_with(written, chat::to_history(without, 0)) == written.full;
}

// Returns whether the template leaves the reasoning out and yet writes `again` only where there is none.
bool hides_reasoning(const WrittenTurn& written, const std::string& again) {
  const json::Value without = with_reasoning(written.turn, std::nullopt);
  return !(without == written.turn) && text_with(written, with_reasoning(written.turn, "Zq")) == written.full &&
         text_with(written, without) == again;
}

// Returns whether the prompt ends with white space that the turn's text has only because its content begins with it.
bool shares_space(const WrittenTurn& written) {
  if (!written.asked.conversation.add_generation_prompt) return false;
  json::Value other = written.turn;
  other.as_object().set("content", "Zq");
  const std::string text = text_with(written, other).value_or("");
  const std::string_view prompt = written.prompt;
  return !text.starts_with(prompt) && text.starts_with(prompt.substr(0, prompt.find_last_not_of(" \n\t\r") + 1));
}

// Returns why the message that was read cannot make the turn; nullptr if nothing says so.  `again` is what it makes.
const char* why_not_again(const WrittenTurn& written, const chat::AssistantMessage& read, const std::string& again) {
  const auto is_refusal = [](const std::string& note) { return note.starts_with("the template refuses every probe"); };
  if (std::ranges::any_of(written.format->notes, is_refusal))
    return "the template refuses every probe, so that its format is not known";
  const std::size_t stop = written.full.size() - std::min(read.behind_stop.size(), written.full.size());
  if (!read.behind_stop.empty() && again.starts_with(std::string_view(written.full).substr(0, stop)))
    return "only what the template writes behind the turn's stop differs";
  if (hides_reasoning(written, again)) return "the template shows that there is reasoning, and leaves it out";
  if (shares_space(written)) return "white space at the beginning of the content is the end of the prompt";
  if (has_space_before_calls(written, read))
    return "the template writes white space of its own before content only where calls follow";
  if (lacks_prompt(written)) return "nothing stands before the turn, and behind a question it is the same again";
  if (lacks_tools(written))
    return "the request lacks the tools that the turn calls, and with them it is the same again";
  if (loses_space(written, again))
    return "white space at the ends of a text is lost, and without it the turn is the same again";
  if (holds_markup(written, read))
    return "a text holds markup of the format, and without it the turn is the same again";
  return nullptr;
}

// Writes `turn` behind the prompt of `call`, reads what was written, and writes what was read.
void send_back(const core::Model& model, const core::Call& call, const json::Value& turn, const std::string& name,
               Returns& counts) {
  WrittenTurn written{model, call, turn};
  if (const char* rule = write_turn(written)) return static_cast<void>(++counts.left_out[rule]);
  const chat::AssistantMessage read = read_turn(written);
  if (!read.complete) return static_cast<void>(++counts.left_out["the turn leaves something open"]);
  const std::optional<std::string> again = text_with(written, chat::to_history(read, 0));
  const bool is_read = is_as_sent(read, turn);
  if (again == written.full) return static_cast<void>(++(is_read ? counts.held : counts.held_otherwise));
  if (shows_more(written)) {
    ++counts.left_out["the template shows more of the message than a parsed turn has, such as a name; sent without it"];
    return send_back(model, call, standard_form(turn), name + ", without it", counts);
  }
  if (!is_read) {
    if (const char* reason = why_not_again(written, read, again.value_or("")))
      return static_cast<void>(++counts.unwritable[reason]);
    counts.otherwise.push_back(name);
  } else {
    ++counts.failed;
  }
  const std::size_t size = written.prompt.size();
  FAIL_CHECK(name << ": " << (again ? again->substr(std::min(size, again->size())) : "the template refuses it")
                  << "\nfor\n"
                  << written.full.substr(size));
}

core::Call question_of(const test::CorpusRow& row) {
  core::Call call;
  call.conversation.messages = json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}};
  call.conversation.add_generation_prompt = true;
  call.conversation.bos_token = row.bos_token;
  call.conversation.eos_token = row.eos_token;
  call.has_messages = true;
  call.now = test::kClock;
  return call;
}

// Turns of every shape behind a question.
void send_shapes_back(const core::Model& model, const test::CorpusRow& row, Returns& counts) {
  const json::Object arguments{{"city", "Paris"}, {"days", 3}, {"deep", json::Object{{"a", json::Array{1, true}}}}};
  const std::vector<test::MessageParts> turns = {
      {"", "Well.", {}},           {"Let me see.", "Well.", {}}, {"", "", {arguments}},
      {"", "Well.", {arguments}},  {"", "", {arguments, {}}},    {"Let me see.", "", {arguments}},
      {"Hm.", "So.", {arguments}},
  };
  for (std::size_t i = 0; i < turns.size(); ++i) {
    core::Call call = question_of(row);
    if (!turns[i].calls.empty()) {
      json::Array tools;
      for (const std::string& name : std::set<std::string>(turns[i].names.begin(), turns[i].names.end()))
        tools.push_back(test::tool_of(name, {}, false));
      call.conversation.tools = std::move(tools);
    }
    core::Call asked = call;
    const auto format = model.format(asked);
    if (!format.ok()) continue;
    send_back(model, call, test::message_of(*format.value(), turns[i]), row.id + ", turn " + std::to_string(i), counts);
  }
}

// The turns of a conversation of the corpus.
void send_conversation_back(const core::Model& model, const test::Corpus& corpus, const test::CorpusRow& row,
                            const test::CorpusConversation& item, Returns& counts) {
  for (std::size_t i = 0; i < item.messages.size(); ++i) {
    if (item.messages[i].find_string("role") != "assistant") continue;
    core::Call call;
    call.conversation = corpus.conversation(row, item);
    call.conversation.messages.assign(item.messages.begin(), item.messages.begin() + static_cast<std::ptrdiff_t>(i));
    call.conversation.add_generation_prompt = true;
    call.has_messages = true;
    call.now = test::kClock;
    send_back(model, call, item.messages[i], row.id + ", " + item.id + ", message " + std::to_string(i), counts);
  }
}

}  // namespace

TEST_CASE("a parsed turn, sent as history, is the same turn") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr;
  Returns shapes;
  Returns turns;
  std::size_t number = 0;
  for (const test::CorpusRow& row : corpus->templates(3)) {
    const auto model = core::Model::load({.chat_template = row.template_path});
    if (!model.ok()) continue;
    send_shapes_back(*model.value(), row, shapes);
    for (const test::CorpusConversation& item : corpus->conversations()) {
      if (is_full || number++ % kConversationSample == 0)
        send_conversation_back(*model.value(), *corpus, row, item, turns);
    }
  }
  MESSAGE("turns of every shape: " << shapes.to_string());
  MESSAGE("turns of conversations: " << turns.to_string());
  CHECK(shapes.held > 100);
  CHECK(turns.held > 10);
}

}  // namespace rondo
