#include "analysis/message_rules.h"

#include <doctest/doctest.h>

namespace rondo::analysis {
namespace {

using tmpl::MessageRules;
using Content = tmpl::RoleRules::Content;
using Empty = tmpl::RoleRules::Empty;

MessageRules rules_of(const std::string& source) {
  const auto chat_template = jinja::Template::compile(source, {}, "test");
  REQUIRE(chat_template.ok());
  const auto format = analyse(*chat_template.value(), {});
  REQUIRE(format.ok());
  return find_message_rules(*chat_template.value(), {}, *format.value());
}

// Returns a template that writes each message as `[role: CONTENT CALLS]`.
std::string template_with(const std::string& content, const std::string& calls = "") {
  return "{%- for m in messages %}{{- '[' + m.role + ': ' }}" + content + "{%- for c in m.tool_calls or [] %}" + calls +
         "{%- endfor %}{{- ']' }}{%- endfor %}" + "{%- if add_generation_prompt %}{{- '[assistant: ' }}{%- endif %}";
}

const std::string kText = "{{- m.content }}";
const std::string kEitherText =
    "{%- if m.content is string %}{{- m.content }}{%- elif m.content %}{%- for p in m.content %}{{- p.text }}{%- "
    "endfor "
    "%}{%- endif %}";

}  // namespace

TEST_CASE("a template that prints contents takes texts, and no null") {
  const MessageRules rules = rules_of(template_with(kText));
  for (const tmpl::RoleRules& role : {rules.system, rules.user, rules.assistant}) {
    CHECK(role.content == Content::kText);
    CHECK(role.empty == Empty::kText);
  }
  CHECK(rules.takes_nulls);
  CHECK(rules.knows_developer);
}

TEST_CASE("a template that looks for parts takes parts") {
  const MessageRules rules = rules_of(template_with("{%- for p in m.content %}{{- p['text'] }}{%- endfor %}"));
  CHECK(rules.user.content == Content::kParts);
  CHECK(rules.user.empty == Empty::kList);
  const MessageRules either = rules_of(template_with(kEitherText));
  CHECK(either.user.content == Content::kAny);
  CHECK(either.user.empty == Empty::kAny);
}

TEST_CASE("bug: nothing was known of the calls of a template that refuses tools") {
  const std::string calls = "{{- '<c ' + c.function.name + '=' + c.function.arguments | tojson + '>' }}";
  const std::string refuses = "{%- if tools %}{{- raise_exception('no tools') }}{%- endif %}";
  CHECK(rules_of(refuses + template_with(kEitherText, calls)).arguments == MessageRules::Arguments::kObject);
}

TEST_CASE("arguments: an object that is serialised, a text that is printed, or both") {
  const auto arguments = [](const std::string& written) {
    return rules_of(template_with(kEitherText, "{{- '<c ' + c.function.name + '=' + " + written + " + '>' }}"))
        .arguments;
  };
  CHECK(arguments("c.function.arguments | tojson") == MessageRules::Arguments::kObject);
  CHECK(arguments("c.function.arguments") == MessageRules::Arguments::kText);
  // Bug: a text was sent where the template writes arguments as JSON in a string.
  CHECK(arguments("c.function.arguments | tojson | tojson") == MessageRules::Arguments::kObject);
  // The same if the serialised text is then written with other characters.
  CHECK(arguments("(c.function.arguments | tojson | replace('\"', '&quot;'))") == MessageRules::Arguments::kObject);
  CHECK(arguments("(c.function.arguments if c.function.arguments is string else c.function.arguments | tojson)") ==
        MessageRules::Arguments::kAny);
  const std::string members = "{%- for k, v in c.function.arguments.items() %}{{- k + ':' + v + ';' }}{%- endfor %}";
  CHECK(
      rules_of(template_with(kEitherText, "{{- '<c ' + c.function.name + ' ' }}" + members + "{{- '>' }}")).arguments ==
      MessageRules::Arguments::kObject);
}

TEST_CASE("bug: reasoning was put into the content of a message whose calls the template then left out") {
  const std::string calls = "{{- '<c ' + c.function.name + c.function.arguments | tojson + '>' }}";
  CHECK(!rules_of(template_with(kEitherText, calls)).content_hides_calls);
  const std::string hidden = template_with(kEitherText, "{%- if not m.content %}" + calls + "{%- endif %}");
  CHECK(rules_of(hidden).content_hides_calls);
  CHECK(rules_of("{%- if tools %}{{- tools | tojson }}{%- endif %}" + hidden).content_hides_calls);
  CHECK(!rules_of(template_with(kEitherText)).content_hides_calls);
}

TEST_CASE("ids: nine letters, some, or none") {
  const std::string call = "{{- '<c ' + c.function.name + ' ' + c.function.arguments | tojson + '>' }}";
  const auto ids = [&](const std::string& before) { return rules_of(template_with(kEitherText, before + call)).ids; };
  CHECK(ids("") == MessageRules::Ids::kAny);
  CHECK(ids("{{- '#' + c.id }}") == MessageRules::Ids::kNeeded);
  CHECK(ids("{%- if c.id | length != 9 %}{{- raise_exception('nine') }}{%- endif %}{{- '#' + c.id }}") ==
        MessageRules::Ids::kNineLetters);
  // A result with neither an id nor its tool's name cannot be written.
  const std::string named_by_id =
      "{%- if m.role == 'tool' %}{%- set found = namespace(name=m.name) %}{%- for other in messages %}"
      "{%- for c in other.tool_calls or [] if c.id == m.tool_call_id %}{%- set found.name = c.function.name %}"
      "{%- endfor %}{%- endfor %}{{- found.name ~ ': ' }}{%- endif %}";
  CHECK(rules_of(template_with(named_by_id + kEitherText, call)).ids == MessageRules::Ids::kNeeded);
}

TEST_CASE("results: names, order and values") {
  const std::string call = "{{- '<c ' + c.function.name + ' ' + c.function.arguments | tojson + '>' }}";
  const MessageRules plain = rules_of(template_with(kEitherText, call));
  CHECK(!plain.names_results);
  CHECK(plain.orders_results);
  CHECK(plain.tool.dumps_values);
  const MessageRules named = rules_of(
      template_with("{%- if m.role == 'tool' %}{{- m.name + '#' + m.tool_call_id }}{%- endif %}" + kEitherText, call));
  CHECK(named.names_results);
  CHECK(!named.orders_results);
}

TEST_CASE("a role that is not written is another one's, and members that are null may be too much") {
  const std::string source =
      "{%- for m in messages %}{%- if m.role in ['system', 'user', 'assistant'] %}{{- '[' + m.role + ': ' + m.content "
      "}}"
      "{%- if m.tool_calls is defined %}{{- m.tool_calls | length }}{%- endif %}{{- ']' }}{%- endif %}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant: ' }}{%- endif %}";
  const MessageRules rules = rules_of(source);
  CHECK(!rules.knows_developer);
  CHECK(!rules.takes_nulls);
}

TEST_CASE("reasoning that only this template names, or only its content holds") {
  const std::string own = "{%- if m.plan %}{{- '(' + m.plan + ') ' }}{%- endif %}" + kEitherText;
  CHECK(rules_of(template_with(own)).reasoning_field == "plan");
  CHECK(
      rules_of(template_with("{%- if m.reasoning_content %}{{- '(' + m.reasoning_content + ')' }}{%- endif %}" + kText))
          .reasoning_field.empty());
}

TEST_CASE("a template that knows a list of one part alone takes texts") {
  const std::string first = "{{- m.content if m.content is string else m.content[0].text if m.content else '' }}";
  CHECK(rules_of(template_with(first)).assistant.content == Content::kText);
}

TEST_CASE("what older clients send is given in today's form where the template does not read it") {
  const std::string call = "{{- '<c ' + c.function.name + ' ' + c.function.arguments | tojson + '>' }}";
  const std::string known = "{%- for m in messages if m.role in ['system', 'user', 'assistant', 'tool'] %}";
  std::string source = template_with(kEitherText, call);
  const MessageRules any_role = rules_of(source);
  CHECK(!any_role.takes_function_calls);
  CHECK(any_role.knows_function_role);
  CHECK(!any_role.takes_refusals);
  CHECK(any_role.takes_empty_calls);
  source.replace(0, source.find("%}") + 2, known);
  CHECK(!rules_of(source).knows_function_role);
  CHECK(rules_of(
            template_with(
                "{%- if m.function_call %}{{- '<f ' + m.function_call.name + '>' }}{%- endif %}" + kEitherText, call))
            .takes_function_calls);
  // A request with calls has tools, and the template may look at them.
  CHECK(rules_of(
            template_with("{%- if tools and m.function_call %}{{- '<f ' + m.function_call.name + '>' }}{%- endif %}" +
                              kEitherText,
                          call))
            .takes_function_calls);
  CHECK(rules_of(template_with("{{- m.refusal or '' }}" + kEitherText)).takes_refusals);
  CHECK(!rules_of(template_with("{%- if 'tool_calls' in m %}{{- 'calls' }}{%- else %}" + kText + "{%- endif %}"))
             .takes_empty_calls);
}

TEST_CASE("bug: rules were learned from conversations without tools") {
  const std::string either = kEitherText;
  // Without tools any form will do.
  const auto with_tools = [&](const std::string& content) {
    return rules_of(template_with("{%- if tools %}" + content + "{%- else %}" + either + "{%- endif %}"));
  };
  const MessageRules text = with_tools("{{- 'T' + m.content }}");
  for (const tmpl::RoleRules& role : {text.system, text.user, text.assistant}) {
    CHECK(role.content == Content::kText);
    CHECK(role.empty == Empty::kText);
  }
  CHECK(with_tools("{%- for p in m.content %}{{- p.text }}{%- endfor %}").user.empty == Empty::kList);
  const auto with_members = [&](const std::string& condition) {
    return with_tools("{%- if " + condition + " %}{{- 'has it' }}{%- endif %}" + either);
  };
  CHECK(!with_members("m.name is defined").takes_nulls);
  CHECK(!with_members("m.tool_calls is defined").takes_empty_calls);
  CHECK(with_members("false").takes_empty_calls);
  CHECK(!with_tools("{%- if m.role != 'developer' %}" + either + "{%- endif %}").knows_developer);
}

TEST_CASE("bug: an empty list, or parts, beside calls were not tried") {
  const std::string call = "{{- '<c ' + c.function.name + ' ' + c.function.arguments | tojson + '>' }}";
  const auto beside = [&](const std::string& content) {
    return rules_of(
        template_with("{%- if m.tool_calls %}" + content + "{%- else %}" + kEitherText + "{%- endif %}", call));
  };
  const MessageRules printed = beside("{%- if m.content is not none %}{{- m.content }}{%- endif %}");
  CHECK(printed.no_content == format::NoContent::kEmpty);
  CHECK(printed.assistant.content == Content::kText);
  const MessageRules either = beside(kEitherText);
  CHECK(!either.no_content);
  CHECK(either.assistant.content == Content::kAny);
}

}  // namespace rondo::analysis
