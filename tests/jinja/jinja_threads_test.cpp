// One compiled template rendered from eight threads while others compile.  `./dev tsan` runs it under the thread
// sanitizer.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jinja/template.h"
#include "json/parse.h"

namespace rondo {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;

// Something of everything that keeps state: macros, loops, namespaces, lazy filters, globals, formats, JSON, captures.
const char* const kSource = R"({%- macro show(m, i=0) -%}
[{{ i }}:{{ m.role | upper }}] {{ m.content.strip() | replace('a', '<a>') }}{{ caller() if caller is defined }}
{%- endmacro -%}
{%- set ns = namespace(count=0, last='') -%}
{%- for m in messages if m.role != 'none' recursive -%}
  {%- set ns.count = ns.count + 1 -%}
  {%- if loop.first and m.role == 'system' %}{{ '%s: %5.2f' % (m.content, 1.5) }}
  {%- elif m.tool_calls %}{% call show(m, loop.index) %}{% for c in m.tool_calls %}{{ c | tojson }}{% endfor %}{% endcall %}
  {%- else %}{% generation %}{{ show(m, loop.index0) }}{% endgeneration %}
  {%- endif -%}
  {%- set ns.last = m.content.split() | map('title') | select | join('-') -%}
{%- endfor -%}
{{ ns.count }} {{ ns.last }} {{ messages | map(attribute='role') | unique | sort | list }} {{ cycler('x', 'y').next() }}
{{ '{:>8}|{!r}'.format(ns.last, messages[0]) }} {{ strftime_now('%Y-%m-%d') }} {{ 7 ** 60 }} {{ dict(a=1) | pprint }}
{%- if add_generation_prompt %}GO{% endif %})";

const char* const kVariables = R"({"messages": [
  {"role": "system", "content": " be brief "},
  {"role": "user", "content": "what's the weather in Ölten?\n"},
  {"role": "assistant", "content": "a", "tool_calls": [{"name": "f", "arguments": {"city": "Ölten", "n": 1.50}}]},
  {"role": "tool", "content": "rain and an umbrella"}], "add_generation_prompt": true})";

std::string rendered_by(const jinja::Template& compiled, const json::Object& variables, bool origins) {
  jinja::RenderOptions options;
  options.origins = origins;
  options.now = jinja::LocalTime{2024, 2, 29, 13, 5, 9};
  const auto rendered = compiled.render(variables, options);
  if (!rendered.ok()) return rendered.error().to_string();
  std::string out = rendered.value().text.bytes();
  if (origins) out += "\n" + rendered.value().text.to_string(rendered.value().origins);
  return out;
}

}  // namespace

TEST_CASE("jinja threads: one template, eight threads, and compiling beside them") {
  const auto compiled = jinja::Template::compile(kSource, {}, "threads");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  const auto variables = json::parse(kVariables);
  REQUIRE(variables.ok());
  const json::Object& input = variables.value().as_object();
  const std::string traced = rendered_by(*compiled.value(), input, true);
  const std::string plain = rendered_by(*compiled.value(), input, false);
  CHECK(traced.starts_with(plain));
  CHECK(plain.find("[3:ASSISTANT]") != std::string::npos);
  std::vector<int> wrong(kThreads, 0);  // doctest's checks are for one thread
  {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < kRounds; ++round) {
          const bool origins = (thread + round) % 2 == 0;
          const std::string& want = origins ? traced : plain;
          if (rendered_by(*compiled.value(), input, origins) != want) ++wrong[static_cast<std::size_t>(thread)];
          if (round % 4 != 0) continue;
          const auto own = jinja::Template::compile(kSource, {}, "threads");
          if (!own.ok() || rendered_by(*own.value(), input, origins) != want) ++wrong[static_cast<std::size_t>(thread)];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(wrong == std::vector<int>(kThreads, 0));
}

}  // namespace rondo
