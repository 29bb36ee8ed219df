// Generation marks that are wrong or missing, and where they belong.
#include "audit/marks.h"

#include <doctest/doctest.h>

#include "tests/support/byte_tokenizer.h"

namespace rondo::audit {
namespace {

// A template that writes each assistant turn with `turn`.
std::string with_turn(const std::string& turn) {
  return "{%- for m in messages %}\n{%- if m.role == 'assistant' %}" + turn +
         "{%- else %}{{- '[' + m.role + '>' + m.content + '[fin]' }}{%- endif %}\n{%- endfor %}\n"
         "{%- if add_generation_prompt %}{{- '[bot>' }}{%- endif %}";
}

// Returns what becomes of the marks of `source`; nullopt if nothing is changed.
std::optional<Marked> mended(const std::string& source, bool may_add) {
  const auto compiled = jinja::Template::compile(source, {}, "invented");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  Subject subject;
  subject.chat_template = compiled.value();
  subject.tokenizer = test::byte_tokenizer({"[fin]"}, "[fin]");
  const auto stage = Stage::make(subject, {"default", {}});
  REQUIRE_MESSAGE(stage.ok(), stage.error().to_string());
  return mend_marks(*stage.value(), source, may_add);
}

// Checks that the marks of `turn` are set as in `wanted`, and nothing else is changed.
void check_turn(const std::string& turn, const std::string& wanted, bool may_add, const std::string& sentence) {
  CAPTURE(turn);
  const auto marked = mended(with_turn(turn), may_add);
  REQUIRE(marked);
  CHECK(marked->source == with_turn(wanted));
  CHECK(marked->sentence == sentence);
  // They are right now.
  CHECK_FALSE(mended(marked->source, true));
}

const std::string kCalls =
    "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + ':do}' }}"
    "{%- endfor %}";

void check_added(const std::string& turn, const std::string& wanted) {
  check_turn(turn, wanted, true, "generation marks are added around what is sampled");
}

TEST_CASE("marks: an output is cut between the values that it joins, or inside a constant") {
  check_added("{{- '[bot>' + m.content + '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}");
  check_added("{{- '[bot>Well: ' + m.content + '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- 'Well: ' + m.content + '[fin]' }}{%- endgeneration %}");
  check_added("{{- '[bot>' + m.content + '[fin]\\n' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}{{- '\\n' }}");
  check_added("{{- '[bot>' + (m.content if m.content else '') + '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- (m.content if m.content else '') + '[fin]' }}{%- endgeneration %}");
  // Text between tags.
  check_added("[bot>{{ m.content }}[fin]\n", "[bot>{%- generation %}{{- m.content }}[fin]{%- endgeneration %}\n");
}

TEST_CASE("bug: no marks were added to an output that joins a number with a tilde") {
  check_added("{{- '[bot>' ~ m.content ~ (m.content | length) ~ '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content ~ (m.content | length) ~ '[fin]' }}{%- endgeneration %}");
}

TEST_CASE("marks: outputs stay whole where their ends are the ends of what is sampled") {
  check_added("{{- '[bot>' }}{{- m.content }}{{- '[fin]' }}{{- '\\n' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content }}{{- '[fin]' }}{%- endgeneration %}{{- '\\n' }}");
  check_added("{{- '[bot>' }}{{- m.content if m.content else '' }}{{- '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content if m.content else '' }}{{- '[fin]' }}{%- endgeneration %}");
}

TEST_CASE("marks: they stand around statements that hold a part of what is sampled") {
  const std::string thought =
      "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}";
  check_added("{{- '[bot>' }}" + thought + "{{- m.content + '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}" + thought + "{{- m.content + '[fin]' }}{%- endgeneration %}");
  check_added(
      "{{- '[bot>' + (m.content or '') }}" + kCalls + "{{- '[fin]' }}",
      "{{- '[bot>' }}{%- generation %}{{- (m.content or '') }}" + kCalls + "{{- '[fin]' }}{%- endgeneration %}");
  // All of it is in the statement.
  check_added(
      "{{- '[bot>' }}{%- if m.content %}{{- m.content + '[fin]' }}{%- endif %}",
      "{{- '[bot>' }}{%- if m.content %}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}{%- endif %}");
  // Each branch has a part.
  const std::string either =
      "{%- if m.tool_calls %}" + kCalls + "{{- '[fin]' }}{%- else %}{{- m.content + '[fin]' }}{%- endif %}";
  check_added("{{- '[bot>' }}" + either, "{{- '[bot>' }}{%- generation %}" + either + "{%- endgeneration %}");
}

TEST_CASE("marks: wrong ones are moved, and the white space around them stays as it was") {
  const auto check_moved = [](const std::string& turn, const std::string& wanted) {
    check_turn(turn, wanted, false, "generation marks cover what is sampled, and nothing else");
  };
  const std::string right = "{{- '[bot>' }}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}";
  check_moved("{%- generation %}{{- '[bot>' + m.content + '[fin]' }}{%- endgeneration %}", right);
  // Marks that have a line of their own take it with them.
  check_moved("\n{{- '[bot>' }}\n    {%- generation %}\n{{- m.content }}\n    {%- endgeneration %}\n{{- '[fin]' }}\n",
              "\n{{- '[bot>' }}\n{%- generation %}{{- m.content }}\n{{- '[fin]' }}{%- endgeneration %}\n");
  check_moved("{{- '[bot>' }}{% generation %}{{ m.content }}{% endgeneration %}{{ '[fin]' }}",
              "{{- '[bot>' }}{%- generation %}{{- m.content }}{{- '[fin]' }}{%- endgeneration %}");
  // Marks that take white space away leave a comment that does the same.
  check_moved("[bot>\n  {%- generation -%}\n  {{ m.content }}\n  {%- endgeneration -%}\n  [fin]",
              "[bot>\n  {#- -#}\n  {%- generation %}{{- m.content }}\n  {#- -#}\n  [fin]{%- endgeneration %}");
  check_moved("[bot>\n  {%- generation %}X{{ m.content }}\n  {%- endgeneration -%}\n  [fin]",
              "[bot>\n  {#- #}{%- generation %}X{{ m.content }}\n  {#- -#}\n  [fin]{%- endgeneration %}");
}

TEST_CASE("marks: they cover more than is sampled where one output writes the turns of all roles") {
  const auto all_roles = [](const std::string& turn) {
    return "{%- for m in messages %}" + turn +
           "{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
  };
  const auto marked =
      mended(all_roles("{%- generation %}{{- '[' + m.role + '>' + m.content + '[fin]' }}{%- endgeneration %}"), false);
  REQUIRE(marked);
  CHECK(marked->source ==
        all_roles("{{- '[' + m.role + '>' }}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}"));
  CHECK(marked->sentence == "generation marks cover less that is not sampled, or more that is");
  CHECK_FALSE(mended(all_roles("{{- '[' + m.role + '>' + m.content + '[fin]' }}"), true));
}

TEST_CASE("marks: nothing is changed where nothing is wrong, and none are added that nobody asked for") {
  CHECK_FALSE(mended(with_turn("{{- '[bot>' }}{%- generation %}{{- m.content + '[fin]' }}{%- endgeneration %}"), true));
  CHECK_FALSE(mended(with_turn("{{- '[bot>' + m.content + '[fin]' }}"), false));
  // No place in the template begins what is sampled.
  const std::string whole = "{{- ['[bot>', m.content, '[fin]'] | join }}";
  CHECK_FALSE(mended(with_turn(whole), true));
  CHECK_FALSE(mended(with_turn("{%- generation %}" + whole + "{%- endgeneration %}"), false));
}

}  // namespace
}  // namespace rondo::audit
