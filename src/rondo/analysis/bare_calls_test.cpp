// Tests calls without arguments, and texts in quotes.
#include <doctest/doctest.h>

#include "tests/support/verified_format.h"

namespace rondo::analysis {
namespace {

std::shared_ptr<const format::Format> format_of_turn(const std::string& turn) {
  const std::string source =
      "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n" + turn +
      "\n{{- '~fin~' }}\n{%- endfor %}\n{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
  return test::verified_format(source);
}

std::shared_ptr<const format::Format> each(const std::string& call) {
  return format_of_turn("{{- m.content or '' }}\n{%- for c in m.tool_calls or [] %}" + call + "{%- endfor %}");
}

TEST_CASE("arguments that are left out where there are none") {
  const auto block = each(
      "<do><to>{{ c.function.name }}</to>{% if c.function.arguments %}<with>{{ c.function.arguments | tojson }}</with>"
      "{% endif %}</do>");
  CHECK(block->calls.omits_arguments);
  CHECK(block->calls.bare_close == "</to></do>");
  const auto alone = each(
      "<do to=\"{{ c.function.name }}\"{% if c.function.arguments %}>{{ c.function.arguments | tojson }}</do>"
      "{% else %}/>{% endif %}");
  CHECK(alone->calls.bare_close == "\"/>");
  const auto member = each(
      "<do>{\"to\": \"{{ c.function.name }}\"{% if c.function.arguments %}, \"with\": {{ c.function.arguments | tojson "
      "}}"
      "{% endif %}}</do>");
  CHECK(member->calls.envelope == format::Envelope::kJsonObject);
  CHECK(member->calls.omits_arguments);
  // What stands there all the same is not left out.
  CHECK_FALSE(each("<do>{{ c.function | tojson }}</do>")->calls.omits_arguments);
  const auto literal = each(
      "<do>{\"to\": \"{{ c.function.name }}\", \"with\": {% if c.function.arguments %}"
      "{{ c.function.arguments | tojson }}{% else %}{}{% endif %}}</do>");
  CHECK_FALSE(literal->calls.omits_arguments);
  const auto parameters = each(
      "<do {{ c.function.name }}>{%- for k, v in c.function.arguments.items() %}<p {{ k }}>{{ v }}</p>{%- endfor "
      "%}</do>");
  CHECK_FALSE(parameters->calls.omits_arguments);
}

TEST_CASE("bug: a call without arguments that closes itself behind its id was text") {
  const auto format = each(
      "<do to=\"{{ c.function.name }}\" id=\"{{ c.id }}\"{% if c.function.arguments %}>{{ c.function.arguments | "
      "tojson }}"
      "</do>{% else %}/>{% endif %}");
  CHECK(format->calls.omits_arguments);
  CHECK(format->calls.bare_close == "\"/>");
  CHECK(format->calls.behind_name() - format->calls.pieces.begin() == 3);
}

TEST_CASE("bug: the opener of the content behind reasoning in quotes closed the reasoning") {
  const auto format = format_of_turn(
      "{%- if m.reasoning_content %}{{- 'Thoughts: ' ~ m.reasoning_content | tojson ~ '\\n' }}{%- endif %}\n"
      "{{- 'Body:\\n' ~ (m.content or '') }}");
  CHECK(format->reasoning.open == "Thoughts: \"");
  CHECK(format->reasoning.close == "\"\n");
  CHECK(format->content.open == "Body:\n");
}

}  // namespace
}  // namespace rondo::analysis
