// Standard messages through every template at hand: they render wherever any form of them does, and what a parser gives is the
// same turn again.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "chat/conversation.h"
#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/corpus.h"
#include "tests/support/messages.h"
#include "tests/support/parsed.h"

namespace rondo {
namespace {

using chat::function_of;

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

// What becomes of the message that a parser reads of a turn: "" if it is the turn again.
std::string returned(const core::Model& model, const test::CorpusRow& row, const test::MessageParts& parts,
                     bool& applies) {
  core::Call call;
  call.conversation.messages = json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}};
  call.conversation.add_generation_prompt = true;
  call.conversation.bos_token = row.bos_token;
  call.conversation.eos_token = row.eos_token;
  call.has_messages = true;
  call.now = test::kClock;
  if (!parts.calls.empty()) {
    json::Array tools;
    for (const std::string& name : std::set<std::string>(parts.names.begin(), parts.names.end()))
      tools.push_back(test::tool_of(name, {}, false));
    call.conversation.tools = std::move(tools);
  }
  const auto format = model.format(call);
  const auto prompt = model.render(call);
  if (!format.ok() || !prompt.ok()) return "";
  core::Call with_turn = call;
  with_turn.conversation.add_generation_prompt = false;
  with_turn.conversation.messages.push_back(test::message_of(*format.value(), parts));
  const auto full = model.render(with_turn);
  if (!full.ok() || !full.value().starts_with(prompt.value())) return "";
  auto parser = model.parser(call, {.by_spelling = true});
  REQUIRE(parser.ok());
  static_cast<void>(parser.value().feed(std::string_view(full.value()).substr(prompt.value().size())));
  const auto message = parser.value().finish();
  REQUIRE(message.ok());
  // What the template hides, or was read otherwise, is the format's matter.
  const bool is_whole = message.value().tool_calls.size() == parts.calls.size() &&
                        message.value().content == parts.content &&
                        message.value().reasoning.value_or("") == parts.reasoning;
  if (!is_whole) return "";
  applies = true;
  with_turn.conversation.messages.back() = chat::to_history(message.value(), 0);
  const auto again = model.render(with_turn);
  if (!again.ok()) return again.error().to_string();
  return again.value() == full.value() ? "" : again.value() + "\nfor\n" + full.value();
}

}  // namespace

TEST_CASE("a parsed turn, sent as history, is the same turn") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const json::Object arguments{{"city", "Paris"}, {"days", 3}, {"deep", json::Object{{"a", json::Array{1, true}}}}};
  const std::vector<test::MessageParts> turns = {
      {"", "Well.", {}},           {"Let me see.", "Well.", {}}, {"", "", {arguments}},
      {"", "Well.", {arguments}},  {"", "", {arguments, {}}},    {"Let me see.", "", {arguments}},
      {"Hm.", "So.", {arguments}},
  };
  std::size_t held = 0;
  std::size_t failed = 0;
  for (const test::CorpusRow& row : corpus->templates(3)) {
    const auto model = core::Model::load({.chat_template = row.template_path});
    if (!model.ok()) continue;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      bool applies = false;
      const std::string wrong = returned(*model.value(), row, turns[i], applies);
      if (!applies) continue;
      ++(wrong.empty() ? held : failed);
      CHECK_MESSAGE(wrong.empty(), row.id << ", turn " << i << ": " << wrong);
    }
  }
  MESSAGE(held << " turns are the same again, " << failed << " are not");
  CHECK(held > 100);
}

}  // namespace rondo
