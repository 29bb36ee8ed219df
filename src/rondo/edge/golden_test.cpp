// Made-up conversations and exports as recorded: tests/golden/edge.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/digest.h"
#include "edge/export.h"
#include "edge/samples.h"
#include "json/print.h"
#include "tests/support/golden.h"

namespace rondo::edge {
namespace {

// "s=… u=…": each message by the first letter of its role, with its content, and the setting.
std::string line_of(const Sample& sample) {
  std::string out;
  for (const json::Value& message : sample.messages) {
    const json::Value& content = *message.find("content");
    out += message.find_string("role")->substr(0, 1);
    out += "=" + json::to_compact(content) + " ";
  }
  if (!sample.setting.generation_prompt) out += "without-prompt ";
  if (sample.setting.thinking) out += "thinking ";
  if (sample.setting.later) out += "later ";
  out.back() = '\n';
  return out;
}

// The orders of roles as letters; for long ones only their number.
std::string orders_of(const std::vector<Sample>& samples) {
  std::string out;
  for (const Sample& sample : samples) {
    std::string roles;
    for (const json::Value& message : sample.messages) roles += message.find_string("role")->substr(0, 1);
    out += (roles.size() > 12 ? std::to_string(roles.size()) + " " + roles.substr(0, 4) : roles);
    out += sample.setting.generation_prompt ? "" : "-";
    out += std::string(sample.setting.thinking ? "t" : "") + (sample.setting.later ? "l " : " ");
  }
  return out + "\n";
}

TEST_CASE("the orders of roles of each kind are what they were") {
  std::string out;
  for (const SystemUse system : {SystemUse::kNone, SystemUse::kLead, SystemUse::kEither}) {
    for (const Turns turns : {Turns::kOne, Turns::kAlternate, Turns::kAny}) {
      for (int bits = 0; bits < 8; ++bits) {
        Kind kind{.system = system, .turns = turns};
        kind.ends_with_answer = (bits & 1) != 0;
        kind.later_system = (bits & 2) != 0;
        kind.thinking = (bits & 4) != 0;
        kind.without_prompt = (bits & 6) == 6;
        kind.max_messages = turns == Turns::kOne ? 2 : 14;
        const SampleParts orders{.texts = false, .text_parts = false, .media = false};
        out += orders_of(samples_of(kind, bits == 7, orders));
      }
    }
  }
  test::check_golden("edge/orders.txt", out);
}

TEST_CASE("the contents of each kind are what they were") {
  std::string out;
  for (const Texts texts : {Texts::kWords, Texts::kInner, Texts::kEnds, Texts::kAny}) {
    Kind kind{.system = SystemUse::kLead, .max_messages = 4};
    kind.system_texts.texts = kind.user_texts.texts = kind.assistant_texts.texts = texts;
    kind.user_texts.except = {"word"};
    kind.text_parts = texts == Texts::kInner;
    kind.several_media = texts == Texts::kEnds;
    kind.images = texts == Texts::kWords ? Media::kNone : texts == Texts::kInner ? Media::kLead : Media::kAnywhere;
    kind.videos = texts == Texts::kEnds ? Media::kLead : Media::kNone;
    const std::vector<Sample> samples = samples_of(kind, false, {.orders = false});
    std::string all;
    for (const Sample& sample : samples) all += line_of(sample);
    out += "# " + std::to_string(samples.size()) + " conversations, " + hex_digest({all}) + "\n";
    for (std::size_t i = 0; i < samples.size(); i += std::max<std::size_t>(samples.size() / 12, 1))
      out += line_of(samples[i]);
    for (const char role : {'s', 'u', 'a'}) {
      for (const Sample& sample : samples_with(kind, role, "{%x%}", texts)) out += "with " + line_of(sample);
      if (const auto sample = sample_saying(kind, role, "say")) out += "saying " + line_of(*sample);
    }
  }
  test::check_golden("edge/contents.txt", out);
}

// Templates that ask about times, other roles, the contents of texts, and several variables.
constexpr const char* kTemplates[] = {
    "{%- for m in messages %}{{- '[' + m.role + ' ' + m.content + ' ]\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '[assistant ' }}{%- endif %}",
    "{{- bos_token }}{%- if messages[0].role != 'system' %}{{- '<sys>Be kind.</sys>' }}{%- endif %}{%- for m in "
    "messages %}"
    "{%- if m.role == 'system' %}{{- '<sys>' + m.content | trim + '</sys>' }}{%- elif m.role == 'user' %}{{- '<u>' + "
    "m.content.replace('MAGIC', '') + '</u>' }}{%- else %}{{- '<a>' + m.content.split('</t>')[-1] + '</a>' }}{%- endif "
    "%}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<a>' }}{%- if not wonder %}{{- '<t></t>' }}{%- endif %}{%- endif %}",
    "{%- set ns = namespace(n=0) %}{%- for m in messages %}{{- '<' + m.role + '>' }}{%- if m.content is string %}{{- "
    "m.content }}"
    "{%- else %}{%- for p in m.content %}{%- if p.type == 'image' %}{%- set ns.n = ns.n + 1 %}{{- '(img ' ~ ns.n ~ ')' "
    "}}"
    "{%- elif p.type == 'text' %}{{- p.text }}{%- endif %}{%- endfor %}{%- endif %}{{- eos_token }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<assistant>' }}{{- '<mull>' if enable_thinking and other is not defined }}{%- "
    "endif %}",
    "{%- for m in messages %}{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('no') }}{%- "
    "endif %}"
    "{{- m.role + ': ' + m.content + '\\n' }}{%- endfor %}{{- 'assistant:' }}",
    "{{- strftime_now('%Y') }}{%- for m in messages %}{{- '|' + m.role + '|' + m.content }}{%- endfor %}"
    "{%- if add_generation_prompt %}|assistant|{%- endif %}",
    "{%- for m in messages %}{%- if loop.last %}{{- 'last ' }}{%- endif %}{{- m.content }}{{- ';' }}{%- endfor %}",
    "{%- if messages | length > 1 %}{{- raise_exception('one') }}{%- endif %}Ask: {{ messages[0].content }}."};

TEST_CASE("the exports of templates are what they were") {
  std::string out;
  for (const char* text : kTemplates) {
    const auto chat_template = jinja::Template::compile(text, {}, "template");
    REQUIRE_MESSAGE(chat_template.ok(), text);
    chat::Conversation base;
    base.bos_token = "<bos>";
    base.eos_token = "<eos>";
    const auto exported = export_template({*chat_template.value(), std::move(base), {}, {}}, "a/model");
    out += exported.ok() ? json::to_pretty(to_json(exported.value())) : exported.error().to_string();
    out += "\n";
  }
  test::check_golden("edge/exports.txt", out);
}

}  // namespace
}  // namespace rondo::edge
