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

// Trims content and keeps everything else.
constexpr const char* kTrimming = R"JINJA(
{%- for m in messages -%}
{{- '[' + m.role + ':' -}}
{{- (m.content or '') | trim -}}
{{- '~fin~' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '[assistant:' -}}{%- endif -%}
)JINJA";

// Refuses one word, and writes nothing from another one on.
constexpr const char* kTouchy = R"JINJA(
{%- set ns = namespace(quiet=false) -%}
{%- for m in messages -%}
{%- set content = m.content or '' -%}
{%- if 'boom' in content -%}{{- raise_exception('no') -}}{%- endif -%}
{%- if 'hush' in content -%}{%- set ns.quiet = true -%}{%- endif -%}
{%- if not ns.quiet -%}{{- '[' + m.role + ':' + content + '~fin~' -}}{%- endif -%}
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
  // Two control tokens take more than a byte; as data, their text is as many tokens as bytes.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = test::byte_tokenizer({"~fin~", "\n~x~", "~y "}, "~fin~");
  const char* source = kTemplate;
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
    parts.chat_template = jinja::Template::compile(source, {}, "test").value();
    parts.tokenizer = tokenizer;
    parts.format = test_format();
    auto started = session::Session::start(render::RolloutModel::make(std::move(parts)), *engine, messages(first),
                                           {.compare = true});
    REQUIRE_MESSAGE(started.ok(), (started.ok() ? "" : started.error().to_string()));
    session.emplace(std::move(started).value());
  }

  // The account of the prompt after one sampled turn and a user's message.
  session::Rerender rerendered_after(const std::string& completion) {
    start({completion, "two~fin~"}, R"([{"role": "user", "content": "hi"}])");
    const auto first = session->step({});
    REQUIRE_MESSAGE(first.ok(), (first.ok() ? "" : first.error().to_string()));
    REQUIRE(session->add(messages(R"([{"role": "user", "content": "more"}])")).ok());
    auto turn = session->step({});
    REQUIRE_MESSAGE(turn.ok(), (turn.ok() ? "" : turn.error().to_string()));
    REQUIRE(turn.value().rerender.has_value());
    return *turn.value().rerender;
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
  CHECK(second.value().rerender->broken->cause.place.line == 6);
  CHECK(tokenizer->decode(second.value().rerender->ids, {}).value() == kept + "one~fin~[user:more~fin~[assistant:");
  CHECK(second.value().generated() == tokenizer->encode_ids(" two ~fin~", {}).size());

  REQUIRE(session->add(messages(R"([{"role": "user", "content": "again"}])")).ok());
  auto third = session->step({});
  REQUIRE(third.ok());
  CHECK(third.value().truncated);
  // The break stays where it is, and so does its cause, which this render no longer shows.
  CHECK(third.value().rerender->reusable == second.value().rerender->reusable);
  CHECK(third.value().rerender->broken->cause.sentence == second.value().rerender->broken->cause.sentence);
  CHECK(third.value().rerender->broken->cause.place.line == 6);
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

TEST_CASE_FIXTURE(Fixture, "a re-render of the same text in other tokens is not blamed on a line of the template") {
  source = kTrimming;
  // The template trims a space, but the break is before it: what was a control token is text in history.
  const session::Rerender again = rerendered_after("one\n~x~two ~fin~");
  REQUIRE(again.broken.has_value());
  CHECK(again.reusable == tokenizer->encode_ids("[user:hi~fin~[assistant:one", {}).size());
  CHECK(again.broken->cause.kind == causes::CauseKind::kRetokenized);
  CHECK(again.broken->cause.sentence == R"(the same text becomes other tokens at "\n~x~two ~fin~")");
  CHECK(tokenizer->decode(again.ids, {}).value() ==
        "[user:hi~fin~[assistant:one\n~x~two~fin~[user:more~fin~[assistant:");
}

TEST_CASE_FIXTURE(Fixture, "tokens that part only in what they spell are told apart by that") {
  source = kTrimming;
  const auto cause_after = [&](const char* completion) { return rerendered_after(completion).broken.value().cause; };
  const std::string stripped = "line 4 `{{- (m.content or '') | trim -}}` cuts white space off messages[1].content";
  // The text differs directly after the control token, or inside it.
  CHECK(cause_after("one\n~x~ ~fin~").kind == causes::CauseKind::kRetokenized);
  CHECK(cause_after("one~y ~fin~").sentence == stripped);
  CHECK(cause_after("one ~fin~").sentence == stripped);
}

TEST_CASE_FIXTURE(Fixture, "reasoning that no condition drops is not blamed on the generation prompt's condition") {
  source = kTrimming;
  const session::Rerender again = rerendered_after("(hm)one~fin~");
  CHECK(again.reusable == tokenizer->encode_ids("[user:hi~fin~[assistant:", {}).size());
  CHECK(again.broken.value().cause.kind == causes::CauseKind::kReasoningDropped);
  CHECK(again.broken.value().cause.path == "messages[1].reasoning_content");
}

TEST_CASE_FIXTURE(Fixture, "a re-render that keeps everything costs nothing") {
  source = kTrimming;
  const session::Rerender again = rerendered_after("one~fin~");
  CHECK_FALSE(again.broken.has_value());
  CHECK(again.reusable == tokenizer->encode_ids("[user:hi~fin~[assistant:one~fin~", {}).size());
}

TEST_CASE_FIXTURE(Fixture, "a re-render that ends early, or is refused, keeps what it can") {
  source = kTouchy;
  const session::Rerender shorter = rerendered_after("hush~fin~");
  CHECK(tokenizer->decode(shorter.ids, {}).value() == "[user:hi~fin~[assistant:");
  CHECK(shorter.reusable == shorter.ids.size());
  CHECK(shorter.broken.value().place == "end of the prompt");
  const session::Rerender refused = rerendered_after("boom~fin~");
  CHECK(refused.ids.empty());
  CHECK(refused.reusable == 0);
  CHECK(refused.broken.value().cause.sentence == "the template refuses the messages: no");
  CHECK(refused.broken.value().cause.place.line == 5);
}
