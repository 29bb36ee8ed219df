// What templates lack is supplied: every template holds a conversation with tools, and what needs nothing is as it was.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

std::shared_ptr<const core::Model> load(const test::CorpusRow& row, core::Polyfill polyfill) {
  core::Source source;
  source.path = row.template_path;
  source.polyfill = polyfill;
  const auto model = core::Model::load(source);
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const core::Model> load_source(std::string chat_template, core::Polyfill polyfill) {
  core::Source source;
  source.chat_template = std::move(chat_template);
  source.polyfill = polyfill;
  const auto model = core::Model::load(source);
  REQUIRE(model.ok());
  return model.value();
}

core::Call call_of(const test::CorpusRow& row, const char* messages, bool opens, bool tools = true) {
  core::Call call;
  call.conversation.messages = json::parse(messages).value().as_array();
  if (tools) {
    call.conversation.tools = json::parse(R"([{"type": "function", "function": {"name": "find_city", "description": "d",
        "parameters": {"type": "object", "properties": {"k": {"type": "string", "description": "d"}}, "required": ["k"]}}}])")
                                  .value();
  }
  call.conversation.add_generation_prompt = opens;
  call.conversation.bos_token = row.bos_token.value_or("<b>");
  call.conversation.eos_token = row.eos_token.value_or("<e>");
  call.has_messages = true;
  call.now = test::kClock;
  return call;
}

constexpr const char* kAsked = R"([{"role": "system", "content": "Sprobe"}, {"role": "user", "content": "Uprobe"}])";
constexpr const char* kCalled = R"([{"role": "system", "content": "Sprobe"}, {"role": "user", "content": "Uprobe"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "functions.find_city:0", "type": "function", "function": {"name": "find_city", "arguments": {"k": "Rprobe"}}}]}])";
constexpr const char* kAnswered = R"([{"role": "system", "content": "Sprobe"}, {"role": "user", "content": "Uprobe"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "functions.find_city:0", "type": "function", "function": {"name": "find_city", "arguments": {"k": "Rprobe"}}}]},
    {"role": "tool", "tool_call_id": "functions.find_city:0", "name": "find_city", "content": "Tprobe"}])";

constexpr int kStep = 20;  // between the templates that are taken of the larger corpus

std::string text_of(const core::Model& model, core::Call call) {
  const auto text = model.render(call);
  return text.ok() ? text.value() : "";
}

}  // namespace

TEST_CASE("004:276-282: whatever renders a question holds a conversation with a tool, and its calls read back") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  int held = 0;
  int read_back = 0;
  for (const test::CorpusRow& row : corpus->templates(kStep)) {
    CAPTURE(row.id);
    const auto plain = load(row, core::Polyfill::kOff);
    const auto model = load(row, core::Polyfill::kAuto);
    if (plain == nullptr || model == nullptr) continue;
    const std::string question =
        text_of(*plain, call_of(row, R"([{"role": "user", "content": "Uprobe"}])", true, false));
    // Guards and templates of other tasks write a text of their own, or the last message alone.
    const auto carried = plain->capabilities(call_of(row, "[]", false, false));
    if (question.find("Uprobe") == std::string::npos || !carried.value().find("history")->is_supported) continue;
    core::Call answered = call_of(row, kAnswered, true);
    const auto prompt = model->render(answered);
    const std::string message = prompt.ok() ? "" : prompt.error().message;
    INFO(message);
    REQUIRE(prompt.ok());
    // Some leave the system text, which they carry, out of prompts that end with a result.
    if (model->polyfills().system) CHECK(prompt.value().find("Sprobe") != std::string::npos);
    for (const char* word : {"Uprobe", "Rprobe", "Tprobe", "find_city"}) {
      CAPTURE(word);
      CHECK(prompt.value().find(word) != std::string::npos);
    }
    ++held;
    const std::string before = text_of(*model, call_of(row, kAsked, true));
    const std::string with_call = text_of(*model, call_of(row, kCalled, false));
    if (before.empty() || !with_call.starts_with(before))
      continue;  // some open a turn in another way than history has it
    core::Call asked = call_of(row, kAsked, true);
    auto parser = model->parser(asked, {.prompt_tail = before});
    REQUIRE(parser.ok());
    (void)parser.value().feed(with_call.substr(before.size()));
    (void)parser.value().close();
    const auto said = parser.value().finish();
    REQUIRE(said.ok());
    CHECK(said.value().tool_calls.size() == 1);
    if (said.value().tool_calls.size() == 1) {
      CHECK(said.value().tool_calls[0].name == "find_city");
      CHECK(json::parse(said.value().tool_calls[0].arguments).value() == json::Value(json::Object{{"k", "Rprobe"}}));
    }
    ++read_back;
  }
  const bool is_sample = std::getenv("RONDO_TEST_FULL") == nullptr && !test::is_small_corpus();
  CHECK(held >= (is_sample ? 300 / kStep : 60));
  CHECK(read_back >= (is_sample ? 200 / kStep : 40));
}

