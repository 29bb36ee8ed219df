#include "core/model.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "core/stream.h"
#include "tests/support/core_models.h"
#include "tests/support/own_folder.h"

namespace rondo::core {
namespace {

using testing::call_of;
using testing::kFolder;
using testing::made;
using testing::memory_model;
using testing::user_call;

const std::string kTemplateFile = std::string(kFolder) + "/chat_template.jinja";
const std::string kTokenizerFile = std::string(kFolder) + "/tokenizer.json";

using Ids = std::vector<TokenId>;

// --- Loading -------------------------------------------------------------------------------------------------------

// "template tokenizer" of what `source` gives, or the error's message.
std::string parts_of(const Source& source) {
  const auto model = Model::load(source);
  if (!model.ok()) return model.error().message;
  return (model.value()->template_text(false).empty() ? "- " : "template ") +
         std::string(model.value()->tokenizer() == nullptr ? "-" : "tokenizer");
}

TEST_CASE("004:194-207: a model comes from a folder, or from parts of one") {
  CHECK(parts_of({.path = kFolder}) == "template tokenizer");
  CHECK(parts_of({.path = kTokenizerFile}) == "- tokenizer");
  CHECK(parts_of({.path = kTemplateFile}) == "template -");
  CHECK(parts_of({.path = kTemplateFile, .tokenizer = kFolder}) == "template tokenizer");
  CHECK(parts_of({.path = kTokenizerFile, .chat_template = kTemplateFile}) == "template tokenizer");
  CHECK(parts_of({.path = "", .chat_template = kTemplateFile, .tokenizer = kTokenizerFile}) == "template tokenizer");
  CHECK(parts_of({.path = "/no/such"}) == "there is no such file or folder");
  CHECK(parts_of({.path = kFolder, .chat_template = "/no/such"}).find("/no/such") == std::string::npos);
  CHECK(Model::load({.path = kFolder, .chat_template = "/no/such"}).error().code == ErrorCode::kNotFound);
  CHECK(Model::load({.path = kFolder, .tokenizer = "/no/such"}).error().code == ErrorCode::kNotFound);
  CHECK(Model::load({.path = kTemplateFile, .tokenizer = kTemplateFile}).error().code == ErrorCode::kTokenizer);
}

TEST_CASE("004:164-177: a template is given as a path or as its text") {
  const auto text_of = [](const char* given) {
    return made(Model::load({.path = kFolder, .chat_template = given}))->template_text(false);
  };
  CHECK(text_of("{{ messages }}") == "{{ messages }}");
  CHECK(text_of("{% set x = 1 %}") == "{% set x = 1 %}");
  CHECK(text_of("plain text\nof two lines") == "plain text\nof two lines");
  CHECK(text_of(kTemplateFile.c_str()) + "\n" == files::read(kTemplateFile).value());
  CHECK(Model::load({.path = kFolder, .chat_template = "{{ broken"}).error().code == ErrorCode::kTemplateSyntax);
}

TEST_CASE("a folder may lack one of the two, but nothing in it may be damaged") {
  const rondo::testing::OwnFolder folder;
  const std::string chat_template = folder.file("chat_template.jinja", files::read(kTemplateFile).value());
  CHECK(parts_of({.path = folder.path()}) == "template -");
  folder.file("tokenizer.json", "{");
  CHECK(Model::load({.path = folder.path()}).error().code == ErrorCode::kTokenizer);
  std::filesystem::remove(chat_template);
  folder.file("tokenizer.json", files::read(kTokenizerFile).value());
  CHECK(parts_of({.path = folder.path()}) == "- tokenizer");
}

TEST_CASE("a model that lacks something says so where it is needed") {
  const auto without_template = made(Model::load({.path = kTokenizerFile}));
  Call call = user_call();
  const auto rendered = without_template->render(call);
  REQUIRE_FALSE(rendered.ok());
  CHECK(rendered.error().code == ErrorCode::kUnsupported);
  CHECK(rendered.error().message == "the model brings no chat template; give one as `template`");
  CHECK(rendered.error().source == kTokenizerFile);
  CHECK(without_template->tokenize("[[", true).value().size() == 1);
  CHECK(without_template->template_text(true).empty());

  const auto without_tokenizer = made(Model::load({.path = kTemplateFile}));
  CHECK(without_tokenizer->render(call).ok());
  CHECK(without_tokenizer->format(call).ok());
  CHECK(without_tokenizer->parser(call, {}).ok());
  CHECK(without_tokenizer->tokenizer() == nullptr);
  const Ids ids = {1};
  for (const ErrorCode code :
       {without_tokenizer->encode(call).error().code, without_tokenizer->profile(call).error().code,
        without_tokenizer->rollouts(call).error().code, without_tokenizer->bridge(call, {}).error().code,
        without_tokenizer->append(call, {}).error().code, without_tokenizer->tokenize("x", true).error().code,
        without_tokenizer->detokenize(ids, false).error().code,
        without_tokenizer->parse_ids(call, {}, ids).error().code,
        without_tokenizer->parser(call, {.prompt_ids = ids}).error().code})
    CHECK(code == ErrorCode::kUnsupported);
}

TEST_CASE("004:179-190: from memory: a source's template replaces the one that is there") {
  CHECK(memory_model()->template_text(false) == testing::kTemplate);
  CHECK(memory_model()->name() == "memory");
  CHECK(memory_model({.chat_template = "{{ 1 }}"})->template_text(false) == "{{ 1 }}");
  CHECK(memory_model({.chat_template = kTemplateFile})->template_text(false).starts_with("{{- bos_token }}"));
  MemoryModel memory = testing::memory();
  memory.chat_template.reset();
  const auto bare = made(Model::from_memory(memory, {}));
  Call call = user_call();
  CHECK(bare->render(call).error().code == ErrorCode::kUnsupported);
  CHECK(Model::from_memory(memory, {.chat_template = "/no/such"}).error().code == ErrorCode::kNotFound);
  memory.tokenizer_json = "[]";
  CHECK(Model::from_memory(memory, {}).error().code == ErrorCode::kTokenizer);
}

// --- What every call begins with -------------------------------------------------------------------------------------

TEST_CASE("special tokens of the model are taken only where the conversation has none") {
  LoadedTemplate chat_template;
  chat_template.plain = jinja::Template::compile("{{ bos_token }}|{{ eos_token }}", {}, "t").value();
  chat_template.tokens.bos = "<template>";
  LoadedTokenizer tokenizer;
  tokenizer.tokenizer = test::byte_tokenizer({}, "");
  tokenizer.tokens = {"<tokenizer>", "<end>"};
  const Model model({.name = "parts",
                     .templates = std::make_shared<const LoadedTemplate>(chat_template),
                     .tokenizer = std::make_shared<const LoadedTokenizer>(tokenizer),
                     .corrections = {},
                     .strict = false});
  Call call = user_call();
  CHECK(model.render(call).value() == "<template>|<end>");
  CHECK(model.render(call).value() == "<template>|<end>");
  Call own = user_call();
  own.conversation.bos_token = "";
  own.conversation.eos_token = "<own>";
  CHECK(model.render(own).value() == "|<own>");
}

TEST_CASE("with tools, even without any, the template for tools is used") {
  MemoryModel memory = testing::memory("plain");
  memory.tool_template = "tools";
  const auto model = made(Model::from_memory(memory, {}));
  Call call = user_call();
  CHECK(model->render(call).value() == "plain");
  CHECK_FALSE(model->prepare(call, TokenizerUse::kRequired).value().is_tool_template);
  call.conversation.tools = json::Value(json::Array{});
  CHECK(model->render(call).value() == "tools");
  CHECK(model->prepare(call, TokenizerUse::kRequired).value().is_tool_template);
  CHECK(model->template_text(false) == "plain");
  CHECK(model->template_text(true) == "tools");
}

TEST_CASE("the time is the call's, and strictness the model's") {
  Call call = user_call();
  const auto clock = memory_model({.chat_template = "{{ strftime_now('%d') }}"});
  CHECK(clock->render(call).error().code == ErrorCode::kTemplateError);
  call.now = jinja::LocalTime{2026, 3, 14, 0, 0, 0};
  CHECK(clock->render(call).value() == "14");
  const char* const lenient = "{% set l = [] %}{% set _ = l.append(1) %}{{ l }}";
  CHECK(memory_model({.chat_template = lenient})->render(call).value() == "[1]");
  CHECK_FALSE(memory_model({.chat_template = lenient, .strict = true})->render(call).ok());
}

// --- What is made once -----------------------------------------------------------------------------------------------

TEST_CASE("what follows from a model is made once for the same tools and variables") {
  const auto model = memory_model();
  Call call = user_call();
  Call other_messages = call_of(R"([{"role": "system", "content": "Be"}, {"role": "user", "content": "brief"}])");
  Call tools = user_call();
  tools.conversation.tools = testing::tools();
  Call variables = user_call();
  variables.conversation.kwargs.set("x", 1);

  const auto profile = model->profile(call).value();
  CHECK(profile->stop_ids == Ids{257});
  CHECK(model->profile(call).value() == profile);
  CHECK(model->profile(other_messages).value() == profile);
  CHECK(model->profile(tools).value() != profile);
  CHECK(model->profile(variables).value() != profile);

  const auto format = model->format(call).value();
  CHECK(model->format(other_messages).value() == format);
  CHECK(model->format(tools).value() == format);  // the analysis brings tools of its own
  CHECK(model->format(variables).value() != format);

  const auto rollouts = model->rollouts(call).value();
  CHECK(model->rollouts(other_messages).value() == rollouts);
  CHECK(model->rollouts(tools).value() != rollouts);
  CHECK(model->rollouts(call, Locality::kNotProven).value() != rollouts);
  Call parsed = user_call();
  parsed.specials = render::ContentSpecials::kParse;
  CHECK(model->rollouts(parsed).value() != rollouts);
}

TEST_CASE("rollouts of a template that prints the time are those of one moment") {
  const std::string source = testing::kTemplate;
  const auto silent = memory_model();
  const auto clock = memory_model({.chat_template = "{{- strftime_now('%Y') }}" + source});
  Call now = user_call();
  now.now = jinja::LocalTime{2026, 3, 14, 15, 9, 26};
  Call later = user_call();
  later.now = jinja::LocalTime{2026, 3, 14, 15, 9, 27};
  CHECK(silent->rollouts(now).value() == silent->rollouts(later).value());
  CHECK(clock->rollouts(now).value() == clock->rollouts(later).value());  // the template shows a year
  Call next_day = now;
  next_day.now->day = 15;
  CHECK(clock->rollouts(now).value() != clock->rollouts(next_day).value());
  const auto seconds = memory_model({.chat_template = "{{- strftime_now('%S') }}" + source});
  CHECK(seconds->rollouts(now).value() == seconds->rollouts(now).value());
  CHECK(seconds->rollouts(now).value() != seconds->rollouts(later).value());
}

TEST_CASE("many threads get the same objects") {
  const auto model = memory_model();
  std::vector<const void*> seen(4);
  std::vector<std::thread> threads;
  for (const void*& out : seen) {
    threads.emplace_back([&] {
      Call call = user_call();
      const auto encoded = model->encode(call);
      const auto profile = model->profile(call);
      const auto parser = model->parser(call, {});
      if (encoded.ok() && parser.ok()) out = profile.value().get();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen.front() != nullptr);
  CHECK(std::vector<const void*>(4, seen.front()) == seen);
}

// --- Prompts ---------------------------------------------------------------------------------------------------------

TEST_CASE("000:125, 004:267-274: a prompt as text and as ids") {
  const auto model = memory_model();
  Call call = call_of(R"([{"role": "user", "content": "a~fin~"}])");
  CHECK(model->render(call).value() == "<bos>[[user>>a~fin~~fin~[[assistant>>");
  const auto encoded = model->encode(call).value();
  CHECK(encoded.text == model->render(call).value());
  CHECK(encoded.ids.front() == 256);
  CHECK(std::count(encoded.ids.begin(), encoded.ids.end(), 257) == 1);  // what a user writes is text
  call.specials = render::ContentSpecials::kParse;
  const auto parsed = model->encode(call).value();
  CHECK(std::count(parsed.ids.begin(), parsed.ids.end(), 257) == 2);
  CHECK(model->detokenize(encoded.ids, false).value() == encoded.text);
}

TEST_CASE("marks of reasoning at the begin of an assistant's content are what was sampled") {
  const auto model = memory_model();
  const auto count_of = [&](const char* messages, const char* mark, bool inline_reasoning = true) {
    Call call = call_of(messages);
    call.inline_reasoning = inline_reasoning;
    const auto encoded = model->encode(call);
    REQUIRE(encoded.ok());
    const TokenId id = model->tokenize(mark, true).value().front();
    return std::ranges::count(encoded.value().ids, id);
  };
  const char* block = R"j([{"role": "user", "content": "Hi"},
                           {"role": "assistant", "content": "(*mull so mull*)Yo (*mull not so mull*)"}])j";
  CHECK(count_of(block, "(*mull") == 1);
  CHECK(count_of(block, "mull*)") == 1);
  CHECK(count_of(block, "(*mull", false) == 0);
  // Not if it was never closed, nor in somebody else's text, nor other control tokens in the block.
  CHECK(count_of(R"j([{"role": "assistant", "content": "(*mull so"}])j", "(*mull") == 0);
  CHECK(count_of(R"j([{"role": "user", "content": "(*mull so mull*)"}])j", "(*mull") == 0);
  CHECK(count_of(R"j([{"role": "assistant", "content": "(*mull ~fin~ mull*)"}])j", "~fin~") == 1);
  CHECK(count_of(R"j([{"role": "assistant", "content": "Yo (*mull so mull*)"}])j", "(*mull") == 0);
  // Rollouts begin with the same ids.
  Call call = call_of(block);
  const auto rollouts = model->rollouts(call);
  REQUIRE(rollouts.ok());
  const auto rollout = render::Rollout::start(rollouts.value(), call.conversation.messages);
  REQUIRE(rollout.ok());
  CHECK(std::ranges::equal(rollout.value().ids(), model->encode(call).value().ids));
}

TEST_CASE("a rollout tells what of its first messages was shaped before it began") {
  const auto model = memory_model();
  Call call = call_of(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [
      {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "a", "content": "4"}])");
  Call same = call;
  const auto encoded = model->encode(same);
  REQUIRE(encoded.ok());
  CHECK_FALSE(encoded.value().shaped.empty());
  const auto started = model->start_rollout(call);
  REQUIRE(started.ok());
  CHECK(started.value().rollout.shaped() == encoded.value().shaped);
  CHECK(started.value().notes.empty());
}

TEST_CASE("a rollout tells of a first message that the template passes over") {
  constexpr const char* kUsersOnly = R"({%- for m in messages if m.role in ['user', 'assistant'] %}
{{- '[[' + m.role + '>>' + m.content + '~fin~' }}{% endfor %}{% if add_generation_prompt %}{{ '[[assistant>>' }}{% endif %})";
  const auto model = testing::made(Model::from_memory(testing::memory(kUsersOnly), {}));
  Call call = call_of(R"([{"role": "user", "content": "Hi"}, {"role": "robot", "content": "beep"}])");
  const auto started = model->start_rollout(call);
  REQUIRE(started.ok());
  CHECK(started.value().notes ==
        std::vector<std::string>{"messages[1].role: the template writes nothing for the role `robot`"});
}

TEST_CASE("ids of messages that were put in order belong to the messages as they were sent") {
  const auto model = memory_model();
  const char* history = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [
      {"id": "a", "type": "function", "function": {"name": "add", "arguments": {}}},
      {"id": "b", "type": "function", "function": {"name": "add", "arguments": {}}}]}])";
  Call call = call_of(history);
  for (const char* id : {"b", "a"})
    call.conversation.messages.push_back(json::Object{{"role", "tool"}, {"tool_call_id", id}, {"content", id}});
  const json::Array results(call.conversation.messages.begin() + 2, call.conversation.messages.end());
  const auto encoded = model->encode(call);
  REQUIRE(encoded.ok());
  CHECK(encoded.value().text.find("[[tool>>a~fin~[[tool>>b~fin~") != std::string::npos);
  CHECK(encoded.value().shaped.size() == 2);
  std::vector<std::int32_t> owners = encoded.value().message_indices;
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  CHECK(std::ranges::find(owners, 3) < std::ranges::find(owners, 2));
  for (const render::FieldSpan& field : encoded.value().fields)
    if (field.path.ends_with(".content") && field.message > 1)
      CHECK(field.path == "messages[" + std::to_string(field.message) + "].content");

  // The same after a completion.
  Call before = call_of(R"([{"role": "user", "content": "Hi"}])");
  const auto prompt = model->encode(before);
  REQUIRE(prompt.ok());
  const Ids said = model->tokenize("{!do add with {} do!}{!do add with {} do!}~fin~", true).value();
  json::Array handed_out = results;
  for (std::size_t i = 0; i < 2; ++i) handed_out[i].as_object().set("tool_call_id", "call_" + std::to_string(1 - i));
  const auto bridged = model->bridge(before, {prompt.value().ids, said, handed_out});
  REQUIRE(bridged.ok());
  CHECK(bridged.value().appended_text.starts_with("[[tool>>a~fin~[[tool>>b~fin~"));
  std::vector<std::int32_t> of_new = bridged.value().message_indices;
  CHECK(std::ranges::find(of_new, 1) < std::ranges::find(of_new, 0));
}

