#include "mend/fix.h"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "audit/source.h"

namespace rondo::mend {
namespace {

Fix fixed(const std::string& source, std::optional<std::string> eos = std::nullopt) {
  audit::Input input;
  input.base.eos_token = std::move(eos);
  input.chat_template = jinja::Template::compile(source, {}, "t").value();
  auto made = fix(input, {});
  REQUIRE(made.ok());
  // The result is a template that needs no further mending.
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

// What breaks, and the sentences about what was done.
std::string told(const Fix& fix) {
  std::string out;
  for (const std::string& edit : fix.edits) out += edit + "\n";
  for (const FixedCase& left : fix.broken) out += "breaks: " + left.scenario + " / " + left.setting + "\n";
  return out + fix.diff;
}

TEST_CASE("fix: history begins a turn as the prompt does, in other white space and another header") {
  const Fix result = fixed(
      "{% for m in messages %}\n"
      "  {% if m.role == 'assistant' %}\n"
      "    {{ '[BOT] ' + m.content + '[fin]' }}\n"
      "  {% else %}\n"
      "    {{ '[' + m.role + '] ' + m.content }}\n"
      "  {% endif %}\n"
      "{% endfor %}\n"
      "{% if add_generation_prompt %}\n"
      "  {{ '[BOT]:' }}\n"
      "{% endif %}");
  CAPTURE(told(result));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.source.find("  {{ '[BOT]:\\n' + m.content + '[fin]' }}") != std::string::npos);
}

TEST_CASE("fix: a close that only the last turn has is written behind each, and not twice behind the last") {
  const std::string source =
      "{% for m in messages %}{{ '[' + m.role + '>' + m.content }}{% endfor %}"
      "{% if add_generation_prompt %}[assistant>{% else %}{{ eos_token }}{% endif %}";
  const Fix result = fixed(source, "<|fin|>");
  CAPTURE(told(result));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  const auto mended = jinja::Template::compile(result.source, {}, "t").value();
  json::Object variables{{"messages", json::Array{json::Object{{"role", "assistant"}, {"content", "Hi"}}}},
                         {"eos_token", "<|fin|>"}};
  CHECK(mended->render(variables, {}).value().text.bytes() == "[assistant>Hi<|fin|>");
}

TEST_CASE("fix: content that is left out beside calls is written, once for all calls") {
  const Fix result = fixed(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.tool_calls %}{%- for c in m.tool_calls %}"
      "{{- '{do:' + c.function.name + '|' }}{{- c.function.arguments | tojson }}{{- ':do}' }}{%- endfor %}"
      "{%- else %}{{- m.content }}{%- endif %}{{- '[fin]' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CAPTURE(told(result));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(told(result).find("content is written where there is some") != std::string::npos);
}

TEST_CASE("fix: system text that moves to the last question stays with the first") {
  const Fix result = fixed(
      "{%- if messages[0].role == 'system' %}{%- set rules = messages[0].content %}{%- set messages = messages[1:] %}"
      "{%- endif %}{%- for m in messages %}{%- if m.role == 'user' %}{{- '[ask>' }}"
      "{%- if loop.last and rules is defined %}{{- rules + '|' }}{%- endif %}{{- m.content + '[done>' }}"
      "{%- else %}{{- m.content + '[fin]' }}{%- endif %}{%- endfor %}");
  CAPTURE(told(result));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.source.find("if loop.first and rules is defined") != std::string::npos);
}

TEST_CASE("fix: what the prompt opens under a switch, history has under the same switch") {
  const Fix result = fixed(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.reasoning_content %}"
      "{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}{{- m.content + '[fin]' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- if mull is defined and not mull %}{{- '(mull::mull)' }}"
      "{%- endif %}{%- endif %}");
  CAPTURE(told(result));
  CHECK_FALSE(result.was_append_only);
  CHECK(result.is_append_only);
  CHECK(result.source.find("'(mull::mull)' if") != std::string::npos);
}

TEST_CASE("fix: no edit writes what the model said twice, or what follows the turn otherwise") {
  // Each prompt shows only the last message and the question about it: there is no turn that an edit could keep.
  const Fix result = fixed("Judge: {{ messages[-1].content }}. Say yes or no.[fin]");
  CHECK_FALSE(result.is_append_only);
  CHECK(result.edits.empty());
  CHECK_FALSE(result.refusal.empty());
}

