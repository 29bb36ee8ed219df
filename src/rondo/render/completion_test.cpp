#include "render/completion.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"
#include "render/bridge.h"
#include "render/turn.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// Each block of a turn has a header; one token closes reasoning and ends a turn of text.
const char* const kTemplate =
    "{% for m in messages %}"
    "{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content %}{{ '[assistant]~muse~' + m.reasoning_content + '~done~' }}{% endif %}"
    "{% if m.tool_calls %}{{ '[assistant]~do~' }}{% for c in m.tool_calls %}"
    "{{ c.function.name + '~with~' + (c.function.arguments | tojson) }}{% endfor %}{{ '~called~' }}"
    "{% else %}{{ '[assistant]~say~' + m.content + '~done~' }}{% endif %}"
    "{% elif m.role == 'tool' %}{{ '[tool]' }}"
    "{% for other in messages %}{% for c in other.tool_calls or [] %}"
    "{% if c.id == m.tool_call_id %}{{ c.function.name }}{% endif %}{% endfor %}{% endfor %}"
    "{{ ': ' + m.content + '~done~' }}"
    "{% else %}{{ '[' + m.role + ']' + m.content + '~done~' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

std::shared_ptr<const format::Format> block_format() {
  auto format = std::make_shared<format::Format>();
  format->header = "[assistant]";
  format->generation_prompts = {{"default", "[assistant]"}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "~muse~", "~done~", false};
  format->content.open = "~say~";
  format->calls.present = true;
  format->calls.section_open = "~do~";
  using Kind = format::CallPiece::Kind;
  format->calls.pieces = {{Kind::kName, ""}, {Kind::kLiteral, "~with~"}, {Kind::kArguments, ""}};
  format->stops.content = {"~done~"};
  format->stops.tool = {"~called~"};
  return format;
}

struct Fixture {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      test::byte_tokenizer({"[assistant]", "~muse~", "~done~", "~say~", "~do~", "~with~", "~called~"}, "~done~");
  std::shared_ptr<const jinja::Template> chat_template = jinja::Template::compile(kTemplate, {}, "test").value();
  chat::Conversation base;
  tmpl::ApplyOptions options;
  TurnContext context{*chat_template, *tokenizer, base, options};
  TurnProfile profile = probe_turns(context);
  CompletionReader reader{block_format(), *tokenizer, std::nullopt};
  json::Array history = json::parse(R"([{"role": "user", "content": "Hi"}])").value().as_array();
  std::vector<TokenId> prompt = ids("[user]Hi~done~[assistant]");

  [[nodiscard]] std::vector<TokenId> ids(std::string_view text) const { return tokenizer->encode_ids(text, {}); }

  [[nodiscard]] ParsedCompletion read(std::string_view completion) const {
    auto said = reader.read(profile, prompt, ids(completion));
    if (!said.ok()) FAIL(said.error().to_string());
    return said.value();
  }

  // What a bridge appends after the completion.
  [[nodiscard]] std::string appended(std::string_view completion, const char* new_messages) const {
    const ParsedCompletion said = read(completion);
    const std::vector<TokenId> sampled = ids(completion);
    BridgeRequest request{.prompt_ids = prompt, .completion_ids = sampled, .completion = &said};
    request.messages = history;
    request.new_messages = json::parse(new_messages).value().as_array();
    const auto out = append_turn(context, profile, request);
    return out.ok() ? out.value().text : out.error().message;
  }
};