TEST_CASE("raw turns stand as they were sampled") {
  const auto model = memory_model();
  Call call = call_of(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "raw": " Yo "},
      {"role": "user", "content": "Ok"}])");
  call.raw_turns = render::take_raw_turns(call.conversation.messages).value();
  const auto encoded = model->encode(call);
  REQUIRE_MESSAGE(encoded.ok(), encoded.error().to_string());
  CHECK(model->detokenize(encoded.value().ids, false).value() ==
        "<bos>[[user>>Hi~fin~[[assistant>> Yo ~fin~[[user>>Ok~fin~[[assistant>>");
}

// The prompt of one user message, and a bridge after it.
struct Bridging {
  std::shared_ptr<const Model> model = memory_model();
  Call call = user_call();
  Ids prompt = model->encode(call).value().ids;
  Ids completion;
  BridgeCall bridge;

  explicit Bridging(const char* said) : completion(model->tokenize(said, true).value()) {
    bridge.prompt = prompt;
    bridge.completion = completion;
    bridge.new_messages = json::parse(R"([{"role": "user", "content": "Go on"}])").value().as_array();
  }
  std::string text(std::span<const TokenId> ids) const { return model->detokenize(ids, false).value(); }
};

TEST_CASE("bridge: the old ids, then what append gives") {
  Bridging test("Hello~fin~");
  const auto bridged = test.model->bridge(test.call, test.bridge);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  const Ids& ids = bridged.value().ids;
  const std::size_t old_size = test.prompt.size() + test.completion.size();
  CHECK(Ids(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(test.prompt.size())) == test.prompt);
  CHECK(ids.size() == old_size + bridged.value().appended);
  const Ids appended(ids.begin() + static_cast<std::ptrdiff_t>(old_size), ids.end());
  CHECK(test.text(appended) == "[[user>>Go on~fin~[[assistant>>");
  CHECK(test.model->append(test.call, test.bridge).value().ids == appended);
}

