// Ids that no message brings, because the template makes them: a name with a counter, a counter.  They are read off the
// completion, results refer to them, and the next prompt is what the template writes for the whole conversation.
#include <doctest/doctest.h>

#include "analysis/message_rules.h"
#include "json/parse.h"
#include "render/rollout.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo {
namespace {

// `functions.NAME:INDEX`, counted over the whole conversation.
constexpr const char* kNameAndCounter = R"JINJA(
{%- set ns = namespace(n=0) %}
{%- for m in messages %}
{{- '((' ~ m.role ~ '))' }}
{%- if m.role == 'tool' %}{{- 'of ' ~ (m.tool_call_id or 'functions.' ~ m.name ~ ':' ~ 0) ~ '\n' }}{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]functions.' ~ c.function.name ~ ':' ~ ns.n ~ '[[with]]' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- set ns.n = ns.n + 1 %}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA";

// A counter behind a mark, from 0 in each turn; results are counted too.
constexpr const char* kMarkedCounter = R"JINJA(
{%- set ns = namespace(results=0) %}
{%- for m in messages %}
{{- '((' ~ m.role ~ '))' }}
{%- if m.role == 'tool' %}{{- '[[of #' ~ ns.results ~ ']]' }}{% set ns.results = ns.results + 1 %}
{%- else %}{% set ns.results = 0 %}{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]' ~ c.function.name ~ '[[id]]#' ~ loop.index0 ~ '[[with]]' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA";

// `NAME#INDEX` between marks of the template's own; a result has the id of its message.
constexpr const char* kQuotedNameAndCounter = R"JINJA(
{%- for m in messages %}
{{- '((' ~ m.role ~ '))' }}
{%- if m.role == 'tool' %}{{- 'of ' ~ m.tool_call_id ~ '\n' }}{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]`call`' ~ c.function.name ~ '#' ~ loop.index0 ~ '`/call`' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA";

// A member of the call's JSON, and of the result's.
constexpr const char* kCountedMember = R"JINJA(
{%- set ns = namespace(calls=0, results=0) %}
{%- for m in messages %}
{{- '((' ~ m.role ~ '))' }}
{%- if m.role == 'tool' %}{{- '{"call": "' ~ ns.results ~ '", "out": ' ~ m.content | tojson ~ '}' }}{% set ns.results = ns.results + 1 %}
{%- else %}{{- m.content or '' }}{%- endif %}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]{"call": "' ~ ns.calls ~ '", "name": "' ~ c.function.name ~ '", "args": ' ~ c.function.arguments | tojson ~ '}[[/do]]' }}
{%- set ns.calls = ns.calls + 1 %}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA";

// No token ends a turn, and no id is written.
constexpr const char* kEndlessTurns = R"JINJA(
{%- for m in messages %}
{{- '<|' ~ m.role ~ '|>' }}
{%- if m.role == 'assistant' and m.content %}{{- '<content>' ~ m.content ~ '</content>' }}
{%- else %}{{- m.content or '' }}{%- endif %}
{%- for c in m.tool_calls or [] %}
{{- '<call>{"name": "' ~ c.function.name ~ '", "arguments": ' ~ c.function.arguments | tojson ~ '}</call>' }}
{%- endfor %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %})JINJA";

json::Value parsed(const char* text) {
  auto out = json::parse(text);
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return std::move(out).value();
}

// A conversation of ids with a model of that template.
class Talk {
 public:
  explicit Talk(const char* source) : rollout_(start(source)) {}

  // The ids of the calls in what the model has written.
  std::vector<std::string> say(const std::string& text) {
    const auto ids = parts().tokenizer->encode_ids(text, {});
    const auto said = rollout_.complete(ids);
    REQUIRE_MESSAGE(said.ok(), said.error().to_string());
    std::vector<std::string> out;
    for (const chat::ToolCall& call : said.value()->message.tool_calls) {
      CHECK(call.status == chat::CallStatus::kOk);
      names_.push_back(call.name);
      out.push_back(call.id.value_or("none"));
    }
    return out;
  }

  // Results for these ids; what the bridge has to say of them.
  std::vector<std::string> answer(const std::vector<std::string>& ids) {
    json::Array results;
    for (const std::string& id : ids) {
      const std::string name = names_[results.size()];
      results.push_back(
          json::Object{{"role", "tool"}, {"tool_call_id", id}, {"name", name}, {"content", "fine " + id}});
    }
    names_.clear();
    auto extended = rollout_.extend(std::move(results));
    REQUIRE_MESSAGE(extended.ok(), extended.error().to_string());
    return extended.value().notes;
  }

  [[nodiscard]] std::string prompt() const { return parts().tokenizer->decode(rollout_.ids(), {}).value(); }

  // What the template writes for all messages, read anew.
  [[nodiscard]] bool is_as_written() const {
    chat::Conversation conversation = parts().base;
    conversation.messages = rollout_.messages();
    conversation.add_generation_prompt = true;
    const auto again = render::encode(*parts().chat_template, *parts().tokenizer, conversation, parts().apply,
                                      render::ContentSpecials::kText);
    REQUIRE_MESSAGE(again.ok(), again.error().to_string());
    return std::ranges::equal(again.value().ids, rollout_.ids());
  }

 private:
  [[nodiscard]] const render::RolloutModel::Parts& parts() const { return rollout_.model().parts(); }

