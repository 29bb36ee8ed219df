#include "edge/export.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "edge/format.h"
#include "edge/prebuilt.h"
#include "edge/to_jinja.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::edge {
namespace {

std::shared_ptr<const jinja::Template> compiled(const std::string& source) {
  auto out = jinja::Template::compile(source, {}, "template");
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return out.value();
}

Exported exported(const std::string& source, json::Object kwargs = {}) {
  const auto chat_template = compiled(source);
  chat::Conversation base;
  base.bos_token = "<bos>";
  base.eos_token = "<eos>";
  base.kwargs = std::move(kwargs);
  auto out = export_template({*chat_template, std::move(base), {}, {}}, "a/model");
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return out.value();
}

// Whether one of the sentences contains all of `words`.
bool loses(const Exported& exported, std::string_view words) {
  return std::ranges::any_of(exported.loses,
                             [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

const std::string kRoles = "{%- for m in messages %}{{- '[' + m.role + ' ' + m.content + ' ]\\n' }}{%- endfor %}";
const std::string kPrompt = "{%- if add_generation_prompt %}{{- '[assistant ' }}{%- endif %}";

TEST_CASE("002:9-31, 002:211-234: roles and the generation prompt are read off a template") {
  const Exported out = exported(kRoles + kPrompt);
  CHECK(out.lossless);
  CHECK(json::to_compact(to_json(out.edge_template)) ==
        R"({"model_path":"a/model","roles":{"system":{"prefix":"[system ","suffix":" ]\n"},)"
        R"("user":{"prefix":"[user ","suffix":" ]\n"},"assistant":{"prefix":"[assistant ","suffix":" ]\n"}},)"
        R"("content_types":{},"generation_prompt":"[assistant ","default_system_prompt":""})");
  REQUIRE(out.kind);
  CHECK(out.kind->turns == Turns::kAny);
  CHECK(out.kind->later_system);
  CHECK(out.kind->ends_with_answer);
  CHECK(out.kind->without_prompt);
  CHECK(out.compared > 500);
  CHECK(to_sentence(*out.kind) ==
        "conversations with or without a system message; user and assistant messages in any order; later system "
        "messages; with and without the generation prompt; at most 40 messages");
  CHECK(loses(out, "lists of text parts"));
  CHECK_FALSE(loses(out, "without the generation prompt"));
  CHECK(loses(exported(kRoles + "{{- '[assistant ' }}"), "prompts without the generation prompt"));
}

TEST_CASE("002:29-30, 002:101-119, 002:161, 002:270-298: both generation prompts are found by the template's switch") {
  const std::string switched =
      "{%- if add_generation_prompt %}{{- '[assistant ' }}"
      "{%- if not (SWITCH | default(true)) %}{{- '(mull) ' }}{%- endif %}{%- endif %}";
  for (const std::string name : {"enable_thinking", "ponder"}) {
    std::string source = kRoles + switched;
    source.replace(source.find("SWITCH"), 6, name);
    const Exported out = exported(source);
    CHECK(out.lossless);
    CHECK(out.thinking_variable == name);
    CHECK(out.edge_template.generation_prompt == "[assistant (mull) ");
    CHECK(out.edge_template.generation_prompt_thinking == "[assistant ");
    REQUIRE(out.kind);
    CHECK(out.kind->thinking);
    CHECK(loses(out, "the default of `" + name + "`"));
  }
  const Exported none = exported(kRoles + kPrompt);
  CHECK(none.thinking_variable == "");
  CHECK_FALSE(none.edge_template.generation_prompt_thinking);
  // If the switch changes the history too, nothing is promised for it.
  const Exported history = exported("{%- if enable_thinking %}{{- '[system think ]\\n' }}{%- endif %}" + kRoles +
                                    "{%- if add_generation_prompt %}{{- '[assistant ' }}{%- endif %}");
  CHECK_FALSE(history.lossless);
  REQUIRE(history.kind);
  CHECK_FALSE(history.kind->thinking);
  CHECK(loses(history, "`enable_thinking` set to true: "));
}

TEST_CASE("002:31, 002:95: a default system prompt is found, and so is what stands before every conversation") {
  const std::string lead = "{%- if messages[0].role != 'system' %}{{- '[system be kind ]\\n' }}{%- endif %}";
  const Exported out = exported(lead + kRoles + kPrompt);
  CHECK(out.edge_template.default_system_prompt == "be kind");
  CHECK(out.lossless);
  // A token before everything belongs to a system message, and is lost without one.
  const Exported bos = exported("{{- bos_token }}" + kRoles + kPrompt);
  CHECK(bos.edge_template.find_role("system")->prefix == "<bos>[system ");
  CHECK_FALSE(bos.lossless);
  REQUIRE(bos.kind);
  CHECK(bos.kind->system == SystemUse::kLead);
  CHECK(loses(bos, "conversations without a system message: the template writes \"<bos>[us"));
  // If the template has no system messages, the token is the default system prompt.
  const Exported users = exported(
      "{{- bos_token }}{%- for m in messages %}{%- if m.role == 'system' %}"
      "{{- raise_exception('no system') }}{%- endif %}"
      "{{- '[' + m.role + ' ' + m.content + ' ]\\n' }}{%- endfor %}" +
      kPrompt);
  CHECK(users.edge_template.default_system_prompt == "<bos>");
  CHECK(users.edge_template.find_role("system")->prefix == "");
  REQUIRE(users.kind);
  CHECK(users.kind->system == SystemUse::kNone);
  CHECK(users.kind->turns == Turns::kAny);
  CHECK(loses(users, "system messages: the template refuses such messages: no system"));
}

TEST_CASE("002:28, 002:236-268: formats of images and videos are found, with their counters and places") {
  const auto body = [](const std::string& part) {
    return "{%- for m in messages %}{{- '[' + m.role + ' ' }}{%- if m.content is string %}{{- m.content }}{%- else %}"
           "{%- for part in m.content %}{%- if part.type == 'text' %}{{- part.text }}" +
           part + "{%- endif %}{%- endfor %}{%- endif %}{{- ' ]\\n' }}{%- endfor %}" + kPrompt;
  };
  const Exported both = exported(body("{%- elif part.type == 'image' %}{{- '<img>' }}{%- else %}{{- '<vid>' }}"));
  CHECK(both.edge_template.find_content_type("image")->format == "<img>");
  CHECK(both.edge_template.find_content_type("video")->format == "<vid>");
  REQUIRE(both.kind);
  CHECK(both.kind->images == Media::kAnywhere);
  CHECK(both.kind->videos == Media::kAnywhere);
  CHECK(both.kind->several_media);
  CHECK(both.kind->text_parts);
  CHECK(both.lossless);
  const Exported url = exported(body("{%- elif part.type == 'image_url' %}{{- '<img>' }}"));
  CHECK(url.edge_template.find_content_type("image")->format == "<img>");
  CHECK(url.edge_template.find_content_type("video") == nullptr);
  const Exported path = exported(body("{%- else %}{{- '<' + part.image + '>' }}"));
  CHECK(path.edge_template.find_content_type("image") == nullptr);
  const Exported counted = exported("{%- set ns = namespace(n=0) %}" +
                                    body("{%- else %}{%- set ns.n = ns.n + 1 %}{{- 'Picture ' ~ ns.n ~ ': <img>' }}"));
  CHECK(counted.edge_template.find_content_type("image")->format == "<img>");
  CHECK(loses(counted, "the number that the template writes before each image"));
  REQUIRE(counted.kind);
  CHECK(counted.kind->images == Media::kNone);
}

TEST_CASE("002:22: what the format cannot say is lost, and is no part of the promise") {
  const Exported trims =
      exported("{%- for m in messages %}{{- '[' + m.role + ' ' + m.content | trim + ' ]\\n' }}{%- endfor %}" + kPrompt);
  CHECK_FALSE(trims.lossless);
  REQUIRE(trims.kind);
  CHECK(trims.kind->user_texts.texts == Texts::kInner);
  CHECK(trims.kind->user_texts.except.empty());
  CHECK(loses(trims, "user texts with white space at their ends"));
  const Exported tools = exported(
      "{%- if tools %}{{- tools | tojson }}{%- endif %}{%- for m in messages %}{%- if m.role == 'tool' %}{{- '<r>' }}"
      "{%- endif %}{{- '[' + m.role + ' ' + m.content }}{%- if m.tool_calls %}{{- m.tool_calls | tojson }}{%- endif %}"
      "{{- ' ]\\n' }}{%- endfor %}" +
      kPrompt);
  CHECK(tools.lossless);
  CHECK(loses(tools, "tools: their definitions"));
  CHECK(loses(tools, "tool calls of assistant messages"));
  CHECK(loses(tools, "tool messages"));
  const Exported thoughts = exported(
      "{%- for m in messages %}{{- '[' + m.role + ' ' }}{%- if m.reasoning_content %}{{- '(' + m.reasoning_content + "
      "')' }}"
      "{%- endif %}{{- m.content.split('(end)')[-1] + ' ]\\n' }}{%- endfor %}" +
      kPrompt);
  CHECK(loses(thoughts, "reasoning of assistant messages"));
  REQUIRE(thoughts.kind);
  CHECK(thoughts.kind->assistant_texts.except == std::vector<std::string>{"(end)"});
  const Exported both_ends = exported(
      "{%- for m in messages %}{{- '[' + m.role + ' ' }}{%- if m.content.startswith('<<a') and "
      "m.content.endswith('z>>') %}"
      "{{- 'odd' }}{%- endif %}{{- m.content + ' ]\\n' }}{%- endfor %}" +
      kPrompt);
  REQUIRE(both_ends.kind);
  CHECK(both_ends.kind->user_texts.except == std::vector<std::string>{"<<a"});
  const Exported places = exported(
      "{%- for m in messages %}{{- '[' + m.role + ' ' ~ loop.index ~ m.content + ' ]\\n' }}"
      "{%- endfor %}" +
      kPrompt);
  CHECK_FALSE(places.lossless);
  const Exported clock =
      exported("{%- if messages[0].role == 'system' %}{{- strftime_now('%Y') }}{%- endif %}" + kRoles + kPrompt);
  REQUIRE(clock.kind);
  CHECK(clock.kind->system == SystemUse::kNone);
  const Exported variable = exported(
      "{%- for m in messages %}{{- '[' + m.role + (mood or ' ') + m.content + ' ]\\n' }}"
      "{%- endfor %}" +
      kPrompt);
  CHECK(loses(variable, "the variable `mood`"));
  CHECK(exported("{{- mood }}" + kRoles + kPrompt, {{"mood", "fine"}}).edge_template.find_role("system")->prefix ==
        "fine[system ");
}

TEST_CASE("002:186-190: a template that cannot be exported says why") {
  const auto refused = [](const std::string& source) {
    const auto chat_template = compiled(source);
    return export_template({*chat_template, {}, {}, {}}, "m").error();
  };
  CHECK(refused("{%- for m in messages %}{{- m.content | upper }}{%- endfor %}").code == ErrorCode::kUnsupported);
  CHECK(refused("{{- raise_exception('never') }}").message == "never");
  CHECK(refused("{%- for m in nobody %}{%- endfor %}").code == ErrorCode::kUnsupported);
}

std::string round_trip(std::string_view text) {
  const EdgeTemplate first = parse(text, "text").value();
  const auto chat_template = compiled(to_jinja(first));
  const auto again = export_template({*chat_template, {}, {}, {}}, "elsewhere");
  REQUIRE_MESSAGE(again.ok(), again.error().to_string());
  CHECK(again.value().lossless);
  CHECK(json::to_compact(to_json(again.value().edge_template)) == json::to_compact(to_json(first)));
  return to_jinja(first);
}

TEST_CASE("JSON to Jinja to JSON is the identity") {
  const std::string roles = R"("roles": {"system": {"prefix": "<s>", "suffix": "</s>\n"},
    "user": {"prefix": "{{ '\"\\", "suffix": "%} #}\u0007\t"}, "assistant": {"prefix": "{# é漢🙂", "suffix": ""}})";
  round_trip(
      "{" + roles +
      R"(, "model_path": "a #} path\n", "generation_prompt": "<a>", "generation_prompt_thinking": "<a>", "default_system_prompt": "be\n'kind'"})");
  round_trip("{" + roles + R"(, "generation_prompt": "<a>no", "generation_prompt_thinking": "<a>"})");
  round_trip("{" + roles + R"(, "generation_prompt": "<a>", "generation_prompt_thinking": ""})");
  round_trip("{" + roles + R"(, "generation_prompt_thinking": "<t>"})");
  round_trip("{" + roles + R"(, "content_types": {"video": {"format": "<v>"}, "image": {"format": "<i>", "x": 1},
    "audio": {"format": ""}, "text": {"format": "t"}, "image_url": {"format": "u"}}, "version": [1, {"#}": "#}"}]})");
  round_trip(R"({"roles": {"system": {"prefix": "", "suffix": ""}, "user": {"prefix": "", "suffix": ""},
    "assistant": {"prefix": "", "suffix": ""}}, "default_system_prompt": "D"})");
  round_trip(
      R"({"roles": {"tool": {"prefix": "<t>", "suffix": "</t>", "n": null}, "user": {"prefix": "<u>", "suffix": "</u>"},
    "system": {"prefix": "same", "suffix": "same"}, "assistant": {"prefix": "<a>", "suffix": "</a>"},
    "a \" b": {"prefix": "", "suffix": "!"}}, "generation_prompt": "same"})");
}