TEST_CASE("000:207: append looks at the last few ids of the prompt alone") {
  Bridging test("Hello~fin~");
  const Ids ids = test.model->append(test.call, test.bridge).value().ids;
  Ids longer(300, -1);
  longer.insert(longer.end(), 256 - test.prompt.size(), 'x');
  longer.insert(longer.end(), test.prompt.begin(), test.prompt.end());
  test.bridge.prompt = longer;
  CHECK(test.model->append(test.call, test.bridge).value().ids == ids);
}

TEST_CASE("a completion that was cut off is closed, unless that is not wanted") {
  Bridging test("{!do add with {\"a\": [1");
  const auto closed = test.model->bridge(test.call, test.bridge);
  CHECK(test.text(closed.value().ids).find("[1]} do!}~fin~[[user>>") != std::string::npos);
  test.bridge.close = false;
  const auto open = test.model->bridge(test.call, test.bridge);
  CHECK(test.text(open.value().ids).find("[1~fin~[[user>>") != std::string::npos);
}

TEST_CASE("a completion with an id out of range has no bridge") {
  Bridging test("x");
  test.completion.push_back(test.model->tokenizer()->vocab_size());
  test.bridge.completion = test.completion;
  CHECK(test.model->bridge(test.call, test.bridge).error().code == ErrorCode::kTokenizer);
  CHECK(test.model->append(test.call, test.bridge).error().code == ErrorCode::kTokenizer);
}

