#include "audit/fix.h"

#include <doctest/doctest.h>

#include "audit/source.h"

namespace rondo::audit {
namespace {

Fix fixed(const std::string& source) {
  Input input;
  input.chat_template = jinja::Template::compile(source, {}, "t").value();
  auto made = fix(input, {});
  REQUIRE(made.ok());
  // What was made is a template, and needs no further mending.
  if (made.value().is_append_only) {
    input.chat_template = jinja::Template::compile(made.value().source, {}, "t").value();
    CHECK(fix(input, {}).value().was_append_only);
  }
  return std::move(made).value();
}

// A template with invented markers; `reasoning`, `content` and `arguments` write parts of an assistant's turn.
std::string with_turn(const std::string& reasoning, const std::string& content = "{{- m.content or '' }}",
                      const std::string& arguments = "{{- c.function.arguments | tojson }}") {
  return "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.role == 'assistant' %}" + reasoning + content +
         "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' }}" + arguments +
         "{{- ':do}' }}{%- endfor %}{%- else %}{{- m.content }}{%- endif %}{{- '[fin]' }}{%- endfor %}"
         "{%- if add_generation_prompt %}{{- '[assistant>(mull:' }}{%- endif %}";
}

const std::string kReasoning = "{{- '(mull:' + (m.reasoning_content or '') + ':mull)' }}";

TEST_CASE("fix: a template that only appends is left as it is") {
  const std::string source = with_turn(kReasoning);
  const Fix result = fixed(source);
  CHECK(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.refusal.empty());
}

TEST_CASE("fix: reasoning of earlier turns is kept") {
  const Fix result = fixed(with_turn("{%- if loop.last %}" + kReasoning + "{%- endif %}"));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.diff.find("{%- if true %}{{- '(mull:'") != std::string::npos);
  CHECK_FALSE(result.changed.empty());
}

TEST_CASE("fix: a condition loses the operand that looks ahead") {
  const Fix result = fixed(with_turn("{%- if loop.last and m.role %}" + kReasoning + "{%- endif %}"));
  CHECK(result.is_append_only);
  CHECK(result.diff.find("{%- if m.role %}{{- '(mull:'") != std::string::npos);
}

TEST_CASE("fix: content is copied as it is") {
  const Fix result = fixed(with_turn(kReasoning, "{{- (m.content or '') | trim }}"));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.diff.find("{{- (m.content or '')  }}") != std::string::npos);
}

TEST_CASE("fix: reasoning that no history shows is written") {
  const Fix result = fixed(with_turn("",
                                     "{%- set t = m.content or '' %}{%- if ':mull)' in t %}"
                                     "{%- set t = t.split(':mull)')[-1] %}{%- endif %}{{- t }}"));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.source.find("reasoning_content") != std::string::npos);
}

TEST_CASE("fix: arguments that come as text are copied") {
  const Fix result = fixed(with_turn(kReasoning));
  CHECK(result.source.find("if c.function.arguments is string else") != std::string::npos);
  CHECK(result.is_append_only);
  for (const FixedCase& left : result.other_forms) CHECK(left.scenario.find("json") == std::string::npos);
}

TEST_CASE("fix: what a first prompt or a first turn says is never changed") {
  // The prompt opens a line that history does not have: history is mended, not the prompt.
  const std::string source =
      "{% for m in messages %}({{ m.role }}:{{ m.content }}){% endfor %}{% if add_generation_prompt %}(assistant:"
      "{{ '\\n' }}{% endif %}";
  const Fix result = fixed(source);
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.source.ends_with("(assistant:{{ '\\n' }}{% endif %}"));
}

TEST_CASE("fix: where no edit helps, the template stays and the report says so") {
  const Fix result = fixed(with_turn(kReasoning, "{{- (m.content or '')[:5] }}"));
  CHECK_FALSE(result.is_append_only);
  CHECK_FALSE(result.broken.empty());
}

TEST_CASE("fix: templates that refuse everything or run away end in an answer") {
  for (const char* source : {"{{ raise_exception('no') }}", "", "{{ messages[9].content }}",
                             "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"}) {
    Input input;
    input.chat_template = jinja::Template::compile(source, {}, "t").value();
    const auto result = fix(input, {});
    CHECK((!result.ok() || result.value().edits.empty()));
  }
}

}  // namespace
}  // namespace rondo::audit
