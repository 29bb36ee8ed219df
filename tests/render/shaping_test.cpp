// Standard messages through every template at hand: they render wherever any form of them does, and what a parser gives is the
// same turn again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
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
  std::size_t held_otherwise = 0;                // read as another message than was sent, and the same turn again
  std::map<std::string, std::size_t> otherwise;  // the same, and another turn again: how many of each template
  std::map<std::string, std::size_t> left_out;   // by the rule

  [[nodiscard]] std::size_t differing() const {
    std::size_t out = 0;
    for (const auto& [name, count] : otherwise) out += count;
    return out;
  }
  [[nodiscard]] std::string to_string() const {
    std::string list;
    for (const auto& [name, count] : otherwise)
      list += (list.empty() ? ": " : ", ") + name + " " + std::to_string(count);
    std::string out = std::to_string(held) + " turns are the same again, " + std::to_string(failed) + " are not" +
                      "\n  read as another message than was sent: " + std::to_string(held_otherwise) +
                      " are the same again, " + std::to_string(differing()) + " are not" + list;
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

// Writes `turn` behind the prompt of `call`, reads what was written, and writes what was read.
void send_back(const core::Model& model, const core::Call& call, const json::Value& turn, const std::string& name,
               Returns& counts) {
  const auto leave_out = [&](const char* rule) { ++counts.left_out[rule]; };
  core::Call asked = call;
  auto prompt = model.render(asked);
  if (!prompt.ok()) return leave_out("the template refuses the messages before the turn");
  core::Call with_turn = call;
  with_turn.conversation.add_generation_prompt = false;
  with_turn.conversation.messages.push_back(turn);
  const auto full = model.render(with_turn);
  if (!full.ok()) return leave_out("the template refuses the turn");
  asked = call;
  const auto format = model.format(asked);
  REQUIRE(format.ok());
  // What begins a conversation, such as a system prompt, is no text of its first turn.
  const bool is_begun = !prompt.value().empty() || full.value().starts_with(format::trimmed(format.value()->header));
  if (!is_begun) return leave_out("the template writes a text before its first turn");
  asked = call;
  if (!full.value().starts_with(prompt.value())) {
    // History does not go on as the prompt ends: then its own opening is a part of the turn.
    asked.conversation.add_generation_prompt = false;
    prompt = model.render(asked);
    if (!prompt.ok() || !full.value().starts_with(prompt.value()))
      return leave_out("the turn changes what stands before it");
    asked = call;
    asked.conversation.add_generation_prompt = false;
  }
  auto parser = model.parser(asked, {.by_spelling = true});
  REQUIRE(parser.ok());
  static_cast<void>(parser.value().feed(std::string_view(full.value()).substr(prompt.value().size())));
  const auto message = parser.value().finish();
  REQUIRE(message.ok());
  if (!message.value().complete) return leave_out("the turn leaves something open");
  with_turn.conversation.messages.back() = chat::to_history(message.value(), 0);
  const auto again = model.render(with_turn);
  const bool is_same = again.ok() && again.value() == full.value();
  if (!is_as_sent(message.value(), turn)) {
    if (is_same) return static_cast<void>(++counts.held_otherwise);
    ++counts.otherwise[name.substr(0, name.find(','))];
    return;
  }
  ++(is_same ? counts.held : counts.failed);
  if (is_same) return;
  const std::size_t size = prompt.value().size();
  FAIL_CHECK(
      name << ": "
           << (again.ok() ? again.value().substr(std::min(size, again.value().size())) : again.error().to_string())
           << "\nfor\n"
           << full.value().substr(size));
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
  for (const Returns& counts : {shapes, turns}) CHECK(counts.differing() * 10 <= counts.held_otherwise);
}

}  // namespace rondo
