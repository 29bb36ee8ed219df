// Tests parts of a format that no message of the chat APIs makes the template show.
#include <doctest/doctest.h>

#include "analysis/analyse.h"

namespace rondo::analysis {
namespace {

std::shared_ptr<const format::Format> format_of(const std::string& source, const Options& options = {}) {
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

TEST_CASE("calls that the template only tells of, in a sentence") {
  const auto told = [](const std::string& sentence) {
    return format_of("{%- if tools %}{{- '((system))" + sentence +
                     "' }}{%- for t in tools %}{{- t.function.name }}{%- endfor %}{{- '((end))' }}{%- endif %}"
                     "{%- for m in messages %}{{- '((' + m.role + '))' + (m.content or '') + '((end))' }}{%- endfor %}"
                     "{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %}");
  };
  const auto list = told("To call functions, write [CALLS] followed by a JSON list of them.");
  CHECK(list->calls.present);
  CHECK(list->calls.section_open == "[CALLS]");
  CHECK(list->calls.envelope == format::Envelope::kJsonArray);
  REQUIRE(list->losses.size() == 1);
  CHECK(list->losses[0].what == "calls in history");
  const auto object = told("To call a function, write <call> and then a JSON object.");
  CHECK(object->calls.call_open == "<call>");
  CHECK(object->calls.envelope == format::Envelope::kJsonObject);
  for (const char* none :
       {"Answer with a JSON object.", "Write [CALLS]. Later a JSON list follows.", "Use <call> well."})
    CHECK_MESSAGE(!told(none)->calls.present, none);
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

TEST_CASE(
    "bug: a plan that only messages with calls have was no reasoning where the template always asks for an answer") {
  const auto format = format_of(R"JINJA(
{%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.tool_calls %}{{- '<|plan|>' ~ m.tool_sketch ~ '</|plan|><|do|>' }}
{%- for c in m.tool_calls %}{{- c.function.name + ' ' + c.function.arguments | tojson + ';' }}{%- endfor %}
{{- '<|done|>' }}{%- else %}{{- '<|say|>' ~ m.content }}{%- endif %}
{{- '((end))' }}
{%- endfor %}
{{- '((assistant))' }})JINJA");
  CHECK(tags_of(format->reasoning) == "<|plan|>..</|plan|>");
  CHECK(format->input.reasoning_field == "tool_sketch");
  CHECK(format->calls.section_open == "<|do|>");
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
  CHECK(tags("<|END_assistant|>") == "none");  // the START token opens turns
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

// Returns a template that writes an answer's content, `c`, with `answer`, and has `prompt` after the header of its
// generation prompt.
std::string answering(const std::string& answer, const std::string& prompt = "") {
  return R"J({%- for m in messages %}
{{- '((' + m.role + '))' }}
{%- if m.role == 'assistant' %}
{%- set c = m.content or '' %}
)J" + answer +
         R"J(
{%- for call in m.tool_calls or [] %}{{- '<do>' ~ call.function.name ~ ' ' ~ call.function.arguments | tojson ~ '</do>' }}{%- endfor %}
{%- else %}{{- m.content }}{%- endif %}
{{- '((end))' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant)))J" +
         prompt + "' }}{%- endif %}";
}

std::string tags_where(const std::string& answer, const std::string& prompt = "") {
  return tags_of(format_of(answering(answer, prompt))->reasoning);
}

TEST_CASE("a closing tag up to which content is cut closes the reasoning, whatever looks for it") {
  CHECK(tags_where("{{- c.split('</muse>')[-1] }}") == "<muse>..</muse>");
  CHECK(tags_where("{{- c.rpartition('[/MUSE]')[2] }}") == "[MUSE]..[/MUSE]");
  CHECK(tags_where("{%- set at = c.rfind('</muse>') %}{{- c[at + 7:] if at >= 0 else c }}") == "<muse>..</muse>");
  CHECK(tags_where("{{- c.split('◁/muse▷')[-1] }}") == "◁muse▷..◁/muse▷");
  CHECK(tags_where("{%- if c.startswith('<muse>') %}{{- c.split('</muse>', 1)[1] }}{%- else %}{{- c }}{%- endif %}") ==
        "<muse>..</muse>");
}

TEST_CASE("content that is only cut in earlier turns tells the closing tag too") {
  const char* answer = "{%- if loop.last %}{{- c }}{%- else %}{{- c.split('@done@')[-1] }}{%- endif %}";
  CHECK(tags_where(answer) == "none");
  CHECK(tags_where(answer, "@muse@\\n") == "@muse@\n..@done@");
}

TEST_CASE("a mark that is looked for in what the closing mark ends opens the reasoning") {
  CHECK(tags_where("{%- set r = c.split('@done@')[0].split('@muse@')[-1] %}{{- c.split('@done@')[-1] }}") ==
        "@muse@..@done@");
  CHECK(tags_where("{%- if '@ref@' in c %}{{- '' }}{%- endif %}{%- if '@done@' in c %}"
                   "{%- set r = c.split('@done@')[0].split('@muse@')[-1] %}{%- set c = c.split('@done@')[-1] %}"
                   "{%- endif %}{{- c }}") == "@muse@..@done@");
  CHECK(tags_where("{%- if '@done@' in c %}{{- '[' + c.split('@done@')[0].split('@muse@')[-1].strip() + ']' }}"
                   "{%- set c = c.split('@done@')[-1].lstrip() %}{%- endif %}{{- c }}") == "@muse@..@done@");
}

TEST_CASE("marks between which content is cut from anywhere are those of reasoning") {
  const char* answer = "{%- for p in c.split('<out|>') %}{{- p.split('<|in>')[0] }}{%- endfor %}";
  CHECK(tags_where(answer) == "<|in>..<out|>");
  CHECK(tags_where("{%- for p in c.split('{muse!') %}{{- p.split('!muse}')[-1] }}{%- endfor %}") == "{muse!..!muse}");
}

TEST_CASE("of the marks that content is searched for the one up to which it is cut closes what the prompt opens") {
  CHECK(tags_where("{%- if '[img]' in c %}{{- '' }}{%- endif %}{{- c.split('@done@')[-1] }}", "@muse@\\n") ==
        "@muse@\n..@done@");
}

TEST_CASE("marks of something else are no reasoning") {
  // Nothing shows the opener.
  CHECK(tags_where("{%- if '[img]' in c %}{{- '' }}{%- endif %}{{- c.split('@done@')[-1] }}") == "none");
  // Places of pictures.
  CHECK(tags_where(
            "{%- for p in c.split('<image>') %}{{- '' if loop.first else '<|pic|>' }}{%- for q in p.split('<video>') %}"
            "{{- '' if loop.first else '<|vid|>' }}{{- q }}{%- endfor %}{%- endfor %}") == "none");
  // Lists, the end of an answer, an answer in a block, texts that are removed.
  CHECK(tags_where("{%- for p in c.split('[item]') %}{{- p }}{%- endfor %}") == "none");
  CHECK(tags_where("{{- c.split('[stop]')[0] }}") == "none");
  CHECK(
      tags_where("{%- if '</say>' in c %}{%- set c = c.split('</say>')[0].split('<say>')[-1] %}{%- endif %}{{- c }}") ==
      "none");
  CHECK(
      tags_where("{%- if '@x@' in c and '@y@' in c %}{%- set c = c.replace('@x@', '').replace('@y@', '') %}{%- endif %}"
                 "{{- c }}") == "none");
  // Calls.
  CHECK(tags_where("{%- if '</do>' in c %}{%- set c = c.split('</do>')[-1] %}{%- endif %}{{- c }}") == "none");
}

// Returns the tags that are inferred if the generation prompt has `prompt` after its header with thinking off, and
// `elsewhere` otherwise.
std::string closed_by(const std::string& prompt, const std::string& elsewhere = "") {
  return tags_of(format_of(R"J({%- for m in messages %}{{- '((' + m.role + '))' + m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- ')J" +
                           prompt + "' }}{%- else %}{{- '" + elsewhere + "' }}{%- endif %}{%- endif %}")
                     ->reasoning);
}

TEST_CASE("a block that only a prompt without thinking has is closed reasoning") {
  CHECK(closed_by("<muse>\\n\\n</muse>\\n\\n") == "<muse>..</muse>");
  CHECK(closed_by("<muse>\\nI have finished.\\n</muse>\\n") == "<muse>..</muse>");
  CHECK(closed_by("◁muse▷◁/muse▷") == "◁muse▷..◁/muse▷");
  CHECK(closed_by("<|begin_of_muse|><|end_of_muse|>") == "<|begin_of_muse|>..<|end_of_muse|>");
  CHECK(closed_by("<|muse_start|>\\n\\n<|muse_end|>\\n\\n") == "<|muse_start|>..<|muse_end|>");
  CHECK(closed_by("@muse@\\n\\n@done@\\n") == "@muse@..@done@");
  CHECK(closed_by("<|muse|>\\n<|say|>\\n") == "<|muse|>..<|say|>");
}

TEST_CASE("other words of a prompt without thinking are no reasoning") {
  CHECK(closed_by("<|channel|>final<|message|>") == "none");
  CHECK(closed_by("<|say|><|message|>") == "none");
  CHECK(closed_by(" /quiet") == "none");
  CHECK(closed_by("Be brief. <|say|>") == "none");
  CHECK(closed_by("<|final_answer|>") == "none");
  CHECK(closed_by("<|say|> <|en|>", "<|say|> <|en|>") == "none");
}

// Returns the tags that are inferred if the template tells the model `sentence` under `condition`, and the opener of
// content if there is one.
std::string told(const std::string& sentence, const std::string& condition = "true") {
  const auto format =
      format_of("{%- if " + condition + " %}{{- '((system))" + sentence + "((end))' }}{%- endif %}" + R"J(
{%- for m in messages %}{{- '((' + m.role + '))' + m.content + '((end))' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '((assistant))' }}{%- endif %})J");
  return tags_of(format->reasoning) + (format->content.open.empty() ? "" : ", then " + format->content.open);
}

TEST_CASE("the model is told between which tags to think") {
  CHECK(told("Write your reasoning between <muse> and </muse>, then answer.") == "<muse>..</muse>");
  CHECK(told("Reply as <muse> {your thoughts} </muse> {your answer}.") == "<muse>..</muse>");
  CHECK(told("First think: [MUSE]...[/MUSE], then reply.") == "[MUSE]..[/MUSE]");
  CHECK(told("Think inside <|muse|> and <|/muse|>.") == "<|muse|>..<|/muse|>");
  CHECK(told("<|begin_of_muse|> {thought} <|end_of_muse|>") == "<|begin_of_muse|>..<|end_of_muse|>");
  CHECK(told("Think between <|muse_start|> and <|muse_end|>.") == "<|muse_start|>..<|muse_end|>");
  CHECK(told("Format:\\n<muse>\\nyour thoughts\\n</muse>\\n<say>\\nyour answer\\n</say>") ==
        "<muse>..</muse>, then <say>");
  CHECK(told("Put your thoughts into <muse> {} </muse>.", "thinking") == "<muse>..</muse>");
}

TEST_CASE("tags of other things that the model is told of are no reasoning") {
  CHECK(told("Put the title between <title> and </title>.") == "none");
  CHECK(told("Think first. Put the title between <title> and </title>.") == "none");
  CHECK(told("<rules>\\nThink well before you answer.\\nBe brief.\\n</rules>") == "none");
  CHECK(told("Your thoughts go into <muse>.") == "none");
  CHECK(told("Give a reason with <first_name> and <last_name>.") == "none");
  CHECK(told("Use <b>bold</b> where there is a reason.") == "none");
}

}  // namespace
}  // namespace rondo::analysis
