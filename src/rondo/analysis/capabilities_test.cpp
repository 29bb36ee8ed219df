#include "analysis/capabilities.h"

#include <doctest/doctest.h>

#include <string>

#include "analysis/message_rules.h"

namespace rondo::analysis {
namespace {

Capabilities capabilities_of(const std::string& source) {
  const auto chat_template = jinja::Template::compile(source, {}, "test");
  REQUIRE(chat_template.ok());
  const Options options;
  const auto format = analyse(*chat_template.value(), options);
  REQUIRE(format.ok());
  const tmpl::MessageRules rules = find_message_rules(*chat_template.value(), options, *format.value());
  const Studied studied{*chat_template.value(), options, *format.value(), rules};
  return find_capabilities(studied, studied);
}

std::string supported(const Capabilities& capabilities) {
  std::string out;
  for (const Capability& capability : capabilities.all) {
    if (capability.is_supported) out += (out.empty() ? "" : " ") + capability.name;
  }
  return out;
}

}  // namespace

TEST_CASE("a template that prints roles and contents carries every role, and nothing else") {
  const Capabilities can =
      capabilities_of("{% for m in messages %}\n{{- '<' ~ m.role ~ '>' ~ m.content }}{% endfor %}");
  CHECK(supported(can) ==
        "system late_system developer history repeated_user assistant_first tool_results parallel_tool_results");
  CHECK(can.find("system")->line == 2);
  CHECK(can.find("tools")->evidence == "nothing of tools[0].function.name is written");
  CHECK(can.find("nonsense") == nullptr);
  CHECK(can.free_variables.empty());
}

TEST_CASE("what a template refuses is told in its own words") {
  const Capabilities can = capabilities_of(
      "{% if messages[0].role == 'system' %}{{ raise_exception('no orders') }}{% endif %}"
      "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '\\n' }}{% endfor %}");
  CHECK_FALSE(can.find("system")->is_supported);
  CHECK(can.find("system")->evidence == "the template refuses it: no orders");
  CHECK(can.find("late_system")->is_supported);
}

TEST_CASE("tools that stand in the first message of instructions alone are found, with their line") {
  const Capabilities can = capabilities_of(
      "{% for m in messages %}{% if m.role == 'developer' and tools %}{% for t in tools %}\n"
      "{{- t.function.name }} {{ t.function.description }} {{ t.function.parameters | tojson }}{% endfor %}{% endif %}"
      "{{ m.content }}{% endfor %}");
  CHECK(can.find("tools")->is_supported);
  CHECK(can.find("tools")->line == 2);
  CHECK(can.find("tool_schemas")->is_supported);
}

TEST_CASE("parts that leave a mark, and parts that are only printed") {
  const std::string parts =
      "{% for m in messages %}{{ '<' ~ m.role ~ '>' }}{% if m.content is string %}{{ m.content }}{% else %}"
      "{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% elif p.type == 'image' or 'image_url' in p %}{{ "
      "'((picture))' }}{% "
      "endif %}"
      "{% endfor %}{% endif %}{{ '~end~' }}{% endfor %}";
  const Capabilities can = capabilities_of(parts);
  CHECK(can.find("images")->is_supported);
  CHECK(*can.find("images")->details.find("placeholder") == json::Value("((picture))"));
  CHECK(*can.find("images")->details.find("part") == json::Value("image"));
  CHECK_FALSE(can.find("audio")->is_supported);
  CHECK(can.find("text_parts")->is_supported);
  const Capabilities printed = capabilities_of("{% for m in messages %}{{ m.content }}{% endfor %}");
  CHECK_FALSE(printed.find("images")->is_supported);
  CHECK_FALSE(printed.find("text_parts")->is_supported);
}

TEST_CASE("values that are written only beside tools, or where thinking is on") {
  const Capabilities can = capabilities_of(
      "{% for m in messages %}{% if m.role != 'system' or tools %}{{ m.content }}{% endif %}"
      "{% if m.reasoning_content and enable_thinking %}{{ '[[' ~ m.reasoning_content ~ ']]' }}{% endif %}{% endfor %}");
  CHECK(can.find("system")->evidence == "messages[0].content is written, where there are tools");
  CHECK(can.find("reasoning")->evidence == "messages[1].reasoning_content is written, where thinking is switched on");
  CHECK(*can.find("reasoning")->details.find("field") == json::Value("reasoning_content"));
  CHECK(can.free_variables == std::vector<std::string>{"enable_thinking"});
}

TEST_CASE("a template that takes contents as parts alone is shown parts") {
  const Capabilities can = capabilities_of(
      "{% for m in messages %}{{ '<' ~ m.role ~ '>' }}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}");
  for (const char* name : {"system", "history", "repeated_user"}) CHECK_MESSAGE(can.find(name)->is_supported, name);
}

TEST_CASE("history is what a conversation without tools has") {
  const Capabilities can = capabilities_of(
      "{% if tools %}{{ messages[-1].content }}{% else %}{% for m in messages %}{{ m.content }};{% endfor %}{% endif "
      "%}");
  CHECK(can.find("history")->is_supported);
  CHECK(can.find("history")->evidence == "messages[0].content and messages[1].content are written");
}

TEST_CASE("a capability is told with its line, which may be the first one, and with its details") {
  const json::Value told = to_json(capabilities_of(
      "{% for m in messages %}{{- '<' ~ m.role ~ '>' ~ m.content }}{{ '(' ~ m.reasoning_content ~ ')' if "
      "m.reasoning_content and mull }}{% endfor %}"));
  CHECK(*told.find("system")->find("line") == json::Value(1));
  CHECK(*told.find("system")->find("supported") == json::Value(true));
  CHECK(told.find("tools")->find("line") == nullptr);
  CHECK(*told.find("free_variables") == json::Value(json::Array{"mull"}));
}

TEST_CASE("a template that never renders carries nothing") {
  const Capabilities can = capabilities_of("{{ raise_exception('never') }}");
  CHECK(supported(can).empty());
  CHECK(can.find("history")->evidence == "the template refuses it: never");
}

}  // namespace rondo::analysis
