// A template whose markers nobody has seen goes through render, encode, stop, parse and bridge: nothing in the code may
// know markers.
#include <doctest/doctest.h>

#include "json/parse.h"
#include "render/bridge.h"
#include "render/join.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo {
namespace {

constexpr const char* kTemplate = R"JINJA(
{%- for m in messages %}
{%- if m.role == 'tool' %}
{{- '[[answer>>' + m.content + '<<answer]]~fin~' }}
{%- else %}
{{- '[[' + m.role + '>>' }}
{%- if m.reasoning_content %}
{{- '(*mull ' + m.reasoning_content + ' mull*)' }}
{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '[[assistant>>' }}
{%- endif %}
)JINJA";

struct Fixture {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      test::byte_tokenizer({"~fin~", "{!do ", " do!}", "(*mull ", " mull*)"}, "");
  std::shared_ptr<const jinja::Template> chat_template;
  chat::Conversation base;
  tmpl::ApplyOptions options;

  Fixture() {
    auto compiled = jinja::Template::compile(kTemplate, {}, "invented");
    REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
    chat_template = compiled.value();
  }

  render::TurnContext context() const { return {*chat_template, *tokenizer, base, options}; }

  static json::Array messages(const char* text) {
    auto parsed = json::parse(text);
    REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
    return parsed.value().as_array();
  }

  std::vector<tokenizer::TokenId> ids(const json::Array& history, bool add_generation_prompt) const {
    chat::Conversation conversation = base;
    conversation.messages = history;
    conversation.add_generation_prompt = add_generation_prompt;
    auto encoded = render::encode(*chat_template, *tokenizer, conversation, options, render::ContentSpecials::kText);
    REQUIRE_MESSAGE(encoded.ok(), encoded.error().to_string());
    return encoded.value().ids;
  }

  std::string decode(std::span<const tokenizer::TokenId> ids) const { return tokenizer->decode(ids, {}).value(); }
};

TEST_CASE_FIXTURE(Fixture, "004:222-234: the stop token of an invented template is found") {
  const render::TurnProfile profile = render::probe_turns(context());
  CHECK(profile.stop_ids == std::vector<tokenizer::TokenId>{*tokenizer->find("~fin~")});
  CHECK(profile.stop_strings.empty());
}

TEST_CASE_FIXTURE(Fixture, "user text never becomes a control token of an invented template") {
  chat::Conversation conversation = base;
  conversation.messages = messages(R"([{"role": "user", "content": "a~fin~b"}])");
  auto encoded = render::encode(*chat_template, *tokenizer, conversation, options, render::ContentSpecials::kText);
  REQUIRE(encoded.ok());
  const auto fin = *tokenizer->find("~fin~");
  CHECK(std::count(encoded.value().ids.begin(), encoded.value().ids.end(), fin) == 1);
  CHECK(encoded.value().ids.back() == fin);
  auto parsed = render::encode(*chat_template, *tokenizer, conversation, options, render::ContentSpecials::kParse);
  CHECK(std::count(parsed.value().ids.begin(), parsed.value().ids.end(), fin) == 2);
}

TEST_CASE_FIXTURE(Fixture, "masks of an invented template: owners, content, sampled") {
  chat::Conversation conversation = base;
  conversation.messages = messages(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}])");
  auto encoded = render::encode(*chat_template, *tokenizer, conversation, options, render::ContentSpecials::kText);
  REQUIRE(encoded.ok());
  const render::Encoded& e = encoded.value();
  REQUIRE(e.text == "[[user>>Hi~fin~[[assistant>>Yo~fin~");
  std::string owners;
  std::string content;
  std::string sampled;
  for (std::size_t i = 0; i < e.ids.size(); ++i) {
    owners += e.message_indices[i] < 0 ? '-' : static_cast<char>('0' + e.message_indices[i]);
    content += e.content_mask[i] != 0 ? '1' : '.';
    sampled += e.sampled_mask[i] != 0 ? '1' : '.';
  }
  CHECK(owners ==
        "00000000"
        "00"
        "0"
        "1111111111111"
        "11"
        "1");
  CHECK(content ==
        "........"
        "11"
        "."
        "............."
        "11"
        ".");
  CHECK(sampled ==
        "........"
        ".."
        "."
        "............."
        "11"
        "1");
}

