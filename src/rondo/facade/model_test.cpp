#include "rondo/model.h"

#include <algorithm>

#include "json/parse.h"
#include "tests/support/facade_models.h"

namespace rondo {
namespace {

using testing::Ids;
using testing::kFolder;
using testing::tiny_model;
using testing::tokens;
using testing::user_chat;

// Trims what was said, and drops its reasoning once it is not the last.
constexpr const char* kForgetful = R"({%- for m in messages %}
{{- '[[' + m.role + ': ' }}
{%- if m.reasoning_content and loop.last %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{% endif %}
{{- (m.content or '') | trim + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[[assistant: ' }}{% endif %})";

// Opens the reasoning in the generation prompt, unless it is switched off.
constexpr const char* kThinking = R"({%- for m in messages %}
{{- '[[' + m.role + ': ' }}
{%- if m.reasoning_content %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{% endif %}
{{- (m.content or '') + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant: ' + ('(*mull ' if enable_thinking | default(true) else '') }}{% endif %})";

TEST_CASE("a model is loaded from a folder, or from a template and a tokenizer") {
  CHECK(Model::load(kFolder).ok());
  const std::string folder = kFolder;
  CHECK(Model::load(folder + "/chat_template.jinja", folder + "/tokenizer.json").ok());
  CHECK(Model::load("/no/such").error().code == ErrorCode::kNotFound);
  CHECK(Model::load("/no/such", folder).error().code == ErrorCode::kNotFound);
  CHECK(Model::load(folder, "/no/such").error().code == ErrorCode::kNotFound);
  // Unlike a model of core/, one of these always has both.
  CHECK(Model::load(folder + "/chat_template.jinja").error().code == ErrorCode::kTokenizer);
  CHECK(Model::load(folder + "/tokenizer.json").error().code == ErrorCode::kNotFound);
  const testing::OwnFolder own;
  CHECK(Model::load(own.file("broken.jinja", "{% if %}"), folder).error().code == ErrorCode::kTemplateSyntax);
}

TEST_CASE("a prompt as text") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  CHECK(model.render(chat).value() == "<bos>[[user: Hi~fin~[[assistant: ");
  chat.add_generation_prompt = false;
  CHECK(model.render(chat).value() == "<bos>[[user: Hi~fin~");
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well"}])";
  chat.add_generation_prompt = true;
  chat.continue_field = "content";
  CHECK(model.render(chat).value() == "<bos>[[user: Hi~fin~[[assistant: Well");
  Chat empty;
  CHECK(model.render(empty).value() == "<bos>[[assistant: ");
  chat = user_chat();
  chat.kwargs = R"({"bos_token": "^"})";
  CHECK(model.render(chat).value() == "^[[user: Hi~fin~[[assistant: ");
}

TEST_CASE("a field of a chat that does not fit is named") {
  const Model model = tiny_model();
  const auto refused = [&](const auto& change) {
    Chat chat = user_chat();
    change(chat);
    const auto rendered = model.render(chat);
    REQUIRE_FALSE(rendered.ok());
    CHECK(model.encode(chat).error().message == rendered.error().message);
    return rendered.error();
  };
  const auto message = [&](const auto& change) {
    const Error error = refused(change);
    CHECK(error.code == ErrorCode::kInvalidArgument);
    return error.message;
  };
  CHECK(message([](Chat& c) { c.messages = "{}"; }) == "messages must be an array of objects, found an object");
  CHECK(message([](Chat& c) { c.messages = "[1]"; }) == "messages[0] must be an object, found an integer");
  CHECK(message([](Chat& c) { c.messages = ""; }) == "the field `messages` is missing");
  CHECK(message([](Chat& c) { c.messages = "null"; }) == "the field `messages` is missing");
  CHECK(message([](Chat& c) { c.tools = "\"add\""; }) == "tools must be an array of objects, found a string");
  CHECK(message([](Chat& c) { c.documents = "[[]]"; }) == "documents[0] must be an object, found an array");
  CHECK(message([](Chat& c) { c.kwargs = "[]"; }) == "`kwargs` must be an object, found an array");
  CHECK(message([](Chat& c) { c.now = "today"; }) ==
        "`now` must be a time like \"2026-03-14T15:09:26\", found \"today\"");
  const auto source = [&](const auto& change) {
    const Error error = refused(change);
    CHECK(error.code == ErrorCode::kJson);
    CHECK(error.line == 1);
    return error.source;
  };
  CHECK(source([](Chat& c) { c.messages = "[{"; }) == "messages");
  CHECK(source([](Chat& c) { c.tools = "["; }) == "tools");
  CHECK(source([](Chat& c) { c.documents = "x"; }) == "documents");
  CHECK(source([](Chat& c) { c.kwargs = "{'a': 1}"; }) == "kwargs");
}

TEST_CASE("what is null or empty counts as absent") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  chat.tools = chat.documents = chat.kwargs = "null";
  CHECK(model.render(chat).value() == model.render(user_chat()).value());
}

TEST_CASE("a template's own complaint is its error") {
  const Model model = tiny_model();
  Chat chat;
  chat.messages = R"([{"role": "wizard", "content": "x"}])";
  CHECK(model.render(chat).error().code == ErrorCode::kTemplateRaised);
  CHECK(model.encode(chat).error().message == "no such role: wizard");
}

TEST_CASE("a prompt as ids: owners and masks for each") {
  const Model model = tiny_model();
  Chat chat;
  chat.messages = R"([{"role": "user", "content": "a~fin~"}, {"role": "assistant", "content": "b"}])";
  chat.add_generation_prompt = false;
  const auto encoded = model.encode(chat);
  REQUIRE(encoded.ok());
  const Encoded& out = encoded.value();
  CHECK(model.detokenize(out.ids).value() == model.render(chat).value());
  REQUIRE(out.message_indices.size() == out.ids.size());
  REQUIRE(out.content_mask.size() == out.ids.size());
  REQUIRE(out.sampled_mask.size() == out.ids.size());
  CHECK(out.message_indices.front() == -1);
  CHECK(out.message_indices.back() == 1);
  CHECK(out.sampled_mask.back() == 1);
  CHECK(out.content_mask.back() == 0);
  CHECK(std::count(out.ids.begin(), out.ids.end(), model.stop_ids().value().front()) == 2);
  CHECK(out.notes.empty());
}

TEST_CASE("raw turns are taken by encode, where they are asked for") {
  const Model model = tiny_model();
  Chat chat;
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "raw": " Yo "},
      {"role": "user", "content": "Ok"}])";
  const std::string plain = "<bos>[[user: Hi~fin~[[assistant: Yo~fin~[[user: Ok~fin~[[assistant: ";
  CHECK(model.detokenize(model.encode(chat).value().ids).value() == plain);
  chat.raw_turns = true;
  const auto raw = model.encode(chat);
  REQUIRE(raw.ok());
  CHECK(model.detokenize(raw.value().ids).value() ==
        "<bos>[[user: Hi~fin~[[assistant:  Yo ~fin~[[user: Ok~fin~[[assistant: ");
  CHECK_FALSE(raw.value().notes.empty());  // the stop token was added
  CHECK(model.render(chat).value() == plain);
  chat.messages = R"([{"role": "assistant", "content": "Yo", "raw_ids": "Yo"}])";
  CHECK(model.encode(chat).error().message == "messages[0].raw_ids must be an array of token ids, found a string");
  CHECK(model.render(chat).ok());
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "raw_ids": [99999]}])";
  CHECK(model.encode(chat).error().code == ErrorCode::kTokenizer);
}

TEST_CASE("bridge: the old ids as they are, then the new turn") {
  const Model model = tiny_model();
  const Chat chat = user_chat();
  Bridge bridge;
  bridge.prompt_ids = model.encode(chat).value().ids;
  bridge.completion_ids = tokens(model, "Yo");
  bridge.new_messages = R"([{"role": "user", "content": "Ok"}])";
  const auto bridged = model.bridge(chat, bridge);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  const Bridged& out = bridged.value();
  Ids old_ids = bridge.prompt_ids;
  old_ids.insert(old_ids.end(), bridge.completion_ids.begin(), bridge.completion_ids.end());
  CHECK(out.ids.size() == old_ids.size() + out.appended);
  CHECK(Ids(out.ids.begin(), out.ids.begin() + static_cast<std::ptrdiff_t>(old_ids.size())) == old_ids);
  CHECK(model.detokenize(out.ids).value() == "<bos>[[user: Hi~fin~[[assistant: Yo~fin~[[user: Ok~fin~[[assistant: ");
  CHECK(out.message_indices.size() == out.ids.size());
  CHECK(std::count(out.message_indices.begin(), out.message_indices.end(), 0) > 0);
  CHECK(out.lossy.empty());
}

TEST_CASE("bridge: what does not fit is named") {
  const Model model = tiny_model();
  const Chat chat = user_chat();
  const auto refused = [&](const auto& change) {
    Bridge bridge;
    bridge.prompt_ids = tokens(model, "[[assistant: ");
    bridge.completion_ids = tokens(model, "Yo");
    bridge.new_messages = R"([{"role": "user", "content": "Ok"}])";
    change(bridge);
    const auto bridged = model.bridge(chat, bridge);
    REQUIRE_FALSE(bridged.ok());
    return bridged.error();
  };
  CHECK(refused([](Bridge& b) { b.prompt_ids[0] = -1; }).source == "prompt_ids[0]");
  CHECK(refused([](Bridge& b) { b.completion_ids.push_back(99999); }).code == ErrorCode::kTokenizer);
  CHECK(refused([](Bridge& b) { b.completion_ids = {3, 99999}; }).source == "completion_ids[1]");
  CHECK(refused([](Bridge& b) { b.new_messages = ""; }).message == "the field `new_messages` is missing");
  CHECK(refused([](Bridge& b) { b.new_messages = "null"; }).message == "the field `new_messages` is missing");
  CHECK(refused([](Bridge& b) { b.new_messages = "["; }).code == ErrorCode::kJson);
  CHECK(refused([](Bridge& b) { b.new_messages = "{}"; }).message ==
        "new_messages must be an array of objects, found an object");
  CHECK(refused([](Bridge& b) { b.new_messages = R"([{"role": "assistant", "content": "x"}])"; }).code ==
        ErrorCode::kInvalidArgument);
}

TEST_CASE("bridge: roles are left to the template") {
  const Model model = testing::model_with("{% for m in messages %}<{{ m.content }}>{% endfor %}");
  Bridge bridge;
  bridge.prompt_ids = tokens(model, "<Hi>");
  bridge.new_messages = R"([{"content": "no role"}])";
  const auto bridged = model.bridge(user_chat(), bridge);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  CHECK(model.detokenize(bridged.value().ids).value().ends_with("<no role>"));
}

TEST_CASE("bridge: what the template would change is told, or refused") {
  const Model model = testing::model_with(kForgetful);
  const Chat chat = user_chat();
  Bridge bridge;
  bridge.prompt_ids = model.encode(chat).value().ids;
  bridge.completion_ids = tokens(model, "(*mull hm mull*) Yo ~fin~");
  bridge.new_messages = R"([{"role": "user", "content": "Ok"}])";
  const auto told = model.bridge(chat, bridge);
  REQUIRE_MESSAGE(told.ok(), told.error().to_string());
  REQUIRE_FALSE(told.value().lossy.empty());
  bridge.allow_lossy = false;
  const auto refused = model.bridge(chat, bridge);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kCannotBridge);
  CHECK(refused.error().message == told.value().lossy.front());
}

TEST_CASE("what the model wrote, as text and as ids") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  chat.tools = testing::kTools;
  const std::string text = "(*mull hm mull*)yes{!do add with {\"a\": 1} do!}{!do sub with {} do!}~fin~";
  const auto from_text = model.parse(chat, text);
  const auto from_ids = model.parse(chat, tokens(model, text));
  for (const auto& said : {from_text, from_ids}) {
    REQUIRE_MESSAGE(said.ok(), said.error().to_string());
    CHECK(said.value().content == "yes");
    CHECK(said.value().reasoning == "hm");
    CHECK(said.value().complete);
    REQUIRE(said.value().tool_calls.size() == 2);
    CHECK(said.value().tool_calls[0].name == "add");
    CHECK(said.value().tool_calls[0].arguments == "{\"a\": 1}");
    CHECK(said.value().tool_calls[0].status == "ok");
    CHECK(said.value().tool_calls[0].id == std::nullopt);
    CHECK(said.value().tool_calls[1].status == "unknown_tool");
  }
  const auto plain = model.parse(user_chat(), "Just text");
  CHECK(plain.value().content == "Just text");
  CHECK(plain.value().reasoning == std::nullopt);
}

TEST_CASE("markers spelled by ordinary tokens are text, unless it is text that is parsed") {
  const Model model = tiny_model();
  Ids spelled;
  for (const char byte : std::string("~fin~")) spelled.push_back(tokens(model, std::string(1, byte)).front());
  CHECK(model.parse(user_chat(), spelled).value().content == "~fin~");
  CHECK(model.parse(user_chat(), std::string("a~fin~b")).value().content == "a");
  CHECK(model.parse(user_chat(), Ids{3, -1}).error().source == "ids[1]");
}

TEST_CASE("messages are shaped as a prompt of them would have them") {
  Chat chat;
  chat.messages = R"([{"role": "assistant", "content": null, "tool_calls": [
    {"type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}])";
  const auto shaped = tiny_model().shape(chat);
  REQUIRE(shaped.ok());
  CHECK(shaped.value().messages.find(R"("arguments":{"x":1})") != std::string::npos);
  CHECK(shaped.value().tools == chat.tools);
  CHECK_FALSE(shaped.value().shaped.empty());
  Chat again;
  again.messages = shaped.value().messages;
  CHECK(tiny_model().shape(again).value().messages == again.messages);
  CHECK(tiny_model().render(again).value() == tiny_model().render(chat).value());
  chat.messages = "{";
  CHECK(tiny_model().shape(chat).error().code == ErrorCode::kJson);
}

TEST_CASE("what is open behind the prompt of a chat is what its render ends with") {
  const Model model = testing::model_with(kThinking);
  Chat chat = user_chat();
  CHECK(model.parse(chat, std::string("hm mull*)yes~fin~")).value().reasoning == "hm");
  CHECK(model.parse(chat, std::string("hm mull*)yes~fin~")).value().content == "yes");
  chat.add_generation_prompt = false;
  CHECK(model.parse(chat, std::string("yes~fin~")).value().content == "yes");
  CHECK(model.parse(chat, std::string("yes~fin~")).value().reasoning == std::nullopt);
  chat.messages = "";  // a plain user message represents them
  chat.add_generation_prompt = true;
  CHECK(model.parse(chat, std::string("hm")).value().reasoning == "hm");
  chat.messages = "7";
  CHECK_FALSE(model.parse(chat, std::string("hm")).ok());
  CHECK_FALSE(model.parse(chat, Ids{}).ok());
}

TEST_CASE("texts and ids") {
  const Model model = tiny_model();
  const Ids fin = tokens(model, "~fin~");
  REQUIRE(fin.size() == 1);
  CHECK(model.stop_ids().value() == fin);
  CHECK(model.detokenize(fin).value() == "~fin~");
  CHECK(tokens(model, "").empty());
  CHECK(model.detokenize({}).value().empty());
  for (const char* text : {"hello", "é€😀", "a\nb\t[[~fin~"})
    CHECK(model.detokenize(tokens(model, text)).value() == text);
  CHECK(model.detokenize({0, -1}).error().code == ErrorCode::kTokenizer);
  CHECK(model.detokenize({99999}).error().source == "ids[0]");
}

TEST_CASE("what is no UTF-8 is detokenized with U+FFFD") {
  const Model model = tiny_model();
  Ids cut = tokens(model, "€");
  REQUIRE(cut.size() == 3);
  cut.pop_back();
  CHECK(model.detokenize(cut).value() == "\uFFFD");
  cut.push_back(tokens(model, "x").front());
  CHECK(model.detokenize(cut).value() == "\uFFFDx");
}

TEST_CASE("of a chat, check looks at the variables and the time alone") {
  const Model model = tiny_model();
  Chat chat;
  chat.messages = chat.tools = chat.documents = "no JSON";
  const auto checked = model.check(chat);
  REQUIRE_MESSAGE(checked.ok(), checked.error().to_string());
  CHECK(checked.value().json == model.check().value().json);
  const std::string file = std::string(kFolder) + "/chat_template.jinja";
  CHECK(json::parse(checked.value().json).value().find_string("template_file") == file);
  chat.now = "noon";
  CHECK(model.check(chat).error().code == ErrorCode::kInvalidArgument);
  chat.now.clear();
  chat.kwargs = "{";
  CHECK(model.check(chat).error().source == "kwargs");
}

}  // namespace
}  // namespace rondo