TEST_CASE_FIXTURE(Fixture, "a stop token that closes reasoning does not end the turn") {
  const ParsedCompletion text = read("~muse~Hm~done~[assistant]~say~Yes~done~");
  CHECK(text.message.reasoning == "Hm");
  CHECK(text.message.content == "Yes");
  CHECK(text.message.complete);
  CHECK(text.stops_from == 4);
  REQUIRE(text.reasoning.has_value());
  CHECK(text.reasoning->begin == 0);
  CHECK(text.reasoning->inner_begin == 1);
  CHECK(text.reasoning->inner_end == 3);
  CHECK(text.reasoning->end == 4);

  const ParsedCompletion call = read("~muse~Hm~done~[assistant]~do~add~with~{\"a\": 1}~called~");
  REQUIRE(call.message.tool_calls.size() == 1);
  CHECK(call.message.tool_calls[0].name == "add");
  CHECK(call.closing_text.empty());
}

TEST_CASE_FIXTURE(Fixture, "bug: a token at which a turn with calls ends was no stop, if no probe showed it") {
  const TokenId result = ids("~with~").front();
  CHECK_FALSE(probe_turns(context, *block_format()).is_stop(result));
  format::Format format = *block_format();
  format.stops.tool.emplace_back("~with~");
  CHECK(probe_turns(context, format).is_stop(result));
}

TEST_CASE_FIXTURE(Fixture, "outside of reasoning the same token ends the turn") {
  const ParsedCompletion said = read("~say~Yes~done~[assistant]~say~No~done~");
  CHECK(said.message.content == "Yes");
  CHECK(said.stops_from == 0);
}

TEST_CASE_FIXTURE(Fixture, "where the engine stops at the close of reasoning, the reasoning is closed") {
  const ParsedCompletion said = read("~muse~Hm~done~");
  CHECK(said.message.reasoning == "Hm");
  CHECK(said.message.complete);
  CHECK(said.closing_text.empty());
}

TEST_CASE_FIXTURE(Fixture, "a quote that opens a string closes none") {
  CHECK(read("~do~add~with~{\"a\": \"").closing_text.starts_with("\"}"));
  CHECK(read("~do~add~with~{\"").closing_text.starts_with("\":null}"));
}

TEST_CASE_FIXTURE(Fixture, "a bridge behind reasoning, with that token or without, knows the calls") {
  const char* const result = R"([{"role": "tool", "tool_call_id": "abcdef000", "content": "3"}])";
  const std::string sampled = "~muse~Hm~done~[assistant]~do~add~with~{\"a\": 1}";
  CHECK(appended(sampled + "~called~", result) == "[tool]add: 3~done~[assistant]");
  CHECK(appended(sampled, result) == "~called~[tool]add: 3~done~[assistant]");
  CHECK(appended("~muse~Hm~done~[assistant]~say~Yes", R"([{"role": "user", "content": "Go"}])") ==
        "~done~[user]Go~done~[assistant]");
}

TEST_CASE_FIXTURE(Fixture, "what closes calls that nobody answered is written behind any arguments") {
  const char* const unanswered =
      "{% for m in messages %}[{{ m.role }}]{% if m.tool_calls %}~do~{% for c in m.tool_calls %}{{ c.function.name "
      "}}~with~"
      "{% for k, v in c.function.arguments.items() %}{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %};"
      "{% endfor %}~called~{% endfor %}{% if loop.nextitem is defined and loop.nextitem.role != 'tool' %}~muse~{% "
      "endif %}"
      "{% else %}{{ m.content }}~done~{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
  chat_template = jinja::Template::compile(unanswered, {}, "test").value();
  const std::vector<std::string> marks = {"~do~", "~with~", "~called~", "~muse~"};
  tokenizer = test::byte_tokenizer({"[assistant]", "~muse~", "~done~", "~do~", "~with~", "~called~"}, "~done~", marks);
  const TurnContext other{*chat_template, *tokenizer, base, options};
  const TurnProfile ends = probe_turns(other);
  const std::vector<TokenId> before = ids("[user]Hi~done~[assistant]");
  const std::vector<TokenId> completion = ids("~do~add~with~n=1;~called~");
  ParsedCompletion said;
  said.message.tool_calls = {{std::nullopt, "add", R"({"n": 1})", chat::CallStatus::kOk, {}, 0, 0}};
  BridgeRequest request{.prompt_ids = before, .completion_ids = completion, .completion = &said};
  request.messages = history;
  request.new_messages = json::parse(R"([{"role": "user", "content": "Go"}])").value().as_array();
  const auto out = append_turn(other, ends, request);
  REQUIRE(out.ok());
  CHECK(out.value().text == "~muse~[user]Go~done~[assistant]");
}

