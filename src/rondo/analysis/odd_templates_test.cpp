// Tests templates that write turns in a rare way, or in a way that cannot be read back.
#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "analysis/explain.h"
#include "analysis/probe.h"
#include "format/escapes.h"
#include "format/units.h"
#include "tests/support/verified_format.h"

namespace rondo::analysis {
namespace {

using test::verified_format;

// Returns a template with invented markers, in which `calls` writes the calls of message `m`.
std::string with_calls(const std::string& calls) {
  return "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n"
         "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}\n"
         "{{- m.content or '' }}\n" +
         calls +
         "\n{{- '~fin~' }}\n{%- endfor %}\n"
         "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
}

bool has_note(const format::Format& format, const std::string& note) {
  return std::ranges::find(format.notes, note) != format.notes.end();
}

const std::string kJsonCalls =
    "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + ':do}' }}"
    "{%- endfor %}";

TEST_CASE("calls that nothing marks cannot be read, and reasoning can all the same") {
  const auto format = verified_format(with_calls(
      "{%- for c in m.tool_calls or [] %}{{- c.function.name + (c.function.arguments | tojson) }}{%- endfor %}"));
  CHECK_FALSE(format->calls.present);
  CHECK(has_note(*format, "calls: nothing marks where a call begins"));
  CHECK(format->reasoning.present);
  CHECK(format->reasoning.open == "(mull:");
  CHECK(format->reasoning.close == ":mull)");
  CHECK(format->stops.content == std::vector<std::string>{"~fin~"});
}

TEST_CASE("calls that are written only while nothing follows them") {
  const auto format = verified_format(with_calls("{%- if loop.last %}" + kJsonCalls + "{%- endif %}"));
  const auto plain = verified_format(with_calls(kJsonCalls));
  CHECK(format->calls.present);
  CHECK(format->calls.call_open == plain->calls.call_open);
  CHECK(format->calls.call_close == plain->calls.call_close);
  CHECK(format->stops.content == plain->stops.content);
}

TEST_CASE("a number that the template counts is any number in a marker") {
  const auto counted = [](const std::string& call) {
    return verified_format(with_calls("{%- for c in m.tool_calls or [] %}" + call + "{%- endfor %}"));
  };
  const auto json = counted("<call id=\"{{ loop.index }}\">{{ c.function | tojson }}</call#{{ loop.index0 }}>");
  CHECK(json->calls.envelope == format::Envelope::kJsonObject);
  CHECK(json->calls.call_open == "<call id=\"\x1A\">");
  CHECK(json->calls.call_close == "</call#\x1A>");
  CHECK(json->stops.tool == json->stops.content);
  const auto list = counted("\n{{ loop.index }}. {{ c.function.name }}({{ c.function.arguments | tojson }})");
  CHECK(list->calls.call_open == "\x1A. ");
  const auto parameters = counted(
      "<do {{ c.function.name }}>{%- for k, v in c.function.arguments.items() %}<p{{ loop.index }} {{ k }}>{{ v }}"
      "</p{{ loop.index }}>{%- endfor %}</do>");
  CHECK(parameters->calls.parameters.open == "<p\x1A ");
  CHECK(parameters->calls.parameters.close == "</p\x1A>");
  CHECK(parameters->calls.call_close == "</do>");
  const auto section = verified_format(with_calls("{%- if m.tool_calls %}<calls n=\"{{ m.tool_calls | length }}\">" +
                                                  kJsonCalls + "</calls>{%- endif %}"));
  CHECK(section->calls.section_open == "<calls n=\"\x1A\">");
}

TEST_CASE("bug: no loss told of objects and arrays in a syntax that is not read back") {
  const auto losses_of = [](const std::string& values) {
    const auto format = verified_format(
        values +
        with_calls(
            "{%- for c in m.tool_calls or [] %}<do {{ c.function.name }}>{%- for k, v in c.function.arguments.items() "
            "%}<p {{ k }}>{{ value(v) }}</p>{%- endfor %}</do>{%- endfor %}"));
    std::string out;
    for (const auto& loss : format->losses) out += loss.what + ";";
    return out;
  };
  const auto spelled = [&](const std::string& object, const std::string& array) {
    return losses_of(
        "{%- macro value(v) %}{%- if v is string or v is number or v is none or v is boolean %}{{- v | tojson }}{%- "
        "elif v "
        "is mapping %}" +
        object + "{%- else %}" + array + "{%- endif %}{%- endmacro %}");
  };
  const std::string plain_object =
      "{{- '{' }}{%- for k, x in v.items() %}{{- k + ': ' }}{{- value(x) }}{{- ', ' if not loop.last }}{%- endfor "
      "%}{{- '}' }}";
  const std::string plain_array =
      "{{- '[' }}{%- for x in v %}{{- value(x) }}{{- ', ' if not loop.last }}{%- endfor %}{{- ']' }}";
  CHECK(spelled(plain_object, plain_array).empty());
  CHECK(spelled("{{- '{' }}{%- for k, x in v.items() %}{{- k + ' = ' }}{{- value(x) }}{{- ', ' if not loop.last }}{%- "
                "endfor %}{{- '}' }}",
                plain_array) == "objects in arguments;");
  CHECK(spelled(plain_object, "{{- '(list' }}{%- for x in v %} {{ value(x) }}{%- endfor %}{{- ')' }}") ==
        "arrays in arguments;");
}

TEST_CASE("bug: a list of calls that is a member of an object was read as markers") {
  const auto format =
      verified_format(with_calls("{%- if m.tool_calls %}<do>{{- '{\"calls\": [' }}{%- for c in m.tool_calls %}{{- "
                                 "'{\"to\": \"' + c.function.name + '\", "
                                 "\"with\": ' }}{{- c.function.arguments | tojson }}{{- ', \"nr\": \"' + c.id + '\"}' "
                                 "}}{{- ', ' if not loop.last }}"
                                 "{%- endfor %}{{- ']}' }}</do>{%- endif %}"));
  CHECK(format->calls.envelope == format::Envelope::kJsonArray);
  CHECK(format->calls.section_open == "<do>{\"calls\": ");
  CHECK(format->calls.section_close == "}</do>");
  CHECK(format->calls.roles.id == std::vector<std::string>{"nr"});
}

TEST_CASE("bug: a tag was torn where the close of a call begins with the same sign") {
  const auto keyed =
      verified_format(with_calls("{%- for c in m.tool_calls or [] %}\n<do={{ c.function.name }}>\n{%- for k, v in "
                                 "c.function.arguments.items() %}\n<p:{{ k "
                                 "}}>\n{{ v }}\n</p:{{ k }}>\n{%- endfor %}\n</do>{%- endfor %}"));
  CHECK(keyed->calls.parameters.open == "<p:");
  CHECK(keyed->calls.parameters.key_in_close == "\n</p:");
  CHECK(keyed->calls.call_close == "</do>");
  const auto slashed = verified_format(
      with_calls("{%- for c in m.tool_calls or [] %}\\do{{ '{' }}{{ c.function.name }}{{ '}' }}{%- for k, v in "
                 "c.function.arguments.items() "
                 "%}\\arg{{ '{' }}{{ k }}{{ '}{' }}{{ v }}{{ '}' }}{%- endfor %}\\end{%- endfor %}"));
  CHECK(slashed->calls.parameters.open == "\\arg{");
  CHECK(slashed->calls.parameters.close == "}");
  CHECK(slashed->calls.call_close == "\\end");
}

TEST_CASE("content before calls, and a message without reasoning, may have markers of their own") {
  const auto format = verified_format(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}"
      "{%- if m.reasoning_content %}<mull>{{ m.reasoning_content }}</mull>{% else %}<no-mull>{% endif %}"
      "{%- if m.content and m.tool_calls %}<remark>{{ m.content }}</remark>{% elif m.content %}{{ m.content }}{% endif "
      "%}"
      "{%- for c in m.tool_calls or [] %}<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>{%- endfor "
      "%}{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CHECK(format->reasoning.open == "<mull>");
  CHECK(format->reasoning.absent == "<no-mull>");
  CHECK(format->content.open == "");
  CHECK(format->content.preamble_open == "<remark>");
  CHECK(format->content.preamble_close == "</remark>");
  CHECK(format->calls.section_open == "");
  const auto headed = verified_format(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.role == 'assistant' %}{{- '[ACT]' if m.tool_calls "
      "else "
      "'[SAY]' }}{%- endif %}{{- m.content or '' }}" +
      kJsonCalls + "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CHECK(headed->content.open == "[SAY]");
  CHECK(headed->content.preamble_open == "[ACT]");
  CHECK(headed->content.preamble_close == "");
}

TEST_CASE("parameters are known although two calls of one tool are refused") {
  const std::string parameters =
      "{%- for c in m.tool_calls or [] %}{{- '<do ' + c.function.name + '>' }}"
      "{%- for k, v in c.function.arguments.items() %}{{- '<p ' + k + '>' + (v | string) + '</p>' }}{%- endfor %}"
      "{{- '</do>' }}{%- endfor %}";
  const auto plain = verified_format(with_calls(parameters));
  REQUIRE(plain->calls.present);
  CHECK(plain->calls.parameters.open == "<p ");
  CHECK(plain->calls.parameters.close == "</p>");
  const auto refusing = verified_format(
      with_calls("{%- if m.tool_calls and m.tool_calls | length > 1 and m.tool_calls[0].function.name == "
                 "m.tool_calls[1].function.name %}{{- raise_exception('twice') }}{%- endif %}" +
                 parameters));
  CHECK(refusing->calls.present);
  CHECK(refusing->to_string() == plain->to_string());
}

TEST_CASE("a template that refuses a second call, or writes none, is known") {
  const std::string one = "{%- if m.tool_calls | default([]) | length > 1 %}{{ raise_exception('one') }}{%- endif %}";
  CHECK_FALSE(verified_format(with_calls(kJsonCalls))->input.single_call);
  CHECK(verified_format(with_calls(one + kJsonCalls))->input.single_call);
  CHECK_FALSE(verified_format(with_calls(""))->input.single_call);
}

TEST_CASE("a value that the template has a word of its own for") {
  const auto format = verified_format(with_calls(
      "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' }}"
      "{%- for k, v in c.function.arguments.items() %}{{- k + '=' }}"
      "{%- if v is none %}{{- 'nil' }}{%- elif v is string %}{{- v }}{%- else %}{{- v | tojson }}{%- endif %}"
      "{{- ';' }}{%- endfor %}{{- ':do}' }}{%- endfor %}"));
  CHECK(format->calls.parameters.key_close == "=");
  const auto none =
      std::ranges::find(format->calls.parameters.forms, format::ValueType::kNull, &format::ValueForm::type);
  REQUIRE(none != format->calls.parameters.forms.end());
  CHECK(none->style == format::ValueStyle::kConstant);
  CHECK(none->constant == "nil");
}

TEST_CASE("characters that are written in another way inside values and names") {
  const auto escapes = [](const std::string& value, const std::string& key) {
    const auto format =
        verified_format(with_calls("{%- for c in m.tool_calls or [] %}{{- '<do ' + c.function.name + '>' }}"
                                   "{%- for k, v in c.function.arguments.items() %}{{- '<p ' + " +
                                   key + " + '>' + " + value + " + '</p>' }}{%- endfor %}{{- '</do>' }}{%- endfor %}"));
    REQUIRE(format->calls.present);
    std::string out;
    const auto add = [&out](const std::vector<format::Escape>& all) {
      for (const format::Escape& escape : all) out += escape.text + escape.written + " ";
      out += "|";
    };
    add(format->calls.parameters.key_escapes);
    for (const format::ValueForm& form : format->calls.parameters.forms) {
      if (form.type == format::ValueType::kString || form.type == format::ValueType::kObject) add(form.escapes);
    }
    return out;
  };
  const std::string text = "(v if v is string else v | tojson)";
  CHECK(escapes(text, "k") == "|||");
  const std::string xml = "&&amp; <&lt; ";
  CHECK(escapes(text + " | replace('&', '&amp;') | replace('<', '&lt;')", "k") == "|" + xml + "|" + xml + "|");
  CHECK(escapes(text, "(k | replace('&', '&amp;') | replace('<', '&lt;'))") == xml + "|||");
  // What also stands for itself cannot be told apart: white space, single characters, nothing.
  CHECK(escapes(text + " | replace('\\n', ' ') | replace('&', '+') | replace('<', '')", "k") == "|||");
  CHECK(escapes(text + " | replace('\\n', '\\\\n')", "k") == "|\n\\n ||");
  CHECK(escapes(text + " | replace(' ', '%20')", "k") == "| %20 | %20 |");
}

TEST_CASE("the end of a header opens no call that has no mark of its own") {
  const auto format = verified_format(
      "{%- for m in messages %}{{- '@' + m.role + ' says:' }}"
      "{%- if m.content %}{{- '<content>' + m.content + '</content>' }}{%- endif %}"
      "{%- for c in m.tool_calls or [] %}{{- c.function.name + '(' }}"
      "{%- for k, v in c.function.arguments.items() %}{{- ', ' if not loop.first }}{{- k + '=' + (v | tojson) }}"
      "{%- endfor %}{{- ')' }}{%- endfor %}{{- '~fin~' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '@assistant says:' }}{%- endif %}");
  CHECK(format->header == "@assistant says:");
  CHECK(format->content.open == "<content>");
  CHECK(format->calls.call_open == "");
}

TEST_CASE("headings: what two of them share closes no reasoning") {
  const auto format = verified_format(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}"
      "{%- if m.reasoning_content %}{{- '## Reasoning\\n' + m.reasoning_content }}{%- endif %}"
      "{%- if m.content %}{{- '## Answer\\n' + m.content }}{%- endif %}"
      "{%- if m.tool_calls %}{{- '## Tools' }}{%- for c in m.tool_calls %}"
      "{{- '- ' + c.function.name + ': ' + (c.function.arguments | tojson) }}{%- endfor %}{%- endif %}"
      "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CHECK(format->reasoning.open == "## Reasoning\n");
  CHECK(format->reasoning.close == "## Answer\n");
  CHECK(format->calls.section_open == "## Tools");
}

TEST_CASE("attributes: white space between two quoted values separates them") {
  const auto format = verified_format(with_calls(
      "{%- for c in m.tool_calls or [] %}{{- '<' + c.function.name }}{%- for k, v in c.function.arguments.items() %}"
      "{{- ' ' + k + \"='\" + (v | tojson) + \"'\" }}{%- endfor %}{{- '/>' }}{%- endfor %}"));
  REQUIRE(format->calls.present);
  CHECK(format->calls.parameters.separator == " ");
  CHECK(format->calls.parameters.open == "");
  CHECK(format->calls.parameters.key_close == "=");
  CHECK(format->calls.parameters.forms.front().open == "'");
  CHECK(format->losses.empty());
}

TEST_CASE("characters that are written in another way inside names of tools and whole arguments") {
  const auto escapes = [](const std::string& call) {
    const auto format =
        verified_format(with_calls("{%- for c in m.tool_calls or [] %}{{- " + call + " }}{%- endfor %}"));
    REQUIRE(format->calls.present);
    std::string out;
    for (const format::Escape& escape : format->calls.name_escapes) out += escape.text + escape.written + " ";
    out += "|";
    for (const format::Escape& escape : format->calls.argument_escapes) out += escape.text + escape.written + " ";
    return out;
  };
  const std::string name = "c.function.name";
  const std::string json = "(c.function.arguments | tojson)";
  CHECK(escapes("'<do ' + " + name + " + '>' + " + json + " + '</do>'") == "|");
  CHECK(escapes("'<do ' }}{{ " + name + " | e }}{{ '>' + " + json + " + '</do>'") ==
        "&&amp; <&lt; >&gt; \"&#34; '&#39; |");
  CHECK(escapes("'<do ' + " + name + " + '>' + (" + json + " | replace('\"', '&quot;')) + '</do>'") == "|\"&quot; ");
  CHECK(escapes("'<do ' + " + name + " + '>' + (" + json + " | replace('<', '&lt;')) + '</do>'") == "|<&lt; ");
  CHECK(escapes("'<do ' + " + name + " + '>' + (" + json + R"( | replace('\\', '\\\\')) + '</do>')") == "|\\\\\\ ");
  // Inside JSON, and the whole JSON.
  CHECK(escapes("'<do>{\"name\": \"' }}{{ " + name + " | e }}{{ '\", \"arguments\": ' + " + json + " + '}</do>'") ==
        "&&amp; <&lt; >&gt; \"&#34; '&#39; |");
  CHECK(escapes("'<do>' + ({'name': " + name + ", 'arguments': c.function.arguments} | tojson) + '</do>'") == "|");
  // JSON's own escapes do not count.
  CHECK(escapes("'<do ' + " + name + " + '>' + (" + json + R"( | replace('<', '\\u003c')) + '</do>')") == "|");
}

TEST_CASE("what stands between calls and content closes their section") {
  const auto turns = [](const std::string& content, const std::string& close = "[[over]]") {
    return "{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n{%- if m.tool_calls %}{{- '[[acts]]' }}{%- for c in "
           "m.tool_calls %}{{- '<do>' + (c.function | tojson) + '</do>' }}{%- endfor %}{{- '" +
           close + "' }}{%- endif %}" + content +
           "{%- endfor %}\n{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}";
  };
  // Only the next turn ends a turn, or the text that closes the content does.
  for (const char* content :
       {"{{- m.content or '' }}", "{%- if m.content %}{{- '<say>' + m.content + '</say>' }}{%- endif %}"}) {
    const auto format = verified_format(turns(content));
    CHECK(format->calls.content_behind);
    CHECK(format->calls.section_close == "[[over]]");
    CHECK(std::ranges::find(format->stops.tool, "[[over]]") == format->stops.tool.end());
    CHECK(has_note(*format, "only the calls' close ends a turn of calls: who stops at it sees no content behind it"));
  }
  // bug: a part of the section's close was a stop, and the content behind it was lost
  const auto format = verified_format(turns("{{- m.content or '' }}", "][[over]]"));
  CHECK(format->calls.section_close == "][[over]]");
  CHECK(format->stops.tool.empty());
}

TEST_CASE("words that begin the next turn end one that no mark ends") {
  const auto stops = [](const std::string& user, const std::string& assistant, const std::string& end) {
    return verified_format("{%- for m in messages %}{%- if m.role == 'user' %}{{- '" + user + "' + m.content + '" +
                           end + "' }}{%- else %}{{- '" + assistant + "' + m.content + '" + end +
                           "' }}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '" + assistant +
                           "' }}{%- endif %}")
        ->stops.content;
  };
  using Stops = std::vector<std::string>;
  CHECK(stops("\\n### Human: ", "\\n### Assistant: ", "") == Stops{"\n### Human:"});
  CHECK(stops("\\n\\nHuman: ", "\\n\\nAssistant: ", "") == Stops{"\nHuman:"});
  CHECK(stops("user:\\n", "assistant:\\n", "\\n---\\n") == Stops{"\n---\n"});
  CHECK(stops("USER: ", "ASSISTANT: ", "\\n") == Stops{"\n", "\nUSER:"});
  CHECK(stops("<user>", "<bot>", "") == Stops{"<user>"});
  // bug: an answer behind which the template asks for another one ended with that prompt
  CHECK(stops("<turn>User\\n", "<turn>Bot\\n", "") == Stops{"<turn>"});
}

TEST_CASE("bug: white space that only an answered question has behind it was read as the answer's") {
  const auto open = [](const std::string& behind_question, const std::string& before_answer) {
    return verified_format(
               "{%- for m in messages %}{%- if m.role == 'user' %}{{- '[ask]' + m.content + '[/ask]' }}"
               "{%- if not loop.last %}{{- '" +
               behind_question + "' }}{%- endif %}{%- else %}{{- '" + before_answer +
               "' + m.content + '~fin~' }}{%- endif %}{%- endfor %}")
        ->content.open;
  };
  CHECK(open(" ", "") == " ");
  CHECK(open("", " ") == " ");
  CHECK(open("", "").empty());
  CHECK(open("[go]", "").empty());
}

TEST_CASE("content and calls that close with the same mark behind other white space") {
  const auto format = verified_format(
      "{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n{%- if m.tool_calls %}{{- '{{acts' }}{%- for c in "
      "m.tool_calls %}{{- '<do>' + (c.function | tojson) + '</do>' }}{%- endfor %}{{- 'over}}' }}{%- endif %}"
      "{%- if m.content %}{{- '{{say ' + m.content + ' over}}' }}{%- endif %}{{- '<|fin|>' }}{%- endfor %}\n"
      "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}");
  CHECK(format->content.close == " over}}");
  CHECK(format->calls.section_close == "over}}");
  CHECK(format->stops.content == std::vector<std::string>{"<|fin|>"});
}

TEST_CASE("reasoning behind the content") {
  const auto format_with = [](const std::string& content, const std::string& calls, const std::string& end) {
    return verified_format("{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n" + content +
                           "{%- if m.reasoning_content %}{{- '<why>' + m.reasoning_content + '</why>' }}{%- endif %}" +
                           calls + end +
                           "{%- endfor %}\n{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}");
  };
  const std::string wrapped = "{%- if m.content %}{{- '<say>' + m.content + '</say>' }}{%- endif %}";
  const std::string calls =
      "{%- for c in m.tool_calls or [] %}{{- '<do>' + (c.function | tojson) + '</do>' }}{%- endfor %}";
  const auto unended = format_with(wrapped, "", "");
  CHECK(unended->content.close == "</say>");
  CHECK(unended->reasoning.close == "</why>");
  for (const bool has_calls : {false, true}) {
    for (const bool is_wrapped : {false, true}) {
      const auto format =
          format_with(is_wrapped ? wrapped : "{{- m.content or '' }}", has_calls ? calls : "", "{{- '<|fin|>' }}");
      CHECK(format->reasoning.behind_content);
      CHECK(format->reasoning.open == "<why>");
      CHECK(format->reasoning.close == "</why>");
      CHECK(format->content.open == (is_wrapped ? "<say>" : ""));
      CHECK(format->content.close == (is_wrapped ? "</say>" : ""));
      CHECK(format->stops.content == std::vector<std::string>{"<|fin|>"});
      CHECK(format->losses.empty());
    }
  }
}

TEST_CASE("a close and an opener that share a sign are named") {
  const auto format = verified_format(
      "{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n{%- if m.content %}{{- '%%say%%' + m.content + "
      "'%%/say%%' "
      "}}{%- endif %}{%- for c in m.tool_calls or [] %}{{- '%%do%%' + (c.function | tojson) + '%%/do%%' }}{%- endfor %}"
      "{{- '<|fin|>' }}{%- endfor %}\n{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}");
  CHECK(
      has_note(*format,
               "`%%/say%%` ends with the sign that `%%do%%` begins with: where one of them lacks it, the first is read "
               "as text and the second as what it is"));
}

// Returns a template in which only the prompt opens reasoning, and history cuts the reasoning out of the content.
std::string with_inline_reasoning(const std::string& questions, const std::string& prompt) {
  return "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n{%- set text = m.content or '' %}\n" + questions +
         "{%- if ':mull)' in text %}{%- set text = text.split(':mull)')[-1] %}{%- endif %}\n"
         "{{- text + '~fin~' }}\n{%- endfor %}\n{%- if add_generation_prompt %}{{- '[assistant>' }}" +
         prompt + "{%- endif %}";
}

TEST_CASE("what history looks for in content ends the reasoning that the prompt opens") {
  const auto markers = [](const std::string& questions, const std::string& prompt) {
    const auto format = verified_format(with_inline_reasoning(questions, prompt));
    return format->reasoning.present ? format->reasoning.open + " " + format->reasoning.close : "none";
  };
  CHECK(markers("", "{{- '(mull:' }}") == "(mull: :mull)");
  // Other questions about the content do not show where reasoning ends.
  CHECK(markers("{%- if text.endswith('stop!') %}{{- '!' }}{%- endif %}{%- if '?!' in text %}{{- '?' }}{%- endif %}\n",
                "{{- '(mull:' }}") == "(mull: :mull)");
  // The prompt may also close the block if thinking is off.  White space before a close opens nothing.
  CHECK(markers("", "{{- '(mull::mull)' if enable_thinking is false else '' }}") == "(mull: :mull)");
  CHECK(markers("", "{{- '\n:mull)' if enable_thinking is false else '(mull:' }}") == "(mull: :mull)");
}

TEST_CASE("short markers are explained by the place beside what they mark") {
  // `<` is in the header too, and after the content.
  const std::string source =
      "{%- for m in messages %}\n{{- '<' + m.role + '>' }}\n{{- m.content or '' }}\n{{- '<>' }}\n"
      "{%- for c in m.tool_calls or [] %}\n{{- '<' + c.function.name + '|' }}\n"
      "{{- (c.function.arguments | tojson) + '|>' }}\n{%- endfor %}\n{{- '~fin~' }}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}";
  const auto compiled = jinja::Template::compile(source, {}, "invented");
  REQUIRE(compiled.ok());
  const auto explained = explain(*compiled.value(), {});
  REQUIRE(explained.ok());
  std::string places;
  for (const FieldOrigin& origin : explained.value().origins) {
    places += origin.field + " `" + origin.text + "`:";
    for (const OriginPiece& piece : origin.pieces) places += " " + std::to_string(piece.place.line);
    places += "\n";
  }
  CHECK(places ==
        "generation_prompts[0].text `<assistant>`: 11\ngeneration_prompts[1].text `<assistant>`: 11\n"
        "generation_prompts[2].text `<assistant>`: 11\nheader `<assistant>`: 2 0 2\ncontent.close `<>`: 4\n"
        "calls.call_open `<`: 6\ncalls.pieces[1].text `|`: 6\ncalls.call_close `|>`: 7\n"
        "stops.content[0] `~fin~`: 9\nstops.tool[0] `~fin~`: 9\n");
}

TEST_CASE("reasoning without an opener, which the opener of the answer ends") {
  const auto format = verified_format(
      "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n"
      "{%- if m.reasoning_content %}{{- m.reasoning_content + '\n\n' }}{%- endif %}\n"
      "{%- if m.content %}{{- 'In short: ' + m.content }}{%- endif %}\n" +
      kJsonCalls + "\n{{- '~fin~' }}\n{%- endfor %}\n{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CHECK(format->header == "[assistant>");
  CHECK(format->reasoning.open.empty());
  CHECK(format::trimmed(format->reasoning.close).starts_with("In short:"));
}

TEST_CASE("texts that are strings of JSON, and texts with the escapes of markup") {
  const auto format_with = [](const std::string& filter) {
    return verified_format(
        "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n"
        "{%- if m.reasoning_content %}{{- '(mull:' ~ (m.reasoning_content" +
        filter + ") ~ ':mull)' }}{%- endif %}\n{%- if m.content %}{{- m.content" + filter +
        " }}{%- endif %}\n{{- '~fin~' }}\n{%- endfor %}\n"
        "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  };
  const auto json = format_with(" | tojson");
  CHECK(json->reasoning.open == "(mull:\"");
  CHECK(json->reasoning.close == "\":mull)");
  CHECK(json->content.open == "\"");
  CHECK(json->content.close == "\"");
  CHECK(json->reasoning.escapes == format::json_escapes());
  CHECK(json->content.escapes == format::json_escapes());
  CHECK(json->losses.empty());
  const auto markup = format_with(" | e");
  CHECK(markup->reasoning.open == "(mull:");
  CHECK(markup->content.open.empty());
  const std::vector<format::Escape> html{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&#34;"}, {"'", "&#39;"}};
  CHECK(markup->reasoning.escapes == html);
  CHECK(markup->content.escapes == html);
  CHECK(format_with("").get()->content.escapes.empty());
}

// A template in which `content` writes the content of message `m`, and that has calls, thoughts and results.
std::string with_content(const std::string& content) {
  return "{%- for m in messages %}{{- '[' + m.role + '>' }}"
         "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}" +
         content + kJsonCalls +
         "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
}

TEST_CASE("bug: templates that know content only as parts had a wrong format") {
  const std::string text = "{{- '<' + m.content + '>' if m.content }}";
  const auto known = verified_format(with_content(text));
  REQUIRE(known->calls.present);
  // A text is refused, is written as nothing, or is written letter by letter.
  for (const char* parts : {"{{- '<' + m.content[0].text + '>' if m.content and m.content[0].text }}",
                            "{%- for p in m.content %}{{- '<' + p.text + '>' if p.text }}{%- endfor %}",
                            "{%- for p in m.content %}{{- '<' + (p.text if p.text is defined else p ~ '|') + '>' if "
                            "p.text != '' }}{%- endfor %}"}) {
    CAPTURE(parts);
    const auto format = verified_format(with_content(parts));
    CHECK(format->header == "[assistant>");
    CHECK(format->content.open == "<");
    CHECK(format->content.close == ">");
    CHECK(format->reasoning.open == known->reasoning.open);
    CHECK(format->reasoning.close == known->reasoning.close);
    CHECK(format->calls.call_open == known->calls.call_open);
    CHECK(format->calls.call_close == known->calls.call_close);
    CHECK(format->stops.content == known->stops.content);
    CHECK(format->losses.size() == known->losses.size());
    CHECK(format->notes.empty());
  }
}

TEST_CASE("each role's content has its own form") {
  const std::string parts = "{%- for p in m.content %}{{- p.text }}{%- endfor %}";
  for (const char* role : {"user", "assistant", "tool"}) {
    CAPTURE(role);
    const auto format = verified_format(with_content("{%- if m.role == '" + std::string(role) + "' %}" + parts +
                                                     "{%- else %}{{- m.content or '' }}{%- endif %}"));
    CHECK(format->calls.call_open == "{do:");
    CHECK(format->stops.content == std::vector<std::string>{"~fin~"});
    CHECK(format->notes.empty());
  }
}

TEST_CASE(
    "bug: where nobody named the end token, only the calls were probed, and their beginning was taken for a header") {
  const std::string source =
      "{{- bos_token }}{%- for m in messages %}{%- if m.role == 'user' %}{{- '[ASK]' + m.content + '[/ASK]' }}"
      "{%- elif m.tool_calls %}{{- ' [DO] [' }}{%- for c in m.tool_calls %}{{- c.function | tojson }}"
      "{%- if not loop.last %}{{- ', ' }}{%- endif %}{%- endfor %}{{- '] ' }}{{- eos_token }}"
      "{%- else %}{{- ' ' + m.content + ' ' + eos_token }}{%- endif %}{%- endfor %}";
  const auto format = verified_format(source);
  CHECK(format->header == "");
  CHECK(format->calls.present);
  CHECK(format->calls.section_open == " [DO] ");
  CHECK(has_note(*format, "the template needs `bos_token` and `eos_token`: not given, and taken as empty"));
  CHECK(verified_format(with_calls(kJsonCalls + "{{- eos_token }}"))->notes.empty());
}

TEST_CASE("bug: a result in the message of its call began with no stop") {
  // The results of a call are a field of the same message, and stand between its calls and its content.
  const std::string source =
      "{%- for m in messages %}{{- '[' + m.role + '>' }}"
      "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + "
      "':do}' }}{%- endfor %}{%- for o in m.outcomes or [] %}{{- '<|got|>from:' + o.maker + '=' + o.value + '<got|>' }}"
      "{%- endfor %}{{- m.content or '' }}{{- '~fin~' }}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
  const auto format = verified_format(source);
  CHECK(format->stops.tool == std::vector<std::string>{"~fin~", "<|got|>"});
  CHECK(format->stops.content == std::vector<std::string>{"~fin~"});
}

TEST_CASE("bug: every probe of a template that runs out of its limits was rendered to the limit") {
  // One message is too much for this template, two are not.
  const auto compiled = jinja::Template::compile(
      "{%- if messages|length == 1 %}{{ ('a' * 10**6) * 10**6 }}{%- endif %}"
      "{%- for m in messages %}{{ m.content }}{%- endfor %}",
      {}, "invented");
  REQUIRE(compiled.ok());
  const Options options;
  Prober fresh(*compiled.value(), options, false);
  const json::Value one = probe::plain_message("user", "q");
  CHECK(fresh.rendered({one, one}, {}).has_value());
  Prober prober(*compiled.value(), options, false);
  CHECK_FALSE(prober.rendered({one}, {}).has_value());
  REQUIRE(prober.limit());
  CHECK_FALSE(prober.rendered({one, one}, {}).has_value());
  CHECK(prober.last_refusal() == prober.limit()->message);
  const auto format = analyse(*compiled.value(), options);
  REQUIRE_FALSE(format.ok());
  CHECK(format.error().code == ErrorCode::kLimit);
}

}  // namespace
}  // namespace rondo::analysis