TEST_CASE_FIXTURE(Fixture, "000:224, 000:255-256: the bridge of an invented template equals the re-render") {
  const json::Array history = messages(R"([{"role": "user", "content": "Add 1"}])");
  const auto prompt = ids(history, true);
  const auto completion = tokenizer->encode_ids(R"(Well{!do add with {"a": 1} do!}~fin~)", {});
  render::ParsedCompletion parsed;
  parsed.message.content = "Well";
  chat::ToolCall call;
  call.name = "add";
  call.arguments = R"({"a": 1})";
  parsed.message.tool_calls.push_back(call);
  parsed.message.complete = true;
  render::BridgeRequest request;
  request.prompt_ids = prompt;
  request.completion_ids = completion;
  request.completion = &parsed;
  request.messages = history;
  request.new_messages = messages(R"([{"role": "tool", "content": "2 ~fin~"}, {"role": "user", "content": "Thanks"}])");
  auto bridged = render::bridge(context(), render::probe_turns(context()), request);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  CHECK(bridged.value().lossy.empty());
  CHECK(bridged.value().appended_text == "[[answer>>2 ~fin~<<answer]]~fin~[[user>>Thanks~fin~[[assistant>>");

  json::Array all = history;
  all.push_back(render::history_message(parsed, request.new_messages));
  all.insert(all.end(), request.new_messages.begin(), request.new_messages.end());
  CHECK(bridged.value().ids == ids(all, true));
  CHECK(bridged.value().message_indices.back() == -1);
  CHECK(bridged.value().message_indices[prompt.size() + completion.size()] == 0);
}

TEST_CASE_FIXTURE(Fixture, "a cut-off completion is closed with the template's own closers") {
  const json::Array history = messages(R"([{"role": "user", "content": "Hi"}])");
  const auto prompt = ids(history, true);
  const auto completion = tokenizer->encode_ids("(*mull long th", {});
  render::ParsedCompletion parsed;
  parsed.message.reasoning = "long th";
  parsed.closing_text = " mull*)";
  render::BridgeRequest request;
  request.prompt_ids = prompt;
  request.completion_ids = completion;
  request.completion = &parsed;
  request.messages = history;
  request.new_messages = messages(R"([{"role": "user", "content": "Go on"}])");
  auto bridged = render::bridge(context(), render::probe_turns(context()), request);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  CHECK(bridged.value().appended_text == " mull*)~fin~[[user>>Go on~fin~[[assistant>>");
  CHECK(bridged.value().notes.size() == 2);
  const auto& out = bridged.value().ids;
  CHECK(std::equal(prompt.begin(), prompt.end(), out.begin()));
  CHECK(std::equal(completion.begin(), completion.end(), out.begin() + static_cast<std::ptrdiff_t>(prompt.size())));
}

TEST_CASE_FIXTURE(Fixture, "white space that is written in front of the stop is no content") {
  auto format = std::make_shared<format::Format>();
  format->header = "[[assistant>>";
  format->stops.content = {" ~fin~"};
  const auto prompt = ids(messages(R"([{"role": "user", "content": "Hi"}])"), true);
  const render::TurnProfile profile = render::probe_turns(context());
  const auto read = [&](const std::string& text) {
    const auto sampled = render::encode_behind(*tokenizer, prompt, text, nullptr);
    std::vector<tokenizer::TokenId> completion;
    for (const tokenizer::Piece& piece : sampled) completion.push_back(piece.id);
    return render::interpret(format, *tokenizer, profile, {}, prompt, completion).value();
  };
  CHECK(read("Fine. ~fin~").message.content == "Fine.");
  CHECK(read("Fine. ~fin~").raw == "Fine. ");
  CHECK(read("Fine.~fin~").message.content == "Fine.");
  CHECK(read("Fine. ").message.content == "Fine. ");
}

}  // namespace
}  // namespace rondo
