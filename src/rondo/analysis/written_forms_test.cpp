// Tests what is known of templates that write parts of a turn in several forms, or only under a condition.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "format/units.h"
#include "tests/support/verified_format.h"

namespace rondo::analysis {
namespace {

using test::verified_format;

// Returns a template with invented markers, in which `thoughts` and `calls` write parts of message `m` around its content,
// and `prompt` is behind the header of the generation prompt.
std::string written_by(const std::string& thoughts, const std::string& calls, const std::string& prompt = "") {
  return "{%- for m in messages %}{{- '[' + m.role + '>' }}" + thoughts + "{{- m.content or '' }}" + calls +
         "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>" + prompt + "' }}{%- endif %}";
}

// Returns calls whose values `value` writes, between tags of `open` and `</p>`.
std::string tagged(const std::string& value) {
  return "{%- for c in m.tool_calls or [] %}{{- '<do ' + c.function.name + '>' }}"
         "{%- for k, v in c.function.arguments.items() %}" +
         value + "{%- endfor %}{{- '</do>' }}{%- endfor %}";
}

std::string losses_of(const format::Format& format) {
  std::string out;
  for (const format::Loss& loss : format.losses) out += loss.what + ";";
  return out;
}

const std::string kThoughts =
    "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}";
const std::string kPlainValue = "{{- '<p ' + k + '>' }}{{- v if v is string else v | tojson }}{{- '</p>' }}";

TEST_CASE("calls that are written only where there are tools") {
  const auto plain = verified_format(written_by(kThoughts, tagged(kPlainValue)));
  const auto format = verified_format(written_by(kThoughts, "{%- if tools %}" + tagged(kPlainValue) + "{%- endif %}"));
  CHECK(format->calls.present);
  CHECK(format->calls.call_open == plain->calls.call_open);
  CHECK(format->calls.parameters.open == "<p ");
  CHECK(format->calls.call_close == plain->calls.call_close);
  CHECK(format->stops.tool == plain->stops.tool);
  CHECK(losses_of(*format) == losses_of(*plain));
}

TEST_CASE("an array that is written as its parameter once for each item") {
  const auto format = verified_format(
      written_by("", tagged("{%- if v is sequence and v is not string and v is not mapping %}{%- for x in v %}"
                            "{{- '<p ' + k + '>' }}{{- x if x is string else x | tojson }}{{- '</p>' }}{%- endfor %}"
                            "{%- else %}" +
                            kPlainValue + "{%- endif %}")));
  CHECK(format->calls.parameters.repeats_items);
  CHECK(losses_of(*format).find("arrays in arguments;") != std::string::npos);
  CHECK_FALSE(verified_format(written_by("", tagged(kPlainValue)))->calls.parameters.repeats_items);
}

TEST_CASE("strings that are JSON only where they begin with a quote") {
  const auto quoted_forms = [](const std::string& condition) {
    const auto format = verified_format(written_by("", tagged("{{- '<p ' + k + '>' }}{{- v if v is string and not (" +
                                                              condition + ") else v | tojson }}" + "{{- '</p>' }}")));
    return std::ranges::count_if(format->calls.parameters.forms, [](const format::ValueForm& form) {
      return form.type == format::ValueType::kString && form.style == format::ValueStyle::kJson;
    });
  };
  CHECK(quoted_forms("v.startswith('\"')") == 1);
  CHECK(quoted_forms("'<' in v") == 0);
  CHECK(quoted_forms("false") == 0);
}

TEST_CASE("the prompt opens reasoning with a mark, with words or with both") {
  const std::string closed = "{%- if m.reasoning_content %}{{- m.reasoning_content + ':mull)' }}{%- endif %}";
  const auto marked = verified_format(written_by(closed, "", "<mull>"));
  CHECK(marked->reasoning.open == "<mull>");
  CHECK_FALSE(marked->reasoning.begins_text);
  const auto both = verified_format(written_by(closed, "", "<<mull>>Well, "));
  CHECK(both->reasoning.open == "<<mull>>");
  CHECK_FALSE(both->reasoning.begins_text);
  const auto worded = verified_format(written_by(closed, "", "Well, "));
  CHECK(worded->reasoning.open == "Well, ");
  CHECK(worded->reasoning.begins_text);
  CHECK(losses_of(*worded).find("reasoning in history;") != std::string::npos);
}

TEST_CASE("white space at the ends of texts that is cut off") {
  const auto trims = [](const std::string& content, const std::string& thoughts) {
    const auto format = verified_format(
        "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.reasoning_content %}{{- '(mull:' + "
        "(m.reasoning_content" +
        thoughts + ") + ':mull)' }}{%- endif %}{{- (m.content or '')" + content +
        " }}{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
    const format::Trims& found = format->trims;
    return std::string(found.reasoning_begin ? "R" : "") + (found.reasoning_end ? "r" : "") +
           (found.content_begin ? "C" : "") + (found.content_end ? "c" : "") + " " + losses_of(*format);
  };
  CHECK(trims("", "") == " ");
  CHECK(trims(" | trim", "") == "Cc white space around content;");
  CHECK(trims(".rstrip()", "") == "c white space around content;");
  CHECK(trims("", ".lstrip()") == "R white space around reasoning;");
  CHECK(trims(".lstrip()", " | trim") == "RrC white space around content;white space around reasoning;");
}

TEST_CASE("a turn whose content is left out where another follows does not end with its own beginning") {
  const auto format = test::verified_format(
      "{%- for m in messages %}{{- '[' + m.role + '>' }}"
      "{%- if m.role != 'assistant' or loop.last %}{{- m.content }}{%- endif %}{%- endfor %}"
      "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  CHECK(format->stops.content == std::vector<std::string>{"[user>"});
}

TEST_CASE("calls that the template takes only beside reasoning, or leaves out without it") {
  const std::string calls =
      "{%- for c in m.tool_calls or [] %}{{- '{do:' + c.function.name + '|' + "
      "(c.function.arguments | tojson) + ':do}' }}{%- endfor %}";
  const auto found = [](const std::string& written) {
    return verified_format(
        "{%- for m in messages %}{{- '[' + m.role + '>' }}"
        "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}{{- m.content or '' "
        "}}" +
        written + "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}");
  };
  const std::string thinking = "{%- if m.tool_calls and not m.reasoning_content %}";
  const auto plain = found(calls);
  for (const std::string& written : {thinking + "{{- raise_exception('think first') }}{%- endif %}" + calls,
                                     thinking + "{%- else %}" + calls + "{%- endif %}"}) {
    const auto format = found(written);
    CHECK(format->calls.present);
    CHECK(format->calls.call_open == plain->calls.call_open);
    CHECK(format->calls.call_close == plain->calls.call_close);
    CHECK(format->reasoning.open == plain->reasoning.open);
    CHECK(format->stops.content == plain->stops.content);
  }
}

TEST_CASE("names of tools in JSON are escaped by the template in addition to what JSON escapes") {
  const auto format = verified_format(
      written_by("",
                 "{%- for c in m.tool_calls or [] %}{{- '<do>' + {'name': c.function.name | replace('&', '&amp;'), "
                 "'arguments': c.function.arguments} | tojson + '</do>' }}{%- endfor %}"));
  REQUIRE(format->calls.name_escapes.size() == 1);
  CHECK(format->calls.name_escapes[0] == format::Escape{"&", "&amp;"});
}

TEST_CASE("what stands before each call, and behind content, opens calls") {
  std::string source = written_by(
      "",
      "{%- for c in m.tool_calls or [] %}{{- ' do: {\"name\": \"' + c.function.name + '\", \"arguments\": ' + "
      "(c.function.arguments | tojson) + '}' }}{%- endfor %}");
  const std::string content = "{{- m.content or '' }}";
  source.replace(source.find(content), content.size(), "{{- ('say: ' if m.tool_calls else '') + (m.content or '') }}");
  const auto format = verified_format(source);
  REQUIRE(format->calls.present);
  CHECK(format::trimmed(format->calls.section_open + format->calls.call_open).starts_with("do:"));
}

TEST_CASE("bug: strings in quotes were said to lose their quotes although the template escapes them") {
  const auto lost = [](const std::string& escaping) {
    const auto format = verified_format(written_by(
        "",
        "{%- for c in m.tool_calls or [] %}{{- '<do ' + c.function.name + '>' }}"
        "{%- for k, v in c.function.arguments.items() %}{{- ' ' + k + '=' }}{%- if v is string %}{{- '\"' + (v" +
            escaping + ") + '\"' }}{%- else %}{{- v | tojson }}{%- endif %}{%- endfor %}{{- '</do>' }}{%- endfor %}"));
    REQUIRE(format->calls.present);
    const auto loss = std::ranges::find(format->losses, "quotes in strings", &format::Loss::what);
    return loss == format->losses.end() ? std::string() : loss->meaning;
  };
  CHECK(lost("").ends_with("the quotes inside it as they are"));
  CHECK(lost(" | replace('\"', '\\\\\"')").ends_with("what escapes the quotes inside it is not escaped itself"));
  CHECK(lost(" | replace('\\\\', '\\\\\\\\') | replace('\"', '\\\\\"')").empty());
  CHECK(lost(" | replace('\"', '\"\"')").empty());
  CHECK(lost(" | replace('\"', '&quot;')").empty());
}

}  // namespace
}  // namespace rondo::analysis