  static render::Rollout start(const char* source) {
    const auto chat_template = jinja::Template::compile(source, {}, "invented");
    REQUIRE_MESSAGE(chat_template.ok(), chat_template.error().to_string());
    const auto format = analysis::analyse(*chat_template.value(), {});
    REQUIRE(format.ok());
    tmpl::MessageRules rules = analysis::find_message_rules(*chat_template.value(), {}, *format.value());
    chat::Conversation base;
    base.tools = parsed(R"([{"type": "function", "function": {"name": "look"}},
                            {"type": "function", "function": {"name": "book"}}])");
    auto tokenizer = test::byte_tokenizer({"((end))", "[[do]]", "[[/do]]"}, "((end))");
    auto model = render::RolloutModel::make(
        {chat_template.value(), tokenizer, format.value(), base, {}, render::ContentSpecials::kText, std::move(rules)});
    auto rollout =
        render::Rollout::start(std::move(model), parsed(R"([{"role": "user", "content": "Hi"}])").as_array());
    REQUIRE_MESSAGE(rollout.ok(), rollout.error().to_string());
    return std::move(rollout).value();
  }

  render::Rollout rollout_;
  std::vector<std::string> names_;
};

using Ids = std::vector<std::string>;

TEST_CASE("a name with a counter is the id that results refer to, over several turns") {
  Talk talk(kNameAndCounter);
  const Ids first =
      talk.say("[[do]]functions.look:0[[with]]{\"a\": 1}[[/do]][[do]]functions.book:1[[with]]{}[[/do]]((end))");
  CHECK(first == Ids{"functions.look:0", "functions.book:1"});
  CHECK(talk.answer(first).empty());
  CHECK(
      talk.prompt().ends_with("((tool))of functions.look:0\nfine functions.look:0((end))"
                              "((tool))of functions.book:1\nfine functions.book:1((end))((assistant))"));
  CHECK(talk.is_as_written());
  const Ids second = talk.say("Again.[[do]]functions.look:2[[with]]{\"a\": 2}[[/do]]((end))");
  CHECK(second == Ids{"functions.look:2"});
  CHECK(talk.answer(second).empty());
  CHECK(talk.is_as_written());
}

TEST_CASE("marks of the template around a name with a counter belong to no id") {
  Talk talk(kQuotedNameAndCounter);
  const Ids ids = talk.say("[[do]]`call`look#0`/call`{\"a\": 1}[[/do]][[do]]`call`book#1`/call`{}[[/do]]((end))");
  CHECK(ids == Ids{"look#0", "book#1"});
  CHECK(talk.answer(ids).empty());
  CHECK(talk.prompt().ends_with(
      "((tool))of look#0\nfine look#0((end))((tool))of book#1\nfine book#1((end))((assistant))"));
  CHECK(talk.is_as_written());
}

TEST_CASE("a counter behind a mark is the id that results refer to") {
  Talk talk(kMarkedCounter);
  const Ids ids = talk.say("[[do]]look[[id]]#0[[with]]{\"a\": 1}[[/do]][[do]]book[[id]]#1[[with]]{}[[/do]]((end))");
  CHECK(ids == Ids{"0", "1"});
  CHECK(talk.answer(ids).empty());
  CHECK(talk.prompt().ends_with("((tool))[[of #0]]fine 0((end))((tool))[[of #1]]fine 1((end))((assistant))"));
  CHECK(talk.is_as_written());
  CHECK(talk.answer(talk.say("[[do]]look[[id]]#0[[with]]{}[[/do]]((end))")).empty());
  CHECK(talk.is_as_written());
}

TEST_CASE("a counted member of a call in JSON is the id that results refer to") {
  Talk talk(kCountedMember);
  const Ids ids = talk.say(
      "[[do]]{\"call\": \"0\", \"name\": \"look\", \"args\": {\"a\": 1}}[[/do]]"
      "[[do]]{\"call\": \"1\", \"name\": \"book\", \"args\": {}}[[/do]]((end))");
  CHECK(ids == Ids{"0", "1"});
  CHECK(talk.answer(ids).empty());
  CHECK(
      talk.prompt().ends_with("((tool)){\"call\": \"0\", \"out\": \"fine 0\"}((end))"
                              "((tool)){\"call\": \"1\", \"out\": \"fine 1\"}((end))((assistant))"));
  CHECK(talk.is_as_written());
  CHECK(talk.answer(talk.say("[[do]]{\"call\": \"2\", \"name\": \"book\", \"args\": {}}[[/do]]((end))")).empty());
  CHECK(talk.is_as_written());
}

TEST_CASE("results of counted calls may come in any order") {
  Talk talk(kMarkedCounter);
  const Ids ids = talk.say("[[do]]look[[id]]#0[[with]]{\"a\": 1}[[/do]][[do]]book[[id]]#1[[with]]{}[[/do]]((end))");
  CHECK(talk.answer({ids[1], ids[0]}).empty());
  CHECK(talk.prompt().ends_with("((tool))[[of #0]]fine 0((end))((tool))[[of #1]]fine 1((end))((assistant))"));
  CHECK(talk.is_as_written());
}

TEST_CASE("a result for an id that no call has is told") {
  Talk talk(kNameAndCounter);
  CHECK(talk.say("[[do]]functions.look:0[[with]]{}[[/do]]((end))") == Ids{"functions.look:0"});
  CHECK(talk.answer({"functions.look:7"}) ==
        std::vector<std::string>{"no call of the turn has the id \"functions.look:7\" of a tool result",
                                 "1 of the turn's 1 calls have no result"});
}

TEST_CASE("bug: the text that ends a call was written twice where no token ends a turn") {
  for (const char* arguments : {"{}", "{\"a\": 1}", "{\"a\": {\"b\": [1]}}"}) {
    Talk talk(kEndlessTurns);
    CHECK(talk.say("<call>{\"name\": \"look\", \"arguments\": " + std::string(arguments) + "}</call>") == Ids{"none"});
    (void)talk.answer({"none"});
    CHECK(talk.prompt().ends_with("}</call><|tool|>fine none<|assistant|>"));
    CHECK(talk.is_as_written());
  }
}

}  // namespace
}  // namespace rondo
