// Tests what a template writes before content only in some turns.
#include <doctest/doctest.h>

#include "tests/support/verified_format.h"

namespace rondo::analysis {
namespace {

// `before` stands before the content of message `m`.
std::shared_ptr<const format::Format> with_lead(const std::string& before) {
  return test::verified_format(
      "{%- for m in messages %}\n{%- if m.role == 'assistant' %}{{- '[bot>' }}{%- endif %}\n" + before +
      "{{- m.content or '' }}\n"
      "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + ':do}' "
      "}}{%- endfor %}\n{{- '~fin~' }}\n{%- endfor %}\n{%- if add_generation_prompt %}{{- '[bot>' }}{%- endif %}");
}

TEST_CASE("bug: words before content only where the request has tools were text of the answer") {
  const std::string bot = "{%- if tools and m.role == 'assistant' and not m.tool_calls %}{{- 'Bot: ' }}{%- endif %}";
  const auto format = with_lead(bot);
  CHECK(format->content.open_with_tools == "Bot: ");
  CHECK(format->content.open.empty());
  CHECK(with_lead("")->content.open_with_tools.empty());
  // With and without tools alike, they are what opens content.
  CHECK(with_lead("{%- if m.role == 'assistant' and not m.tool_calls %}{{- 'Bot: ' }}{%- endif %}")
            ->content.open_with_tools.empty());
}

TEST_CASE("bug: white space before content only where calls follow was text of the answer") {
  const auto format = with_lead("{%- if m.tool_calls %}{{- '  ' }}{%- endif %}");
  CHECK(format->content.preamble_open == "  ");
  CHECK(format->content.preamble_close.empty());
  CHECK(with_lead("")->content.preamble_open.empty());
}

TEST_CASE("bug: white space before the answer behind a result was text of the answer") {
  const auto format_with = [](const std::string& last) {
    return test::verified_format(
        "{%- for m in messages %}\n{%- set is_bot = m.role == 'assistant' %}\n"
        "{%- if is_bot and loop.previtem.role == 'user' %}{{- '[bot></mull>' }}{%- endif %}\n"
        "{%- if is_bot and not m.tool_calls" +
        last +
        " %}{{- '  ' }}{%- endif %}\n{{- (m.content or '').split('</mull>')[-1] if is_bot else m.content }}\n"
        "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + "
        "':do}' "
        "}}{%- endfor %}\n{{- '~fin~' }}\n{%- endfor %}\n"
        "{%- if add_generation_prompt and messages[-1].role == 'user' %}{{- '[bot>' + ('<mull>' if enable_thinking "
        "else "
        "'</mull>') }}{%- endif %}");
  };
  CHECK(format_with("")->reasoning.close == "</mull>  ");
  CHECK(format_with("")->content.open == "  ");
  // Where other answers lack it, it may be the content's own.
  CHECK(format_with(" and loop.previtem.role == 'tool'")->content.open.empty());
}

TEST_CASE("bug: a line end behind reasoning was missing from answers that have an empty block of it") {
  const auto format = with_lead(
      "{%- if m.role == 'assistant' %}{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)\\n' }}"
      "{%- else %}{{- '(mull::mull)' }}{%- endif %}{%- endif %}");
  CHECK(format->reasoning.open == "(mull:");
  CHECK(format->reasoning.close == ":mull)\n");
  CHECK(format->reasoning.absent == "(mull::mull)");
}

}  // namespace
}  // namespace rondo::analysis