TEST_CASE("a template that knows flat calls alone writes and reads nested ones") {
  const auto model = load_source(
      "{% for t in tools or [] %}{{ '[tool ' ~ (t | tojson) ~ ']' }}{% endfor %}{% for m in messages %}"
      "{{ '[' ~ m.role ~ '] ' ~ (m.content or '') }}{% for c in m.tool_calls or [] %}"
      "{{ '[call ' ~ c.name ~ '=' ~ (c.arguments | tojson) ~ ']' }}{% endfor %}{{ '[end]' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}",
      core::Polyfill::kAuto);
  CHECK(model->polyfills().flat);
  CHECK_FALSE(model->polyfills().calls);
  const test::CorpusRow row;
  const std::string text = text_of(*model, call_of(row, kCalled, false));
  CHECK(text.find(R"([call find_city={"k": "Rprobe"}])") != std::string::npos);
  core::Call call = call_of(row, kAsked, true);
  const auto format = model->format(call);
  REQUIRE(format.ok());
  CHECK(format.value()->calls.present);
  CHECK(format.value()->calls.call_open == "[call ");
}

TEST_CASE("bug: a template that goes through its tools without a look refused every prompt with polyfills") {
  const auto model = load_source(
      "{% for t in tools %}{{ '[tool ' ~ (t | tojson) ~ ']' }}{% endfor %}{% for m in messages %}"
      "{{ '[' ~ m.role ~ '] ' ~ m.content ~ '[end]' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}",
      core::Polyfill::kOn);
  CHECK(model->polyfills().tool_list);
  const test::CorpusRow row;
  CHECK(text_of(*model, call_of(row, R"([{"role": "user", "content": "Uprobe"}])", true, false)) ==
        "[user] Uprobe[end][assistant] ");
  const std::string text = text_of(*model, call_of(row, kCalled, false));
  CHECK(text.find("find_city") != std::string::npos);
  CHECK(text.find("[tool ") == std::string::npos);
}

TEST_CASE("where nothing is lacking, a prompt and its places are as they were") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  for (const test::CorpusRow& row : corpus->templates(kStep)) {
    CAPTURE(row.id);
    const auto plain = load(row, core::Polyfill::kOff);
    const auto all = load(row, core::Polyfill::kOn);
    if (plain == nullptr || all == nullptr) continue;
    core::Call call =
        call_of(row, R"([{"role": "user", "content": "Uprobe"}, {"role": "assistant", "content": "Aprobe"},
                                      {"role": "user", "content": "Vprobe"}])",
                true, false);
    core::Call same = call;
    const auto prepared = plain->prepare(call, core::TokenizerUse::kOptional);
    const auto supplied = all->prepare(same, core::TokenizerUse::kOptional);
    REQUIRE(prepared.ok());
    REQUIRE(supplied.ok());
    const auto before = plain->prompt(prepared.value(), call.conversation, prepared.value().options);
    const auto after = all->prompt(supplied.value(), same.conversation, supplied.value().options);
    REQUIRE(before.ok() == after.ok());
    if (!before.ok()) {
      CHECK(before.error().message == after.error().message);
      CHECK(before.error().line == after.error().line);
      continue;
    }
    const jinja::Rendered& first = before.value().rendered;
    const jinja::Rendered& second = after.value().rendered;
    CHECK(first.text.bytes() == second.text.bytes());
    CHECK(same.shaping.polyfills.empty());
    const auto lines = [](const jinja::Rendered& rendered) {
      std::string out;
      for (const text::Run& run : rendered.text.runs()) {
        if (run.kind != text::RunKind::kLiteral) continue;
        const text::Literal& literal = rendered.origins.literals[static_cast<std::size_t>(run.literal())];
        out += std::to_string(literal.line) + ":" + std::to_string(literal.column) + " ";
      }
      return out;
    };
    CHECK(lines(first) == lines(second));
  }
}

}  // namespace rondo