TEST_CASE("what is imported writes what the format writes") {
  const EdgeTemplate edge_template = parse(R"({"roles": {"system": {"prefix": "<s>", "suffix": "</s>"},
    "user": {"prefix": "<u>", "suffix": "</u>"}, "assistant": {"prefix": "<a>", "suffix": "</a>"}},
    "content_types": {"image": {"format": "<i>"}}, "generation_prompt": "<a>", "default_system_prompt": "D"})",
                                           "text")
                                         .value();
  const auto chat_template = compiled(to_jinja(edge_template));
  for (const char* text :
       {R"([{"role": "user", "content": "x"}])",
        R"([{"role": "system", "content": ""}, {"role": "user", "content": "x"}, {"role": "system", "content": "l"}])",
        R"([{"role": "system", "content": [{"type": "image"}, {"type": "text", "text": "t"}]},
            {"role": "user", "content": [{"type": "image"}, {"type": "image_url"}, {"type": "odd"}]}])",
        R"([{"role": "tool", "content": "7"}, {"role": "assistant", "content": []}])"}) {
    const json::Value messages = json::parse(text).value();
    for (const bool prompt : {false, true}) {
      const json::Object variables{{"messages", messages}, {"add_generation_prompt", prompt}};
      const auto rendered = chat_template->render(variables, {});
      REQUIRE(rendered.ok());
      CHECK(rendered.value().text.bytes() ==
            format(edge_template, messages, {.add_generation_prompt = prompt}).value().complete);
    }
  }
  CHECK_FALSE(chat_template->render(json::Object{{"messages", json::Array{}}}, {}).ok());
}

TEST_CASE("002:171-172, 002:194-205: templates made in advance have their reason, and are exports of themselves") {
  CHECK_FALSE(prebuilt().empty());
  for (const Prebuilt& entry : prebuilt()) {
    CAPTURE(entry.name);
    CHECK(find_prebuilt(entry.model_type) == &entry);
    CHECK_FALSE(entry.reason.empty());
    round_trip(json::to_compact(to_json(entry.edge_template)));
  }
  CHECK(find_prebuilt("") == nullptr);
  const Prebuilt* const phi = find_prebuilt("phi4mm");
  REQUIRE(phi != nullptr);
  const auto messages =
      json::parse(R"([{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "image"},
    {"type": "text", "text": "What is it?"}]}])");
  CHECK(format(phi->edge_template, messages.value(), {}).value().complete ==
        "<|system|>S<|end|><|user|><|endoftext10|>What is it?<|end|><|assistant|>");
}

}  // namespace
}  // namespace rondo::edge
