#include "session/session.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/fake.h"
#include "json/parse.h"
#include "tests/support/byte_tokenizer.h"

using namespace rondo;

namespace {

// Drops the reasoning of earlier turns once a user speaks again, and trims content: both change history.
constexpr const char* kTemplate = R"JINJA(
{%- set ns = namespace(last=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for m in messages -%}
{{- '[' + m.role + ':' -}}
{%- if m.reasoning_content and loop.index0 > ns.last -%}
{{- '(' + m.reasoning_content + ')' -}}
{%- endif -%}
{{- (m.content or '') | trim -}}
{{- '~fin~' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '[assistant:' -}}{%- endif -%}
)JINJA";

json::Array messages(const char* text) { return json::parse(text).value().as_array(); }

struct Fixture {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = test::byte_tokenizer({"~fin~"}, "");
  std::shared_ptr<const jinja::Template> chat_template = jinja::Template::compile(kTemplate, {}, "test").value();
  std::unique_ptr<engine::Fake> engine;
  std::unique_ptr<session::Session> session;

  // Reads "(reasoning)content", with or without the end.
  Result<render::ParsedCompletion> interpret(std::span<const session::TokenId> completion) const {
    std::string text = tokenizer->decode(completion, {}).value();
    render::ParsedCompletion parsed;
    parsed.message.complete = text.ends_with("~fin~");
    if (parsed.message.complete) text.resize(text.size() - 5);
    if (const std::size_t close = text.find(')'); text.starts_with("(") && close != std::string::npos) {
      parsed.message.reasoning = text.substr(1, close - 1);
      text = text.substr(close + 1);
    }
    parsed.message.content = text;
    return parsed;
  }

  void start(const std::vector<std::string>& script, const char* first) {
    std::vector<std::vector<engine::TokenId>> completions;
    for (const std::string& text : script) completions.push_back(tokenizer->encode_ids(text, {}));
    engine::Description description;
    description.context_tokens = 4096;
    description.vocab_size = tokenizer->vocab_size();
    engine = std::make_unique<engine::Fake>(description, completions);
    chat::Conversation conversation;
    conversation.messages = messages(first);
    session::SessionOptions options;
    options.interpret = [this](std::span<const session::TokenId>, std::span<const session::TokenId> ids) {
      return interpret(ids);
    };
    options.compare = true;
    auto started = session::Session::start({*chat_template, *tokenizer, *engine}, conversation, options);
    REQUIRE_MESSAGE(started.ok(), (started.ok() ? "" : started.error().to_string()));
    session = std::move(started).value();
  }

  std::string text() const { return tokenizer->decode(session->ids(), {}).value(); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "each next prompt is everything so far and the new turn") {
  start({"(hm)one~fin~", " two ~fin~", "three"}, R"([{"role": "user", "content": "hi"}])");
  CHECK(text() == "[user:hi~fin~[assistant:");
  CHECK(session->add(messages(R"([{"role": "user", "content": "x"}])")).error().code == ErrorCode::kInvalidArgument);

  auto first = session->step({});
  REQUIRE(first.ok());
  CHECK(first.value().said.reasoning == "hm");
  CHECK(first.value().stop == engine::StopReason::kStopToken);
  CHECK_FALSE(first.value().truncated);
  CHECK_FALSE(first.value().rerender.has_value());
  CHECK(session->step({}).error().code == ErrorCode::kInvalidArgument);

  REQUIRE(session->add(messages(R"([{"role": "user", "content": "more"}])")).ok());
  CHECK(text() == "[user:hi~fin~[assistant:(hm)one~fin~[user:more~fin~[assistant:");
  CHECK(session->messages().size() == 3);
  auto second = session->step({});
  REQUIRE(second.ok());
  CHECK(second.value().prompt.how == engine::Reuse::kAppend);
  CHECK(second.value().prompt.reused == first.value().sampled_end - 1);  // the stop token was sampled, not decoded
  REQUIRE(second.value().rerender.has_value());
  REQUIRE(second.value().rerender->broken.has_value());
  const std::string kept = "[user:hi~fin~[assistant:";
  CHECK(second.value().rerender->reusable == tokenizer->encode_ids(kept, {}).size());
  CHECK(second.value().rerender->broken->line == 6);

  REQUIRE(session->add(messages(R"([{"role": "user", "content": "again"}])")).ok());
  auto third = session->step({});
  REQUIRE(third.ok());
  CHECK(third.value().truncated);
  CHECK(text() ==
        "[user:hi~fin~[assistant:(hm)one~fin~[user:more~fin~[assistant: two ~fin~[user:again~fin~[assistant:three");
  REQUIRE(session->add(messages(R"([{"role": "user", "content": "go on"}])")).ok());
  CHECK(text().ends_with("[assistant:three~fin~[user:go on~fin~[assistant:"));
}

TEST_CASE_FIXTURE(Fixture, "a failed addition leaves the session as it was") {
  start({"one~fin~"}, R"([{"role": "user", "content": "hi"}])");
  REQUIRE(session->step({}).ok());
  const std::string before = text();
  CHECK_FALSE(session->add(messages(R"([{"role": "assistant", "content": "no"}])")).ok());
  CHECK(text() == before);
  CHECK(session->messages().size() == 1);
  CHECK(session->add(messages(R"([{"role": "user", "content": "yes"}])")).ok());
}