// --- Completions -----------------------------------------------------------------------------------------------------

ParsedIds parsed(const std::shared_ptr<const Model>& model, const char* text, ParseCall options = {}) {
  Call call = user_call();
  auto out = model->parse_ids(call, std::move(options), model->tokenize(text, true).value());
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return std::move(out).value();
}

TEST_CASE("ids are read up to the first stop token") {
  const auto model = memory_model();
  const ParsedIds said = parsed(model, "(*mull hm mull*)yes{!do add with {\"a\": 1} do!}~fin~and more");
  CHECK(said.message.reasoning == "hm");
  CHECK(said.message.content == "yes");
  REQUIRE(said.message.tool_calls.size() == 1);
  CHECK(said.message.tool_calls.front().name == "add");
  CHECK(said.message.complete);
  CHECK(said.stopped);
  CHECK(said.closing_text.empty());
  CHECK(said.text == "(*mull hm mull*)yes{!do add with {\"a\": 1} do!}");
  REQUIRE(said.ids.has_value());
  CHECK(said.ends.size() <= said.ids->size());
  CHECK(said.ends.back() == said.text.size());
}

TEST_CASE("what is still open says how it would be closed") {
  const auto model = memory_model();
  const ParsedIds cut = parsed(model, "(*mull hm");
  CHECK(cut.reasoning_open);
  CHECK_FALSE(cut.stopped);
  CHECK(cut.closing_text == " mull*)");
  CHECK(cut.message.reasoning == "hm");
  CHECK_FALSE(cut.message.complete);
  CHECK_FALSE(parsed(model, "(*mull hm mull*)yes").reasoning_open);
  // A mark of ordinary tokens may have begun.  The beginning of a control token is text.
  MemoryModel memory = testing::memory();
  memory.tokenizer_json = json::to_compact(test::byte_tokenizer_json({"<bos>", "~fin~"}));
  const auto spelled = testing::made(Model::from_memory(memory, {}));
  CHECK(parsed(spelled, "(*mull hm mu").closing_text == "ll*)");
  CHECK(parsed(spelled, "(*mull hm mum").closing_text == " mull*)");
  CHECK(parsed(model, "(*mull hm mu").closing_text == " mull*)");
}

