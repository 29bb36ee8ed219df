#include "analysis/explain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace rondo::analysis {
namespace {

constexpr const char* kTemplate = R"JINJA({%- for m in messages %}
{{- '[[' + m.role + '>>' }}
{%- if m.reasoning_content %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
<do {{ c.function.name }}
with> {{- c.function.arguments | tojson }} <done/>
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{%- endif %})JINJA";

Explanation explained() {
  const auto chat_template = jinja::Template::compile(kTemplate, {}, "invented");
  REQUIRE(chat_template.ok());
  auto out = explain(*chat_template.value(), {});
  REQUIRE(out.ok());
  return std::move(out).value();
}

// Returns "line:column text" for each piece of the field.
std::string places_of(const Explanation& explanation, std::string_view field) {
  std::string out;
  for (const FieldOrigin& origin : explanation.origins) {
    if (origin.field != field) continue;
    for (const OriginPiece& piece : origin.pieces)
      out += "[" + std::to_string(piece.place.line) + ":" + std::to_string(piece.place.column) + " " + piece.text + "]";
  }
  return out;
}

TEST_CASE("each text of a format has the place of the template that wrote it") {
  const Explanation explanation = explained();
  CHECK(places_of(explanation, "reasoning.open") == "[3:34 (*mull ]");
  CHECK(places_of(explanation, "reasoning.close") == "[3:68  mull*)]");
  CHECK(places_of(explanation, "stops.content[0]") == "[9:5 ~fin~]");
  CHECK(places_of(explanation, "generation_prompts[0].text") == "[11:36 [[assistant>>]");
}

TEST_CASE("text behind a newline has the place of its own line") {
  const Explanation explanation = explained();
  CHECK(places_of(explanation, "calls.call_open") == "[6:1 <do ]");
  CHECK(places_of(explanation, "calls.pieces[1].text") == "[6:26 \nwith>]");
  CHECK(places_of(explanation, "calls.call_close") == "[7:43  <done/>]");
}

TEST_CASE("the parts of an origin are the field's text") {
  for (const FieldOrigin& origin : explained().origins) {
    std::string text;
    for (const OriginPiece& piece : origin.pieces) text += piece.text;
    CHECK_MESSAGE(text == origin.text, origin.field);
  }
}

TEST_CASE("the probes are told with their slots") {
  const Explanation explanation = explained();
  const auto found = std::find_if(explanation.probes.begin(), explanation.probes.end(), [](const ProbeRecord& probe) {
    return probe.name == "reasoning in reasoning_content, content";
  });
  REQUIRE(found != explanation.probes.end());
  std::string slots;
  for (const ProbePart& part : found->parts) slots += part.slot.empty() ? "<" + part.text + ">" : part.slot;
  CHECK(slots == "<[[><assistant><>>><(*mull >reasoning< mull*)>content<~fin~>");
  const bool has_prompt =
      std::any_of(explanation.probes.begin(), explanation.probes.end(),
                  [](const ProbeRecord& probe) { return probe.name == "generation prompt; without tools"; });
  CHECK(has_prompt);
  for (const ProbeRecord& probe : explanation.probes) {
    CAPTURE(probe.name);
    CHECK(probe.is_message != probe.name.starts_with("generation prompt"));
    std::string text;
    for (const ProbePart& part : probe.parts) text += part.text;
    if (!probe.is_message) CHECK(text == "[[assistant>>");
  }
}

TEST_CASE("a probe tells the form of its message, and whether the template takes another one") {
  const auto chat_template = jinja::Template::compile(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}{{- m.content or '' }}{%- for c in m.tool_calls or [] %}"
      "{{- '<do ' + c.function.name + '>' }}{{- c.function.arguments }}{{- '</do>' }}{%- endfor %}{{- '~fin~' }}"
      "{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}",
      {}, "invented");
  REQUIRE(chat_template.ok());
  const auto explanation = explain(*chat_template.value(), {});
  REQUIRE(explanation.ok());
  std::string told;
  for (const ProbeRecord& probe : explanation.value().probes) {
    if (probe.name.find(" call") == std::string::npos || probe.name.starts_with("reasoning")) continue;
    const std::string one = probe.name + (probe.is_other_shape ? " (other)\n" : "\n");
    if (told.find(one) == std::string::npos) told += one;
  }
  CHECK(told ==
        "1 call (other)\n1 call; with a tool result behind it (other)\n1 call with arguments as text\n"
        "2 calls with arguments as text\ncontent, 1 call with arguments as text\n"
        "content, 2 calls with arguments as text\n1 call with arguments as text; with a tool result behind it\n"
        "3 calls with arguments as text\n");
}

TEST_CASE("texts of each form of a parameter have their place too") {
  const auto chat_template = jinja::Template::compile(R"JINJA({%- for m in messages %}
{{- '[[' + m.role + '>>' }}{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}{{- '<do ' + c.function.name + '>' }}
{%- for k, v in c.function.arguments.items() %}{{- '<p name="' + k + '"' }}
{{- ' text="yes">' + v if v is string else ' text="no">' + (v | tojson) }}{{- '</p>' }}{%- endfor %}{{- '</do>' }}{%- endfor %}
{{- '~fin~' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{%- endif %})JINJA",
                                                      {}, "invented");
  REQUIRE(chat_template.ok());
  const auto explanation = explain(*chat_template.value(), {});
  REQUIRE(explanation.ok());
  const auto& forms = explanation.value().format->calls.parameters.forms;
  REQUIRE_MESSAGE(forms.size() > 1, explanation.value().format->to_string());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    REQUIRE_FALSE(forms[i].open.empty());
    const std::string field = "calls.parameters.forms[" + std::to_string(i) + "].open";
    CHECK_MESSAGE(places_of(explanation.value(), field).starts_with("[5:"), field);
  }
}

}  // namespace
}  // namespace rondo::analysis
