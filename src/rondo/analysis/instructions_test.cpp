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

TEST_CASE("a field that only this template reads, in front of content and calls, is its reasoning") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.rationale %}{{- '[MULL]' + m.rationale + '[/MULL]' }}{%- endif %}
{{- m.content + '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "[MULL]..[/MULL]");
  CHECK(format->input.reasoning_field == "rationale");
  CHECK_FALSE(format->reasoning.in_content);
  CHECK(format->losses.empty());
}

TEST_CASE("the same where only messages with calls show it") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.tool_calls %}{{- '<|plan|>' + (m.sketch or '') + '<|do|>' }}
{%- for c in m.tool_calls %}{{- c.function.name + ' ' + c.function.arguments | tojson + ';' }}{%- endfor %}
{{- '<|done|>' }}{%- else %}{{- m.content }}{%- endif %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "<|plan|>..<|do|>");
  CHECK(format->input.reasoning_field == "sketch");
}

TEST_CASE("a field of the header is no reasoning") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}{{- '<|' + m.role + ' ' + (m.speaker or 'any') + '|>' + m.content + '<|end|>' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant any|>' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "none");
  CHECK(format->input.reasoning_field.empty());
}

TEST_CASE("a close that history looks for tells what opens the reasoning") {
  const auto tags = [](const std::string& close) {
    const std::string source = "{%- for m in messages %}{{- '<|START_' + m.role + '|>' }}{{- m.content.split('" +
                               close +
                               "')[-1] + '<|stop|>' }}{%- endfor %}"
                               "{%- if add_generation_prompt %}{{- '<|START_assistant|>' }}{%- endif %}";
    return tags_of(format_of(source.c_str())->reasoning);
  };
  CHECK(tags("</muse>") == "<muse>..</muse>");
  CHECK(tags("<|/MUSE|>") == "<|MUSE|>..<|/MUSE|>");
  CHECK(tags("<|END_MUSE|>") == "<|START_MUSE|>..<|END_MUSE|>");
  CHECK(tags("<|END_assistant|>") == "none");  // its pair opens turns
  CHECK(tags("THE END_MUSE") == "none");
}

TEST_CASE("a header in brackets that stay open does not swallow the opener that only the prompt always has") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '[[' ~ m.role ~ ': ' }}
{%- if m.reasoning_content %}{{- '<muse>' ~ m.reasoning_content ~ '</muse>' }}{%- endif %}
{{- m.content ~ '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant: ' }}{{- '<muse>' }}{%- endif %})JINJA");
  CHECK(format->header == "[[assistant: ");
  CHECK(tags_of(format->reasoning) == "<muse>..</muse>");
  REQUIRE(format->losses.size() == 1);
  CHECK(format->losses[0].what == "answers without reasoning");
}

TEST_CASE("reasoning that one prompt opens and the prompt without thinking closes") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}{{- '((' + m.role + '))' + m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))@muse@\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '\n@done@\n' }}{%- endif %}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "@muse@\n..@done@");
}

TEST_CASE("an empty pair of brackets in the prompt without thinking is where reasoning goes") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}{{- '((' + m.role + '))' + m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '[[muse]]\n\n[[/muse]]\n' }}{%- endif %}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "[[muse]]..[[/muse]]");
}

TEST_CASE("the marks of a block that only the other prompt shows, where the caller has switched thinking") {
  const char* const source = R"JINJA(
{%- for m in messages %}{{- '((' + m.role + '))' + m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '<muse>\n \n</muse>\n' }}{%- endif %}{%- endif %})JINJA";
  for (const bool thinks : {true, false}) {
    Options options;
    options.kwargs = json::Object{{"enable_thinking", thinks}};
    CHECK(tags_of(format_of(source, options)->reasoning) == "<muse>..</muse>");
  }
}

TEST_CASE("words with which the prompt begins the reasoning are a part of it") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '<|' + m.role + '|>' }}
{%- if m.reasoning_content %}{{- m.reasoning_content + '[ANSWER]' }}{%- endif %}
{{- m.content + '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>My steps:\n' }}{%- endif %})JINJA");
  CHECK(tags_of(format->reasoning) == "My steps:\n..[ANSWER]");
  CHECK(format->reasoning.begins_text);
}

TEST_CASE("a counter that the template writes in a call and in its result is the call's id") {
  const auto json = format_of(R"JINJA(
{%- set ns = namespace(calls=0, results=0) %}
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.role == 'tool' %}{{- '{"call": "' ~ ns.results ~ '", "out": ' ~ m.content | tojson ~ '}' }}{% set ns.results = ns.results + 1 %}
{%- else %}{{- m.content }}{%- endif %}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]{"call": "' ~ ns.calls ~ '", "name": "' ~ c.function.name ~ '", "args": ' ~ c.function.arguments | tojson ~ '}[[/do]]' }}
{%- set ns.calls = ns.calls + 1 %}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(json->calls.roles.id == std::vector<std::string>{"call"});
  const auto tags = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.role == 'tool' %}{{- '[[of #' ~ 0 ~ ']]' }}{%- endif %}{{- m.content }}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]' ~ c.function.name ~ '[[id]]#' ~ loop.index0 ~ '[[with]]' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  REQUIRE(tags->calls.pieces.size() == 5);
  CHECK(tags->calls.pieces[2].kind == format::CallPiece::Kind::kId);
}

TEST_CASE("a name and a counter that the template writes in a call and in its result are the call's id") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.role == 'tool' %}{{- 'of functions.' ~ m.name ~ ':' ~ 0 ~ '\n' }}{%- endif %}{{- m.content }}
{%- for c in m.tool_calls or [] %}
{{- '[[do]]functions.' ~ c.function.name ~ ':' ~ loop.index0 ~ '[[with]]' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  CHECK(format->calls.call_open == "[[do]]");
  REQUIRE(format->calls.pieces.size() == 3);
  CHECK(format->calls.pieces[0].kind == format::CallPiece::Kind::kNameInId);
}

TEST_CASE("a counter that only numbers the calls is no id") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}{{- m.content }}
{%- for c in m.tool_calls or [] %}
{{- '[[do #' ~ loop.index0 ~ ']]' ~ c.function.name ~ '[[with]]' ~ c.function.arguments | tojson ~ '[[/do]]' }}
{%- endfor %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})JINJA");
  for (const format::CallPiece& piece : format->calls.pieces) CHECK(piece.kind != format::CallPiece::Kind::kId);
}

}  // namespace
}  // namespace rondo::analysis