TEST_CASE("the prompt's tail says what is open: given as text, or as ids") {
  const auto model = memory_model();
  CHECK(parsed(model, "hm", {.prompt_tail = "[[assistant>>(*mull "}).message.reasoning == "hm");
  Ids prompt(300, 'x');
  const Ids tail = model->tokenize("[[assistant>>(*mull ", true).value();
  prompt.insert(prompt.end(), tail.begin(), tail.end());
  CHECK(parsed(model, "hm", {.prompt_ids = prompt}).message.reasoning == "hm");
  prompt[0] = -1;  // too far back to be looked at
  CHECK(parsed(model, "hm", {.prompt_ids = prompt}).message.reasoning == "hm");
}

TEST_CASE("bug: what the template writes before the stop was content if the stop came as an id") {
  MemoryModel memory = testing::memory();
  memory.tokenizer_json = json::to_compact(test::byte_tokenizer_json({"<end>"}));
  memory.chat_template =
      "{%- for m in messages %}{{- '[' + m.role + ']' + m.content + '\n<end>\n' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant]' }}{%- endif %}";
  memory.config = json::parse(R"({"eos_token": "<end>"})").value();
  const auto model = testing::made(Model::from_memory(memory, {}));
  CHECK(parsed(model, "Hello.\n\n<end>").message.content == "Hello.\n");
  CHECK(parsed(model, "Hello.\n").message.content == "Hello.\n");

  Call call = user_call();
  ParserStream stream(model, std::move(model->parser(call, {})).value());
  CHECK(stream.feed(model->tokenize("Hello.\n", true).value()).ok());
  CHECK_FALSE(stream.end_turn(model->tokenize("<end>", true).value().front()).empty());
  CHECK(stream.close().empty());
  CHECK(stream.parser().message().content == "Hello.");
  CHECK(stream.text() == "Hello.\n");
}