// A template with invented markers and generation marks around `marked`, between the text before and after it.
std::string with_marks(const std::string& before, const std::string& marked, const std::string& behind) {
  return "{%- for m in messages %}\n  {%- if m.role == 'assistant' %}\n" + before + "    {%- generation %}\n" + marked +
         "    {%- endgeneration %}\n" + behind +
         "  {%- else %}\n    {{- '<|' + m.role + '|>' + m.content + '<|fin|>' }}\n  {%- endif %}\n{%- endfor %}\n"
         "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}";
}

TEST_CASE("fix: generation marks cover what is sampled, and nothing else") {
  const std::string right = with_marks("    {{- '<|assistant|>' }}\n", "    {{- m.content + '<|fin|>' }}\n", "");
  CHECK(fixed(right).marks.empty());
  for (const std::string& wrong :
       {with_marks("", "    {{- '<|assistant|>' + m.content + '<|fin|>' }}\n", ""),
        with_marks("    {{- '<|assistant|>' }}\n", "    {{- m.content }}\n", "    {{- '<|fin|>' }}\n")}) {
    const Fix result = fixed(wrong);
    CAPTURE(result.source);
    CHECK(result.was_append_only);
    CHECK(result.marks == "generation marks cover what is sampled, and nothing else");
    CHECK_FALSE(result.diff.empty());
    const auto mended = jinja::Template::compile(result.source, {}, "t").value();
    json::Object variables{{"messages", json::Array{json::Object{{"role", "assistant"}, {"content", "Hi"}}}}};
    const auto rendered = mended->render(variables, {}).value();
    CHECK(rendered.text.bytes() == "<|assistant|>Hi<|fin|>");
    REQUIRE(rendered.generation_blocks.size() == 1);
    const auto [begin, end] = rendered.generation_blocks.front();
    CHECK(rendered.text.bytes().substr(begin, end - begin) == "Hi<|fin|>");
  }
}

TEST_CASE("fix: generation marks are added where they are asked for") {
  audit::Input input;
  input.chat_template = jinja::Template::compile(
                            "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|fin|>' }}{% endfor %}"
                            "{% if add_generation_prompt %}<|assistant|>{% endif %}",
                            {}, "t")
                            .value();
  CHECK(fix(input, {}).value().marks.empty());
  // The same statement writes turns of any role, so marks there would cover questions.
  CHECK(fix(input, {.may_add_marks = true, .on_progress = {}}).value().marks.empty());
  const std::string source =
      "{%- for m in messages %}{%- if m.role == 'assistant' %}{{- '<|assistant|>' + m.content + '<|fin|>' }}"
      "{%- else %}{{- '<|' + m.role + '|>' + m.content + '<|fin|>' }}{%- endif %}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}";
  input.chat_template = jinja::Template::compile(source, {}, "t").value();
  CHECK(fix(input, {}).value().marks.empty());
  const Fix added = fix(input, {.may_add_marks = true, .on_progress = {}}).value();
  CHECK(added.marks == "generation marks are added around what is sampled");
  CHECK(added.source.find("{{- '<|assistant|>' }}{%- generation %}{{- m.content + '<|fin|>' }}{%- endgeneration %}") !=
        std::string::npos);
}

TEST_CASE("fix: where no edit helps, the template stays and the report says so") {
  const Fix result = fixed(with_turn(kReasoning, "{{- (m.content or '')[:5] }}"));
  CHECK_FALSE(result.is_append_only);
  CHECK_FALSE(result.broken.empty());
}

TEST_CASE("fix: templates that refuse everything or run away end in an answer") {
  for (const char* source : {"{{ raise_exception('no') }}", "", "{{ messages[9].content }}",
                             "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"}) {
    audit::Input input;
    input.chat_template = jinja::Template::compile(source, {}, "t").value();
    const auto result = fix(input, {});
    CHECK((!result.ok() || result.value().edits.empty()));
  }
}

}  // namespace
}  // namespace rondo::mend
