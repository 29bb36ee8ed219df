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

// How the template writes an assistant turn.
std::shared_ptr<const format::Format> test_format() {
  auto format = std::make_shared<format::Format>();
  format->header = "[assistant:";
  format->generation_prompts = {{"default", "[assistant:"}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "(", ")", false};
  format->stops.content = {"~fin~"};
  return format;
}

struct Fixture {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = test::byte_tokenizer({"~fin~"}, "~fin~");
  std::unique_ptr<engine::Fake> engine;
  std::optional<session::Session> session;

  void start(const std::vector<std::string>& script, const char* first) {
    std::vector<std::vector<engine::TokenId>> completions;
    for (const std::string& text : script) completions.push_back(tokenizer->encode_ids(text, {}));
    engine::Description description;
    description.context_tokens = 4096;
    description.vocab_size = tokenizer->vocab_size();
    engine = std::make_unique<engine::Fake>(description, completions);
    render::RolloutModel::Parts parts;
    parts.chat_template = jinja::Template::compile(kTemplate, {}, "test").value();
    parts.tokenizer = tokenizer;
    parts.format = test_format();
    auto started = session::Session::start(render::RolloutModel::make(std::move(parts)), *engine, messages(first),
                                           {.compare = true});
    REQUIRE_MESSAGE(started.ok(), (started.ok() ? "" : started.error().to_string()));
    session.emplace(std::move(started).value());
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