TEST_CASE_FIXTURE(Fixture, "white space is content where the template shows it") {
  CHECK(appended("~muse~Hm~done~[assistant]~say~  ~done~", R"([{"role": "user", "content": "Go"}])") ==
        "[user]Go~done~[assistant]");
}

TEST_CASE("a model stops with what ends a conversation, not with what history has in its place") {
  const auto tokenizer = test::byte_tokenizer({"~fin~", "~last~"}, "");
  const auto chat_template = jinja::Template::compile(
                                 "{% for m in messages %}[{{ m.role }}]{{ m.content }}"
                                 "{{ '~last~' if loop.last and m.role == 'assistant' else '~fin~' }}{% endfor %}"
                                 "{% if add_generation_prompt %}[assistant]{% endif %}",
                                 {}, "test")
                                 .value();
  const chat::Conversation base;
  const tmpl::ApplyOptions options;
  const TurnContext context{*chat_template, *tokenizer, base, options};
  const TurnProfile profile = probe_turns(context);
  CHECK(profile.is_stop(tokenizer->encode_ids("~last~", {}).front()));
  CHECK_FALSE(profile.is_stop(tokenizer->encode_ids("~fin~", {}).front()));
  const json::Array messages = {json::Object{{"role", "user"}, {"content", "Hi"}},
                                json::Object{{"role", "assistant"}, {"content", "Yo"}},
                                json::Object{{"role", "user"}, {"content", "So"}}};
  CHECK(tail_alone(context, messages, 1) == "~last~");
}

TEST_CASE_FIXTURE(Fixture, "what the template writes in front of a stop is no content") {
  const auto content = [&](const std::string& close, const std::string& stop, const std::string& text = "Yes\n") {
    auto format = std::make_shared<format::Format>();
    format->header = "[assistant]";
    format->generation_prompts = {{"default", "[assistant]"}};
    if (!close.empty()) format->content = {"~say~", close};
    format->stops.content = {stop};
    const CompletionReader plain(format, *tokenizer, std::nullopt);
    const auto said = plain.read(profile, prompt, ids((close.empty() ? "" : "~say~") + text + "~done~"));
    REQUIRE(said.ok());
    return said.value().message.content;
  };
  CHECK(content("", "~done~") == "Yes\n");
  CHECK(content("", "\n~done~") == "Yes");
  CHECK(content("\n~done~", "~called~") == "Yes");
  CHECK(content("\"~done~", "~called~", "Yes\"") == "Yes");  // bug: the quote was content
  CHECK(content("\"~done~", "~called~", "Yes") == "Yes");
}

