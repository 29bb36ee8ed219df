// Models for the tests of core/.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::core::testing {

// A folder with a template of its own markers and a tokenizer that has them as tokens.
inline constexpr const char* kFolder = RONDO_SOURCE_DIR "/tests/golden/batch/model";

// The same markers; with tools it says so.
inline constexpr const char* kTemplate = R"JINJA(
{{- bos_token }}
{%- if tools %}{{- '[[tools>>' + (tools | length | string) + '~fin~' }}{% endif %}
{%- for m in messages %}
{{- '[[' + m.role + '>>' }}
{%- if m.reasoning_content %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{% endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% endif %})JINJA";

inline json::Object object(const char* text) { return json::parse(text).value().as_object(); }

// One token per byte, and one for each marker.
inline MemoryModel memory(const char* chat_template = kTemplate) {
  MemoryModel out;
  out.name = "memory";
  out.tokenizer_json =
      json::to_compact(test::byte_tokenizer_json({"<bos>", "~fin~", "{!do", "do!}", "(*mull", "mull*)"}));
  out.config = object(R"({"bos_token": {"content": "<bos>"}, "eos_token": "~fin~"})");
  out.chat_template = chat_template;
  return out;
}

inline std::shared_ptr<const Model> made(const Result<std::shared_ptr<const Model>>& model) {
  REQUIRE_MESSAGE(model.ok(), model.error().to_string());
  return model.value();
}

inline std::shared_ptr<const Model> memory_model(const Source& source = {}) {
  return made(Model::from_memory(memory(), source));
}

inline Call call_of(const char* messages) {
  Call out;
  out.conversation.messages = json::parse(messages).value().as_array();
  out.conversation.add_generation_prompt = true;
  out.has_messages = true;
  return out;
}

inline Call user_call() { return call_of(R"([{"role": "user", "content": "Hi"}])"); }

inline json::Value tools() {
  return json::parse(R"([{"type": "function", "function": {"name": "add", "parameters": {"type": "object",
      "properties": {"a": {"type": "number"}}}}}])")
      .value();
}

}  // namespace rondo::core::testing
