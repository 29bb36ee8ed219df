// Tests switches of reasoning in templates with invented variables.
#include "analysis/reasoning_switch.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::analysis {
namespace {

ReasoningSwitch switch_of(const std::string& source, const Options& options = {}) {
  const auto chat_template = jinja::Template::compile(source, {}, "invented");
  REQUIRE_MESSAGE(chat_template.ok(), (chat_template.ok() ? "" : chat_template.error().to_string()));
  const auto format = analyse(*chat_template.value(), options);
  REQUIRE(format.ok());
  return find_reasoning_switch(*chat_template.value(), options, *format.value());
}

std::string text_of(const std::optional<json::Member>& member) {
  return member ? member->key + "=" + json::to_compact(member->value) : "none";
}

// Returns a template that writes `head` first, messages with reasoning before the content, and `prompt` as the
// generation prompt.
std::string source_with(const std::string& head, const std::string& prompt) {
  return head + R"JINJA(
{%- for m in messages %}{{- '((' + m.role + '))' }}
{%- if m.reasoning_content %}{{- '<muse>' + m.reasoning_content + '</muse>' }}{%- endif %}{{- m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }})JINJA" +
         prompt + "{%- endif %}";
}

}  // namespace

TEST_CASE("a variable that closes reasoning in the prompt") {
  const ReasoningSwitch found =
      switch_of(source_with("", "{%- if ponder is defined and not ponder %}{{- '<muse></muse>' }}{%- endif %}"));
  CHECK(found.has_reasoning);
  CHECK(text_of(found.on) == "ponder=true");
  CHECK(text_of(found.off) == "ponder=false");
  CHECK(found.is_usually_on);
  CHECK_FALSE(found.is_usually_off);
  CHECK(found.effort.empty());
  CHECK(found.budget.empty());
}

TEST_CASE("a variable that is true where there is to be no reasoning") {
  const ReasoningSwitch found =
      switch_of(source_with("", "{%- if hasty %}{{- '<muse></muse>' }}{%- else %}{{- '<muse>' }}{%- endif %}"));
  CHECK(text_of(found.on) == "hasty=false");
  CHECK(text_of(found.off) == "hasty=true");
  CHECK(found.usual == ReasoningSwitch::State::kOpen);
}

TEST_CASE("marks that the model is told of") {
  const ReasoningSwitch found =
      switch_of(source_with("{%- if ponder %}{{- '((system))Muse between <muse></muse>.((end))' }}{%- endif %}", ""));
  CHECK(text_of(found.on) == "ponder=true");
  CHECK(found.is_usually_off);
}

TEST_CASE("an effort that the template writes, with one that it takes by itself") {
  const ReasoningSwitch found = switch_of(source_with(
      "{%- set zeal = zeal or 'medium' %}{%- set manner = manner or 'plain' %}{{- '((system))Zeal: ' + zeal + manner + "
      "'((end))' }}",
      ""));
  CHECK(found.effort == "zeal");
  CHECK(found.takes_any_effort);
  CHECK_FALSE(found.off);
}

TEST_CASE("efforts that the template knows, and refuses others") {
  const ReasoningSwitch found = switch_of(source_with(
      "{%- if zeal is defined and zeal not in ['none', 'low', 'high'] %}{{ raise_exception('what zeal?') }}{%- endif "
      "%}",
      "{%- if zeal == 'none' %}{{- '<muse></muse>' }}{%- elif zeal == 'high' %}{{- '<muse>' }}{%- endif %}"));
  CHECK(found.effort == "zeal");
  CHECK(found.efforts == std::vector<std::string>{"none", "low", "high"});
  CHECK_FALSE(found.takes_any_effort);
  CHECK(text_of(found.off) == "zeal=\"none\"");
  CHECK(text_of(found.on) == "zeal=\"high\"");
}

TEST_CASE("two efforts that make a difference are a switch, one is none, and the API's own name may take any") {
  const auto refusing = [](const std::string& efforts) {
    return switch_of(source_with(
        "{%- if zeal is defined and zeal not in " + efforts + " %}{{ raise_exception('what zeal?') }}{%- endif %}",
        "{%- if zeal == 'low' %}{{- '<muse></muse>' }}{%- else %}{{- '<muse>' }}{%- endif %}"));
  };
  CHECK(refusing("['low', 'high']").efforts == std::vector<std::string>{"low", "high"});
  CHECK(refusing("['low']").effort.empty());
  CHECK(refusing("['medium', 'high']").effort.empty());
  const auto told = [](const std::string& name) {
    return switch_of(
        source_with("{%- if " + name + " %}{{- '((system))Zeal: ' + " + name + " + '((end))' }}{%- endif %}", ""));
  };
  CHECK(told("reasoning_effort").effort == "reasoning_effort");
  CHECK(told("reasoning_effort").takes_any_effort);
  CHECK(told("zeal").effort.empty());
}

TEST_CASE("a number of tokens") {
  const ReasoningSwitch found = switch_of(source_with(
      "{%- if purse is defined and purse > 0 %}{{- '((system))Muse for ' ~ purse ~ ' words.((end))' }}{%- endif %}",
      "{%- if purse is defined and purse == 0 %}{{- '<muse></muse>' }}{%- endif %}"));
  CHECK(found.budget == "purse");
  CHECK(text_of(found.off) == "purse=0");
  CHECK(text_of(found.on) == "none");
}

TEST_CASE("variables about something else are no switches") {
  const ReasoningSwitch found = switch_of(
      source_with("{{- '((system))' + (persona or 'a helper') + (' Count: ' ~ tally if tally else '') + '((end))' }}"
                  "{%- if verbose %}{{- '((system))Say more.((end))' }}{%- endif %}",
                  ""));
  CHECK_FALSE(found.on);
  CHECK_FALSE(found.off);
  CHECK(found.effort.empty());
  CHECK(found.budget.empty());
}

TEST_CASE("what the caller sets is no switch") {
  Options options;
  options.kwargs = json::Object{{"ponder", false}};
  const ReasoningSwitch found = switch_of(
      source_with("", "{%- if ponder is defined and not ponder %}{{- '<muse></muse>' }}{%- endif %}"), options);
  CHECK_FALSE(found.on);
  CHECK(found.usual == ReasoningSwitch::State::kClosed);
}

}  // namespace rondo::analysis