TEST_CASE("bug: a prompt's end was not known where its ids are spelled with blanks between them") {
  MemoryModel memory = testing::memory();
  json::Value tokenizer = json::parse(json::to_compact(test::byte_tokenizer_json({"[[", "]]"}))).value();
  tokenizer.as_object().set("normalizer", json::parse(R"({"type": "Prepend", "prepend": " "})").value());
  memory.tokenizer_json = json::to_compact(tokenizer);
  memory.chat_template =
      "{%- for t in tools or [] %}{{- t | tojson }}{%- endfor %}{%- for m in messages %}{{- '[[' + m.role + ']]\n' }}"
      "{%- if m.role == 'assistant' %}{%- if m.content %}{{- '@@all\n' + m.content }}{%- endif %}"
      "{%- for c in m.tool_calls or [] %}{{- '@@' + c.function.name + '\n' + c.function.arguments | tojson }}{%- "
      "endfor %}"
      "{%- else %}{{- m.content }}{%- endif %}{{- '~fin~' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[[assistant]]\n@@' }}{%- endif %}";
  const auto model = testing::made(Model::from_memory(memory, {}));
  const Ids prompt = model->tokenize("~fin~[[assistant]]\n@@", true).value();
  CHECK(model->detokenize(prompt, false).value() != "~fin~[[assistant]]\n@@");
  Call call = user_call();
  const std::string_view said = "all\nHi";  // a byte's id is its value
  CHECK(model->parse_ids(call, {.prompt_ids = prompt}, Ids(said.begin(), said.end())).value().message.content == "Hi");
}

