#include "analysis/explain.h"

#include <doctest/doctest.h>

#include <algorithm>

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

// "line:column text", one after the other.
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
}

}  // namespace
}  // namespace rondo::analysis
