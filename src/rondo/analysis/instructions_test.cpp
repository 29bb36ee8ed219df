// What is read off a template that no message of the chat APIs makes it show.
#include <doctest/doctest.h>

#include "analysis/analyse.h"

namespace rondo::analysis {
namespace {

std::shared_ptr<const format::Format> format_of(const char* source, const Options& options = {}) {
  const auto chat_template = jinja::Template::compile(source, {}, "invented");
  REQUIRE(chat_template.ok());
  auto format = analyse(*chat_template.value(), options);
  REQUIRE(format.ok());
  return format.value();
}

std::string tags_of(const format::Reasoning& reasoning) {
  return reasoning.present ? reasoning.open + ".." + reasoning.close : "none";
}

constexpr const char* kTold = R"JINJA(
{%- if thinking %}{{- '((system))Muse between <muse></muse>, answer between <say></say>.' }}{%- endif %}
{%- for m in messages %}{{- '((' + m.role + '))' + m.content }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA";

TEST_CASE("tags that the template tells the model only where thinking is on") {
  const auto format = format_of(kTold);
  CHECK(tags_of(format->reasoning) == "<muse>..</muse>");
  CHECK(format->content.open == "<say>");
}

TEST_CASE("the same where the caller has switched thinking on") {
  Options options;
  options.kwargs = json::Object{{"thinking", true}};
  CHECK(tags_of(format_of(kTold, options)->reasoning) == "<muse>..</muse>");
}

TEST_CASE("thoughts in a field that only this template has") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m['role'] + '))' + m['content'] }}
{%- if show and 'mulling' in m %}{{- '[MULL]' + m['mulling'] + '[/MULL]' }}{%- endif %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "[MULL]..[/MULL]");
  REQUIRE(format->losses.size() == 1);
  CHECK(format->losses[0].what == "reasoning in history");
}

TEST_CASE("thoughts in a block of the content") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.content is string %}{{- m.content }}{%- else %}
{%- for block in m.content.blocks %}
{%- if block.type == 'thoughts' %}{{- '<|in|>' + block.text + '<|out|>' }}{%- else %}{{- block.text }}{%- endif %}
{%- endfor %}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "<|in|>..<|out|>");
}

TEST_CASE("a field around which nothing stands is no reasoning") {
  CHECK(tags_of(format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m['role'] + '))' + (m['speaker'] or '') + m['content'] + '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA")
                    ->reasoning) == "none");
}

TEST_CASE("a line end that only the prompt has in front of the header does not make the header a marker of content") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '[|' + m.role + '|]' + m.content.split('</muse>')[-1] + '[|end|]' }}
{%- if not loop.last %}{{- '\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '\n[|assistant|]<muse>\n' }}{%- endif %})JINJA");
  CHECK(format->content.open.empty());
  CHECK(tags_of(format->reasoning) == "<muse>\n..</muse>");
}

}  // namespace
}  // namespace rondo::analysis
