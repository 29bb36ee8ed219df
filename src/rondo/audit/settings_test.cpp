// Which variables of a template are switches, and the settings made from them.
#include "audit/settings.h"

#include <doctest/doctest.h>

#include "analysis/analyse.h"
#include "json/print.h"

namespace rondo::audit {
namespace {

// A template with invented markers; `prompt` is written after its generation prompt, `reasoning` at the head of a turn.
std::string with(const std::string& prompt, const std::string& reasoning = "") {
  return "{%- for m in messages %}{{- '[' + m.role + '>' }}{%- if m.role == 'assistant' %}" + reasoning +
         "{%- endif %}{{- m.content or '' }}{%- for c in m.tool_calls or [] %}"
         "{{- '{do:' + c.function.name + '|' + (c.function.arguments | tojson) + ':do}' }}{%- endfor %}{{- '[fin]' }}"
         "{%- endfor %}{%- if add_generation_prompt %}{{- '[assistant>' }}" +
         prompt + "{%- endif %}";
}

Settings settings_of(const std::string& source, const json::Object& kwargs = {}) {
  const auto compiled = jinja::Template::compile(source, {}, "invented");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  const auto format = analysis::analyse(*compiled.value(), {});
  REQUIRE(format.ok());
  chat::Conversation base;
  base.kwargs = kwargs;
  base.tools = json::Array{json::Object{{"type", "function"}, {"function", json::Object{{"name", "f"}}}}};
  return find_settings(*compiled.value(), *format.value(), base, {});
}

// "name {kwargs}" of each setting, then "name: values" of each knob.
std::string told(const Settings& settings) {
  std::string out;
  for (const Setting& setting : settings.list) out += setting.name + " " + json::to_compact(setting.kwargs) + "\n";
  for (const report::Knob& knob : settings.knobs) out += knob.name + ": " + json::to_compact(knob.values) + "\n";
  return out;
}

TEST_CASE("settings: a template without variables of its own has the default alone") {
  const Settings settings = settings_of(with(""));
  CHECK(told(settings) == "default {}\n");
  CHECK(settings.note.empty());
}

TEST_CASE("settings: the values that a variable is compared with, each effect once") {
  CHECK(told(settings_of(with("{{- 'quick ' if effort in ['low', 'least'] }}"
                              "{{- 'quick ' if effort == 'small' or effort == 'tiny' else 'long ' if effort == "
                              "'high' }}"))) ==
        "default {}\neffort=high {\"effort\":\"high\"}\neffort=least {\"effort\":\"least\"}\n"
        "effort: [\"high\",\"least\"]\n");
  // A value that changes nothing is not a setting, and neither is one that the template treats as the default.
  CHECK(told(settings_of(with("{{- 'slow ' if pace is not defined or pace == 'slow' or pace }}"))) ==
        "default {}\npace=false {\"pace\":false}\npace: [false]\n");
}

TEST_CASE("settings: a text that is written is no switch, and neither is a value that the template refuses") {
  CHECK(told(settings_of(with("{{- motto or '' }}"))) == "default {}\n");
  CHECK(told(settings_of(with("{%- if loud %}{{- raise_exception('too loud') }}{%- endif %}"))) == "default {}\n");
}

TEST_CASE("settings: what the request sets is in all of them") {
  const std::string source = with("{{- 'quick ' if quick }}{{- 'loud ' if loud }}");
  CHECK(told(settings_of(source)) ==
        "default {}\nloud=true {\"loud\":true}\nquick=true {\"quick\":true}\n"
        "loud: [true]\nquick: [true]\n");
  CHECK(told(settings_of(source, {{"loud", false}})) ==
        "default {\"loud\":false}\nquick=true {\"loud\":false,\"quick\":true}\nquick: [true]\n");
}

TEST_CASE("000:265-266: settings: a switch about reasoning is seen beside the one that brings reasoning") {
  // `keep` has an effect only if `mull` is on, and `shout` has no more effect than alone.
  const std::string reasoning =
      "{%- if mull and m.reasoning_content and (keep or loop.last) %}"
      "{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}";
  CHECK(told(settings_of(with("{{- '!' if shout }}", reasoning))) ==
        "default {}\nmull=true {\"mull\":true}\nshout=true {\"shout\":true}\n"
        "mull=true, keep=true {\"mull\":true,\"keep\":true}\n"
        "mull: [true]\nshout: [true]\n");
}

TEST_CASE("settings: a switch may show in one kind of conversation alone") {
  // The generation prompt stands behind a question, and behind no answer.
  CHECK(told(settings_of(with("{{- 'quick ' if quick and messages[-1].role == 'user' }}"))) ==
        "default {}\nquick=true {\"quick\":true}\nquick: [true]\n");
  CHECK(told(settings_of(with("{{- 'quick ' if quick and messages[-1].role == 'assistant' }}"))) == "default {}\n");
  CHECK(told(settings_of(with("", "{{- 'end ' if tail and loop.last and not add_generation_prompt }}"))) ==
        "default {}\ntail=true {\"tail\":true}\ntail: [true]\n");
  for (const std::string condition :
       {"tools", "not tools", "messages[0].role == 'system'",
        "messages[-1].role == 'tool' and messages[-1].tool_call_id == messages[1].tool_calls[0].id"}) {
    CAPTURE(condition);
    CHECK(told(settings_of(with("{{- 'quick ' if quick and " + condition + " }}"))) ==
          "default {}\nquick=true {\"quick\":true}\nquick: [true]\n");
  }
}

TEST_CASE("settings: of many some are left out, and a note says how many") {
  const auto list_of = [](int count) {
    std::string prompt;
    for (int i = 0; i < count; ++i) prompt += "{{- 'a" + std::to_string(i) + " ' if knob" + std::to_string(i) + " }}";
    return settings_of(with(prompt));
  };
  CHECK(list_of(11).list.size() == 12);
  CHECK(list_of(11).note.empty());
  const Settings many = list_of(12);
  CHECK(many.list.size() == 12);
  CHECK(many.knobs.size() == 12);
  CHECK(many.note == "the template's variables make 13 settings, of which the first 12 are played");
}

}  // namespace
}  // namespace rondo::audit