TEST_CASE_FIXTURE(Fixture, "of a turn that is closed by the same token twice, what was not sampled is appended") {
  const char* const twice =
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n~done~\n{% if m.role == 'assistant' %}~done~{% endif %}"
      "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
  chat_template = jinja::Template::compile(twice, {}, "test").value();
  const TurnContext other{*chat_template, *tokenizer, base, options};
  const TurnProfile twice_closed = probe_turns(other);
  const auto format = std::make_shared<format::Format>();
  const CompletionReader plain(format, *tokenizer, std::nullopt);
  const std::vector<TokenId> before = ids("[user]Hi\n~done~\n[assistant]");
  for (const auto& [sampled, wanted] : {std::pair{"Yes", "\n~done~\n~done~"}, std::pair{"Yes\n~done~", "\n~done~"},
                                        std::pair{"Yes\n~done~\n", "~done~"}, std::pair{"Yes\n~done~\n~done~", ""}}) {
    const std::vector<TokenId> completion = ids(sampled);
    const auto said = plain.read(twice_closed, before, completion);
    REQUIRE(said.ok());
    BridgeRequest request{.prompt_ids = before, .completion_ids = completion, .completion = &said.value()};
    request.messages = history;
    request.new_messages = json::parse(R"([{"role": "user", "content": "Go"}])").value().as_array();
    const auto out = append_turn(other, twice_closed, request);
    REQUIRE(out.ok());
    CHECK(out.value().text == wanted + std::string("[user]Go\n~done~\n[assistant]"));
    CHECK(out.value().lossy.empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "bug: the turn's end was written twice where it also closes the answer") {
  const char* const marked =
      "{% for m in messages %}{{ '~say~' if m.role == 'assistant' else '[' ~ m.role ~ ']' }}{{ m.content }}~done~{{ "
      "'\\n' }}{% endfor %}";
  chat_template = jinja::Template::compile(marked, {}, "test").value();
  const TurnContext other{*chat_template, *tokenizer, base, options};
  const TurnProfile profile_of_marked = probe_turns(other);
  const auto format = std::make_shared<format::Format>();
  format->content = {"~say~", "~done~\n"};
  format->stops.content = {"~done~"};
  const CompletionReader plain(format, *tokenizer, std::nullopt);
  const std::vector<TokenId> before = ids("[user]Hi~done~\n");
  const std::vector<TokenId> completion = ids("~say~Yes");
  const auto said = plain.read(profile_of_marked, before, completion);
  REQUIRE(said.ok());
  BridgeRequest request{.prompt_ids = before, .completion_ids = completion, .completion = &said.value()};
  request.messages = history;
  request.new_messages = json::parse(R"([{"role": "user", "content": "Go"}])").value().as_array();
  const auto out = append_turn(other, profile_of_marked, request);
  REQUIRE(out.ok());
  CHECK(out.value().text == "~done~\n[user]Go~done~\n");
}

TEST_CASE_FIXTURE(Fixture, "bug: what closes arguments was written behind a call that has none and closes itself") {
  const char* const slashed =
      "{% for m in messages %}[{{ m.role }}]{% for c in m.tool_calls or [] %}<call f=\"{{ c.function.name }}\""
      "{% if c.function.arguments %}>{% for k, v in c.function.arguments.items() %}<a k=\"{{ k }}\">{{ v }}</a>"
      "{% endfor %}</call>{% else %}/>{% endif %}{% endfor %}{{ m.content }}[end]{% endfor %}"
      "{% if add_generation_prompt %}[assistant]{% endif %}";
  chat_template = jinja::Template::compile(slashed, {}, "test").value();
  tokenizer = test::byte_tokenizer({"[other]"}, "");
  const TurnContext other{*chat_template, *tokenizer, base, options};
  const TurnProfile ends = probe_turns(other);
  using Kind = format::CallPiece::Kind;
  const auto format = std::make_shared<format::Format>();
  format->calls.present = format->calls.omits_arguments = true;
  format->calls.call_open = "<call f=\"";
  format->calls.call_close = "</call>";
  format->calls.bare_close = "\"/>";
  format->calls.pieces = {{Kind::kName, ""}, {Kind::kLiteral, "\">"}, {Kind::kArguments, ""}};
  format->calls.arguments = format::ArgumentStyle::kParameters;
  format->calls.parameters.open = "<a k=\"";
  format->calls.parameters.key_close = "\">";
  format->calls.parameters.close = "</a>";
  format->calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", "", {}}};
  format->stops.content = format->stops.tool = {"[end]"};
  const CompletionReader slash(format, *tokenizer, std::nullopt);
  const std::vector<TokenId> before = ids("[user]Hi[end][assistant]");
  const auto behind = [&](std::string_view text) {
    const std::vector<TokenId> completion = ids(text);
    const auto said = slash.read(ends, before, completion);
    REQUIRE(said.ok());
    BridgeRequest request{.prompt_ids = before, .completion_ids = completion, .completion = &said.value()};
    request.messages = history;
    request.new_messages = json::parse(R"([{"role": "tool", "content": "r"}])").value().as_array();
    const auto out = append_turn(other, ends, request);
    return out.ok() ? out.value().text : out.error().message;
  };
  CHECK(behind("<call f=\"now\"/>") == "[end][tool]r[end][assistant]");
  CHECK(behind("<call f=\"now\"/>[end]") == "[tool]r[end][assistant]");
  CHECK(behind("<call f=\"add\"><a k=\"n\">1</a></call>") == "[end][tool]r[end][assistant]");
  // What begins behind a whole call is text, and what closes the call is not written behind that.
  CHECK(behind("<call f=\"add\"><a k=\"n\">1</a></call><c") == "[end][tool]r[end][assistant]");
  // bug: what closes a call was written again behind white space after it
  for (const char* space : {"\n", "\n\n", " "})
    CHECK(behind("<call f=\"add\"><a k=\"n\">1</a></call>" + std::string(space)) == "[end][tool]r[end][assistant]");
}

TEST_CASE_FIXTURE(Fixture, "a call whose name breaks off is closed, but needs no result") {
  const ParsedCompletion said = read("~do~fi");
  CHECK(said.message.tool_calls.empty());
  CHECK(said.closing_text == "~with~{}");
  CHECK(said.cut_name == "fi");
  CHECK(read("~do~find~with~{").cut_name == "");
  CHECK(read("~say~Hi").cut_name == "");
}

// The bytes, a stop token, and one token for `><`.
std::shared_ptr<const tokenizer::Tokenizer> merging_tokenizer() {
  json::Value source = test::byte_tokenizer_json({"~done~"});
  json::Object& model = source.as_object().find("model")->as_object();
  model.find("vocab")->as_object().set("><", 257);
  model.find("merges")->as_array().emplace_back("> <");
  model::TokenizerSource files;
  files.path = "merging tokenizer";
  files.tokenizer_json = std::make_shared<const std::string>(json::to_compact(source));
  auto loaded = tokenizer::Tokenizer::load(files);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  return std::move(loaded).value();
}

TEST_CASE_FIXTURE(Fixture,
                  "bug: text behind the stop token was refused where its last id differs from the template's") {
  tokenizer = merging_tokenizer();
  const char* const tailed =
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}~done~(end>{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}";
  chat_template = jinja::Template::compile(tailed, {}, "test").value();
  const TurnContext other{*chat_template, *tokenizer, base, options};
  const TurnProfile tail_profile = probe_turns(other);
  const auto format = std::make_shared<format::Format>();
  const CompletionReader plain(format, *tokenizer, std::nullopt);
  const std::vector<TokenId> before = ids("<user>Hi~done~(end><assistant>");
  for (const auto& [sampled, wanted] :
       {std::pair{"Yes~done~", "(end>"}, std::pair{"Yes~done~(e", "nd>"}, std::pair{"Yes~done~(end>", ""}}) {
    const std::vector<TokenId> completion = ids(sampled);
    const auto said = plain.read(tail_profile, before, completion);
    REQUIRE(said.ok());
    BridgeRequest request{.prompt_ids = before, .completion_ids = completion, .completion = &said.value()};
    request.messages = history;
    request.new_messages = json::parse(R"([{"role": "user", "content": "Go"}])").value().as_array();
    const auto out = append_turn(other, tail_profile, request);
    REQUIRE_MESSAGE(out.ok(), out.error().to_string());
    CHECK(out.value().text == wanted + std::string("<user>Go~done~(end><assistant>"));
    CHECK(out.value().lossy.empty());
  }
}

}  // namespace
}  // namespace rondo::render