TEST_CASE("by_spelling finds markers that no token was") {
  const auto model = memory_model();
  const auto content = [&](bool by_spelling) {
    Call call = user_call();
    auto parser = model->parser(call, {.prompt_ids = {}, .by_spelling = by_spelling});
    REQUIRE(parser.ok());
    for (const char& byte : std::string("yes~fin~")) {
      const parse::Piece piece{static_cast<unsigned char>(byte), std::string_view(&byte, 1), false};
      static_cast<void>(parser.value().feed(std::span(&piece, 1)));
    }
    return parser.value().finish().value().content;
  };
  CHECK(content(true) == "yes");
  CHECK(content(false) == "yes~fin~");
}

TEST_CASE("the tools of a call and the options of a parser are not mixed up with those of another") {
  const auto model = memory_model();
  const auto said = [&](bool with_tools, const std::string& only_tool) -> std::string {
    Call call = user_call();
    if (with_tools) call.conversation.tools = testing::tools();
    ParseCall options{.by_spelling = true};
    options.options.only_tool = only_tool;
    options.options.strict = !only_tool.empty();
    auto parser = model->parser(call, options);
    REQUIRE(parser.ok());
    static_cast<void>(parser.value().feed("{!do other with {} do!}~fin~"));
    const auto message = parser.value().finish();
    return message.ok() ? std::string(chat::to_string(message.value().tool_calls.at(0).status)) : "refused";
  };
  CHECK(said(false, "") == "ok");
  CHECK(said(true, "") == "unknown_tool");
  CHECK(said(false, "add") == "refused");
  CHECK(said(false, "") == "ok");
}

TEST_CASE("a parser without calls takes them for content") {
  const auto model = memory_model();
  ParseCall options;
  options.options.calls = false;
  const ParsedIds said = parsed(model, "{!do add with {} do!}", options);
  CHECK(said.message.tool_calls.empty());
  CHECK(said.message.content == "{!do add with {} do!}");
}

// --- The tokenizer ---------------------------------------------------------------------------------------------------

TEST_CASE("special tokens in texts are parsed and skipped as asked") {
  const auto model = memory_model();
  CHECK(model->tokenize("~fin~", true).value() == Ids{257});
  CHECK(model->tokenize("~fin~", false).value() == Ids{'~', 'f', 'i', 'n', '~'});
  CHECK(model->detokenize(Ids{'a', 257}, false).value() == "a~fin~");
  CHECK(model->detokenize(Ids{'a', 257}, true).value() == "a");
  CHECK(model->detokenize(Ids{0xE2, 0x82}, false).value() == "\uFFFD");
  CHECK(model->detokenize(Ids{}, false).value().empty());
}

TEST_CASE("check_ids names the first place that is out of range") {
  const auto model = memory_model();
  const tokenizer::Tokenizer& tokenizer = *model->tokenizer();
  const TokenId size = tokenizer.vocab_size();
  CHECK(check_ids(tokenizer, Ids{}, "ids").ok());
  CHECK(check_ids(tokenizer, Ids{0, size - 1}, "ids").ok());
  const Status behind = check_ids(tokenizer, Ids{0, size, -5}, "prompt_ids");
  REQUIRE_FALSE(behind.ok());
  CHECK(behind.error().code == ErrorCode::kTokenizer);
  CHECK(behind.error().source == "prompt_ids[1]");
  CHECK(behind.error().message == "id 262 is out of range; the vocabulary has 262 ids");
  CHECK(check_ids(tokenizer, Ids{-1}, "x").error().source == "x[0]");
  Call call = user_call();
  CHECK(model->parse_ids(call, {}, Ids{0, -1}).error().source == "ids[1]");
  const Ids prompt = {size};
  CHECK(model->parse_ids(call, {.prompt_ids = prompt}, Ids{}).error().source == "prompt_ids[0]");
  CHECK(model->detokenize(Ids{-1}, false).error().source == "ids[0]");
}

}  // namespace
}  // namespace rondo::core
