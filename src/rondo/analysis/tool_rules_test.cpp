#include "analysis/tool_rules.h"

#include <doctest/doctest.h>

#include "probe/messages.h"

namespace rondo::analysis {
namespace {

// The rules of a template that writes `for_each` for each tool, whose function is `f`, before the messages.
tmpl::ToolRules tool_rules_of(const std::string& for_each, const std::string& function = "t.function") {
  const std::string source = "{%- for t in tools or [] %}{%- set f = " + function + " %}" + for_each +
                             "{%- endfor %}{%- for m in messages %}{{- m.content }}{%- endfor %}";
  const auto chat_template = jinja::Template::compile(source, {}, "test");
  REQUIRE(chat_template.ok());
  const Options options;
  Prober prober(*chat_template.value(), options, false);
  return find_tool_rules(prober, probe::plain_message("user", "q"));
}

}  // namespace

TEST_CASE("a template that serialises tools takes every form") {
  CHECK(tool_rules_of("{{- t | tojson }}") == tmpl::ToolRules());
  CHECK(tool_rules_of("{{- (t.function if t.function is defined else t) | tojson }}") == tmpl::ToolRules());
}

TEST_CASE("a template that writes no tools needs nothing of them") {
  CHECK(tool_rules_of("") == tmpl::ToolRules());
  const auto chat_template = jinja::Template::compile("{{- messages[0].content }}", {}, "test");
  const Options options;
  Prober prober(*chat_template.value(), options, false);
  CHECK(find_tool_rules(prober, probe::plain_message("user", "q")) == tmpl::ToolRules());
}

TEST_CASE("a template that looks into `function` needs it") {
  CHECK(tool_rules_of("{{- f.name }}").wraps);
  CHECK(!tool_rules_of("{{- f.name }}", "t.function or t").wraps);
}

TEST_CASE("a description that is joined to text must be one") {
  const tmpl::ToolRules joined = tool_rules_of("{{- f.name + ': ' + f.description }}");
  CHECK(joined.describes);
  CHECK(!joined.takes_nulls);
  CHECK(!joined.gives_properties);
  const tmpl::ToolRules printed = tool_rules_of("{{- f.name }}: {{ f.description }}");
  CHECK(!printed.describes);
  CHECK(!printed.takes_nulls);  // it would write `None`
  CHECK(!tool_rules_of("{{- f.name }}{%- if f.description %}{{- f.description }}{%- endif %}").describes);
  // An empty text would not help.
  CHECK(
      !tool_rules_of("{{- f.name + f.description }}{%- if not f.description %}{{- raise_exception('no') }}{%- endif %}")
           .describes);
}

TEST_CASE("parameters that are iterated must be there") {
  const std::string properties = "{{- f.name }}{%- for k, v in f.parameters.properties.items() %}";
  const tmpl::ToolRules rules = tool_rules_of(properties + "{{- k + ' ' + v.description }}{%- endfor %}");
  CHECK(rules.gives_properties);
  CHECK(rules.describes_parameters);
  CHECK(rules.takes_null_types);
  CHECK(!tool_rules_of(properties + "{{- k }}{%- endfor %}").describes_parameters);
  CHECK(!tool_rules_of("{{- f.name }}{{- f.parameters | tojson if f.parameters }}").gives_properties);
  CHECK(!tool_rules_of(properties + "{{- k + v.type }}{%- endfor %}").takes_null_types);
}

}  // namespace rondo::analysis
